package sqlite

import (
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"pgregory.net/rapid"

	"nextid/generator"
	"nextid/migrations"
)

func TestSoundSQLite(t *testing.T) {
	for version, want := range map[string]bool{
		"3.53.4": true, "3.53.0": true, "3.54.0": true, "4.0.0": true, "3.100.1": true,
		"3.51.3": true, "3.51.9": true,
		"3.52.0": false, "3.51.2": false, "3.51.0": false, "3.50.4": false, "3.7.17": false, "2.99.0": false,
		"": false, "three": false,
	} {
		if got := soundSQLite(version); got != want {
			t.Errorf("soundSQLite(%q) = %v", version, got)
		}
	}
}

func TestFormatVersionIsTheNewestMigration(t *testing.T) {
	names, err := fs.Glob(migrations.Files, sqliteMigrations+"/*.sql")
	if err != nil || len(names) == 0 {
		t.Fatalf("%v, %v", names, err)
	}
	newest := names[len(names)-1]
	if !strings.HasPrefix(path.Base(newest), fmt.Sprintf("%05d_", formatVersion)) {
		t.Errorf("formatVersion is %d, the newest migration %s", formatVersion, newest)
	}
	text, err := migrations.Files.ReadFile(newest)
	if err != nil {
		t.Fatal(err)
	}
	if set := fmt.Sprintf("PRAGMA user_version = %d;", formatVersion); !strings.Contains(string(text), set) {
		t.Errorf("%s lacks %q", newest, set)
	}
}

func TestMisplaced(t *testing.T) {
	here := binding{machine: "m", inode: 7}
	for _, c := range []struct {
		name   string
		stored binding
		now    binding
		want   string
	}{
		{"the same place", here, here, ""},
		{"a store that was never bound", binding{}, here, ""},
		{"a copied file", binding{machine: "m", inode: 8}, here, "copy"},
		{"a disk in another machine", binding{machine: "n", inode: 7}, here, "another machine"},
		{"a copy on another machine", binding{machine: "n", inode: 8}, here, "another machine"},
		{"from a machine into a container", here, binding{inode: 7}, ""},
		{"from a container to a machine", binding{inode: 7}, here, ""},
		{"a copy into a container", here, binding{inode: 8}, "copy"},
		{"a file system without lasting inodes", here, binding{machine: "m"}, ""},
	} {
		if got := c.stored.misplaced(c.now); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestCheckPlace(t *testing.T) {
	d := &directory{path: "data", file: DefaultFile}
	here := binding{machine: "m", inode: 7}
	stored := meta{storeID: "one", reservations: 10, binding: here}
	for _, c := range []struct {
		name   string
		stored meta
		seen   fingerprint
		want   string
	}{
		{"what the fingerprint saw", stored, fingerprint{storeID: "one", reservations: 10}, ""},
		{"more than the fingerprint saw", stored, fingerprint{storeID: "one", reservations: 9}, ""},
		{"no fingerprint", stored, fingerprint{}, ""},
		{"less than the fingerprint saw", stored, fingerprint{storeID: "one", reservations: 11}, "10 reservations of 11"},
		{"another store", stored, fingerprint{storeID: "two", reservations: 10}, "another store"},
		{"another machine", meta{storeID: "one", binding: binding{machine: "x"}}, fingerprint{}, "another machine"},
		{"another file", meta{storeID: "one", binding: binding{inode: 8}}, fingerprint{}, "a copy"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := d.checkPlace(c.stored, here, c.seen)
			if (err == nil) != (c.want == "") || (err != nil && !strings.Contains(err.Error(), c.want)) {
				t.Errorf("error is %v, want %q", err, c.want)
			}
			if err != nil && !errors.Is(err, generator.ErrRegressed) {
				t.Errorf("error %v is of another kind", err)
			}
		})
	}
}

func TestDigestHidesTheMachineID(t *testing.T) {
	const id = "3d1219c7c4c5404aaa1f6d2a48adfda4"
	if d := digest(id); len(d) != 32 || d == id || d == digest(id+"x") || d != digest(id) {
		t.Errorf("digest is %q", d)
	}
	if digest("") != "" {
		t.Error("an unknown machine has a digest")
	}
}

func TestRowChecksumIsCRC32C(t *testing.T) {
	for _, c := range []struct {
		values []driver.Value
		want   int64
	}{
		// Reference values of an independent CRC-32C (Python, bit by bit).
		{nil, 0},
		{[]driver.Value{"a"}, 0xee82b4bd},
		{[]driver.Value{int64(1), "name/orders"}, 0xdc72ccc8},
	} {
		if got, err := rowChecksum(c.values); err != nil || got != c.want {
			t.Errorf("rowChecksum(%v) = %#x, %v; want %#x", c.values, got, err, c.want)
		}
	}
	for _, bad := range []driver.Value{nil, 1.5, []byte("x")} {
		if _, err := rowChecksum([]driver.Value{bad}); err == nil {
			t.Errorf("rowChecksum of a %T is no error", bad)
		}
	}
}

// TestRowChecksumTellsRowsApart checks rows whose columns form the same text when
// joined.
func TestRowChecksumTellsRowsApart(t *testing.T) {
	value := rapid.OneOf(
		rapid.Map(rapid.Int64Range(-3, 3), func(v int64) driver.Value { return v }),
		rapid.Map(rapid.StringOfN(rapid.RuneFrom([]rune("ab1\x00")), 0, 3, -1), func(v string) driver.Value { return v }),
	)
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.SliceOfN(value, 0, 4).Draw(t, "a")
		b := rapid.SliceOfN(value, 0, 4).Draw(t, "b")
		sumA, _ := rowChecksum(a)
		sumB, _ := rowChecksum(b)
		if same := fmt.Sprintf("%#v", a) == fmt.Sprintf("%#v", b); same != (sumA == sumB) {
			t.Fatalf("%#v and %#v: same %v, checksums %#x and %#x", a, b, same, sumA, sumB)
		}
	})
}

func TestStoreErrorsByCause(t *testing.T) {
	own := &generator.Error{Kind: generator.ErrUnknown, Message: "mine"}
	db, err := sql.Open("sqlite", filepath.Join(t.TempDir(), "none", "nextid.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, c := range []struct {
		err  error
		kind error
		text string
	}{
		{own, generator.ErrUnknown, "mine"},
		{fmt.Errorf("wrapped: %w", own), generator.ErrUnknown, "mine"},
		{&fs.PathError{Op: "open", Path: "x", Err: syscall.EROFS}, generator.ErrNotNow, "cannot be written"},
		{&fs.PathError{Op: "open", Path: "x", Err: syscall.EACCES}, generator.ErrNotNow, "cannot be written"},
		{&fs.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}, generator.ErrNotNow, "no space left"},
		{db.PingContext(t.Context()), generator.ErrNotNow, "cannot be opened"},
		{syscall.EIO, generator.ErrNotNow, "cannot use the store"},
		{errConnectionLost, generator.ErrNotNow, "cannot use the store"},
	} {
		err = storeError("the path", c.err)
		if !errors.Is(err, c.kind) || !errors.Is(err, c.err) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("storeError(%v) = %v, want kind %v and %q", c.err, err, c.kind, c.text)
		}
	}
	if err = storeError("the path", nil); err != nil {
		t.Errorf("storeError(nil) = %v", err)
	}
}
