package ids

import (
	"encoding/json"
	"errors"
	"math"

	"nextid/generator"
	"nextid/sqlfuncs/engine"
)

// series are the options of the kinds whose ids are start + k · increment.
type series struct {
	Start, Increment, Step int64
	Offset, Restart        *int64
	Called                 bool
	Min, Max               *int64
	Description            string
	Scatter                json.RawMessage
}

// SeriesOf returns the options of a generator that counts; ok is false for
// other kinds, and for numbers that are scattered.
func SeriesOf(d generator.Definition) (s series, ok bool) {
	if d.Kind != "segment" && d.Kind != "counter" {
		return s, false
	}
	err := json.Unmarshal(d.Options, &s)
	return s, err == nil && s.Increment != 0 && s.Scatter == nil
}

// Bounds returns the least and the greatest number of the series, from first to last.
// Without MINVALUE and MAXVALUE they are those of a sequence whose first bound is 1 or
// -1, or the start where that lies outside.
func (s *series) Bounds(first, last int64) (least, greatest int64) {
	if least, greatest = min(1, s.Start), last; s.Increment < 0 {
		least, greatest = first, max(-1, s.Start)
	}
	if s.Min != nil {
		least = max(*s.Min, first)
	}
	if s.Max != nil {
		greatest = min(*s.Max, last)
	}
	return least, greatest
}

// From returns the first id of the series at or beyond past, the end of what was
// reserved. The end of a descending series is kept with the other sign.
func (s *series) From(past int64) int64 {
	direction, step := int64(1), s.Increment
	if step < 0 {
		direction, step = -1, -step
	}
	residue := direction * s.first()
	p := max(past, residue)
	if s.Called {
		p = max(past, residue+1)
	}
	if s.Offset != nil {
		residue = direction * *s.Offset
	}
	gap := ((residue-p)%step + step) % step
	if p > math.MaxInt64-gap {
		return direction * math.MaxInt64
	}
	return direction * (p + gap)
}

// BeyondAll returns a number above every id that the generator has given.
func BeyondAll(x *engine.Exec, e *generator.Entry) (int64, error) {
	g, err := e.Generator(x.Ctx)
	if err != nil {
		return 0, err
	}
	follows, ok := g.(generator.Explainer)
	if !ok {
		return math.MaxInt64, nil
	}
	last, err := follows.Ceil(x.Host.Now())
	if errors.Is(err, generator.ErrWrongKind) || last == math.MaxInt64 {
		return math.MaxInt64, nil
	}
	return last + 1, err
}
