//go:build !race

package sqlstore_test

// faultStride is 1: every fault is tried. See race_test.go.
const faultStride = 1
