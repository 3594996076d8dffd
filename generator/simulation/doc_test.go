// Package simulation runs whole servers, with the code that ships, through faults
// made from a seed: clocks that step, stop and differ; messages to the store that
// are lost, late or repeated; crashes and stopped processes; virtual machines that
// are suspended or cloned; stores that go down, fail over and are restored.
//
// There is one thread and no real time. All background work and all waits of the
// servers go through generator.Scheduler. Here that is a queue of events in virtual
// time (type loop). The seed decides all durations and faults. So one seed is one
// schedule and always gives the same run. A server is the real worker.Pools and
// real snowflake and segment generators on a real shared.Store. Only the database
// below, the network and the clocks are simulated.
//
// After every draw the judge checks that no id of a name appears twice (U). Every
// id must be inside a reservation whose answer had arrived (A). The ids of a
// connection must be in order (O).
//
// A clone of a server is made by repeating its past. A server depends only on its
// inputs: which task runs next, the readings of its clocks, and the answers of the
// store. So a server with the same inputs is the same.
//
// This command prints the schedule of a seed, event by event:
//
//	go test ./generator/simulation -run TestSchedules -seed 4711 -v
//
// TestMutants shows that the simulator finds bugs. It builds the code that ships with
// known bugs.
package simulation
