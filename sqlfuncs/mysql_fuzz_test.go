package sqlfuncs_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"nextid/sqlfuncs"
	"nextid/sqlfuncs/syntax"
)

// FuzzMySQLQuery is FuzzQuery for the MySQL dialect.
func FuzzMySQLQuery(f *testing.F) {
	for _, file := range mysqlFiles(f) {
		for _, c := range readSLT(f, file) {
			f.Add(c.sql, "a")
		}
	}
	for _, c := range readCorpus(f) {
		f.Add(c.SQL, "orders")
	}
	f.Fuzz(func(t *testing.T, sql, arg string) {
		server := newServer(t, serverConfig{limits: fuzzLimits})
		server.segment(t, "a")
		s := server.sessionWith(t, sqlfuncs.SessionOptions{Dialect: syntax.MySQL, User: "u", Admin: true, PID: 1})
		ctx, cancel := context.WithTimeout(t.Context(), fuzzTime)
		defer cancel()
		watchdog := time.AfterFunc(5*fuzzTime, func() { panic(fmt.Sprintf("%q with %q does not end", sql, arg)) })
		defer watchdog.Stop()
		for range 2 { // the second time with cached plans
			fuzzSimple(ctx, t, s, sql)
			fuzzPrepared(ctx, t, s, sql, arg)
		}
		s.Reset()
		if s.Status() != 'I' {
			t.Fatalf("status %q", s.Status())
		}
	})
}
