package dated

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"nextid/generator"
	"nextid/generator/gapless"
)

// Options are the options of the kind, as they are stored.
type Options struct {
	Pattern     string             `json:"pattern"`
	Separator   string             `json:"separator"` // between date and number
	Width       int                `json:"width"`     // digits of the number
	Prefix      string             `json:"prefix,omitempty"`
	Suffix      string             `json:"suffix,omitempty"`
	Period      string             `json:"period"` // with each the number starts again
	Start       int64              `json:"start"`  // its first number
	TimeZone    string             `json:"time_zone"`
	MaxAhead    generator.Duration `json:"max_ahead"` // of a date before this server's clock
	Deadline    generator.Duration `json:"deadline"`  // for which a draw waits for the store
	Description string             `json:"description,omitempty"`
}

// given is what a user writes: all optional.
type given struct {
	Pattern     *string             `json:"pattern"`
	Separator   *string             `json:"separator"`
	Width       *int                `json:"width"`
	Prefix      *string             `json:"prefix"`
	Suffix      *string             `json:"suffix"`
	Period      *string             `json:"period"`
	Start       *int64              `json:"start"`
	TimeZone    *string             `json:"time_zone"`
	MaxAhead    *generator.Duration `json:"max_ahead"`
	Deadline    *generator.Duration `json:"deadline"`
	Description *string             `json:"description"`
}

const hint = "Options: pattern (yyyyMMdd), separator, width, prefix, suffix, period (year, month, day or hour), start, time_zone, max_ahead, deadline, description."

func optionError(format string, args ...any) error {
	return generator.OptionError(hint, format, args...)
}

// KindName is the name of the kind.
const KindName = "dated"

// Kind returns the plug-in. owner is shown to operators.
func Kind(store generator.Reserver, runtime generator.Runtime, owner string) generator.Kind {
	return generator.Kind{
		Name: KindName, Help: "a date and a number that starts again with each day, month or year: 20261121-000001",
		Normalize: normalize, Alter: alter,
		Open: func(ctx context.Context, d generator.Definition) (generator.Generator, error) {
			s, err := read(d.Options)
			if err == nil {
				err = s.follows(ctx, store, d.Name)
			}
			if err != nil {
				return nil, err
			}
			return newGenerator(d.Name, s, store, runtime, owner), nil
		},
		Recover: func(ctx context.Context, d generator.Definition, atLeast int64) error {
			return recoverName(ctx, store, runtime, d, atLeast)
		},
	}
}

// follows refuses a pattern with years of two digits under a name that had
// numbers of another kind. Its ids are less than what the store counts, and
// could be numbers that were given.
func (s *scheme) follows(ctx context.Context, store generator.Reserver, name string) error {
	if !s.pattern.short {
		return nil
	}
	key := generator.NameKey(name)
	marks, err := store.Reserved(ctx, key)
	for _, m := range marks {
		if m.Key == key && m.Hi > 0 && m.Hi <= century*s.scale()*s.modulus {
			return &generator.Error{
				Kind: generator.ErrExhausted, Name: name,
				Message: fmt.Sprintf("generator %q was dropped after ids up to %d, and those of the pattern %q can be among them", name, m.Hi-1, s.Pattern),
				Hint:    "Use a pattern with a year of four digits, or a generator with another name.",
			}
		}
	}
	return err
}

// read returns the scheme of stored options.
func read(stored json.RawMessage) (*scheme, error) {
	var o Options
	err := json.Unmarshal(stored, &o)
	var s *scheme
	if err == nil {
		s, err = newScheme(o)
	}
	if err != nil {
		return nil, &generator.Error{Kind: generator.ErrRegressed, Message: "the stored options of a dated generator cannot be used", Cause: err}
	}
	return s, nil
}

// Defaults of Options.
const (
	defaultPattern = "yyyyMMdd"
	defaultWidth   = 6
	// defaultMaxAhead is longer than any change of clocks back that law makes
	// around midnight.
	defaultMaxAhead = generator.Duration(time.Hour)
)

// normalize reads the options of a new generator over the defaults.
func normalize(raw json.RawMessage) (json.RawMessage, error) {
	o := Options{
		Pattern: defaultPattern, Separator: "-", Width: defaultWidth, Start: 1, TimeZone: "UTC",
		MaxAhead: defaultMaxAhead, Deadline: generator.Duration(gapless.DefaultDeadline),
	}
	return o.with(raw)
}

// alter merges a change into stored options. What is part of a code cannot be
// changed: an old code could come again.
func alter(stored, change json.RawMessage) (json.RawMessage, error) {
	s, err := read(stored)
	if err != nil {
		return nil, err
	}
	before := s.Options
	after := before
	out, err := after.with(change)
	if err != nil {
		return nil, err
	}
	for _, fixed := range []struct {
		name          string
		before, after any
	}{
		{"pattern", before.Pattern, after.Pattern},
		{"separator", before.Separator, after.Separator},
		{"prefix", before.Prefix, after.Prefix},
		{"suffix", before.Suffix, after.Suffix},
		{"period", before.Period, after.Period},
	} {
		if fixed.before != fixed.after {
			return nil, generator.OptionError("Create another generator for codes of another form.",
				"%s (%q) cannot be changed: an old code could come again", fixed.name, fixed.before)
		}
	}
	if after.Width < before.Width {
		return nil, optionError("width (%d) can only be made greater", before.Width)
	}
	return out, nil
}

// with sets what is given, checks the options and returns their stored form.
func (o *Options) with(raw json.RawMessage) (json.RawMessage, error) {
	var g given
	if err := generator.DecodeOptions(raw, &g, hint); err != nil {
		return nil, err
	}
	generator.SetOption(&o.Pattern, g.Pattern)
	generator.SetOption(&o.Separator, g.Separator)
	generator.SetOption(&o.Width, g.Width)
	generator.SetOption(&o.Prefix, g.Prefix)
	generator.SetOption(&o.Suffix, g.Suffix)
	generator.SetOption(&o.Period, g.Period)
	generator.SetOption(&o.Start, g.Start)
	generator.SetOption(&o.TimeZone, g.TimeZone)
	generator.SetOption(&o.MaxAhead, g.MaxAhead)
	generator.SetOption(&o.Deadline, g.Deadline)
	generator.SetOption(&o.Description, g.Description)
	if o.Period == "" {
		p, err := parsePattern(o.Pattern)
		if err != nil {
			return nil, err
		}
		o.Period = periods[p.finest]
	}
	if _, err := newScheme(*o); err != nil {
		return nil, err
	}
	return json.Marshal(o)
}

// Limits of the options.
const (
	maxDigits   = 18 // of a number that always fits into an int64
	maxText     = 32 // bytes of prefix, separator and suffix
	maxMaxAhead = generator.Duration(366 * 24 * time.Hour)
	minDeadline = generator.Duration(10 * time.Millisecond)
	maxDeadline = generator.Duration(time.Minute)
)

// newScheme checks options and makes of them what the generator works with.
func newScheme(o Options) (*scheme, error) {
	p, err := parsePattern(o.Pattern)
	if err != nil {
		return nil, err
	}
	s := &scheme{Options: o, pattern: p, modulus: 1}
	period := slices.Index(periods[:], o.Period)
	if s.period = field(period); period < 0 || s.period > p.finest {
		return nil, generator.OptionError("Without the option it is the finest part of the pattern.",
			"period must be one of the parts of the pattern %q, not %q", o.Pattern, o.Period)
	}
	dateDigits := 4 + 2*int(p.finest)
	switch {
	case o.Width < 1 || dateDigits+o.Width > maxDigits:
		return nil, optionError("width must be between 1 and %d for the pattern %q, not %d", maxDigits-dateDigits, o.Pattern, o.Width)
	case o.MaxAhead < 0 || o.MaxAhead > maxMaxAhead:
		return nil, optionError("max_ahead must be between 0 and %v, not %v", maxMaxAhead, o.MaxAhead)
	case o.Deadline < minDeadline || o.Deadline > maxDeadline:
		return nil, optionError("deadline must be between %v and %v, not %v", minDeadline, maxDeadline, o.Deadline)
	}
	for range o.Width {
		s.modulus *= 10
	}
	if o.Start < 0 || o.Start >= s.modulus {
		return nil, optionError("start must be between 0 and %d, not %d", s.modulus-1, o.Start)
	}
	for _, text := range []struct{ name, value string }{{"prefix", o.Prefix}, {"separator", o.Separator}, {"suffix", o.Suffix}} {
		if len(text.value) > maxText || slices.ContainsFunc([]byte(text.value), unprintable) {
			return nil, optionError("%s must be at most %d printable ASCII characters", text.name, maxText)
		}
	}
	if o.TimeZone == "" || o.TimeZone == "Local" {
		return nil, optionError("time_zone must be named: it holds for all servers")
	}
	if s.zone, err = time.LoadLocation(o.TimeZone); err != nil {
		return nil, generator.OptionError(`Write it as "Europe/Berlin" or "UTC".`, "there is no time zone %q", o.TimeZone)
	}
	return s, generator.CheckDescription(o.Description)
}

func unprintable(c byte) bool { return c < ' ' || c > '~' }

// recoverName implements generator.Kind: the codes go on with that of the id
// atLeast, whose date has come.
func recoverName(ctx context.Context, store generator.Reserver, clock generator.Clock, d generator.Definition, atLeast int64) error {
	s, err := read(d.Options)
	if err != nil {
		return err
	}
	p, err := s.positionOf(atLeast)
	if err != nil {
		return err
	}
	if date := s.dateOf(atLeast); date > partsOf(time.Unix(0, clock.Wall()).In(s.zone)).number(s.pattern.finest) {
		return s.errFuture(date)
	}
	key := generator.NameKey(d.Name)
	if r, ok := store.(generator.Recoverer); ok {
		return r.Recover(ctx, key, p)
	}
	_, _, err = store.Reserve(ctx, generator.Reservation{Key: key, AtLeast: p - 1, N: 1, Limit: generator.NoLimit, Owner: "recover_generator"})
	return err
}
