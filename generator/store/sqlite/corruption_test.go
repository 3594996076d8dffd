package sqlite_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"nextid/generator"
	"nextid/generator/store/sqlite"
)

const blockBytes = 4096

// snapshot is a closed store of a dozen keys and its content.
type snapshot struct {
	dir       string
	files     map[string][]byte
	older     []byte // the database at an earlier time
	marks     []generator.Mark
	catalogue []generator.Definition
}

func takeSnapshot(t *testing.T) *snapshot {
	t.Helper()
	n := &snapshot{dir: t.TempDir(), files: make(map[string][]byte)}
	for round := range 2 {
		s := open(t, n.dir)
		for i := range 400 {
			reserve(t, s, fmt.Sprintf("name/%d/%040d", i%3, i), int64(100+i))
		}
		for i := range 40 {
			d := generator.Definition{Name: fmt.Sprint("g", i), Kind: "segment", Options: bytes.Repeat([]byte("1"), 50*i)}
			if _, _, err := s.Define(t.Context(), d); err != nil {
				t.Fatal(err)
			}
		}
		var err error
		if n.marks, err = s.Reserved(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
		if n.catalogue, err = s.ListDefined(t.Context()); err != nil {
			t.Fatal(err)
		}
		mustClose(t, s)
		for _, name := range []string{"nextid.db", "nextid.db.id"} {
			text, err := os.ReadFile(filepath.Join(n.dir, name))
			if err != nil {
				t.Fatal(err)
			}
			n.files[name] = text
		}
		if round == 0 {
			n.older = n.files["nextid.db"]
		}
	}
	return n
}

// put writes a database into the directory, in place, with the fingerprint and
// without a journal.
func (n *snapshot) put(t *rapid.T, database []byte) {
	for name, text := range map[string][]byte{"nextid.db": database, "nextid.db.id": n.files["nextid.db.id"]} {
		if err := os.WriteFile(filepath.Join(n.dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(filepath.Join(n.dir, "nextid.db-journal")); err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
}

// damage changes a database as broken disks and operators do.
func damage(t *rapid.T, whole, older []byte) []byte {
	db := slices.Clone(whole)
	block := func(label string) []byte {
		i := rapid.IntRange(0, len(db)/blockBytes-1).Draw(t, label)
		return db[i*blockBytes : (i+1)*blockBytes]
	}
	for range rapid.IntRange(1, 3).Draw(t, "damages") {
		switch rapid.SampledFrom([]string{"flip", "swap", "copy", "zero", "older", "truncate", "tear"}).Draw(t, "kind") {
		case "flip":
			i := rapid.IntRange(0, len(db)*8-1).Draw(t, "bit")
			db[i/8] ^= 1 << (i % 8)
		case "swap":
			a, b := block("a"), block("b")
			saved := slices.Clone(a)
			copy(a, b)
			copy(b, saved)
		case "copy":
			copy(block("to"), block("from"))
		case "zero":
			clear(block("zeroed"))
		case "older":
			i := rapid.IntRange(0, min(len(db), len(older))/blockBytes-1).Draw(t, "older block")
			copy(db[i*blockBytes:], older[i*blockBytes:(i+1)*blockBytes])
		case "tear":
			i := rapid.IntRange(0, min(len(db), len(older))/512-1).Draw(t, "older sector")
			copy(db[i*512:], older[i*512:(i+1)*512])
		case "truncate":
			db = db[:rapid.IntRange(blockBytes, len(db)).Draw(t, "length")/512*512]
		}
		if len(db) < 2*blockBytes {
			break
		}
	}
	return db
}

// TestDamagedDatabaseIsRefusedOrIntact checks that a damaged store is refused with
// a hint, or that no key has gone back.
func TestDamagedDatabaseIsRefusedOrIntact(t *testing.T) {
	t.Parallel()
	n := takeSnapshot(t)
	whole := n.files["nextid.db"]
	opened, refused := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		n.put(t, damage(t, whole, n.older))
		s, err := sqlite.Open(t.Context(), sqlite.Config{Dir: n.dir})
		if err != nil {
			refused++
			var e *generator.Error
			if !errors.As(err, &e) || e.Hint == "" {
				t.Fatalf("refused with %T %v", err, err)
			}
			return
		}
		defer s.Close()
		opened++
		n.wantIntact(t, s)
	})
	t.Logf("%d blocks: refused %d times, opened intact %d times", len(whole)/blockBytes, refused, opened)
	if refused == 0 {
		t.Error("no damage was noticed")
	}
}

// wantIntact checks that no key is missing or lower, and that new reservations
// begin above.
func (n *snapshot) wantIntact(t *rapid.T, s generator.Store) {
	marks, err := s.Reserved(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	if !slices.EqualFunc(marks, n.marks, func(a, b generator.Mark) bool { return a.Key == b.Key && a.Hi == b.Hi }) {
		t.Fatalf("opened with other marks:\n%v\nwant\n%v", marks, n.marks)
	}
	catalogue, err := s.ListDefined(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !slices.EqualFunc(catalogue, n.catalogue, func(a, b generator.Definition) bool {
		return a.Name == b.Name && a.Kind == b.Kind && bytes.Equal(a.Options, b.Options) && a.Version == b.Version
	}) {
		t.Fatal("opened with another catalogue")
	}
	for _, m := range []generator.Mark{n.marks[0], n.marks[len(n.marks)/2], n.marks[len(n.marks)-1]} {
		lo, hi, err := s.Reserve(t.Context(), generator.Reservation{Key: m.Key, N: 7, Limit: generator.NoLimit})
		if err == nil && (lo != m.Hi || hi != m.Hi+7) {
			t.Fatalf("%s went on with [%d, %d), want %d", m.Key, lo, hi, m.Hi)
		}
	}
}
