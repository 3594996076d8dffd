// Package simulation runs whole servers, the code that ships, through faults
// that it makes from a seed: clocks that step, stop and differ, messages to
// the store that are lost, late or done twice, crashes, stopped processes,
// virtual machines that are suspended or cloned, stores that go down, fail
// over and are restored.
//
// There is one thread and no real time. The servers' background work and all
// their waiting goes through generator.Scheduler, and here that is a queue of
// events in virtual time: a seed decides how long everything takes and what
// goes wrong, so one seed is one schedule, always the same. A server is the
// real worker.Pools, snowflake and segment generators on a real shared.Store
// (package shared's epochs, high-water marks and group commit); only the database below
// it, the network in between and the clocks are made up.
//
// What is checked after every draw: no id twice for one name (U), every id
// inside a reservation whose answer had arrived (A), and the ids of a
// connection in order (O).
//
// A clone of a server is made by repeating its past: a server does nothing
// but by what it is told (which of its tasks goes on, what the clock shows,
// what the store answers), so one that is told the same things is the same.
//
// How a failure is looked into:
//
//	go test ./generator/simulation -run TestSchedules -seed 4711 -v
//
// prints the schedule with that seed, event by event. TestMutants shows that
// the simulator finds bugs: it brings known ones into the code that ships.
package simulation
