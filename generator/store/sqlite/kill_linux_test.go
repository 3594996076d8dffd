package sqlite_test

import (
	"bytes"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"nextid/generator"
	"nextid/generator/history"
	"nextid/generator/store/sqlite"
)

const killRounds = 50 / faultStride

// TestKilledProcessNeverForgetsAReservation kills processes while they reserve and
// compares everything that was ever acknowledged.
func TestKilledProcessNeverForgetsAReservation(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	var log history.Log
	hot := 0
	for round := range killRounds {
		acknowledged := killAfter(t, dir, 1+random.Int64N(60), time.Duration(random.Int64N(int64(time.Millisecond))))
		for w, text := range acknowledged {
			if err := readLines(&log, text, round*childWriters+w); err != nil {
				t.Fatal(err)
			}
		}
		if hotJournal(t, dir) {
			hot++
		}
		if err := log.Check(); err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
	}
	t.Logf("%d ids acknowledged, a journal was hot %d times of %d", log.Len(), hot, killRounds)

	s := open(t, dir)
	marks, err := s.Reserved(t.Context(), "")
	if err != nil || len(marks) != 3 {
		t.Fatalf("marks are %+v, %v", marks, err)
	}
	for _, m := range marks {
		if last, _ := log.Max(m.Key); last >= m.Hi {
			t.Errorf("%s: %d was acknowledged, but the store stands at %d", m.Key, last, m.Hi)
		}
	}
}

// killAfter starts a child that reserves, and kills it a moment after it has
// printed some lines. It returns what was acknowledged to each writer.
func killAfter(t *testing.T, dir string, lines int64, moment time.Duration) [childWriters]*bytes.Buffer {
	t.Helper()
	cmd := child(t, "reserve", dir, "")
	cmd.Stderr = os.Stderr
	var readers [childWriters]*os.File
	for w := range readers {
		r, out, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		readers[w] = r
		cmd.ExtraFiles = append(cmd.ExtraFiles, out)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for _, out := range cmd.ExtraFiles {
		out.Close()
	}
	var texts [childWriters]*bytes.Buffer
	var count atomic.Int64
	reached := func() { time.AfterFunc(moment, func() { _ = cmd.Process.Kill() }) }
	var wg sync.WaitGroup
	for w, r := range readers {
		texts[w] = new(bytes.Buffer)
		wg.Go(func() {
			_, _ = io.Copy(&lineCounter{to: texts[w], count: &count, limit: lines, reached: reached}, r)
		})
	}
	wg.Wait()
	_ = cmd.Wait()
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGKILL {
		t.Fatalf("the child ended by itself: %v", cmd.ProcessState)
	}
	return texts
}

// lineCounter calls reached when all counters with the same count have seen limit
// lines together.
type lineCounter struct {
	to      io.Writer
	count   *atomic.Int64
	limit   int64
	reached func()
}

func (c *lineCounter) Write(p []byte) (int, error) {
	n := int64(bytes.Count(p, []byte("\n")))
	if after := c.count.Add(n); after >= c.limit && after-n < c.limit {
		c.reached()
	}
	return c.to.Write(p)
}

// hotJournal reports whether a killed process left a transaction to undo.
func hotJournal(t *testing.T, dir string) bool {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "nextid.db-journal"))
	if os.IsNotExist(err) {
		return false
	}
	if err != nil {
		t.Fatal(err)
	}
	// The header begins with a magic number, zeroed when the transaction ends.
	return len(text) >= 8 && !bytes.Equal(text[:8], make([]byte, 8))
}

// TestKilledCreationLeavesNothingInTheWay kills a process at each system call that
// changes files while it creates a store.
func TestKilledCreationLeavesNothingInTheWay(t *testing.T) {
	t.Parallel()
	for _, call := range []string{"fsync", "renameat", "pwrite64"} {
		for n := 1; ; n += faultStride {
			dir := t.TempDir()
			cmd := traced(t, "persist", dir, "0", call+":signal=SIGKILL:when="+strconv.Itoa(n))
			err := cmd.Run()
			s := open(t, dir)
			if lo, _ := reserve(t, s, "k", 10); lo != 0 {
				t.Errorf("killed at %s %d: the new store begins at %d", call, n, lo)
			}
			mustClose(t, s)
			if err == nil { // there is no n-th call
				t.Logf("killed at each %d. of %d %s calls", faultStride, n-1, call)
				break
			}
		}
	}
}

// TestKilledAtEverySystemCall kills a process at each fsync and write of its
// reservations, and checks the store that the next process opens.
func TestKilledAtEverySystemCall(t *testing.T) {
	t.Parallel()
	for _, call := range []string{"fsync", "pwrite64"} {
		dir := used(t)
		var log history.Log
		log.Add(history.Event{Name: "k", Client: -1, Range: generator.Range{First: 0, Step: 1, Count: 100}})
		hot := 0
		for n := 1; ; n += faultStride {
			var acknowledged, stderr bytes.Buffer
			cmd := traced(t, "persist", dir, "3", call+":signal=SIGKILL:when="+strconv.Itoa(n))
			cmd.Stdout, cmd.Stderr = &acknowledged, &stderr
			err := cmd.Run()
			if readErr := readLines(&log, &acknowledged, n); readErr != nil {
				t.Fatal(readErr)
			}
			if hotJournal(t, dir) {
				hot++
			}
			if checkErr := log.Check(); checkErr != nil {
				t.Fatalf("killed at %s %d: %v", call, n, checkErr)
			}
			if err == nil {
				t.Logf("killed at each %d. of %d %s calls, a journal was hot %d times", faultStride, n-1, call, hot)
				break
			}
		}
		last, _ := log.Max("k")
		if lo, _ := reserve(t, open(t, dir), "k", 1); lo <= last {
			t.Errorf("%d was acknowledged, and the store goes on at %d", last, lo)
		}
		if hot == 0 && faultStride == 1 {
			t.Error("no process was killed within a transaction: the test proves little")
		}
	}
}

// TestLostJournalIsNoticedOrHarmless deletes the journal of a killed process, as
// operators sometimes do.
func TestLostJournalIsNoticedOrHarmless(t *testing.T) {
	t.Parallel()
	refused, hot := 0, 0
	// Which write tears a transaction depends on what is committed together, and on the
	// threads: strace counts the writes of each.
	for i := 0; i < 24 || i < 120 && refused == 0 && faultStride == 1; i += faultStride {
		n := 10 + i%24
		dir := used(t)
		var log history.Log
		log.Add(history.Event{Name: "k", Client: 0, Range: generator.Range{First: 0, Step: 1, Count: 100}})
		var acknowledged bytes.Buffer
		cmd := traced(t, "persist", dir, "3", "pwrite64:signal=SIGKILL:when="+strconv.Itoa(n))
		cmd.Stdout = &acknowledged
		_ = cmd.Run()
		if err := readLines(&log, &acknowledged, 1); err != nil {
			t.Fatal(err)
		}
		if hotJournal(t, dir) {
			hot++
		}
		if err := os.Remove(filepath.Join(dir, "nextid.db-journal")); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		s, err := sqlite.Open(t.Context(), sqlite.Config{Dir: dir})
		if err != nil {
			wantError(t, err, generator.ErrRegressed)
			refused++
			continue
		}
		last, _ := log.Max("k")
		if lo, _ := reserve(t, s, "k", 1); lo <= last {
			t.Errorf("killed at write %d: %d was acknowledged, and the store goes on at %d", n, last, lo)
		}
		mustClose(t, s)
	}
	t.Logf("%d journals were hot, %d stores were refused without them", hot, refused)
	if faultStride == 1 && (hot == 0 || refused == 0) {
		t.Error("no transaction was torn: the test proves little")
	}
}
