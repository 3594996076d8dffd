package sqlfuncs

import (
	"errors"
	"io"
	"slices"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

// subplan is a subquery in an expression. One that reads nothing of the
// queries around it is run once for the whole statement, as PostgreSQL does,
// unless it may draw ids: those must not come out twice.
type subplan struct {
	*queryPlan
	firstFrame int   // frames from here on are its own
	firstCTE   int   // likewise its WITH items
	refs       []ref // columns of outer queries that it reads
	outerCTE   bool  // it reads a WITH item of an outer query
	volatile   bool  // it may draw ids
}

// outer notes for the subqueries being analysed that e is read in them.
func (p *planner) outer(e *expr) *expr {
	if e == nil {
		return nil
	}
	for _, sub := range p.inside {
		for _, r := range e.refs {
			if r.frame < sub.firstFrame && !slices.Contains(sub.refs, r) {
				sub.refs = append(sub.refs, r)
			}
		}
	}
	return e
}

// usesCTE notes that a WITH item is read.
func (p *planner) usesCTE(c *ctePlan) {
	for _, sub := range p.inside {
		sub.outerCTE = sub.outerCTE || c.index < sub.firstCTE
	}
}

// isVolatile notes that what is analysed may draw ids.
func (p *planner) isVolatile() {
	for _, sub := range p.inside {
		sub.volatile = true
	}
}

// subquery analyses the query of an expression.
func (p *planner) subplan(s *scope, t *syntax.Select) (*subplan, error) {
	sub := &subplan{firstFrame: p.frames, firstCTE: p.ctes}
	p.inside = append(p.inside, sub)
	var err error
	sub.queryPlan, err = p.query(t, s)
	p.inside = p.inside[:len(p.inside)-1]
	return sub, err
}

// once reports whether the rows are the same for the whole statement.
func (s *subplan) once() bool { return len(s.refs) == 0 && !s.outerCTE && !s.volatile }

// expr makes an expression of the subquery's value. Its value is kept for
// the statement where it cannot change.
func (s *subplan) expr(typ datum.OID, mod int32, name string, eval func(x *exec) (datum.Value, error)) *expr {
	e := &expr{typ: typ, mod: mod, name: name, refs: s.refs, volatile: s.volatile || s.outerCTE, eval: eval}
	if s.once() {
		e.eval = func(x *exec) (datum.Value, error) {
			if v, ok := x.subplans[s].(datum.Value); ok {
				return v, nil
			}
			v, err := eval(x)
			if err == nil {
				x.keep(s, v)
			}
			return v, err
		}
	}
	return e
}

// keep remembers the result of a subquery that is run once.
func (x *exec) keep(s *subplan, v any) {
	if x.subplans == nil {
		x.subplans = map[*subplan]any{}
	}
	x.subplans[s] = v
}

func (p *planner) exists(s *scope, e *syntax.Exists) (*expr, error) {
	q, err := p.subplan(s, e.Query)
	if err != nil {
		return nil, err
	}
	return q.expr(datum.Bool, -1, "exists", func(x *exec) (datum.Value, error) {
		it, err := q.open(x)
		if err != nil {
			return datum.Value{}, err
		}
		defer it.close()
		_, err = it.next(x)
		if errors.Is(err, io.EOF) {
			return datum.MakeBool(false), nil
		}
		return datum.MakeBool(true), err
	}), nil
}

// subquery is a scalar subquery or ARRAY(SELECT …).
func (p *planner) subquery(s *scope, e *syntax.Subquery) (*expr, error) {
	q, err := p.subplan(s, e.Query)
	if err != nil {
		return nil, err
	}
	if len(q.columns) != 1 {
		return nil, at(e.Pos, sqlstate.New(sqlstate.SyntaxError, "subquery must return only one column").WithMySQL(1241, "21000"))
	}
	p.settle(q.queryPlan)
	t := q.columns[0].Type
	if e.Array {
		info, _ := datum.TypeInfo(t)
		if info.Array == 0 {
			return nil, at(e.Pos, sqlstate.New(sqlstate.UndefinedObject, "could not find array type for data type %s", datum.FormatType(t, -1)))
		}
		return q.expr(info.Array, -1, "array", func(x *exec) (datum.Value, error) {
			rows, err := q.all(x)
			elems := make([]datum.Value, len(rows))
			for i, r := range rows {
				elems[i] = r[0]
			}
			x.dropRows(rows)
			return datum.MakeArray(info.Array, elems), err
		}), nil
	}
	r := q.expr(t, q.columns[0].TypeMod, q.columns[0].Name, func(x *exec) (datum.Value, error) { return q.single(x, t) })
	r.fields, r.collation = q.columns[0].fields, q.columns[0].collation
	return r, nil
}

// single is the one value of a scalar subquery, NULL when it has no row.
func (s *subplan) single(x *exec, t datum.OID) (datum.Value, error) {
	it, err := s.open(x)
	if err != nil {
		return datum.Value{}, err
	}
	defer it.close()
	row, err := it.next(x)
	if errors.Is(err, io.EOF) {
		return datum.Null(t), nil
	}
	if err != nil {
		return datum.Value{}, err
	}
	v := row[0]
	if _, err = it.next(x); err == nil {
		return v, sqlstate.New(sqlstate.Cardinality, "more than one row returned by a subquery used as an expression")
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return v, err
}

// quantifiedQuery is x op ANY/ALL (SELECT …).
func (p *planner) quantifiedQuery(s *scope, e *syntax.Quantified) (*expr, error) {
	q, err := p.subplan(s, e.Query)
	if err != nil {
		return nil, err
	}
	lefts := []syntax.Expr{e.X}
	if row, ok := e.X.(*syntax.Row); ok {
		lefts = row.Elems
	}
	if len(q.columns) != len(lefts) {
		return nil, at(e.Pos, sqlstate.New(sqlstate.SyntaxError, "subquery has too %s columns",
			map[bool]string{true: "many", false: "few"}[len(q.columns) > len(lefts)]))
	}
	left, err := p.exprs(s, lefts)
	if err != nil {
		return nil, err
	}
	c := &rowsTest{sub: q, all: e.All, isIn: e.Op == "=" && !e.All || e.Op == "<>" && e.All}
	finish := make([]func(*expr) *expr, len(left))
	for i, l := range left {
		l, finish[i] = once(l)
		slot := new(slotExpr)
		c.slots = append(c.slots, slot)
		one, err := p.operator(e.Op, l, slot.expr(q.columns[i].Type, q.columns[i].collation))
		if err != nil {
			return nil, at(e.Pos, err)
		}
		if c.isIn {
			a, b, err := p.comparable(e.Op, l, slot.expr(q.columns[i].Type, q.columns[i].collation))
			if err != nil {
				return nil, at(e.Pos, err)
			}
			c.left, c.right = append(c.left, a), append(c.right, b)
		}
		if c.test == nil {
			c.test = one
			continue
		}
		both := c.test
		op := map[bool]int64{false: 0, true: 1}[e.Op == "<>"] // rows differ when any column does
		c.test = derive(datum.Bool, func(x *exec) (datum.Value, error) {
			v, err := both.eval(x)
			if err != nil || (v.Valid && v.Int == op) {
				return v, err
			}
			return one.eval(x)
		}, both, one)
	}
	r := derive(datum.Bool, c.eval, left...)
	r.refs = append(r.refs, q.refs...)
	r.volatile = r.volatile || q.volatile || q.outerCTE
	for _, f := range finish {
		r = f(r)
	}
	return r, nil
}

// rowsTest compares a row with the rows of a subquery.
type rowsTest struct {
	sub         *subplan
	slots       []*slotExpr // the subquery's row
	test        *expr       // of the row in slots
	all         bool
	isIn        bool    // IN or NOT IN: equal rows are found by hash
	left, right []*expr // of one type
}

// rowsHash is the rows of an IN (SELECT …) that is run once.
type rowsHash struct {
	rows  [][]datum.Value
	keys  map[string]struct{} // of rows without NULL
	nulls [][]datum.Value     // the other rows
}

func (c *rowsTest) eval(x *exec) (datum.Value, error) {
	if c.sub.once() {
		h, ok := x.subplans[c.sub].(*rowsHash)
		if !ok {
			rows, err := c.sub.all(x)
			if err != nil {
				return datum.Value{}, err
			}
			if h, err = c.hash(x, rows); err != nil {
				return datum.Value{}, err
			}
			x.keep(c.sub, h)
		}
		return c.find(x, h)
	}
	rows, err := c.sub.all(x)
	if err != nil {
		return datum.Value{}, err
	}
	defer x.dropRows(rows)
	return c.linear(x, rows)
}

// linear tries the rows one after the other.
func (c *rowsTest) linear(x *exec, rows [][]datum.Value) (datum.Value, error) {
	return quantify(c.all, len(rows), func(i int) (datum.Value, error) {
		c.set(x, rows[i])
		return c.test.eval(x)
	})
}

func (c *rowsTest) set(x *exec, row []datum.Value) {
	if x.slots == nil {
		x.slots = map[*slotExpr]datum.Value{}
	}
	for j, slot := range c.slots {
		x.slots[slot] = row[j]
	}
}

func (c *rowsTest) hash(x *exec, rows [][]datum.Value) (*rowsHash, error) {
	h := &rowsHash{rows: rows, keys: map[string]struct{}{}}
	if !c.isIn {
		return h, nil
	}
	for _, row := range rows {
		c.set(x, row)
		key, valid, err := joinKey(x, c.right)
		if err != nil {
			return nil, err
		}
		if valid {
			h.keys[key] = struct{}{}
		} else {
			h.nulls = append(h.nulls, row)
		}
	}
	return h, nil
}

func (c *rowsTest) find(x *exec, h *rowsHash) (datum.Value, error) {
	if !c.isIn {
		return c.linear(x, h.rows)
	}
	key, valid, err := joinKey(x, c.left)
	if err != nil {
		return datum.Value{}, err
	}
	if !valid {
		return c.linear(x, h.rows)
	}
	if _, ok := h.keys[key]; ok {
		return datum.MakeBool(!c.all), nil
	}
	return c.linear(x, h.nulls)
}
