package sqlite

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/pressly/goose/v3"

	"nextid/generator"
	"nextid/migrations"
)

// TestStoreOfFormat1 opens a store without a binding, which is then bound to its
// place.
func TestStoreOfFormat1(t *testing.T) {
	dir := t.TempDir()
	open := func(dir string) (generator.Store, error) { return Open(t.Context(), Config{Dir: dir}) }
	s, err := open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Reserve(t.Context(), generator.Reservation{Key: "k", N: 100, Limit: generator.NoLimit}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	older(t, filepath.Join(dir, DefaultFile))

	if s, err = open(dir); err != nil {
		t.Fatal(err)
	}
	if lo, _, err := s.Reserve(t.Context(), generator.Reservation{Key: "k", N: 1, Limit: generator.NoLimit}); lo != 100 || err != nil {
		t.Errorf("it stands at %d, %v; want 100", lo, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	db := connect(filepath.Join(dir, DefaultFile))
	defer db.Close()
	q := &session{db: db}
	if err := q.prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	m, err := q.meta()
	here := binding{}
	if err == nil {
		here = bindingOf(t, dir)
	}
	if err != nil || m.binding != here || m.birth == "" || m.seenAt == 0 {
		t.Errorf("bound to %+v at %d, %v; it is at %+v", m.binding, m.seenAt, err, here)
	}
}

// older turns a file into a store of format 1.
func older(t *testing.T, file string) {
	t.Helper()
	db := connect(file)
	defer db.Close()
	provider, err := migrations.Provider(goose.DialectSQLite3, db, migrations.Files, sqliteMigrations, migrations.VersionTable)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := provider.DownTo(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	if v, err := get[int64](t.Context(), db, userVersion); v != 1 || err != nil {
		t.Fatalf("format %d, %v", v, err)
	}
}

// bindingOf returns the binding that a store in dir should have.
func bindingOf(t *testing.T, dir string) binding {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	d := &directory{path: dir, abs: dir, file: DefaultFile, root: root}
	if d.fs, err = filesystemOf(dir); err != nil {
		t.Fatal(err)
	}
	if err := d.adoptFile(); err != nil {
		t.Fatal(err)
	}
	b, err := d.here()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// clock is a generator.Clock that a test moves.
type clock struct {
	wall time.Time
	mono time.Duration
}

func (c *clock) Wall() int64              { return c.wall.UnixNano() }
func (c *clock) Monotonic() time.Duration { return c.mono }

func (c *clock) pass(d time.Duration) { c.wall, c.mono = c.wall.Add(d), c.mono+d }

func TestClockFarAheadIsRefusedUntilAccepted(t *testing.T) {
	const year = 365 * 24 * time.Hour
	c := &clock{wall: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	cfg := Config{Dir: t.TempDir(), Clock: c, ClockJump: 30 * 24 * time.Hour}
	use := func(ctx context.Context, reserve bool) error {
		s, err := Open(ctx, cfg)
		if err != nil {
			return err
		}
		if reserve {
			if _, _, err := s.Reserve(ctx, generator.Reservation{Key: "k", N: 1, Limit: generator.NoLimit}); err != nil {
				t.Error(err)
			}
		}
		return s.Close()
	}
	for _, step := range []struct {
		name    string
		change  func()
		refused bool
	}{
		{"a new store", func() {}, false},
		{"off for four weeks", func() { c.pass(28 * 24 * time.Hour) }, false},
		{"off for two months, or so it seems", func() { c.pass(60 * 24 * time.Hour) }, true},
		{"the clock is right again", func() { c.pass(-60 * 24 * time.Hour) }, false},
		{"60 years ahead", func() { c.pass(60 * year) }, true},
		{"still", func() {}, true},
		{"it is true", func() { cfg.AcceptClock = true }, false},
		{"and known then", func() { cfg.AcceptClock = false }, false},
		{"any clock is right", func() { c.pass(10 * year); cfg.ClockJump = 0 }, false},
		{"set back", func() { c.pass(-50 * year); cfg.ClockJump = time.Hour }, false},
	} {
		step.change()
		err := use(t.Context(), true)
		var e *generator.Error
		if (err != nil) != step.refused || err != nil && (!errors.As(err, &e) || e.Hint == "" || !errors.Is(err, generator.ErrNotNow)) {
			t.Errorf("%s: %v", step.name, err)
		}
	}
}

// TestClockThatJumpsWhileTheStoreIsOpen checks that the stored time does not follow
// the jump.
func TestClockThatJumpsWhileTheStoreIsOpen(t *testing.T) {
	c := &clock{wall: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	cfg := Config{Clock: c, ClockJump: time.Hour}
	var s seen
	start := s.now(cfg)
	for _, step := range []struct {
		change func()
		want   time.Duration
	}{
		{func() { c.pass(time.Minute) }, time.Minute},
		{func() { c.wall = c.wall.Add(30 * time.Minute) }, 31 * time.Minute},  // corrected ahead
		{func() { c.wall = c.wall.Add(-30 * time.Minute) }, 31 * time.Minute}, // set back
		{func() { c.pass(time.Minute) }, 32 * time.Minute},
		{func() { c.wall = c.wall.Add(1000 * time.Hour) }, 32 * time.Minute},
		{func() { c.pass(time.Minute) }, 33 * time.Minute},
		{func() { c.wall = c.wall.Add(-1000 * time.Hour); c.pass(time.Hour) }, 93 * time.Minute},
	} {
		step.change()
		if got := time.Duration(s.now(cfg)-start) * time.Millisecond; got != step.want {
			t.Errorf("%v after the start, want %v", got, step.want)
		}
	}
}
