package sqlfuncs_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"testing"
	"time"

	"nextid/sqlfuncs/sqltest"

	"nextid/sqlfuncs"
	"nextid/sqlfuncs/syntax"
)

// FuzzMySQLQuery is FuzzQuery for the MySQL dialect.
func FuzzMySQLQuery(f *testing.F) {
	for _, file := range sqltest.Files(f, "mysql/testdata/*.slt") {
		for _, c := range sqltest.ReadCases(f, file) {
			f.Add(c.SQL, "a")
		}
	}
	corpus, err := os.ReadFile("mysql/testdata/corpus.jsonl")
	if err != nil {
		f.Fatal(err)
	}
	for line := range bytes.Lines(corpus) {
		var sent struct{ SQL string }
		if err := json.Unmarshal(line, &sent); err != nil {
			f.Fatal(err)
		}
		f.Add(sent.SQL, "orders")
	}
	f.Fuzz(func(t *testing.T, sql, arg string) {
		server := sqltest.NewServer(t, sqltest.Config{Limits: fuzzLimits})
		server.Segment(t, "a")
		s := server.SessionWith(t, sqlfuncs.SessionOptions{Dialect: syntax.MySQL, User: "u", Admin: true, PID: 1})
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
