//go:build race

package counter

const manyHolds = 50_000
