package history_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"testing/iotest"

	"nextid/generator"
	"nextid/generator/history"
)

func TestReadLinesReadsAppendLine(t *testing.T) {
	var text []byte
	text = history.AppendLine(text, "orders", run(1, 1, 100))
	text = history.AppendLine(text, "a.b:c-d", run(-5, -3, 7))
	var l history.Log
	if err := l.ReadLines(iotest.OneByteReader(bytes.NewReader(text)), 3); err != nil {
		t.Fatal(err)
	}
	if l.Len() != 107 {
		t.Errorf("Len() = %d, want 107", l.Len())
	}
	if v, _ := l.Max("a.b:c-d"); v != -5 {
		t.Errorf("Max = %d, want -5", v)
	}
	l.Add(event("orders", 4, run(100, 1, 1)))
	if err := l.Check(); !errors.Is(err, history.ErrDuplicate) || !strings.Contains(err.Error(), "client 3") {
		t.Errorf("Check() = %v", err)
	}
}

func TestReadLinesLeavesOutTheLineThatAKillCut(t *testing.T) {
	var l history.Log
	if err := l.ReadLines(strings.NewReader("a\t1\t1\t10\na\t11\t1\t1"), 1); err != nil {
		t.Fatal(err)
	}
	if l.Len() != 10 {
		t.Errorf("Len() = %d, want 10", l.Len())
	}
}

func TestReadLinesRefusesBadLines(t *testing.T) {
	for _, line := range []string{
		"", "a", "a\t1\t1", "a\t1\t1\t1\t1", "\t1\t1\t1", "a\tx\t1\t1", "a\t1\t1\t9223372036854775808", "a\t1\t1\t1\r",
	} {
		var l history.Log
		err := l.ReadLines(strings.NewReader("a\t0\t1\t1\n"+line+"\n"), 1)
		if err == nil || !strings.Contains(err.Error(), "line 2") {
			t.Errorf("%q: %v, want an error that names line 2", line, err)
		}
	}
}

func TestReadLinesReportsABrokenReader(t *testing.T) {
	broken := errors.New("pipe broke")
	var l history.Log
	if err := l.ReadLines(iotest.ErrReader(broken), 1); !errors.Is(err, broken) {
		t.Errorf("ReadLines = %v", err)
	}
}

func FuzzReadLines(f *testing.F) {
	f.Add([]byte("orders\t1\t1\t100\n"))
	f.Add([]byte("a\t-1\t-1\t9223372036854775807\nb\t0\t0\t0\n"))
	f.Add([]byte("a\t1\t1\n\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		var l history.Log
		if err := l.ReadLines(bytes.NewReader(text), 1); err != nil {
			return
		}
		// What was read can be checked, and one that is written again reads
		// as the same number of ids.
		first := l.Check()
		if errors.Is(first, history.ErrMalformed) {
			return
		}
		if v, ok := l.Max("orders"); ok {
			again := history.AppendLine(nil, "orders", generator.Range{First: v, Step: 1, Count: 1})
			if err := l.ReadLines(bytes.NewReader(again), 2); err != nil {
				t.Fatal(err)
			}
			if err := l.Check(); !errors.Is(err, history.ErrDuplicate) {
				t.Fatalf("id %d given again was not found: %v", v, err)
			}
		}
	})
}
