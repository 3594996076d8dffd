package wire

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestPanicsAreLoggedOnceASecondEach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var text bytes.Buffer
		log := slog.New(slog.NewTextHandler(&text, nil))
		var l panicLog
		fall := func(f func()) {
			defer func() { l.note(log, "fell", 1, recover()) }()
			f()
		}
		first := func() { panic("first") }
		second := func() { _ = []int{}[len(text.Bytes())-text.Len()-1:] }
		logged := func(want ...string) {
			t.Helper()
			got := strings.Split(strings.TrimSuffix(text.String(), "\n"), "\n")
			text.Reset()
			if len(got) != len(want) {
				t.Fatalf("%d lines, want %d:\n%s", len(got), len(want), strings.Join(got, "\n"))
			}
			for i := range want {
				if !strings.Contains(got[i], want[i]) || !strings.Contains(got[i], "panic_test.go") {
					t.Errorf("line %d: %s, want %s", i, got[i], want[i])
				}
			}
		}
		for range 1000 {
			fall(first)
			fall(second)
		}
		logged("panic=first skipped=0", "out of range")
		time.Sleep(time.Second) //nolint:forbidigo // synctest's
		fall(first)
		fall(first)
		logged("panic=first skipped=999")
		lines := 0
		l.lines.Range(func(any, any) bool { lines++; return true })
		if lines != 2 {
			t.Errorf("%d places", lines)
		}
	})
}
