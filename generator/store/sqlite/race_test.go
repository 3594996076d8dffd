//go:build race

package sqlite_test

// faultStride thins out the tests that start one process for each fault:
// with the race detector a process takes ten times as long, and the detector
// sees nothing new in it.
const faultStride = 5
