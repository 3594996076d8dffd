//go:build race

package sqlite_test

// faultStride thins out the tests that start one process for each fault. With the
// race detector a process takes ten times as long, and the detector finds nothing
// new in it.
const faultStride = 5
