package wire

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestPanicsAreLoggedOnceASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var text bytes.Buffer
		s := &Server{Logger: slog.New(slog.NewTextHandler(&text, nil))}
		fall := func(times int, want string) {
			t.Helper()
			text.Reset()
			for range times {
				func() {
					defer func() { s.panicked(&Conn{}, "fell", recover()) }()
					panic("on purpose")
				}()
			}
			got := text.String()
			if strings.Count(got, "\n") != 1 || !strings.Contains(got, want) || !strings.Contains(got, "panic_test.go") {
				t.Errorf("got %q, want one line with %q", got, want)
			}
		}
		fall(1000, "skipped=0")
		time.Sleep(time.Second) //nolint:forbidigo // synctest's
		fall(2, "skipped=999")
	})
}
