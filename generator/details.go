package generator

// Detailed is a Generator that reports more to operators than Stats.
type Detailed interface {
	Details() Details
}

// Details holds the rows of a running generator in a table of its kind, such as
// nextid.rings. /metrics shows the same numbers.
type Details struct {
	Table string // without the schema: "rings"
	Label string // label of Row.Key in /metrics; "" if the key is empty
	Rows  []Row
	Note  string // for /readyz: a problem that does not stop ids; "" for none
}

// Row is one row of Details.
type Row struct {
	Key    string // unique within a generator; "" for its only row
	Fields []Field
}

// Field is one column of a Row. Value is an int64, float64, bool, string or
// time.Time. Nil and the zero time are NULL.
type Field struct {
	Name    string
	Value   any
	Counter bool // marks an int64 that only grows while the generator runs
	Metric  Metric
}

// Metric describes how a Field appears in /metrics. The generator's name is in the
// label "generator". The zero Metric is left out.
type Metric struct{ Name, Help string }

// Value returns the value of a field, or nil if the row has no field of that name.
func (r Row) Value(name string) any {
	for _, f := range r.Fields {
		if f.Name == name {
			return f.Value
		}
	}
	return nil
}

// Counts holds counters of all generators that one name had in this process.
type Counts struct {
	Issued, Waits, Refills, RefillErrors int64
}

// Counted is a name that had a running generator in this process, at present or
// earlier.
type Counted struct {
	Name, Kind string    // the kind of the latest generator
	Generator  Generator // the running one, or nil
	Counts     Counts    // of all generators of the name; never fall
}

// Details returns the Details of the running generator. ok is false if it has none.
func (c *Counted) Details() (d Details, ok bool) {
	detailed, ok := Unwrap(c.Generator).(Detailed)
	if ok {
		d = detailed.Details()
	}
	return d, ok
}

// tally holds the counters of the stopped generators of one name, and its running
// generator. A tally is immutable; changes replace it.
type tally struct {
	kind    string
	counts  Counts    // of the stopped generators
	counted Generator // the running generator, or nil
}

// begin returns a tally with a new running generator.
func (t *tally) begin(kind string, g Generator) *tally {
	next := &tally{kind: kind, counted: g}
	if t != nil {
		next.counts = t.counts
	}
	return next
}

// end returns a tally that has added the counters of the running generator, which
// must not issue ids any more.
func (t *tally) end() *tally { return &tally{kind: t.kind, counts: t.sum()} }

func (t *tally) sum() Counts {
	c := t.counts
	if reporter, ok := t.counted.(Reporter); ok {
		s := reporter.Stats()
		c.Issued += s.Issued
		c.Waits += s.Waits
		c.Refills += s.Refills
		c.RefillErrors += s.RefillErrors
	}
	return c
}

// Counted calls f for every name that had a running generator in this process,
// until f returns false. The order is undefined.
func (r *Registry) Counted(f func(Counted) bool) {
	for e := range r.names.all() {
		t := e.tally.Load()
		if t != nil && !f(Counted{Name: e.name, Kind: t.kind, Generator: t.counted, Counts: t.sum()}) {
			return
		}
	}
}
