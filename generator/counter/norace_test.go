//go:build !race

package counter

const manyHolds = 1_000_000
