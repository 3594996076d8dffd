// Package worker claims worker ids and the time slices in which this process
// may stamp ids with them.
//
// A slice is a reservation on the time line of a worker id: the key
// "worker/<bits>/<id>", reserved from now on, in Unix milliseconds. The
// store never gives two overlapping ranges of a key, so two processes can
// never stamp the same moment with the same worker id, whatever their clocks
// say. A slice does not expire by a timer, so nothing has to be fenced off when
// its holder pauses. The rules of the protocol:
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
// Every slice ever obtained is exclusively ours for good. A reader that
// still holds an older Lease is therefore safe within its bounds; and a new
// Lease never begins before the end of the older one, so that ids of a name
// keep growing when the worker id changes.
//
// On a store that only this process can use, a claim starts at the greatest
// end of all worker ids. Ids after a crash, or after the clock was set back
// while the server was down, are then larger than all before, and no draw
// waits: the ids carry times a little ahead of the clock.
package worker
