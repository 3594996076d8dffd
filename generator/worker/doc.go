// Package worker claims worker ids, and reserves the time slices in which this
// process may issue ids with them.
//
// A time slice is a reservation on the time line of a worker id. Its key is
// "worker/<bits>/<id>", in Unix milliseconds. The store never grants two
// overlapping ranges of a key. So two processes can never issue ids for the same
// moment with the same worker id, whatever their clocks say. A slice does not
// expire by a timer. So a holder that is paused cannot do harm, and needs no
// fencing. The rules of the protocol:
//
//	R1 claim    reserve from max(now, end of all earlier slices)
//	R2 extend   reserve again under the same key before the slice ends
//	R3 silence  an error means that nothing was gained; go on in the old slice
//	R4 taken    a grant that does not begin where ours ended shows another
//	            holder: claim another id
//	R5 issue    only inside [Lo, Hi); see package snowflake
//	R6 release  at a clean stop the unused tail goes back to the store
//	R7 restore  a store that may have lost reservations grants no time before
//	            every slice that it may have forgotten has ended, and none
//	            below them; see package shared, type epoch
//
// A slice belongs to the process that reserved it for good. So a goroutine that
// still uses an older Lease is safe inside its bounds. A new Lease never begins
// before the end of the older one. So ids of a name keep growing when the worker id
// changes.
//
// On a store of this process alone, a claim starts at the greatest end of all
// worker ids. So ids after a crash, or after the clock was set back while the
// server was down, are greater than all before. No draw waits: the ids carry times
// slightly ahead of the clock.
//
// Pools holds one Pool for each width of the worker field. A Pool has one worker id
// and its Lease, which draws read by one atomic load. Its goroutine keep asks for
// renewals; at most one attempt runs at a time. Strict is a worker id without a
// slice, for strict generators. timeline computes id time, the time that ids carry.
package worker
