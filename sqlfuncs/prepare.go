package sqlfuncs

import (
	"cmp"
	"encoding/binary"
	"maps"
	"strings"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

// Prepare makes a prepared statement from a text with at most one statement. The
// name "" means the unnamed statement, which is replaced. params are the declared
// types, Invalid or Unknown where the client left them open. An empty text makes a
// statement with Empty() true.
func (s *Session) Prepare(name, text string, params []datum.OID) (*Statement, error) {
	if name == "" {
		s.unnamed = nil
	}
	st, err := s.analyse(text, params)
	s.reading = nil
	if err != nil {
		return nil, s.refused(err)
	}
	if name == "" {
		s.unnamed = st
		return st, nil
	}
	return st, s.keep(name, st)
}

// analyse returns the statement of a Parse message from the cache, or plans it.
func (s *Session) analyse(text string, params []datum.OID) (*Statement, error) {
	key := cacheKey(text, params)
	if st := s.cache().getString(key); st != nil {
		return st, s.CheckTransaction(st.Exits)
	}
	parsed, err := s.parse(text)
	if err != nil {
		return nil, err
	}
	switch {
	case len(parsed) == 0:
		return &Statement{Text: text, Exits: true}, nil
	case len(parsed) > 1:
		return nil, sqlstate.New(sqlstate.SyntaxError, "cannot insert multiple commands into a prepared statement")
	}
	if err := s.CheckTransaction(exitsTransaction(parsed[0].Statement)); err != nil {
		return nil, err
	}
	st, err := s.plan(parsed[0].Statement, text, text, params, false)
	if err != nil {
		return nil, err
	}
	if st.shared {
		s.cache().offer(key, st)
	}
	return st, nil
}

// keep stores a named prepared statement within the session's limits. A name that is
// in use is an error (42P05).
func (s *Session) keep(name string, st *Statement) error {
	if _, ok := s.prepared[name]; ok {
		return sqlstate.New(sqlstate.DuplicateStatement, "prepared statement %q already exists", sqlstate.Cut(name, 64))
	}
	if len(s.prepared) >= s.server.limits.Statements {
		return sqlstate.New(sqlstate.LimitExceeded, "this session already has %d prepared statements", len(s.prepared)).
			WithHint("DEALLOCATE statements that are no longer used.")
	}
	if err := s.hold(len(name)+len(st.Text), st.cost); err != nil {
		return err
	}
	if s.prepared == nil {
		s.prepared = map[string]*Statement{}
	}
	s.prepared[strings.Clone(name)] = st
	return nil
}

// hold counts what a prepared statement or a portal keeps: the size of texts and values,
// and the memory of plan and values. It returns an error beyond Limits.PreparedBytes.
func (s *Session) hold(size int, memory int64) error {
	if s.bytes+size > s.server.limits.PreparedBytes {
		return sqlstate.New(sqlstate.LimitExceeded, "the prepared statements and bound values of this session are larger than %d bytes",
			s.server.limits.PreparedBytes).WithHint("DEALLOCATE statements and CLOSE cursors that are no longer used.")
	}
	if err := s.memory.Draw(int64(size) + memory); err != nil {
		return err
	}
	s.bytes += size
	return nil
}

// release undoes hold.
func (s *Session) release(size int, memory int64) {
	s.bytes -= size
	s.memory.Return(int64(size) + memory)
}

// Prepared returns a prepared statement. An unknown name is an error (26000).
func (s *Session) Prepared(name []byte) (*Statement, error) {
	if len(name) == 0 {
		if s.unnamed == nil {
			return nil, sqlstate.New(sqlstate.InvalidStatementName, "unnamed prepared statement does not exist")
		}
		return s.unnamed, nil
	}
	if st, ok := s.prepared[string(name)]; ok {
		return st, nil
	}
	return nil, sqlstate.New(sqlstate.InvalidStatementName, "prepared statement %q does not exist", sqlstate.Cut(string(name), 64))
}

// Unprepare drops a prepared statement; an unknown name is no error.
func (s *Session) Unprepare(name []byte) {
	if len(name) == 0 {
		s.unnamed = nil
		return
	}
	if st, ok := s.prepared[string(name)]; ok {
		s.release(len(name)+len(st.Text), st.cost)
		delete(s.prepared, string(name))
	}
}

// unprepareAll drops all prepared statements, the unnamed one included.
func (s *Session) unprepareAll() {
	for name := range s.prepared {
		s.Unprepare([]byte(name))
	}
	s.unnamed = nil
}

// prepare plans PREPARE name AS statement, and MySQL's PREPARE name FROM 'text', which
// replaces a statement of the same name. The inner statement is analysed when PREPARE
// runs.
func prepare(p *engine.Planner, st *Statement, t *syntax.Prepare) error {
	var types []datum.OID
	for _, tn := range t.Types {
		oid, _, err := p.TypeName(tn)
		if err != nil {
			return err
		}
		types = append(types, oid)
	}
	st.tag = "PREPARE"
	st.do = func(x *engine.Exec) error {
		s := sessionOf(x)
		if s.lenient {
			s.Unprepare([]byte(t.Name))
		}
		parsed, err := s.parse(t.Text) // parsed again, so that positions refer to the inner text
		if err != nil {
			return err
		}
		if len(parsed) != 1 {
			return sqlstate.New(sqlstate.SyntaxError, "PREPARE needs one statement")
		}
		switch parsed[0].Statement.(type) {
		case *syntax.Prepare, *syntax.Execute, *syntax.Deallocate:
			return sqlstate.New(sqlstate.FeatureNotSupported, "This command is not supported in the prepared statement protocol yet").WithMySQL(1295, "HY000")
		}
		inner, err := s.plan(parsed[0].Statement, t.Text, t.Text, types, false)
		if err != nil {
			return err
		}
		return s.keep(t.Name, inner)
	}
	return nil
}

// deallocate plans DEALLOCATE name and DEALLOCATE ALL.
func deallocate(st *Statement, t *syntax.Deallocate) {
	st.tag = "DEALLOCATE"
	if t.Name == "" {
		st.tag = "DEALLOCATE ALL"
	}
	st.do = func(x *engine.Exec) error {
		s := sessionOf(x)
		if t.Name == "" {
			s.unprepareAll()
			return nil
		}
		_, err := s.Prepared([]byte(t.Name))
		s.Unprepare([]byte(t.Name))
		return err
	}
}

// execute plans EXECUTE name (args), which runs in a portal of its own. The plan
// depends on the session's prepared statements and is not cached.
func execute(p *engine.Planner, st *Statement, t *syntax.Execute) error {
	p.Private = true
	s, name := plannedFor(p), []byte(t.Name)
	known, err := s.Prepared(name)
	if err != nil {
		return engine.At(t.Pos, err)
	}
	inner := known
	if len(t.Args) != len(inner.Params) {
		return engine.At(t.Pos, sqlstate.New(sqlstate.SyntaxError, "wrong number of parameters for prepared statement %q", sqlstate.Cut(t.Name, 64)).
			WithDetail("Expected %d parameters but got %d.", len(inner.Params), len(t.Args)).WithMySQL(1210, "HY000"))
	}
	args, given := make([]*engine.Expr, len(t.Args)), make([]Arg, len(t.Args))
	for i, a := range t.Args {
		if args[i], err = p.Expr(nil, a); err != nil {
			return engine.At(a.Position(), err)
		}
		given[i].Type = args[i].Type
	}
	if inner, err = s.forTypes(inner, given); err != nil {
		return err
	}
	for i, e := range args {
		if args[i], err = p.Coerce(e, inner.Params[i], datum.AssignmentCast); err != nil {
			return engine.At(t.Args[i].Position(), err)
		}
	}
	if inner.Columns == nil {
		return engine.Unsupported(t.Pos, "EXECUTE of a statement without rows")
	}
	open := func(x *engine.Exec) (engine.Rows, error) {
		s := sessionOf(x)
		if now, err := s.Prepared(name); err != nil {
			return nil, err
		} else if now.Text != known.Text {
			return nil, sqlstate.New(sqlstate.FeatureNotSupported, "prepared statement %q was replaced after this EXECUTE was prepared", sqlstate.Cut(t.Name, 64))
		}
		if err := s.CheckTransaction(inner.Exits); err != nil {
			return nil, err
		}
		params, err := engine.EvalAll(x, args)
		if err != nil {
			return nil, err
		}
		portal := &Portal{}
		portal.init(s, inner, params)
		return portalRows{portal}, nil
	}
	st.tag, st.Columns, st.allRows, st.cost = inner.tag, inner.Columns, inner.allRows, inner.cost
	st.limits.Time, st.limits.Rows = cmp.Or(inner.limits.Time, st.limits.Time), cmp.Or(inner.limits.Rows, st.limits.Rows)
	st.query = &engine.QueryPlan{Columns: inner.Columns, Open: open}
	return nil
}

// portalRows yields the rows of a portal inside another statement.
type portalRows struct{ p *Portal }

func (r portalRows) Next(x *engine.Exec) ([]datum.Value, error) { return r.p.Next(x.Ctx) }
func (r portalRows) Close()                                     { r.p.Close() }

// maxVariants limits the plans that are kept for one statement, one for each list
// of parameter types, and maxVariantBytes the size of each.
const (
	maxVariants     = 16
	maxVariantBytes = 64 << 10
)

// forTypes returns the statement planned for the parameter types of this execution.
// MySQL's clients send the types only with COM_STMT_EXECUTE. Prepare assumes text
// for parameters whose types do not follow from their use.
func (s *Session) forTypes(st *Statement, args []Arg) (*Statement, error) {
	if st.tree == nil {
		return st, nil
	}
	same := !st.assumed
	for i, a := range args {
		same = same && (a.Type == datum.Invalid || a.Type == st.Params[i] || engine.IsString(a.Type) && engine.IsString(st.Params[i]))
	}
	if same {
		return st, nil
	}
	types := make([]datum.OID, len(args))
	var key []byte
	for i, a := range args {
		if types[i] = a.Type; engine.IsString(a.Type) {
			types[i] = datum.Text
		}
		key = binary.BigEndian.AppendUint32(key, uint32(types[i]))
	}
	known := st.variants.Load()
	if known != nil {
		if v := (*known)[string(key)]; v != nil {
			return v, nil
		}
	}
	if err := s.memory.Draw(st.cost); err != nil {
		return nil, err
	}
	defer s.memory.Return(st.cost)
	v, err := s.plan(st.tree, st.Text, st.Text, types, false)
	if err != nil {
		return nil, err
	}
	v.cost = st.cost
	if v.shared && st.cost < maxVariantBytes && (known == nil || len(*known) < maxVariants) {
		next := map[string]*Statement{}
		if known != nil {
			next = maps.Clone(*known)
		}
		next[string(key)] = v
		st.variants.CompareAndSwap(known, &next)
	}
	return v, nil
}
