package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"nextid/generator"
	"nextid/generator/store/sqlite"
)

// open opens the store of dir, or fails the test.
func open(t *testing.T, dir string) generator.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), sqlite.Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func reserve(t *testing.T, s generator.Store, key string, n int64) (lo, hi int64) {
	t.Helper()
	lo, hi, err := s.Reserve(t.Context(), generator.Reservation{Key: key, N: n, Limit: generator.NoLimit})
	if err != nil {
		t.Fatal(err)
	}
	return lo, hi
}

func mustClose(t *testing.T, s generator.Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// used makes a store in which the key "k" has come to 100, and closes it.
func used(t *testing.T) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "data")
	s := open(t, dir)
	reserve(t, s, "k", 100)
	mustClose(t, s)
	return dir
}

// wantRefused checks that Open fails with an *Error of kind. It must have a hint
// and contain all texts.
func wantRefused(t *testing.T, cfg sqlite.Config, kind error, texts ...string) {
	t.Helper()
	s, err := sqlite.Open(t.Context(), cfg)
	if err == nil {
		s.Close()
		t.Fatal("the store was opened")
	}
	wantError(t, err, kind, texts...)
}

func wantError(t *testing.T, err, kind error, texts ...string) {
	t.Helper()
	var e *generator.Error
	if !errors.As(err, &e) || !errors.Is(err, kind) {
		t.Fatalf("error is %T %v, want a *generator.Error of kind %q", err, err, kind)
	}
	if e.Hint == "" {
		t.Errorf("%q has no hint", err)
	}
	for _, text := range texts {
		if !strings.Contains(err.Error()+"\n"+e.Hint, text) {
			t.Errorf("%q, hint %q, does not say %q", err, e.Hint, text)
		}
	}
}

func TestNewStoreIsPrivate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "data")
	s := open(t, dir)
	reserve(t, s, "k", 1)
	want := map[string]os.FileMode{
		".": 0o700, "nextid.db": 0o600, "nextid.db-journal": 0o600, "nextid.db.lock": 0o600, "nextid.db.id": 0o600,
		"nextid.db.id-1": 0o600,
	}
	for name, mode := range want {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Error(err)
			continue
		}
		if got := info.Mode().Perm(); got != mode {
			t.Errorf("%s has mode %#o, want %#o", name, got, mode)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != len(want)-1 {
		t.Errorf("the directory holds %v, %v", entries, err)
	}
}

func TestNewStoreWantsAnEmptyDirectory(t *testing.T) {
	for _, c := range []struct {
		name    string
		entries []string
		file    string
		refused bool
	}{
		{name: "users, made before the first start", entries: []string{"users"}},
		{name: "files of others", entries: []string{"PG_VERSION", "base"}, refused: true},
		{name: "a journal without its database", entries: []string{"nextid.db-journal"}, refused: true},
		{name: "a new file system", entries: []string{"lost+found"}},
		{name: "what a killed creation leaves", entries: []string{"nextid.db.lock", "nextid.db.new", "nextid.db.new-journal"}},
		{name: "files of others, but the file is named", entries: []string{"README"}, file: "ids.db"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			for _, e := range c.entries {
				if err := os.WriteFile(filepath.Join(dir, e), []byte("x"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			cfg := sqlite.Config{Dir: dir, File: c.file}
			if c.refused {
				wantRefused(t, cfg, generator.ErrNotNow, c.entries[0], "empty directory")
				return
			}
			s, err := sqlite.Open(t.Context(), cfg)
			if err != nil {
				t.Fatal(err)
			}
			reserve(t, s, "k", 1)
			mustClose(t, s)
		})
	}
}

func TestFileMustBeANameInTheDirectory(t *testing.T) {
	wantRefused(t, sqlite.Config{Dir: t.TempDir(), File: "../ids.db"}, generator.ErrNotNow, "../ids.db")
}

func TestDirectoryMustBeADirectory(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	wantRefused(t, sqlite.Config{Dir: file}, generator.ErrNotNow, "not a directory")
}

func TestDirectoryNamesMayHoldAnything(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a b?c#d%20&é=;'\"")
	s := open(t, dir)
	reserve(t, s, "k", 10)
	mustClose(t, s)
	if _, err := os.Stat(filepath.Join(dir, "nextid.db")); err != nil {
		t.Error(err)
	}
	if lo, _ := reserve(t, open(t, dir), "k", 1); lo != 10 {
		t.Errorf("after reopening the key stands at %d, want 10", lo)
	}
}

func TestSecondOpenInThisProcessIsRefused(t *testing.T) {
	dir := used(t)
	first := open(t, dir)
	host, _ := os.Hostname()
	wantRefused(t, sqlite.Config{Dir: dir}, generator.ErrNotNow, "in use", "process "+strconv.Itoa(os.Getpid())+" on "+host)
	if lo, _ := reserve(t, first, "k", 1); lo != 100 {
		t.Errorf("the first store went on at %d, want 100", lo)
	}
	mustClose(t, first)
	if lo, _ := reserve(t, open(t, dir), "k", 1); lo != 101 {
		t.Errorf("after it was closed the second one began at %d, want 101", lo)
	}
}

func TestSecondProcessIsRefused(t *testing.T) {
	dir := used(t)
	holder := hold(t, dir)
	wantRefused(t, sqlite.Config{Dir: dir}, generator.ErrNotNow, "in use", "process "+strconv.Itoa(holder.cmd.Process.Pid))

	if err := os.Remove(filepath.Join(dir, "nextid.db.lock")); err != nil {
		t.Fatal(err)
	}
	wantRefused(t, sqlite.Config{Dir: dir}, generator.ErrNotNow, "in use by another process")

	holder.release(t)
	if lo, _ := reserve(t, open(t, dir), "k", 1); lo != 100 {
		t.Errorf("after it was released the key stands at %d, want 100", lo)
	}
}

func TestKilledProcessHoldsNothing(t *testing.T) {
	dir := used(t)
	hold(t, dir).kill()
	if lo, _ := reserve(t, open(t, dir), "k", 1); lo != 100 {
		t.Errorf("the key stands at %d, want 100", lo)
	}
}

func TestReadOnlyIsRefused(t *testing.T) {
	for _, name := range []string{".", "nextid.db"} {
		t.Run(name, func(t *testing.T) {
			dir := used(t)
			path := filepath.Join(dir, name)
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(path, 0o500); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { os.Chmod(path, info.Mode()) })
			wantRefused(t, sqlite.Config{Dir: dir}, generator.ErrNotNow, "read-only", "chmod")
		})
	}
}

func TestMissingDatabaseIsNotANewStore(t *testing.T) {
	dir := used(t)
	hidden := filepath.Join(t.TempDir(), "hidden")
	file := filepath.Join(dir, "nextid.db")
	if err := os.Rename(file, hidden); err != nil {
		t.Fatal(err)
	}
	cfg := sqlite.Config{Dir: dir}
	wantRefused(t, cfg, generator.ErrRegressed, "nextid.db is missing", "had a store before", "nextid.db.id")
	cfg.Adopt = true
	wantRefused(t, cfg, generator.ErrRegressed, "nextid.db is missing")

	if err := os.Rename(hidden, file); err != nil {
		t.Fatal(err)
	}
	if lo, _ := reserve(t, open(t, dir), "k", 1); lo != 100 {
		t.Errorf("with the file back the key stands at %d, want 100", lo)
	}
}

func TestFingerprintMayBeLostOrDamaged(t *testing.T) {
	for name, spoil := range map[string]func(path string) error{
		"deleted": os.Remove,
		"empty":   func(path string) error { return os.Truncate(path, 0) },
		"garbage": func(path string) error { return os.WriteFile(path, []byte("nextid store \x00\xff"), 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := used(t)
			file := filepath.Join(dir, "nextid.db")
			if err := spoil(file + ".id"); err != nil {
				t.Fatal(err)
			}
			mustClose(t, open(t, dir))
			// The fingerprint was written anew and works again.
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
			wantRefused(t, sqlite.Config{Dir: dir}, generator.ErrRegressed, "missing")
		})
	}
}

func TestRenamedDirectoryIsTheSameStore(t *testing.T) {
	dir := used(t)
	moved := filepath.Join(filepath.Dir(dir), "moved")
	if err := os.Rename(dir, moved); err != nil {
		t.Fatal(err)
	}
	if lo, _ := reserve(t, open(t, moved), "k", 1); lo != 100 {
		t.Errorf("the key stands at %d, want 100", lo)
	}
}

func TestDirectoryMayBeRenamedWhileInUse(t *testing.T) {
	dir := used(t)
	s := open(t, dir)
	moved := filepath.Join(filepath.Dir(dir), "moved")
	if err := os.Rename(dir, moved); err != nil {
		t.Fatal(err)
	}
	reserve(t, s, "k", 10)
	mustClose(t, s)
	if lo, _ := reserve(t, open(t, moved), "k", 1); lo != 110 {
		t.Errorf("the key stands at %d, want 110", lo)
	}
}

func TestDatabaseThatIsReplacedWhileInUseIsNoticed(t *testing.T) {
	dir := used(t)
	file := filepath.Join(dir, "nextid.db")
	s := open(t, dir)
	for name, spoil := range map[string]func() error{
		"deleted":  func() error { return os.Rename(file, file+".was") },
		"replaced": func() error { return errors.Join(os.Rename(file, file+".was"), os.WriteFile(file, []byte("x"), 0o600)) },
	} {
		t.Run(name, func(t *testing.T) {
			if err := spoil(); err != nil {
				t.Fatal(err)
			}
			_, _, err := s.Reserve(t.Context(), generator.Reservation{Key: "k", N: 1, Limit: generator.NoLimit})
			wantError(t, err, generator.ErrRegressed, "removed or replaced")
			if err := os.Rename(file+".was", file); err != nil {
				t.Fatal(err)
			}
			reserve(t, s, "k", 1)
		})
	}
}

// copyFile copies the content, in place if the target exists.
func copyFile(t *testing.T, from, to string) {
	t.Helper()
	text, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// An older copy that is written over the database while the store is open leaves
// the inode the same. SQLite would continue from its page cache and write only
// changed pages. So old and new pages would be mixed, and the next start would not
// detect it.
func TestOlderContentThatIsPutBackWhileInUseIsNoticed(t *testing.T) {
	t.Parallel()
	dir := used(t)
	file := filepath.Join(dir, "nextid.db")
	s := open(t, dir)
	key := func(i int) string { return fmt.Sprintf("name/%s%d", strings.Repeat("long", 20), i) }
	for i := range 200 { // enough for many pages
		reserve(t, s, key(i), 100)
	}
	copyFile(t, file, file+".older")
	for i := range 200 {
		reserve(t, s, key(i), 100)
	}
	now := time.Now()
	if err := os.Chtimes(file, now, now); err != nil { // a new time alone does no harm
		t.Fatal(err)
	}
	reserve(t, s, "k", 1)
	copyFile(t, file+".older", file)
	for range 2 {
		_, _, err := s.Reserve(t.Context(), generator.Reservation{Key: "k", N: 1, Limit: generator.NoLimit})
		wantError(t, err, generator.ErrRegressed, "older")
	}
	if err := s.Close(); err != nil {
		t.Log(err)
	}
	wantRefused(t, sqlite.Config{Dir: dir}, generator.ErrRegressed)
}

func TestCopiedDirectoryIsRefusedUntilAdopted(t *testing.T) {
	dir := used(t)
	second := filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(second, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	cfg := sqlite.Config{Dir: second}
	if !sqlite.InodesLast(dir) {
		t.Skipf("the file system of %s does not keep inode numbers: set TMPDIR to a local disk", dir)
	}
	wantRefused(t, cfg, generator.ErrRegressed, "is a copy: the file that was last used was another one", "--adopt")

	cfg.Adopt = true
	s, err := sqlite.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	mustClose(t, s)
	cfg.Adopt = false // Adopt is needed once only
	if lo, _ := reserve(t, open(t, second), "k", 1); lo != 100 {
		t.Errorf("the adopted copy stands at %d, want 100", lo)
	}
	reserve(t, open(t, dir), "k", 1) // the original is not affected
}

// TestOlderDatabaseIsRefused restores a backup in place, so that neither the inode
// nor the machine changes (fault 9 of the catalogue).
func TestOlderDatabaseIsRefused(t *testing.T) {
	dir := used(t)
	file, backup := filepath.Join(dir, "nextid.db"), filepath.Join(t.TempDir(), "backup")
	copyFile(t, file, backup)
	s := open(t, dir)
	reserve(t, s, "k", 5)
	mustClose(t, s)
	copyFile(t, backup, file)

	cfg := sqlite.Config{Dir: dir}
	wantRefused(t, cfg, generator.ErrRegressed, "1 reservations of 2", "--adopt")
	cfg.Adopt = true
	adopted, err := sqlite.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	mustClose(t, adopted)
	if lo, _ := reserve(t, open(t, dir), "k", 1); lo != 100 {
		t.Errorf("the adopted backup stands at %d, want 100", lo)
	}
}

func TestOpenEndsWithItsContextAndLeavesNoLock(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	dir := t.TempDir()
	if _, err := sqlite.Open(ctx, sqlite.Config{Dir: dir}); !errors.Is(err, context.Canceled) {
		t.Fatalf("error is %v", err)
	}
	reserve(t, open(t, dir), "k", 1)
}
