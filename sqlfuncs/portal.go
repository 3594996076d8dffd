package sqlfuncs

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"

	"nextid/generator"
	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/ids"
	"nextid/sqlfuncs/pgcatalog"
	"nextid/sqlfuncs/sqlstate"
)

// Portal executes a statement. The protocol's portals and SQL's cursors are Portals.
// A Portal belongs to one Session and to the session's goroutine.
type Portal struct {
	session *Session
	name    string
	st      *Statement
	columns []engine.Column
	formats []int16
	params  []datum.Value

	x        *engine.Exec // nil before start
	rows     engine.Rows  // nil if ids yields the rows
	ids      engine.NumberRun
	tag      string
	buffered [][]datum.Value // rows read so far, if buffer is set
	rowLimit int64           // largest number of rows, -1: no limit; known when started
	position int             // number of the current row; 0 before the first

	opened int64 // value of Session.opened at its creation, for ROLLBACK TO
	bytes  int   // size of the bound values, part of Session.bytes
	memory int64 // bytes drawn from Session.memory for the plan and the values

	catalogs pgcatalog.Cache // of the execution

	// The flags are adjacent to keep the struct small: every session has a portal.
	answered  bool // by FastPath
	started   bool
	done      bool
	held      bool // WITH HOLD
	buffer    bool // rows are kept: scrollable or held
	committed bool // held, and its transaction is over
	spare     bool // has no name: Close puts it into sparePortals
}

// sparePortals holds closed portals of Run and Open for reuse.
var sparePortals = sync.Pool{New: func() any { return new(Portal) }}

// Arg is one bound parameter in the protocol's form. Bind reads Data only until it
// returns.
type Arg struct {
	Null   bool
	Binary bool      // Data is in the type's binary form (datum.DecodeBinary)
	Type   datum.OID // from COM_STMT_EXECUTE (MySQL), else 0
	Data   []byte
}

// Bind makes a portal from a statement and its arguments. The name "" means the
// unnamed portal, which is replaced. formats are the protocol's result format
// codes: none, one for all columns, or one for each.
func (s *Session) Bind(name []byte, st *Statement, args []Arg, formats []int16) (*Portal, error) {
	if len(name) == 0 && s.hasPortal {
		s.dropPortal(s.unnamedPo) // replaced even if Bind fails
	}
	st, params, size, err := s.bindArgs(st, args)
	if err != nil {
		return nil, err
	}
	p, err := s.newPortal(string(name))
	if err != nil {
		return nil, err
	}
	p.init(s, st, params)
	err = p.keeps(size, st.cost, params)
	if n := len(p.columns); err == nil && len(formats) > 1 && len(formats) != n {
		err = sqlstate.New(sqlstate.ProtocolViolation, "bind message has %d result formats but query has %d columns", len(formats), n)
	}
	if err != nil {
		s.dropPortal(p)
		return nil, err
	}
	p.formats = slices.Clone(formats)
	return p, nil
}

// Open makes a portal that the session does not list, for executions and cursors of
// MySQL's protocol. Close frees it for reuse.
func (s *Session) Open(st *Statement, args []Arg) (*Portal, error) {
	st, params, size, err := s.bindArgs(st, args)
	if err != nil {
		return nil, err
	}
	p := s.Run(st)
	p.params = params
	if err := p.keeps(size, st.cost, params); err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

// Run makes a portal in text format for a statement of a simple query. It does not
// touch the session's unnamed portal. Close frees it for reuse.
func (s *Session) Run(st *Statement) *Portal {
	p := sparePortals.Get().(*Portal)
	p.init(s, st, nil)
	p.spare = true
	return p
}

// init prepares p for an execution of st. Of the earlier execution only the name
// stays.
func (p *Portal) init(s *Session, st *Statement, params []datum.Value) {
	name := p.name
	s.opened++
	*p = Portal{session: s, name: name, st: st, columns: st.Columns, params: params, tag: st.tag, opened: s.opened}
	s.unsettled = true
	if st.fetch != nil {
		p.columns = nil
		if c := s.portals[st.fetch.Cursor]; c != nil {
			p.columns = c.columns
		}
	}
}

// bindArgs checks that a statement can be bound to arguments now, and decodes them. It
// returns the statement planned for their types. size is the number of their bytes, which
// count towards Limits.PreparedBytes.
func (s *Session) bindArgs(st *Statement, args []Arg) (planned *Statement, values []datum.Value, size int, err error) {
	if len(args) != len(st.Params) {
		return nil, nil, 0, sqlstate.New(sqlstate.ProtocolViolation, "bind message supplies %d parameters, but prepared statement requires %d",
			len(args), len(st.Params))
	}
	if err = s.CheckTransaction(st.Exits); err == nil {
		st, err = s.forTypes(st, args)
	}
	if err != nil || len(args) == 0 {
		return st, nil, 0, err
	}
	for _, a := range args {
		size += len(a.Data)
	}
	if err := s.memory.Draw(int64(size) * engine.WorkFactor); err != nil {
		return nil, nil, 0, err
	}
	defer s.memory.Return(int64(size) * engine.WorkFactor)
	values = make([]datum.Value, len(args))
	for i, a := range args {
		t := st.Params[i]
		if a.Null {
			values[i] = datum.Null(t)
			continue
		}
		if a.Binary {
			values[i], err = datum.DecodeBinary(t, a.Data)
		} else {
			values[i], err = s.textArg(t, a.Data)
			if (err != nil || len(a.Data) > ids.MaxIDDigits) && slices.Contains(st.openIDs, i+1) {
				values[i], err = s.textArg(datum.Text, a.Data)
			}
		}
		if err != nil {
			return nil, nil, 0, err
		}
	}
	return st, values, size, nil
}

// keeps counts what the portal holds until Close: bound values of size bytes, and
// the plan, since the statement may be closed first.
func (p *Portal) keeps(size int, plan int64, values []datum.Value) error {
	memory := plan + int64(engine.SizeOfRow(values))
	err := p.session.hold(size, memory)
	if err == nil {
		p.bytes, p.memory = size, memory
	}
	return err
}

// textArg decodes an argument in text form.
func (s *Session) textArg(t datum.OID, data []byte) (datum.Value, error) {
	if bytes.IndexByte(data, 0) >= 0 { // invalid in every type
		return datum.Value{}, sqlstate.BrokenText(string(data))
	}
	return datum.ParseText(t, string(data), s.Env())
}

// unnamedPortal returns the storage of the unnamed portal. It is allocated at the
// first use.
func (s *Session) unnamedPortal() *Portal {
	if s.unnamedPo == nil {
		s.unnamedPo = new(Portal)
	}
	return s.unnamedPo
}

// newPortal adds a portal to the session. A name that exists is an error (42P03).
func (s *Session) newPortal(name string) (*Portal, error) {
	if name == "" {
		s.hasPortal = true
		return s.unnamedPortal(), nil
	}
	if _, ok := s.portals[name]; ok {
		return nil, sqlstate.New(sqlstate.DuplicateCursor, "cursor %q already exists", sqlstate.Cut(name, 64))
	}
	if len(s.portals) >= s.server.limits.Portals {
		return nil, sqlstate.New(sqlstate.LimitExceeded, "this session already has %d open cursors", len(s.portals)).
			WithHint("CLOSE cursors that are no longer used.")
	}
	p := &Portal{name: strings.Clone(name)}
	if s.portals == nil {
		s.portals = map[string]*Portal{}
	}
	s.portals[p.name] = p
	return p, nil
}

// Portal returns an open portal. An unknown name is an error (34000).
func (s *Session) Portal(name []byte) (*Portal, error) {
	if len(name) == 0 {
		if s.hasPortal {
			return s.unnamedPo, nil
		}
		return nil, sqlstate.New(sqlstate.InvalidCursorName, "portal \"\" does not exist")
	}
	if p, ok := s.portals[string(name)]; ok {
		return p, nil
	}
	return nil, sqlstate.New(sqlstate.InvalidCursorName, "portal %q does not exist", sqlstate.Cut(string(name), 64))
}

// ClosePortal closes a portal; an unknown name is no error.
func (s *Session) ClosePortal(name []byte) {
	if len(name) == 0 {
		if s.hasPortal {
			s.dropPortal(s.unnamedPo)
		}
	} else if p, ok := s.portals[string(name)]; ok {
		s.dropPortal(p)
	}
}

// dropPortal closes a portal and removes it from the session.
func (s *Session) dropPortal(p *Portal) {
	p.Close()
	if p == s.unnamedPo {
		s.hasPortal = false
		return
	}
	delete(s.portals, p.name)
}

// dropUnnamed drops the unnamed statement and the unnamed portal.
func (s *Session) dropUnnamed() {
	s.Unprepare(nil)
	s.ClosePortal(nil)
}

// closePortals drops the portals for which which returns true.
func (s *Session) closePortals(which func(*Portal) bool) {
	if s.hasPortal && which(s.unnamedPo) {
		s.dropPortal(s.unnamedPo)
	}
	for _, p := range s.portals {
		if which(p) {
			s.dropPortal(p)
		}
	}
}

// EndBatch handles Sync and the end of a simple query. Outside a transaction block
// it closes the portals, except WITH HOLD cursors, and ends SET LOCAL.
func (s *Session) EndBatch() {
	s.raised = 0
	s.vars.Settle()
	if s.tx.state != txIdle {
		return
	}
	s.unsettled = false
	if s.hasPortal && !s.unnamedPo.held {
		s.dropPortal(s.unnamedPo)
		s.unnamedPo.recycle()
	}
	if len(s.portals) > 0 {
		s.closePortals(func(p *Portal) bool { return !p.held })
	}
	if s.vars.HasLocal() {
		s.vars.EndTransaction()
		s.SettingsChanged()
	}
}

// MayExecute returns an error for a portal that cannot be executed now: the block has
// failed (25P02), or the statement is no query and has run (55000).
func (p *Portal) MayExecute() error {
	if p.done && (p.st.do != nil || p.st.copy != nil) {
		return sqlstate.New(sqlstate.NotPrerequisite, "portal %q cannot be run", sqlstate.Cut(p.name, 64))
	}
	return p.session.CheckTransaction(p.st.Exits)
}

// Statement returns the portal's statement.
func (p *Portal) Statement() *Statement { return p.st }

// Columns returns the result columns, nil if there are no rows. For FETCH and
// EXECUTE only the Portal knows them, not the Statement.
func (p *Portal) Columns() []engine.Column { return p.columns }

// Binary reports whether column i is sent in binary format.
func (p *Portal) Binary(i int) bool {
	switch len(p.formats) {
	case 0:
		return false
	case 1:
		return p.formats[0] == 1
	}
	return p.formats[i] == 1
}

// Format returns the format of all columns. uniform is false if columns differ.
func (p *Portal) Format() (binary, uniform bool) {
	if len(p.formats) > 1 {
		return false, false
	}
	return p.Binary(0), true
}

// start begins execution. Utility statements run here. p.x is set even if start
// fails: failed needs its context.
func (p *Portal) start(ctx context.Context) error {
	p.started, p.rowLimit = true, p.session.selectLimit(p.st)
	rights := p.session.renew()
	p.session.dialect.start(p.session, p.st)
	x := engine.NewExec(ctx, p.session, p.session.expressions, p.params)
	x.Done, x.Caller, x.Tag = p.session.done, p, p.tag
	p.x = x
	var err error
	switch q := p.st.query; {
	case rights != nil:
		return rights
	case p.st.do != nil:
		err = p.st.do(x)
		p.tag, p.done = x.Tag, true
	case q == nil: // an empty text
		p.done = true
	case p.IDs():
		p.ids, err = q.IDs(x)
	default:
		p.rows, err = q.Open(x)
	}
	return err
}

// Next returns the next row, io.EOF after the last. The row and its memory are
// valid until the next call. A statement without rows runs in the first call, which
// returns io.EOF.
func (p *Portal) Next(ctx context.Context) ([]datum.Value, error) {
	if p.buffer {
		return p.nextBuffered(ctx)
	}
	if p.started && !p.done && p.rowLimit >= 0 && int64(p.position) >= p.rowLimit {
		return nil, p.failed(io.EOF)
	}
	if !p.started && p.session.selectLimit(p.st) == 0 { // nothing runs, as with LIMIT 0
		p.started, p.done = true, true
		return nil, io.EOF
	}
	row, err := p.pull(ctx)
	if err == nil {
		p.position++
	}
	return row, err
}

// ready begins the execution at the first call. It returns io.EOF after the last row.
func (p *Portal) ready(ctx context.Context) error {
	if !p.started && !p.done {
		if err := p.start(ctx); err != nil {
			return p.failed(err)
		}
	}
	if p.done {
		return io.EOF
	}
	p.x.Ctx = ctx
	return nil
}

// pull reads a row from the plan.
func (p *Portal) pull(ctx context.Context) ([]datum.Value, error) {
	if err := p.ready(ctx); err != nil {
		return nil, err
	}
	if p.ids != nil {
		r, err := p.ids.Next(p.x, 1)
		if err != nil {
			return nil, p.failed(err)
		}
		return append(p.x.IDRow[:0], datum.MakeInt8(r.First)), nil
	}
	row, err := p.rows.Next(p.x)
	if err != nil {
		return nil, p.failed(err)
	}
	return row, nil
}

// failed ends the portal and returns the client's error. It returns io.EOF
// unchanged.
func (p *Portal) failed(err error) error {
	p.finish()
	if errors.Is(err, io.EOF) {
		return io.EOF
	}
	err = clientError(p.x.Ctx, err)
	p.session.noteError(err)
	return err
}

// finish ends the execution: it releases the CPU slot and closes the query. Buffered
// rows stay, and their memory stays counted.
func (p *Portal) finish() {
	p.session.cpu.Release()
	if p.x != nil {
		p.session.done = p.x.Done
	}
	p.done = true
	p.closeRows()
	if p.x != nil && !p.buffer {
		p.x.Release()
	}
}

// IDs reports whether the result is one bigint column of ids that NextIDs
// can return as runs.
func (p *Portal) IDs() bool {
	return !p.buffer && p.st.query != nil && p.st.query.IDs != nil && p.session.selectLimit(p.st) < 0
}

// NextIDs returns up to max rows of an IDs portal as one run, io.EOF after
// the last.
func (p *Portal) NextIDs(ctx context.Context, max int64) (generator.Range, error) {
	if err := p.ready(ctx); err != nil {
		return generator.Range{}, err
	}
	r, err := p.ids.Next(p.x, max)
	if err != nil {
		return r, p.failed(err)
	}
	p.position += int(r.Count)
	return r, nil
}

// Sent counts n sent bytes as work. A statement that sends much shares the
// processors with others (see engine.CPUSlots).
func (p *Portal) Sent(n int) error {
	if p.done || p.x == nil {
		return nil
	}
	if err := p.x.Work(n); err != nil {
		return p.failed(err)
	}
	return nil
}

// Encode counts the memory of a row that is encoded for the client.
func (p *Portal) Encode(row []datum.Value) error {
	if p.x == nil {
		return nil
	}
	if err := p.x.Encode(row); err != nil {
		return p.failed(err)
	}
	return nil
}

// AppendTag appends the command tag after io.EOF or a row limit. rows is the number
// of rows that this execution sent.
func (p *Portal) AppendTag(dst []byte, rows int64) []byte {
	switch p.tag {
	case "SELECT", "FETCH", "COPY", "MOVE":
		if p.tag == "MOVE" {
			rows = p.x.Moved
		}
		dst = append(dst, p.tag...)
		dst = append(dst, ' ')
		return strconv.AppendInt(dst, rows, 10)
	}
	return append(dst, p.tag...)
}

// Copy returns the encoder for COPY … TO STDOUT, nil for other statements.
func (p *Portal) Copy() *CopyOut { return p.st.copy }

// closeRows closes the query. Ids that were not read go back to the generator where
// possible.
func (p *Portal) closeRows() {
	p.catalogs = pgcatalog.Cache{}
	if p.rows != nil {
		p.rows.Close()
		p.rows = nil
	}
	if p.ids != nil {
		p.ids.Close()
		p.ids = nil
	}
}

// Close ends the portal and returns its memory to the session's account. The session
// still lists the portal; see dropPortal.
func (p *Portal) Close() {
	p.closeRows()
	p.done = true
	p.buffered, p.params = nil, nil
	if p.x != nil {
		p.x.Release()
	}
	if p.bytes > 0 || p.memory > 0 {
		p.session.release(p.bytes, p.memory)
		p.bytes, p.memory = 0, 0
	}
	if p.spare {
		p.recycle()
		*p = Portal{}
		sparePortals.Put(p)
	}
}

// recycle frees the execution of a closed portal for reuse. A statement such as
// COMMIT may close its own portal while it still runs. So recycle is called only
// when the statement has ended.
func (p *Portal) recycle() {
	if p.x != nil {
		p.x.Recycle()
		p.x = nil
	}
}
