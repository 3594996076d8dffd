package sqlite_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"nextid/generator"
	"nextid/generator/history"
	"nextid/generator/store/sqlite"
)

// traced prepares a child under strace. inject is the argument of strace's -e
// inject.
func traced(t *testing.T, mode, dir, arg, inject string) *exec.Cmd {
	t.Helper()
	call, _, _ := strings.Cut(inject, ":")
	return child(t, mode, dir, arg, straceFor(t), "-f", "-o", os.DevNull, "-e", "trace="+call, "-e", "inject="+inject)
}

// straceFor returns the path of strace, or skips the test.
func straceFor(t *testing.T) string {
	t.Helper()
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("strace is not installed: apt install strace")
	}
	if out, err := exec.CommandContext(t.Context(), strace, "-f", "-o", os.DevNull, "true").CombinedOutput(); err != nil {
		t.Skipf("strace is not allowed to trace here: %v %s", err, out)
	}
	return strace
}

// TestDiskErrorGrantsNothing lets single writes and syncs fail while a
// process opens the store and makes four attempts to reserve. strace counts
// the calls of each thread by itself, so one fault can hit more than once. The more
// threads share the calls, as under load, the fewer faults hit at all.
func TestDiskErrorGrantsNothing(t *testing.T) {
	t.Parallel()
	for _, fault := range []string{"fsync:error=EIO:when=%d", "pwrite64:error=EIO:when=%d", "pwrite64:error=ENOSPC:when=%d"} {
		t.Run(fault, func(t *testing.T) {
			dir := used(t)
			opening, attempts := 0, 0
			underFaults(t, dir, 4, fault, 36, func(n, granted int, said string) {
				refused := strings.Count(said, generator.ErrNotNow.Error()+": ")
				switch {
				case !strings.HasPrefix(said, "opened\n"):
					opening++
				case granted != 4-refused:
					t.Errorf("fault %d: %d of 4 attempts succeeded, and the child said\n%s", n, granted, said)
				case refused > 0:
					attempts++
				}
			})
			t.Logf("%d faults hit the opening, %d the reserving", opening, attempts)
			if faultStride == 1 && (opening == 0 || attempts == 0) {
				t.Error("the faults did not hit what they were meant for")
			}
		})
	}
}

// TestLastingDiskErrorGrantsNothing lets every sync fail from some point on.
func TestLastingDiskErrorGrantsNothing(t *testing.T) {
	t.Parallel()
	dir := used(t)
	hopeless := 0
	underFaults(t, dir, 5, "fsync:error=EIO:when=%d+", 24, func(_, granted int, said string) {
		if strings.HasPrefix(said, "opened\n") && granted < 4 && strings.Count(said, "disk I/O error") >= 5-granted {
			hopeless++
		}
	})
	t.Logf("in %d processes the store did not come back", hopeless)
	if faultStride == 1 && hopeless == 0 {
		t.Error("the faults did not hit what they were meant for")
	}
}

// underFaults runs one child under each of several faults. Each child makes some
// attempts to reserve. No number may be granted twice.
func underFaults(t *testing.T, dir string, attempts int, fault string, faults int,
	each func(n, granted int, said string),
) {
	t.Helper()
	var log history.Log
	log.Add(history.Event{Name: "k", Client: 0, Range: generator.Range{First: 0, Step: 1, Count: 100}})
	for n := 1; n <= faults; n += faultStride {
		var acknowledged, stderr bytes.Buffer
		cmd := traced(t, "persist", dir, strconv.Itoa(attempts), fmt.Sprintf(fault, n))
		cmd.Stdout, cmd.Stderr = &acknowledged, &stderr
		_ = cmd.Run() // closing may fail, too
		granted := bytes.Count(acknowledged.Bytes(), []byte("\n"))
		if err := readLines(&log, &acknowledged, n); err != nil {
			t.Fatal(err)
		}
		if err := log.Check(); err != nil {
			t.Fatalf("fault %d: %v", n, err)
		}
		each(n, granted, stderr.String())
	}
	last, _ := log.Max("k")
	if lo, _ := reserve(t, open(t, dir), "k", 1); lo <= last {
		t.Errorf("%d was acknowledged, and the store goes on at %d", last, lo)
	}
}

// TestEveryReservationIsSynced counts the fsync calls of one reservation: the
// journal twice, the database, and the end of the journal.
func TestEveryReservationIsSynced(t *testing.T) {
	dir := used(t)
	syncs := func(reservations int) int {
		record := filepath.Join(t.TempDir(), "strace")
		cmd := child(t, "persist", dir, strconv.Itoa(reservations), straceFor(t), "-f", "-o", record,
			"-e", "trace=fsync,fdatasync")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		text, err := os.ReadFile(record)
		if err != nil {
			t.Fatal(err)
		}
		return bytes.Count(text, []byte("sync("))
	}
	if got := syncs(12) - syncs(2); got != 40 {
		t.Errorf("10 reservations made %d syncs, want 40", got)
	}
}

// smallDisk mounts a file system of the given size.
func smallDisk(t *testing.T, size string) (dir string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("mounting a small file system needs root")
	}
	dir = t.TempDir()
	if err := syscall.Mount("nextid-test", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Skipf("mounting a small file system is not allowed here: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Errorf("unmount %s: %v", dir, err)
		}
	})
	return dir
}

func TestFullDiskGrantsNothingAndRecovers(t *testing.T) {
	dir := smallDisk(t, "64k")
	ballast := filepath.Join(dir, "ballast")
	s, err := sqlite.Open(t.Context(), sqlite.Config{Dir: dir, File: "ids.db"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	reserve(t, s, "k0", 10)
	fill(t, ballast)

	// New keys need new pages of the file in the end.
	var full error
	granted := 0
	for i := 1; full == nil && i < 5000; i++ {
		_, _, full = s.Reserve(t.Context(), generator.Reservation{Key: "k" + strconv.Itoa(i), N: 10, Limit: generator.NoLimit})
		if full == nil {
			granted++
		}
	}
	wantError(t, full, generator.ErrNotNow, "no space left", "Free some space")
	for range 3 {
		_, _, err := s.Reserve(t.Context(), generator.Reservation{Key: "another key", N: 10, Limit: generator.NoLimit})
		if !errors.Is(err, generator.ErrNotNow) {
			t.Fatalf("on a full disk: %v", err)
		}
	}

	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	if lo, _ := reserve(t, s, "k0", 1); lo != 10 {
		t.Errorf("with space again the key goes on at %d, want 10", lo)
	}
	marks, err := s.Reserved(t.Context(), "")
	if err != nil || len(marks) != granted+1 {
		t.Errorf("%d keys, %v; %d were granted", len(marks), err, granted+1)
	}
}

// fill writes a file until the disk is full.
func fill(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for err == nil {
		_, err = f.Write(make([]byte, 1024))
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
}

func TestNoSpaceForANewStore(t *testing.T) {
	t.Parallel() // goose tries again for three seconds
	dir := smallDisk(t, "16k")
	wantRefused(t, sqlite.Config{Dir: dir}, generator.ErrNotNow, "no space left")
}

func TestReadOnlyFileSystemIsRefused(t *testing.T) {
	dir := smallDisk(t, "256k")
	s, err := sqlite.Open(t.Context(), sqlite.Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	reserve(t, s, "k", 10)
	mustClose(t, s)
	remount := func(flags uintptr) {
		if err := syscall.Mount("nextid-test", dir, "tmpfs", syscall.MS_REMOUNT|flags, "size=256k"); err != nil {
			t.Fatal(err)
		}
	}
	remount(syscall.MS_RDONLY)
	wantRefused(t, sqlite.Config{Dir: dir}, generator.ErrNotNow, "cannot be written")
	remount(0)
	if lo, _ := reserve(t, open(t, dir), "k", 1); lo != 10 {
		t.Errorf("the key stands at %d, want 10", lo)
	}
}
