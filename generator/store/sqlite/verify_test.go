package sqlite_test

import (
	"bytes"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nextid/generator"
	"nextid/generator/store/sqlite"
)

// edit runs SQL on a closed store, as another tool would.
func edit(t *testing.T, file string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, s := range statements {
		if _, err := db.ExecContext(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

func TestDatabaseChangedByHandIsRefused(t *testing.T) {
	for _, c := range []struct {
		name string
		sql  []string
		kind error
		text string
	}{
		{
			"a lowered end",
			[]string{`UPDATE nextid_reservations SET lo = 0, hi = 5 WHERE key = 'k'`},
			generator.ErrRegressed, `reservation "k" is damaged, or was changed by hand`,
		},
		{"a renamed key", []string{`UPDATE nextid_reservations SET key = 'K' WHERE key = 'k'`}, generator.ErrRegressed, `"K"`},
		{
			"a deleted key",
			[]string{`DELETE FROM nextid_reservations WHERE key = 'k2'`},
			generator.ErrRegressed, "1 reservations of 3",
		},
		{
			"other options",
			[]string{`UPDATE nextid_generators SET options = '{"bits":1}'`},
			generator.ErrRegressed, `generator "orders"`,
		},
		{"an undone drop", []string{`UPDATE nextid_generators SET dropped = 1`}, generator.ErrRegressed, `generator "orders"`},
		{"a moved binding", []string{`UPDATE nextid_meta SET inode = 0, machine = ''`}, generator.ErrRegressed, "meta"},
		{"no row that says what it is", []string{`DELETE FROM nextid_meta`}, generator.ErrRegressed, "damaged"},
		{"a missing table", []string{`DROP TABLE nextid_generators`}, generator.ErrRegressed, "nextid_generators"},
		{"a newer format", []string{`PRAGMA user_version = 99`}, generator.ErrNotNow, "format 99"},
		{"an older format than it is", []string{`PRAGMA user_version = 0`}, generator.ErrRegressed, "format 0"},
		{"another program's mark", []string{`PRAGMA application_id = 77`}, generator.ErrRegressed, "not a store of nextid"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := used(t)
			s := open(t, dir)
			reserve(t, s, "k2", 1)
			reserve(t, s, "k2", 1)
			if _, _, err := s.Define(t.Context(), generator.Definition{Name: "orders", Kind: "segment", Options: []byte("{}")}); err != nil {
				t.Fatal(err)
			}
			mustClose(t, s)
			edit(t, filepath.Join(dir, "nextid.db"), c.sql...)
			wantRefused(t, sqlite.Config{Dir: dir}, c.kind, c.text)
			// Adopt accepts a place, but never damage.
			wantRefused(t, sqlite.Config{Dir: dir, Adopt: true}, c.kind, c.text)
		})
	}
}

func TestFileThatIsNoStoreIsRefusedAndLeftAlone(t *testing.T) {
	foreign := filepath.Join(t.TempDir(), "foreign.db")
	edit(t, foreign, "PRAGMA journal_mode = WAL", "CREATE TABLE t (a)", "INSERT INTO t VALUES (1)")
	foreignText, err := os.ReadFile(foreign)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, text string
		content    []byte
	}{
		{"an empty file", "is empty", nil},
		{"one byte", "not a store of nextid", []byte("x")},
		{"text", "not a store of nextid", bytes.Repeat([]byte("text\n"), 2000)},
		{"zeros", "nextid", make([]byte, 8192)},
		{"only the magic word", "nextid", append([]byte("SQLite format 3\x00"), make([]byte, 4080)...)},
		{"another SQLite database", "not a store of nextid", foreignText},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, "nextid.db")
			if err := os.WriteFile(file, c.content, 0o600); err != nil {
				t.Fatal(err)
			}
			for _, adopt := range []bool{false, true} {
				wantRefused(t, sqlite.Config{Dir: dir, Adopt: adopt}, generator.ErrRegressed, c.text)
			}
			if now, err := os.ReadFile(file); err != nil || !bytes.Equal(now, c.content) {
				t.Errorf("the file was changed, %v", err)
			}
		})
	}
}

func TestTruncatedDatabaseIsRefused(t *testing.T) {
	dir := used(t)
	file := filepath.Join(dir, "nextid.db")
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for size := len(whole) - 512; size >= 0; size -= 512 {
		if err := os.WriteFile(file, whole[:size], 0o600); err != nil {
			t.Fatal(err)
		}
		wantRefused(t, sqlite.Config{Dir: dir}, generator.ErrRegressed, file)
	}
	if err := os.WriteFile(file, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	if lo, _ := reserve(t, open(t, dir), "k", 1); lo != 100 {
		t.Errorf("the whole file stands at %d, want 100", lo)
	}
}

func TestDatabaseInWALModeIsTakenBack(t *testing.T) {
	dir := used(t)
	edit(t, filepath.Join(dir, "nextid.db"), "PRAGMA journal_mode = WAL")
	s := open(t, dir)
	if lo, _ := reserve(t, s, "k", 1); lo != 100 {
		t.Errorf("the key stands at %d, want 100", lo)
	}
	mustClose(t, s)
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), "-wal") {
			t.Errorf("%s was left behind", e.Name())
		}
	}
}
