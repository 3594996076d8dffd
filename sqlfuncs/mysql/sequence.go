package mysql

import (
	"fmt"
	"math"
	"strings"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/ids"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

// mariaDBSequence describes a generator as a sequence of MariaDB. A dump restores it
// in a MariaDB, which then continues after the ids of the generator.
type mariaDBSequence struct {
	start, min, max, increment, cache int64

	next    int64 // after all ids that any server has reserved; out of bounds: exhausted
	comment string
}

// Bounds of MariaDB's sequences. The ends of int64 mean that a sequence is
// exhausted.
const (
	mariaDBLast  = math.MaxInt64 - 1
	mariaDBFirst = math.MinInt64 + 1
)

// mariaDBSequenceOf reads the state of a generator; it draws no id. A kind that does
// not count is shown as a sequence that begins after its newest id. If its ids have
// no order, the sequence is exhausted: any number that a restored MariaDB issued
// could be an id already.
func mariaDBSequenceOf(x *engine.Exec, name string) (mariaDBSequence, error) {
	if err := x.Host.Client().May(name); err != nil {
		return mariaDBSequence{}, err
	}
	e, err := ids.Registry(x).Existing(x.Ctx, name)
	if err != nil {
		return mariaDBSequence{}, err
	}
	d, err := e.Definition(x.Ctx)
	if err != nil {
		return mariaDBSequence{}, err
	}
	series, counts := ids.SeriesOf(d)
	if !counts {
		q := mariaDBSequence{start: 1, min: 1, max: mariaDBLast, increment: ids.Increment(d), cache: 1000, comment: "nextid " + d.Kind}
		q.next, err = ids.BeyondAll(x, e)
		return q, err
	}
	q := mariaDBSequence{start: series.Start, increment: series.Increment, cache: max(series.Step, 1), comment: series.Description}
	q.min, q.max = series.Bounds(mariaDBFirst, mariaDBLast)
	past, err := x.Host.Registry().Past(x.Ctx, name)
	q.next = series.From(past)
	return q, err
}

// row returns the row of SELECT * FROM the sequence.
func (q *mariaDBSequence) row() []datum.Value {
	n := datum.MakeInt8
	return []datum.Value{n(q.next), n(q.min), n(q.max), n(q.start), n(q.increment), n(q.cache), n(0), n(0)}
}

// statement returns the CREATE SEQUENCE statement of the sequence.
func (q *mariaDBSequence) statement(name string) string {
	text := fmt.Sprintf("CREATE SEQUENCE `%s` start with %d minvalue %d maxvalue %d increment by %d cache %d nocycle ENGINE=InnoDB",
		name, q.start, q.min, q.max, q.increment, q.cache)
	if q.comment != "" {
		text += " COMMENT='" + strings.NewReplacer(`\`, `\\`, "'", "''").Replace(q.comment) + "'"
	}
	return text
}

// mariaDBSequenceColumns lists the columns of MariaDB's sequences.
var mariaDBSequenceColumns = engine.ColumnList(`next_not_cached_value:int8! minimum_value:int8! maximum_value:int8! start_value:int8!
	increment:int8! cache_size:int8! cycle_option:int8! cycle_count:int8!`)

// mariaDBSequenceTable returns the table of a generator in the MySQL dialect.
func mariaDBSequenceTable(name string) *engine.Table {
	return &engine.Table{Schema: "public", Name: name, Kind: 'S', Columns: mariaDBSequenceColumns, Scan: func(x *engine.Exec, _ []engine.KeyValues) (engine.Rows, error) {
		q, err := mariaDBSequenceOf(x, name)
		return engine.SingleRow(q.row()...), err
	}}
}

// lastValueCall plans LASTVAL(orders) and PREVIOUS VALUE FOR orders: the newest id
// of the generator that this session drew, NULL if it drew none.
func lastValueCall(p *engine.Planner, s *engine.Scope, arg syntax.Expr) (*engine.Expr, error) {
	name, err := p.Expr(s, arg)
	if err == nil {
		name, err = p.ResolveUnknown(name)
	}
	if err != nil {
		return nil, err
	}
	x := engine.Derive(datum.Int8, func(x *engine.Exec) (datum.Value, error) {
		v, err := name.Eval(x)
		if err != nil || !v.Valid {
			return datum.Null(datum.Int8), err
		}
		of, err := ids.SequenceName(TextOf(x, v))
		if err != nil {
			return datum.Value{}, err
		}
		e, err := ids.Known(x, of)
		if ids.Missing(err) {
			return datum.Value{}, sqlstate.New(sqlstate.UndefinedTable, "Unknown SEQUENCE: '%s'", sqlstate.Cut(of, 64)).WithMySQL(4091, "42S02")
		}
		if err != nil {
			return datum.Value{}, err
		}
		id, drawn := sessionOf(x).Drawn().Newest(e)
		return datum.Value{Type: datum.Int8, Valid: drawn, Int: id}, nil
	}, name)
	return p.MarkVolatile(x), nil
}
