// Package local measures id generators inside one process: nextid's beside the
// Go libraries that people use instead. No wire, no SQL.
//
// A Contender draws ids in a loop of its own, so that nothing but the call
// that a program would make is measured. Measure runs it with a number of
// goroutines for a while; Compare runs all of them in turns, so that what else
// the machine does meets all of them alike, and takes each one's median.
package local

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Kinds of ids. Contenders of one kind do the same work.
const (
	// Snowflake is a number of time, worker and sequence. Layouts with 12 bits
	// of sequence allow 4096 ids a millisecond, 244 ns each, whatever the code.
	Snowflake = "snowflake"
	// WideSnowflake is one whose sequence has bits enough not to end within
	// its tick: what the code costs.
	WideSnowflake = "snowflake, wide sequence"
	// Number is a number that only counts.
	Number = "number"
	// Batch is 1000 numbers of time and sequence in one call.
	Batch = "batch of 1000"
	UUID4 = "UUID 4"
	UUID7 = "UUID 7"
	ULID  = "ULID"
	XID   = "XID"
)

// Contender is one generator of ids.
type Contender struct {
	Name string
	Kind string
	Ours bool
	Note string // what else a reader must know

	// New sets it up. draw makes that many calls and returns the number of
	// ids; goroutines call it at the same time. done, which may be nil,
	// releases what New took. Only one contender is set up at a time: some
	// libraries keep their settings in package variables.
	New func(ctx context.Context) (draw func(calls int) (ids int64, err error), done func(), err error)
}

// chunk is how many calls are made between two looks at the clock.
const chunk = 256

// Measure returns the time of one id in ns, as wall clock over all ids of all
// goroutines.
func Measure(ctx context.Context, c Contender, goroutines int, d time.Duration) (nsPerID float64, err error) {
	draw, done, err := c.New(ctx)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", c.Name, err)
	}
	if done != nil {
		defer done()
	}
	if _, err := draw(1); err != nil { // opened, and warm
		return 0, fmt.Errorf("%s: %w", c.Name, err)
	}
	var wg sync.WaitGroup
	ids, errs := make([]int64, goroutines), make([]error, goroutines)
	begin := time.Now()
	end := begin.Add(d)
	for i := range goroutines {
		wg.Go(func() {
			for errs[i] == nil && time.Now().Before(end) && ctx.Err() == nil {
				var n int64
				n, errs[i] = draw(chunk)
				ids[i] += n
			}
		})
	}
	wg.Wait()
	took := time.Since(begin)
	if err := errors.Join(append(errs, ctx.Err())...); err != nil {
		return 0, fmt.Errorf("%s: %w", c.Name, err)
	}
	var total int64
	for _, n := range ids {
		total += n
	}
	return float64(took.Nanoseconds()) / float64(total), nil
}

// Result is what one contender took.
type Result struct {
	Contender
	// NsPerID is the median time of one id in ns by number of goroutines.
	NsPerID map[int]float64
}

// Compare measures all contenders for d each, in rounds, with each number of
// goroutines.
func Compare(ctx context.Context, contenders []Contender, goroutines []int, rounds int, d time.Duration) ([]Result, error) {
	results := make([]Result, len(contenders))
	samples := make([]map[int][]float64, len(contenders))
	for range rounds {
		for i, c := range contenders {
			for _, g := range goroutines {
				ns, err := Measure(ctx, c, g, d)
				if err != nil {
					return nil, err
				}
				if samples[i] == nil {
					samples[i] = map[int][]float64{}
				}
				samples[i][g] = append(samples[i][g], ns)
			}
		}
	}
	for i, c := range contenders {
		results[i] = Result{Contender: c, NsPerID: map[int]float64{}}
		for g, s := range samples[i] {
			slices.Sort(s)
			results[i].NsPerID[g] = s[len(s)/2]
		}
	}
	return results, nil
}
