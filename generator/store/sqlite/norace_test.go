//go:build !race

package sqlite_test

// faultStride is 1: every fault is tried. See race_test.go.
const faultStride = 1
