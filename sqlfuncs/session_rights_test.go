package sqlfuncs_test

import (
	"slices"
	"sync/atomic"
	"testing"

	"nextid/sqlfuncs"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/sqltest"
	"nextid/sqlfuncs/syntax"
)

// rights implements engine.Rights for tests.
type rights struct {
	generation atomic.Uint64 // begins with 1
	admin      bool
	generators []string
	ended      bool
}

func (r *rights) Generation() *atomic.Uint64  { return &r.generation }
func (r *rights) Now() (bool, []string, bool) { return r.admin, r.generators, !r.ended }
func (r *rights) options() sqlfuncs.SessionOptions {
	return sqlfuncs.SessionOptions{User: "tester", Database: "db", Admin: r.admin, Generators: r.generators, Rights: r}
}

// TestRightsReachTheNextStatement checks that a change of rights affects the next
// statement in both dialects, even if the session has prepared or bound it before.
func TestRightsReachTheNextStatement(t *testing.T) {
	for _, dialect := range []syntax.Dialect{syntax.PostgreSQL, syntax.MySQL} {
		server := sqltest.NewServer(t)
		server.Segment(t, "orders")
		r := &rights{admin: true}
		r.generation.Store(1)
		o := r.options()
		o.Dialect = dialect
		s := server.SessionWith(t, o)
		draw, err := s.Prepare("draw", "SELECT next_id('orders')", nil)
		if err != nil {
			t.Fatal(err)
		}
		drop, err := s.Prepare("drop", "SELECT drop_generator('orders')", nil)
		if err != nil {
			t.Fatal(err)
		}
		run := func(st *sqlfuncs.Statement) error {
			p, err := s.Open(st, nil)
			if err != nil {
				return err
			}
			defer p.Close()
			_, err = p.Next(t.Context())
			return err
		}
		if err := run(draw); err != nil {
			t.Fatal(err)
		}
		if _, ok := s.Fast.Execute(draw, nil, 1); !ok {
			t.Errorf("dialect %v: not on the fast path", dialect)
		}
		r.generation.Store(2)
		r.admin, r.generators = false, []string{"others"}
		if _, ok := s.Fast.Execute(draw, nil, 1); ok {
			t.Errorf("dialect %v: the fast path draws with rights of before", dialect)
		}
		sqltest.WantCode(t, "a generator of others", run(draw), sqlstate.InsufficientPrivilege)
		sqltest.WantCode(t, "a function for administrators", run(drop), sqlstate.InsufficientPrivilege)
		r.generation.Store(3)
		r.generators = nil
		if err := run(draw); err != nil {
			t.Errorf("dialect %v: the right is back: %v", dialect, err)
		}
		if allocs := testing.AllocsPerRun(100, func() { s.Fast.Execute(draw, nil, 1) }); allocs != 0 {
			t.Errorf("dialect %v: %v allocations", dialect, allocs)
		}
		r.generation.Store(4)
		r.ended = true
		if _, ok := s.Fast.Execute(draw, nil, 1); ok {
			t.Errorf("dialect %v: the fast path draws for a user who was removed", dialect)
		}
		sqltest.WantCode(t, "a user who was removed", run(draw), sqlstate.AdminShutdown)
		sqltest.WantCode(t, "the second statement of a user who was removed", run(draw), sqlstate.AdminShutdown)
	}
}

// TestRightsOfNewSessions checks that a session begins with the user's present
// rights, so that its first statement takes the fast path.
func TestRightsOfNewSessions(t *testing.T) {
	server := sqltest.NewServer(t)
	server.Segment(t, "orders")
	r := &rights{admin: true}
	r.generation.Store(1)
	opens := server.SessionWith(t, r.options())
	opens.Must(t, "SELECT next_id('orders')")
	r.generation.Store(2)
	r.admin = false
	o := r.options()
	o.Admin = true // as at the login
	s := server.SessionWith(t, o)
	if s.Client().Admin {
		t.Error("the session has rights that were taken away")
	}
	draw, err := s.Prepare("draw", "SELECT next_id('orders')", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := s.Fast.Execute(draw, nil, 1); !ok {
		t.Error("the first statement takes the slow path")
	}
	r.generation.Store(3)
	r.ended = true
	_, err = server.NewSession(r.options())
	sqltest.WantCode(t, "a user who was removed since the login", err, sqlstate.AdminShutdown)
}

// TestIsSuperuserIsReported checks that PostgreSQL's clients are told when
// is_superuser changes, and that a ROLLBACK does not restore it.
func TestIsSuperuserIsReported(t *testing.T) {
	server := sqltest.NewServer(t)
	r := &rights{admin: true}
	r.generation.Store(1)
	s := server.SessionWith(t, r.options())
	s.Want(t, "SHOW is_superuser", "on")
	s.Parameters()
	s.Must(t, "BEGIN")
	r.generation.Store(2)
	r.admin = false
	s.Want(t, "SHOW is_superuser", "off")
	if changed := s.TakeParameters(); !slices.Equal(changed, []sqlfuncs.Parameter{{Name: "is_superuser", Value: "off"}}) {
		t.Errorf("the client is told of %v", changed)
	}
	s.Must(t, "ROLLBACK")
	s.Must(t, "RESET ALL")
	s.Want(t, "SHOW is_superuser", "off")
	s.Want(t, "SELECT rolsuper FROM pg_roles WHERE rolname = 'tester'", "f")
}
