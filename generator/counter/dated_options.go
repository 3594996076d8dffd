package counter

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"nextid/generator"
	"nextid/generator/kinds"
)

// DatedOptions are the options of the kind, as they are stored.
type DatedOptions struct {
	Pattern     string             `json:"pattern"`
	Separator   string             `json:"separator"` // between date and number
	Width       int                `json:"width"`     // digits of the number
	Prefix      string             `json:"prefix,omitempty"`
	Suffix      string             `json:"suffix,omitempty"`
	Period      string             `json:"period"` // the number starts again with each; see periods
	Start       int64              `json:"start"`  // first number of a period
	TimeZone    string             `json:"time_zone"`
	MaxAhead    generator.Duration `json:"max_ahead"` // greatest time by which the date may be ahead of the clock
	Deadline    generator.Duration `json:"deadline"`  // longest time for which a draw waits for the store
	Description string             `json:"description,omitempty"`
}

// DatedKindName is the name of the kind.
const DatedKindName = "dated"

// Dated returns the kind whose numbers contain a date: 20261121-000001, counted
// from 1 each day, month or year. Each number is written to the store before it is
// returned, and none is left out, as with Kind.
//
// One row of the store holds the state of a name as one number: the date of the
// period, then the number in it (20261121000001). It only rises. So the date of a
// name never goes back on any server. Once one server has begun a new day, all
// servers use that day. A server whose clock is behind cannot issue numbers of the
// day before. It refuses if its clock is behind by more than the option max_ahead.
//
// owner is shown to operators.
func Dated(store generator.Reserver, runtime generator.Runtime, owner string) generator.Kind {
	return datedKind{kinds.Base[DatedOptions]{
		Called: DatedKindName, Title: "a dated generator",
		Hint:     "Options: pattern (yyyyMMdd), separator, width, prefix, suffix, period (year, month, day or hour), start, time_zone, max_ahead, deadline, description.",
		Defaults: datedDefaults, Check: (*DatedOptions).check, Keep: keepDated,
	}, store, runtime, owner}
}

type datedKind struct {
	kinds.Base[DatedOptions]
	store   generator.Reserver
	runtime generator.Runtime
	owner   string
}

// read decodes stored options.
func (k datedKind) read(stored json.RawMessage) (*scheme, error) {
	o, err := k.Read(stored)
	if err != nil {
		return nil, err
	}
	return newScheme(o)
}

func (k datedKind) ExplainStored(stored json.RawMessage, id string) (generator.Parts, error) {
	s, err := k.read(stored)
	if err != nil {
		return generator.Parts{}, err
	}
	n, err := s.ParseCode(id)
	if number, other := generator.ParseNumber(id); err != nil && other == nil {
		n, err = number, nil
	}
	if err != nil {
		return generator.Parts{}, err
	}
	return s.Explain(n)
}

func (k datedKind) Open(ctx context.Context, d generator.Definition) (generator.Generator, error) {
	s, err := k.read(d.Options)
	if err == nil {
		err = s.follows(ctx, k.store, d.Name)
	}
	if err != nil {
		return nil, err
	}
	source := &datedSource{scheme: s, name: d.Name, store: k.store, clock: k.runtime, owner: k.owner}
	return &DatedGenerator{NewQueue(d.Name, source, k.runtime, time.Duration(s.Deadline), true), source}, nil
}

// follows refuses a pattern with two-digit years for a name that had numbers of
// another kind. The ids of such a pattern are less than the store's number. So they
// could repeat numbers that were issued.
func (s *scheme) follows(ctx context.Context, store generator.Reserver, name string) error {
	if !s.pattern.short {
		return nil
	}
	m, _, err := store.Mark(ctx, generator.NameKey(name))
	if err == nil && m.Hi > 0 && m.Hi <= s.century*s.modulus {
		err = s.errDropped(name, m.Hi-1)
	}
	return err
}

// errDropped returns the error of a name that had another kind or pattern.
func (s *scheme) errDropped(name string, greatest int64) error {
	return generator.Errorf(generator.ErrExhausted, name, "Use a generator with another name, or a pattern with a year of four digits.",
		"generator %q was dropped after ids up to %d, and the pattern %q has none that are surely greater", name, greatest, s.Pattern)
}

// datedDefaults are the options of a new generator. max_ahead is longer than any
// legal change of clocks back around midnight.
var datedDefaults = DatedOptions{
	Pattern: "yyyyMMdd", Separator: "-", Width: 6, Start: 1, TimeZone: "UTC",
	MaxAhead: generator.Duration(time.Hour), Deadline: kinds.DefaultDeadline,
}

// keepDated refuses changes of the options that are part of a code: an old code could
// come again.
func keepDated(before, after *DatedOptions) error {
	for _, fixed := range []struct{ name, before, after string }{
		{"pattern", before.Pattern, after.Pattern},
		{"separator", before.Separator, after.Separator},
		{"prefix", before.Prefix, after.Prefix},
		{"suffix", before.Suffix, after.Suffix},
		{"period", before.Period, after.Period},
	} {
		if fixed.before != fixed.after {
			return generator.OptionError("Create another generator for codes of another form.",
				"%s (%q) cannot be changed: an old code could come again", fixed.name, fixed.before)
		}
	}
	if after.Width < before.Width {
		return generator.WrongOption("width (%d) can only be made greater", before.Width)
	}
	return nil
}

// check checks options, and sets the period of new ones.
func (o *DatedOptions) check() error {
	if o.Period == "" {
		p, err := parsePattern(o.Pattern)
		if err != nil {
			return err
		}
		o.Period = periods[p.finest]
	}
	_, err := newScheme(*o)
	return err
}

// Limits of the options.
const (
	maxDigits   = 18 // digits of a number that always fits into an int64
	maxText     = 32 // bytes of prefix, separator and suffix
	maxMaxAhead = generator.Duration(366 * 24 * time.Hour)
)

// newScheme checks options and computes the scheme from them.
func newScheme(o DatedOptions) (*scheme, error) {
	p, err := parsePattern(o.Pattern)
	if err != nil {
		return nil, err
	}
	s := &scheme{DatedOptions: o, pattern: p, period: slices.Index(periods[:], o.Period), modulus: 1, scale: 1, span: 1}
	if s.period < 0 || s.period > p.finest {
		return nil, generator.OptionError("Without the option it is the finest part of the pattern.",
			"period must be one of the parts of the pattern %q, not %q", o.Pattern, o.Period)
	}
	if err := generator.Within("width", o.Width, 1, maxDigits-len(p.digits)); err != nil {
		return nil, err
	}
	for range o.Width {
		s.modulus *= 10
	}
	for part := range p.finest {
		s.scale *= 100
		if part >= s.period {
			s.span, s.least, s.most = 100*s.span, 100*s.least+[...]int64{1, 1, 0}[part], 100*s.most+[...]int64{12, 31, 23}[part]
		}
	}
	if p.short {
		s.century = century * s.scale
	}
	for _, text := range []struct{ name, value string }{{"prefix", o.Prefix}, {"separator", o.Separator}, {"suffix", o.Suffix}} {
		if len(text.value) > maxText || strings.ContainsFunc(text.value, func(r rune) bool { return r < ' ' || r > '~' }) {
			return nil, generator.WrongOption("%s must be at most %d printable ASCII characters", text.name, maxText)
		}
	}
	if o.TimeZone == "" || o.TimeZone == "Local" {
		return nil, generator.WrongOption("time_zone must be named: it holds for all servers")
	}
	if s.zone, err = time.LoadLocation(o.TimeZone); err != nil {
		return nil, generator.OptionError(`Write it as "Europe/Berlin" or "UTC".`, "there is no time zone %q", o.TimeZone)
	}
	return s, cmp.Or(generator.Within("start", o.Start, 0, s.modulus-1), generator.Within("max_ahead", o.MaxAhead, 0, maxMaxAhead),
		kinds.CheckDeadline(o.Deadline, o.Description))
}

// Recover implements generator.Recoverable. The codes go on with that of the id
// atLeast. Its date must not be in the future.
func (k datedKind) Recover(ctx context.Context, d generator.Definition, atLeast int64) error {
	s, err := k.read(d.Options)
	if err != nil {
		return err
	}
	p, err := s.positionOf(atLeast)
	if err != nil {
		return err
	}
	if date := s.dateOf(atLeast); date > s.pattern.number(time.Unix(0, k.runtime.Wall()).In(s.zone)) {
		return s.errFuture(date)
	}
	return kinds.Recover(ctx, k.store, d.Name, p)
}

// periods are the values of the option period: the parts of a date. Finer parts come
// later.
var periods = [...]string{"year", "month", "day", "hour"}

// tokens are the parts in the option pattern, by index in periods, and their forms in
// package time.
var tokens = map[string]struct {
	part   int
	layout string
}{"yyyy": {0, "2006"}, "yy": {0, "06"}, "MM": {1, "01"}, "dd": {2, "02"}, "HH": {3, "15"}}

// pattern is the form of a date: yyyyMMdd, yyMM, dd/MM/yyyy HH …
type pattern struct {
	layout string // of package time
	digits string // layout of the date as digits, from the year down: 20060102
	finest int    // index in periods
	short  bool   // years have two digits
}

const patternHint = "A pattern is made of yyyy or yy, MM, dd and HH, with signs between them: yyyyMMdd, yy-MM. Letters go into prefix and suffix."

// parsePattern parses a pattern. It must contain every part from the year to its
// finest one, so that two dates never have the same text.
func parsePattern(text string) (pattern, error) {
	var p pattern
	var seen [len(periods)]bool
	for rest := text; rest != ""; {
		n := 1
		for n < len(rest) && rest[n] == rest[0] {
			n++
		}
		token := rest[:n]
		rest = rest[n:]
		t, known := tokens[token]
		switch {
		case !known && (strings.Trim(token, "-_./: ,") != "" || strings.HasPrefix(token, "__")): // in package time __2 is a day of the year
			return p, generator.OptionError(patternHint, "pattern %q has %q, which is no part of a date", text, token)
		case !known:
			p.layout += token
			continue
		case seen[t.part]:
			return p, generator.OptionError(patternHint, "pattern %q has the %s twice", text, periods[t.part])
		}
		seen[t.part] = true
		p.finest, p.short, p.layout = max(p.finest, t.part), p.short || token == "yy", p.layout+t.layout
	}
	if f := slices.Index(seen[:p.finest+1], false); f >= 0 {
		return p, generator.OptionError(patternHint, "pattern %q has no %s", text, periods[f])
	}
	p.digits = "2006010215"[:4+2*p.finest]
	return p, nil
}

// Years that dates can have: four digits. Two digits mean this century.
const (
	firstYear = 1000
	lastYear  = 9999
	century   = 2000
)

// number returns the date of t in its zone as digits: 20261121.
func (p *pattern) number(t time.Time) int64 {
	n, _ := strconv.ParseInt(t.Format(p.digits), 10, 64) // digits
	return n
}

// date returns the date of digits, in UTC. It reports false if it does not exist.
func (p *pattern) date(n int64) (time.Time, bool) {
	t, err := time.Parse(p.digits, fmt.Sprintf("%0*d", len(p.digits), n))
	return t, err == nil && t.Year() >= firstYear
}

// read returns the digits of a date in the form of the pattern; those of another text
// are of another date.
func (p *pattern) read(text string) int64 {
	t, _ := time.Parse(p.layout, text)
	if p.short && t.Year() < century { // it takes 69 to 99 for years of 1900
		t = t.AddDate(100, 0, 0)
	}
	return p.number(t)
}
