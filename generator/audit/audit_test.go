package audit

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

func open(t *testing.T, change func(*Config)) *Trail {
	t.Helper()
	cfg := Config{
		File: filepath.Join(t.TempDir(), "audit.jsonl"), Sample: 1, MaxSize: 1 << 30, Keep: 3, Queue: 10_000,
	}
	change(&cfg)
	trail, err := Open(cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return trail
}

func lines(t *testing.T, file string) []Entry {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []Entry
	for s := bufio.NewScanner(f); s.Scan(); {
		var e Entry
		if err := json.Unmarshal(s.Bytes(), &e); err != nil {
			t.Fatalf("%s: %v", s.Bytes(), err)
		}
		all = append(all, e)
	}
	return all
}

func TestEveryIDIsALine(t *testing.T) {
	trail := open(t, func(*Config) {})
	at := time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)
	for i := range int64(1000) {
		if trail.Sampled() {
			trail.Record(Entry{Time: at, ID: strconv.FormatInt(1541815603606036480+i, 10), Agent: "web", User: "ada", Client: "127.0.0.1:9"})
		}
	}
	if err := trail.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	all := lines(t, trail.cfg.File)
	if len(all) != 1000 || trail.Stats().Written != 1000 || trail.Stats().Dropped != 0 {
		t.Fatalf("%d lines, %+v", len(all), trail.Stats())
	}
	tags := map[int64]bool{}
	for i, e := range all {
		if e.ID != strconv.FormatInt(1541815603606036480+int64(i), 10) || e.Agent != "web" || e.User != "ada" || !e.Time.Equal(at) || tags[e.Tag] {
			t.Fatalf("line %d is %+v", i, e)
		}
		tags[e.Tag] = true
	}
	raw, _ := os.ReadFile(trail.cfg.File)
	if first, _, _ := strings.Cut(string(raw), "\n"); !strings.Contains(first, `"id":"1541815603606036480"`) {
		t.Errorf("line %s", first)
	}
	trail.Record(Entry{}) // after the end
	if trail.Stats().Dropped != 1 {
		t.Error("an entry after Close is not counted as dropped")
	}
}

func TestASampleIsOneInN(t *testing.T) {
	trail := open(t, func(c *Config) { c.Sample = 100 })
	defer trail.Close(t.Context())
	n := 0
	for range 10_000 {
		if trail.Sampled() {
			n++
		}
	}
	if n != 100 {
		t.Errorf("%d of 10000", n)
	}
}

// A disk that is too slow costs lines, never time.
func TestRecordNeverBlocks(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "fifo")
	trail := &Trail{cfg: Config{File: fifo, Sample: 1, Queue: 10}, queue: make(chan Entry, 10), ctx: t.Context(), done: make(chan struct{})}
	began := time.Now()
	for range 1000 { // without a reader of the queue
		trail.Record(Entry{ID: "1"})
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("took %v", took)
	}
	if s := trail.Stats(); s.Dropped != 990 || s.Queued != 10 {
		t.Errorf("%+v", s)
	}
}

func TestTheFileIsRotatedAndOldOnesAreRemoved(t *testing.T) {
	trail := open(t, func(c *Config) { c.MaxSize = 1000; c.Keep = 2 })
	for i := range int64(100) {
		trail.Record(Entry{ID: strconv.FormatInt(i, 10), Agent: "web"})
	}
	if err := trail.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	last := int64(100)
	for i := range 3 {
		name := rotated(trail, i)
		info, err := os.Stat(name)
		if err != nil || info.Size() > 1000 || info.Size() == 0 {
			t.Fatalf("%s: %v, %v", name, info, err)
		}
		all := lines(t, name)
		if got := all[len(all)-1].ID; got != strconv.FormatInt(last-1, 10) {
			t.Errorf("%s ends with %s, want %d", name, got, last-1)
		}
		last, _ = strconv.ParseInt(all[0].ID, 10, 64)
	}
	if _, err := os.Stat(rotated(trail, 3)); err == nil {
		t.Error("more files than wanted are kept")
	}
	if s := trail.Stats(); s.Written != 100 || s.Rotated < 5 {
		t.Errorf("%+v", s)
	}
}

func TestAFileThatCannotBeOpenedIsAnError(t *testing.T) {
	if _, err := Open(Config{File: filepath.Join(t.TempDir(), "no", "such", "folder"), Queue: 1}, slog.New(slog.DiscardHandler)); err == nil {
		t.Error("opened")
	}
}

// A file that is lost while the server runs is logged, counted and tried
// again; it is there again when its folder is.
func TestALostFileIsOpenedAgain(t *testing.T) {
	var log bytes.Buffer
	trail, err := Open(Config{File: filepath.Join(t.TempDir(), "audit.jsonl"), Sample: 1, MaxSize: 200, Keep: 3, Queue: 100},
		slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Dir(trail.cfg.File)
	moved := dir + "-moved"
	if err := os.Rename(dir, moved); err != nil {
		t.Fatal(err)
	}
	for i := range int64(10) { // rotation finds no folder
		trail.Record(Entry{ID: strconv.FormatInt(i, 10)})
	}
	for range 200 {
		if trail.Stats().Failed > 0 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if trail.Stats().Failed == 0 {
		t.Fatalf("%+v", trail.Stats())
	}
	if err := os.Rename(moved, dir); err != nil {
		t.Fatal(err)
	}
	if err := trail.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(log.String(), "cannot write the audit trail") {
		t.Errorf("log: %s", log.String())
	}
	if s := trail.Stats(); s.Written+s.Failed != 10 || s.Written < 2 {
		t.Errorf("%s", fmt.Sprintf("%+v", s))
	}
}

// TestAFileThatCannotBeOpenedRotatesNothing: lines that are lost because the file cannot be
// opened do not rotate the kept files away, few or many in a flush.
func TestAFileThatCannotBeOpenedRotatesNothing(t *testing.T) {
	for _, perFlush := range []int{5, 100} {
		trail := &Trail{
			cfg: Config{File: filepath.Join(t.TempDir(), "audit"), MaxSize: 2000, Keep: 2},
			log: slog.New(slog.DiscardHandler),
		}
		if err := os.Mkdir(trail.cfg.File, 0o700); err != nil { // can be renamed, but not opened
			t.Fatal(err)
		}
		if err := os.WriteFile(rotated(trail, 1), []byte("kept"), 0o600); err != nil {
			t.Fatal(err)
		}
		for range 20 {
			for range perFlush {
				trail.line(Entry{})
			}
			trail.flush()
		}
		text, err := os.ReadFile(rotated(trail, 1))
		if s := trail.Stats(); err != nil || string(text) != "kept" || s.Rotated != 0 || s.Failed != int64(20*perFlush) {
			t.Errorf("%d lines in a flush: the kept file is %q, %v; %+v", perFlush, text, err, s)
		}
	}
}

// TestHalfALineIsEnded: an entry behind half a line, which a full disk left, is a line
// of its own.
func TestHalfALineIsEnded(t *testing.T) {
	file := filepath.Join(t.TempDir(), "audit")
	if err := os.WriteFile(file, []byte(`{"time":"2026-11`), 0o600); err != nil {
		t.Fatal(err)
	}
	trail := open(t, func(c *Config) { c.File = file })
	trail.Record(Entry{Agent: "whole"})
	if err := trail.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	lines := strings.Split(string(text), "\n")
	if err != nil || len(lines) != 3 || !json.Valid([]byte(lines[1])) || !strings.Contains(lines[1], "whole") {
		t.Errorf("%q, %v", text, err)
	}
}

// TestAuditOnAFullDisk: no draw waits for a full disk, and what was not
// written is counted and said.
func TestAuditOnAFullDisk(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("needs /dev/full")
	}
	few := open(t, func(c *Config) { c.File = "/dev/full" })
	few.Record(Entry{})
	_ = few.Close(t.Context())
	if s := few.Stats(); s.Failed != 1 || s.Written != 0 || s.Bytes != 0 {
		t.Errorf("one line that a full disk refused: %+v", s)
	}
	trail := open(t, func(c *Config) { c.File = "/dev/full" })
	began := time.Now()
	for range 100_000 {
		trail.Record(Entry{})
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("100,000 ids took %v", took)
	}
	if err := trail.Close(t.Context()); err == nil {
		t.Log("the end says nothing of lines that were not written")
	}
	stats := trail.Stats()
	if lost := stats.Failed + stats.Dropped; lost == 0 || stats.LastError == "" || stats.Written+lost != 100_000 {
		t.Errorf("%+v", stats)
	}
}

func rotated(t *Trail, i int) string {
	if i == 0 {
		return t.cfg.File
	}
	return fmt.Sprint(t.cfg.File, ".", i)
}
