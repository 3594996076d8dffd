package ids

import (
	"encoding/json"
	"math"

	"nextid/generator"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/sqlstate"
)

// sequence is an open generator, used as an SQL sequence.
type sequence struct {
	entry      *generator.Entry
	gen        generator.Generator
	definition generator.Definition
	series
	counts bool // it has a series
}

func openSequence(x *engine.Exec, name string) (s sequence, err error) {
	if s.entry, s.gen, err = opened(x, name, entry); err != nil {
		return s, err
	}
	x.Host.Waits()
	s.definition, err = s.entry.Definition(x.Ctx)
	s.series, s.counts = SeriesOf(s.definition)
	return s, err
}

// restarter returns the generator if its numbers can continue anywhere. Numbers
// with an offset must stay in their series.
func (s *sequence) restarter() (generator.Restarter, bool) {
	g, ok := s.gen.(generator.Restarter)
	return g, ok && s.Offset == nil
}

// moveTo makes v the next id of a generator, or the number after v if v is used.
// Ids that may have been given are refused. change holds options to alter at the
// same time.
func (s *sequence) moveTo(x *engine.Exec, v int64, used bool, change json.RawMessage) error {
	name := s.entry.Name()
	g, ok := s.restarter()
	if !ok {
		return s.raise(x, v, used)
	}
	if len(change) > 0 {
		if err := json.Unmarshal(change, &s.series); err != nil {
			return err
		}
	}
	if end := s.bound(); !x.Dialect.Traits().Lenient && end != nil && s.before(*end, v) { // MariaDB's dumps say so of one that has run out
		return sqlstate.New(sqlstate.InvalidParameterValue, "%d is out of the bounds of sequence %q, which ends at %d", v, name, *end).
			WithHint("Move the bound first: ALTER SEQUENCE … MAXVALUE, or MINVALUE of one that descends.")
	}
	next := v
	if used {
		next = s.after(v)
	}
	free, err := g.Free(x.Ctx)
	if err != nil {
		return err
	}
	if s.before(next, free) {
		return passed(name, next, free)
	}
	return Registry(x).Alter(x.Ctx, name, withRestart(change, v, used))
}

// lastGiven returns the last number that may have been given; given is false where
// the first one was not, and for kinds that have no option restart.
func (s *sequence) lastGiven(x *engine.Exec) (last int64, given bool, err error) {
	g, ok := s.restarter()
	if !ok {
		return 0, false, nil
	}
	free, err := g.Free(x.Ctx)
	if s.Increment < 0 {
		return free + 1, s.before(s.first(), free), err
	}
	return free - 1, s.before(s.first(), free), err
}

// goOnAbove moves a new sequence under the name of a dropped one behind what that may
// have given, and says so.
func goOnAbove(x *engine.Exec, name string) error {
	s, err := openSequence(x, name)
	if err != nil {
		return err
	}
	last, given, err := s.lastGiven(x)
	if err != nil || !given {
		return err
	}
	x.Host.Warn(sqlstate.New(sqlstate.Warning, "sequence %q begins with %d: a dropped generator of this name may have given what lies before", name, s.after(last)))
	return Registry(x).Alter(x.Ctx, name, withRestart(nil, last, true))
}

// raise moves a generator whose numbers keep to their series, or follow the clock:
// it goes on beyond v, or from v where that is not used.
func (s *sequence) raise(x *engine.Exec, v int64, used bool) error {
	r, ok := s.gen.(generator.Raiser)
	if !ok {
		return sqlstate.New(sqlstate.FeatureNotSupported, "the position of generator %q cannot be set", s.entry.Name())
	}
	if err := r.Raise(x.Ctx, v, used); err != nil {
		return err
	}
	p, ok := s.gen.(generator.Peeker)
	if !ok {
		return nil
	}
	next, err := p.Peek(x.Ctx)
	if err != nil {
		return nil //nolint:nilerr // at its end
	}
	if first := s.after(v); s.before(first, next) || next == first && !used {
		return passed(s.entry.Name(), v, next)
	}
	return nil
}

// passed returns the error for a position from which ids may have been given.
func passed(name string, v, next int64) error {
	return sqlstate.New(sqlstate.NotPrerequisite, "sequence %q cannot go back to %d: ids before its next one, %d, may have been given and would come twice", name, v, next).
		WithHint("Nothing was changed. ALTER SEQUENCE %s RESTART WITH %d, or further, gives none twice.", name, next)
}

// after returns the number one increment after v, or the end of int64.
func (s *series) after(v int64) int64 {
	switch n := v + s.Increment; {
	case s.Increment > 0 && n < v:
		return math.MaxInt64
	case s.Increment < 0 && n > v:
		return math.MinInt64
	default:
		return n
	}
}

// first returns where a series goes on, or began.
func (s *series) first() int64 {
	if s.Restart != nil {
		return *s.Restart
	}
	return s.Start
}

// bound returns the last number that a series may give, nil without one.
func (s *series) bound() *int64 {
	if s.Increment < 0 {
		return s.Min
	}
	return s.Max
}

// before reports whether a series gives a before b.
func (s *series) before(a, b int64) bool {
	if s.Increment < 0 {
		return a > b
	}
	return a < b
}

// withRestart is options with another two: from where the numbers go on.
func withRestart(options json.RawMessage, v int64, used bool) json.RawMessage {
	var members map[string]json.RawMessage
	_ = json.Unmarshal(options, &members) // a result of object, or nil
	o := map[string]any{"restart": v, "called": used}
	for key, value := range members {
		o[key] = value
	}
	return object(o)
}
