// Package local measures id generators inside one process: nextid's beside the
// Go libraries that people use instead. No wire, no SQL.
//
// A Contender draws ids in a loop of its own, so that nothing but the call
// that a program would make is measured. Measure runs it with a number of
// goroutines for a while; Compare runs all of them in turns, so that what else
// the machine does meets all of them alike.
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

	// Least is the shortest measurement that says something, for those that
	// may draw ahead of their rate for a moment. They take part in fewer
	// rounds. 0: any.
	Least time.Duration

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
			// A goroutine draws before it looks at the clock: on a busy
			// machine it may first run when d is over.
			for {
				n, err := draw(chunk)
				ids[i] += n
				if errs[i] = err; err != nil || ctx.Err() != nil || !time.Now().Before(end) {
					return
				}
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
	// Samples are the times of one id in ns by number of goroutines, one of
	// each round.
	Samples map[int][]float64
}

// Best is the least disturbed round. On a machine that does other work it is
// nearest to what the code costs.
func (r Result) Best(goroutines int) float64 { return slices.Min(r.Samples[goroutines]) }

// Compare measures all contenders for d each, in rounds, with each number of
// goroutines. step, which may be nil, is told what comes next. Where ctx ends,
// what there is until then comes with its error.
func Compare(ctx context.Context, contenders []Contender, goroutines []int, rounds int, d time.Duration, step func(c Contender)) ([]Result, error) {
	results := make([]Result, len(contenders))
	for i, c := range contenders {
		results[i] = Result{Contender: c, Samples: map[int][]float64{}}
	}
	for round := range rounds {
		for i, c := range contenders {
			if every := int(max(c.Least/d, 1)); round%every != 0 {
				continue
			}
			if step != nil {
				step(c)
			}
			for _, g := range goroutines {
				ns, err := Measure(ctx, c, g, max(d, c.Least))
				if err != nil {
					return results, err
				}
				results[i].Samples[g] = append(results[i].Samples[g], ns)
			}
		}
	}
	return results, nil
}
