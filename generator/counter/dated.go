package counter

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"nextid/generator"
)

// DatedGenerator issues the numbers of one name. An id is the digits of date and
// number. A code is their text with the additions of the options.
type DatedGenerator struct {
	*Queue
	*datedSource
}

// Raise implements generator.Raiser. The date of the id v must not be in the
// future.
func (g *DatedGenerator) Raise(ctx context.Context, v int64, used bool) error {
	p, err := g.positionOf(v)
	if err != nil {
		return err
	}
	if used {
		p++
	}
	if p%g.modulus == 0 {
		return generator.WrongOption("%d is the last number of its %s", v, g.DatedOptions.Period)
	}
	return g.Queue.Raise(ctx, g.idOf(p, g.dateOf(v)), func(ctx context.Context) error { return g.raise(ctx, p) })
}

// Place implements generator.Placer. It returns the place among the numbers of the
// period.
func (g *DatedGenerator) Place(id int64) generator.Place {
	position, err := g.positionOf(id)
	p := generator.NewPlace(g.Start, 1, id%g.modulus)
	if err != nil {
		p.Number = 0
	}
	p.Reserved = p.Number > 0 && position < g.end.Load()
	return p
}

// Stats implements generator.Reporter.
func (g *DatedGenerator) Stats() generator.Stats {
	st := generator.Stats{Direct: true, Step: 1, ReservedUntil: g.end.Load()}
	g.Fill(&st)
	return st
}

// datedSource reserves numbers in the store.
type datedSource struct {
	*scheme
	name  string
	store generator.Reserver
	clock generator.Clock
	owner string

	end  atomic.Int64 // end of the last reservation, a position
	date int64        // newest date that was issued or seen, as digits; used only in requests of the Queue
}

var _ Source = (*datedSource)(nil)

// Draw implements Source. It reserves numbers in the present period.
func (s *datedSource) Draw(ctx context.Context, n, least int64) ([]generator.Range, error) {
	const attempts = 3 // a period can end during the request
	for range attempts {
		date, err := s.today()
		if err != nil {
			return nil, err
		}
		base := s.periodOf(date) * s.modulus
		lo, hi, err := s.reserve(ctx, generator.Reservation{AtLeast: base + s.Start, N: n, Limit: base + s.modulus, Least: least})
		if err == nil {
			return []generator.Range{{First: s.idOf(lo, date), Step: 1, Count: hi - lo}}, nil
		}
		if !errors.Is(err, generator.ErrExhausted) {
			return nil, err
		}
		// The store is in a later period, or the present one is used up.
		if err := s.follow(ctx, date); err != nil {
			return nil, err
		}
	}
	return nil, generator.Errorf(generator.ErrRetry, s.name, "Try again.",
		"the period of generator %q changed while it was asked for a number", s.name)
}

// reserve makes a reservation for the name and stores its end.
func (s *datedSource) reserve(ctx context.Context, r generator.Reservation) (lo, hi int64, err error) {
	r.Key, r.Owner = generator.NameKey(s.name), s.owner
	if lo, hi, err = s.store.Reserve(ctx, r); err == nil {
		s.end.Store(hi)
	}
	return lo, hi, err
}

// today returns the date of the clock. If the clock is behind the newest known
// date, it returns that date.
func (s *datedSource) today() (date int64, err error) {
	now := time.Unix(0, s.clock.Wall()).In(s.zone)
	if date = s.pattern.number(now); !s.fits(date) {
		return 0, generator.Errorf(generator.ErrExhausted, s.name,
			"Look at the clock of this server. Else create a generator with a year of four digits.",
			"the pattern of generator %q cannot hold the year %d", s.name, now.Year())
	}
	if date >= s.date {
		s.date = date
		return date, nil
	}
	begins, ok := s.begins(s.date)
	if ahead := begins.Sub(now); !ok || ahead > time.Duration(s.MaxAhead) {
		return 0, generator.Errorf(generator.ReasonClock, s.name,
			"Its date never goes back. Set the clocks of all servers; if that of another was wrong, create a generator of another name, or allow more with max_ahead.",
			"generator %q has come to %d already, and the clock of this server says %s", s.name, s.date, now.Format(time.RFC3339))
	}
	return s.date, nil
}

// follow reads from the store whether it is in a later period than date. Numbers
// come from reservations alone, never from this row.
func (s *datedSource) follow(ctx context.Context, date int64) error {
	m, ok, err := s.store.Mark(ctx, generator.NameKey(s.name))
	if err != nil {
		return err
	}
	if ok {
		if newest := s.first((m.Hi - 1) / s.modulus); newest > date {
			if _, ok := s.begins(newest); !ok {
				return s.errDropped(s.name, m.Hi-1)
			}
			s.date = newest
			return nil // today checks max_ahead
		}
	}
	return s.errFull(date)
}

// raise moves the line to the position p, which a user chose. It gives what it reserves
// back, as Generator.Raise does.
func (s *datedSource) raise(ctx context.Context, p int64) error {
	today, err := s.today()
	if err != nil {
		return err
	}
	base := s.periodOf(today) * s.modulus
	switch {
	case p >= base+s.modulus:
		return s.errFuture(s.first(p / s.modulus))
	case p < base:
		return nil // p has been issued or skipped
	}
	lo, hi, err := s.reserve(ctx, generator.Reservation{AtLeast: max(p, base+s.Start), N: 1, Limit: base + s.modulus})
	if errors.Is(err, generator.ErrExhausted) {
		return nil // p has been issued or skipped
	}
	if err == nil {
		_ = s.store.Release(ctx, generator.NameKey(s.name), hi, lo)
	}
	return err
}

// Renew implements Source. Ids of a past period are not issued any more. On a later
// date of the same period they get that date.
func (s *datedSource) Renew(r generator.Range) generator.Range {
	today, err := s.today()
	if err != nil || s.periodOf(today) != s.periodOf(s.dateOf(r.First)) {
		return generator.Range{}
	}
	return generator.Range{First: s.idOf(r.First, today), Step: 1, Count: r.Count}
}

func (s *datedSource) Return(ctx context.Context, r generator.Range) error {
	first, err := s.positionOf(r.First)
	if end := s.end.Load(); err == nil && first+r.Count == end {
		err = s.store.Release(ctx, generator.NameKey(s.name), end, first)
	}
	return err
}

// errFull returns the error of a period whose numbers are used up.
func (s *datedSource) errFull(date int64) error {
	next := "When the next one begins, it goes on."
	if t, ok := s.ends(date); ok {
		next = fmt.Sprintf("The next one begins at %s.", t.Format(time.RFC3339))
	}
	return generator.Errorf(generator.ErrExhausted, s.name,
		next+fmt.Sprintf(" For more digits: SELECT alter_generator('%s', '{\"width\": %d}').", s.name, s.Width+1),
		"all numbers of generator %q up to %d are used for the %s %d", s.name, s.modulus-1, s.Period, date/s.span)
}

// scheme converts between dates, numbers, ids and codes.
//
//	position   the store's number: the period's last date, then the number
//	id         the date, from the year down as the pattern has it, then the number
//	code       prefix, date in the form of the pattern, separator, number, suffix
type scheme struct {
	DatedOptions
	pattern pattern
	period  int // index in periods
	zone    *time.Location
	modulus int64 // 10^width
	scale   int64 // value of one year in a date's digits
	span    int64 // value of one period
	least   int64 // digits below the period of its first date
	most    int64 // digits below the period of its last date; that of a month may not exist
	century int64 // part of a date that ids leave out: the century if years are short, else 0
}

// periodOf returns the last date of a date's period, with the same number of
// digits. So the store's number is above every id of the period.
func (s *scheme) periodOf(date int64) int64 { return date/s.span*s.span + s.most }

// first returns the first date of a period.
func (s *scheme) first(period int64) int64 { return period/s.span*s.span + s.least }

// begins returns the instant at which a date begins. It reports false if the date
// does not exist.
func (s *scheme) begins(n int64) (time.Time, bool) {
	u, ok := s.pattern.date(n)
	t := time.Date(u.Year(), u.Month(), u.Day(), u.Hour(), 0, 0, 0, s.zone)
	for range 3 { // if midnight is missing, the day begins at one o'clock
		if s.pattern.number(t) < n {
			t = t.Add(30 * time.Minute)
		}
	}
	return t, ok
}

// ends returns the instant at which the period of a date ends.
func (s *scheme) ends(n int64) (time.Time, bool) {
	u, _ := s.pattern.date(s.first(n))
	var more [len(periods)]int
	more[s.period] = 1
	return time.Date(u.Year()+more[0], u.Month()+time.Month(more[1]), u.Day()+more[2], u.Hour()+more[3], 0, 0, 0, s.zone), u.Year()+more[0] <= lastYear
}

func (s *scheme) errFuture(date int64) error {
	return generator.OptionError("A generator cannot be moved to a date that has not come.", "%d lies in the future", date)
}

// fits reports whether the pattern can write the year of a date.
func (s *scheme) fits(date int64) bool {
	y := date / s.scale
	return y >= firstYear && y <= lastYear && (!s.pattern.short || y/100*100 == century)
}

// idOf returns the id of a number on a date. position may be an id, too: only its
// number counts.
func (s *scheme) idOf(position, date int64) int64 {
	return (date-s.century)*s.modulus + position%s.modulus
}

// dateOf returns the date in an id.
func (s *scheme) dateOf(id int64) int64 { return id/s.modulus + s.century }

// positionOf returns the position of an id. Ids without a valid date are an error.
func (s *scheme) positionOf(id int64) (int64, error) {
	date := s.dateOf(id)
	if _, ok := s.begins(date); !ok || id < 0 || !s.fits(date) {
		return 0, generator.WrongOption("%d is no id of this generator: %s and a number of %d digits", id, s.Pattern, s.Width)
	}
	return s.periodOf(date)*s.modulus + id%s.modulus, nil
}

func (s *scheme) AppendCode(b []byte, id int64) ([]byte, error) {
	if _, err := s.positionOf(id); err != nil {
		return b, err
	}
	date, _ := s.pattern.date(s.dateOf(id))
	b = date.AppendFormat(append(b, s.Prefix...), s.pattern.layout)
	b = append(b, s.Separator...)
	return fmt.Appendf(b, "%0*d%s", s.Width, id%s.modulus, s.Suffix), nil
}

// ParseCode implements generator.Coder. All codes have the same length.
func (s *scheme) ParseCode(code string) (int64, error) {
	if len(code) == len(s.example()) {
		date, number := code[len(s.Prefix):][:len(s.Pattern)], code[:len(code)-len(s.Suffix)]
		n, _ := strconv.ParseInt(number[len(number)-s.Width:], 10, 64)
		id := (s.pattern.read(date)-s.century)*s.modulus + n
		if again, err := s.AppendCode(nil, id); err == nil && string(again) == code {
			return id, nil
		}
	}
	return 0, generator.WrongOption("%.64q is no code of this generator: %s", code, s.example())
}

// example returns the form of a code, for messages.
func (s *scheme) example() string {
	return s.Prefix + s.Pattern + s.Separator + strings.Repeat("#", s.Width) + s.Suffix
}

// Explain implements generator.Explainer. Time is the beginning of the date.
func (s *scheme) Explain(id int64) (generator.Parts, error) {
	if _, err := s.positionOf(id); err != nil {
		return generator.Parts{}, err
	}
	t, _ := s.begins(s.dateOf(id))
	return generator.Parts{Kind: DatedKindName, Time: &t, Sequence: new(id % s.modulus)}, nil
}

func (s *scheme) Floor(t time.Time) (int64, error) { return s.bound(t, 0) }

func (s *scheme) Ceil(t time.Time) (int64, error) { return s.bound(t, s.modulus-1) }

// bound returns the id of the number n on the date of t.
func (s *scheme) bound(t time.Time, n int64) (int64, error) {
	d := s.pattern.number(t.In(s.zone))
	if !s.fits(d) {
		return 0, generator.WrongOption("the pattern %q cannot hold %s", s.Pattern, t.Format(time.RFC3339))
	}
	return (d-s.century)*s.modulus + n, nil
}
