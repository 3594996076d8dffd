package generator

// Detailed is a Generator with more to tell an operator than Stats.
type Detailed interface {
	Details() Details
}

// Details are the rows that a running generator adds to a table of its kind:
// nextid.rings, nextid.databases. The same numbers are in /metrics.
type Details struct {
	Table string // without the schema: "rings"
	Label string // of Row.Key in /metrics; "" where the key is empty
	Rows  []Row
	Note  string // for /readyz: what is wrong although ids go on; "" for nothing
}

// Row is one row of Details.
type Row struct {
	Key    string // tells the rows of a generator apart; "" for the only one
	Fields []Field
}

// Field is a column of a Row, by the column's name. Value is an int64, float64,
// bool, string or time.Time; nil, and the zero time, are NULL.
type Field struct {
	Name  string
	Value any
	// Counter is set for an int64 that only grows while the generator runs. It
	// goes on where it was when the generator is altered, or dropped and
	// created again; see Registry.Counted.
	Counter bool
	Metric  Metric
}

// Metric describes how a Field appears in /metrics, with the generator's name as the
// label "generator". The zero Metric does not appear.
type Metric struct {
	Name, Help string
	Cause      string // value of the label "cause"; "" without that label
}

// Value returns a field of the row; nil if it has none of that name.
func (r Row) Value(name string) any {
	for _, f := range r.Fields {
		if f.Name == name {
			return f.Value
		}
	}
	return nil
}

// Counts hold what the generators of one name have done in this process.
type Counts struct {
	Issued, Waits, Refills, RefillErrors int64
}

// Counted is a name that had a running generator in this process.
type Counted struct {
	Name, Kind string    // the kind is that of the latest generator
	Generator  Generator // that runs; nil while none does
	Counts     Counts    // of all generators of the name, which never fall
	past       *tally
}

// Details are those of the running generator, with counters that go on where
// those of earlier generators of the name ended. ok is false if it has none.
func (c *Counted) Details() (d Details, ok bool) {
	if c.Generator == nil {
		return Details{}, false
	}
	detailed, ok := Unwrap(c.Generator).(Detailed)
	if !ok {
		return Details{}, false
	}
	d = detailed.Details()
	for _, row := range d.Rows {
		for i := range row.Fields {
			if f := &row.Fields[i]; f.Counter {
				f.Value = f.Value.(int64) + c.past.fields[fieldKey{d.Table, row.Key, f.Name}]
			}
		}
	}
	return d, true
}

// tally holds what the generators of one name have counted that were stopped, and
// the one that goes on counting. It is replaced, never changed.
type tally struct {
	kind    string
	counts  Counts             // of those that were stopped
	fields  map[fieldKey]int64 // counters of their Details
	counted Generator          // nil: none runs
}

type fieldKey struct{ table, row, field string }

// begin goes on with another generator.
func (t *tally) begin(kind string, g Generator) *tally {
	next := &tally{kind: kind, counted: g}
	if t != nil {
		next.counts, next.fields = t.counts, t.fields
	}
	return next
}

// end adds up what a generator has counted that issues no more.
func (t *tally) end() *tally {
	next := &tally{kind: t.kind, counts: t.sum(), fields: t.fields}
	detailed, ok := Unwrap(t.counted).(Detailed)
	if !ok {
		return next
	}
	d := detailed.Details()
	next.fields = map[fieldKey]int64{}
	for _, row := range d.Rows {
		for _, f := range row.Fields {
			if key := (fieldKey{d.Table, row.Key, f.Name}); f.Counter {
				next.fields[key] = t.fields[key] + f.Value.(int64)
			}
		}
	}
	return next
}

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
// until f returns false, in no order.
func (r *Registry) Counted(f func(Counted) bool) {
	for e := range r.names.all() {
		t := e.tally.Load()
		if t != nil && !f(Counted{Name: e.name, Kind: t.kind, Generator: t.counted, Counts: t.sum(), past: t}) {
			return
		}
	}
}
