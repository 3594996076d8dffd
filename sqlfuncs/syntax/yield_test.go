package syntax

import (
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
)

// TestLongTokensYield checks that other goroutines run while a long token, or a long
// comment between two tokens, is read.
func TestLongTokensYield(t *testing.T) {
	const size = 4 << 20
	fill := func(s string) string { return strings.Repeat(s, size/len(s)) }
	for _, c := range []struct {
		name, text string
		dialect    Dialect
	}{
		{"a text", "SELECT '" + fill("x") + "'", PostgreSQL},
		{"a text of quotes", "SELECT '" + fill("''") + "'", PostgreSQL},
		{"escapes", "SELECT E'" + fill(`\n`) + "'", PostgreSQL},
		{"a quoted identifier", `SELECT "` + fill("x") + `"`, PostgreSQL},
		{"an identifier", "SELECT " + fill("X"), PostgreSQL},
		{"a number", "SELECT " + fill("1"), PostgreSQL},
		{"blanks", "SELECT " + fill(" ") + "1", PostgreSQL},
		{"comments", "SELECT " + fill("--\n") + "1", PostgreSQL},
		{"a comment", "SELECT /*" + fill(" *") + "*/ 1", PostgreSQL},
		{"MySQL's text", "SELECT '" + fill("x") + "'", MySQL},
		{"MySQL's escapes", "SELECT '" + fill(`\n`) + "'", MySQL},
		{"MySQL's identifier", "SELECT " + fill("X"), MySQL},
		{"MySQL's variable", "SELECT @" + fill("X"), MySQL},
		{"MySQL's comments", "SELECT " + fill("/**/") + "1", MySQL},
	} {
		t.Run(c.name, func(t *testing.T) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
			var turns atomic.Int64
			done := make(chan struct{})
			go func() {
				for {
					select {
					case <-done:
						return
					default:
						turns.Add(1)
						runtime.Gosched()
					}
				}
			}()
			_, err := Parse(c.text, c.dialect)
			close(done)
			if n := turns.Load(); n < size/yieldBytes/2 {
				t.Errorf("%d turns of another goroutine while %d bytes were read (%v)", n, len(c.text), err)
			}
		})
	}
}
