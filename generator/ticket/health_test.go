package ticket

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"nextid/generator/generatortest"
)

// A database that goes down is logged once, not at every draw. One that often
// changes is logged every 10 s. The last line is true.
func TestChangesOfADatabaseAreLogged(t *testing.T) {
	var log bytes.Buffer
	clock := generatortest.NewClock(time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC))
	s := &source{
		name: "photos", changed: make(chan struct{}),
		cfg: Config{Runtime: clock, Logger: slog.New(slog.NewTextHandler(&log, nil))},
	}
	for _, url := range []string{"mysql://tickets@a/flickr", "postgres://tickets:secret@b/flickr?password=secret"} {
		l, err := ParseLocation(url)
		if err != nil {
			t.Fatal(err)
		}
		s.databases = append(s.databases, &database{location: l})
	}
	down := errors.New("connection refused\n\tconnection refused") // pgx has a line for each address
	a, b := s.databases[0], s.databases[1]
	expect := func(what string, lines ...string) {
		t.Helper()
		got := strings.Split(strings.TrimSuffix(log.String(), "\n"), "\n")
		log.Reset()
		if len(lines) == 0 && got[0] == "" {
			return
		}
		if len(got) != len(lines) {
			t.Fatalf("%s: the log has\n%s\nwant %d lines", what, strings.Join(got, "\n"), len(lines))
		}
		for i, want := range lines {
			if !strings.Contains(got[i], want) || strings.Contains(got[i], "secret") {
				t.Errorf("%s: the log has\n%s\nwant %s", what, got[i], want)
			}
		}
	}
	s.set(a, nil)
	expect("a start")
	s.set(b, down)
	expect("one that is down at the start", `"a ticket database is down; numbers come from the others" generator=photos database=postgres://tickets:xxxxx@b/flickr`)
	for range 50 {
		clock.Advance(5 * time.Second)
		s.set(b, down)
		s.answered(a)
	}
	expect("it stays down")
	since := (&Generator{source: s}).Details().Rows[1].Value("since").(time.Time)
	if got := (&Generator{source: s}).Details().Rows[1].Value("error"); got != "connection refused" {
		t.Errorf("the error is %q", got)
	}
	for range 7 { // it comes and goes
		clock.Advance(time.Second)
		s.set(b, nil)
		clock.Advance(time.Second)
		s.set(b, down)
	}
	clock.Advance(time.Second)
	s.set(b, nil)
	expect("it comes and goes", "is back", "is down; numbers come from the others")
	st := (&Generator{source: s}).Details().Rows
	if st[1].Value("up") != true || st[0].Value("up") != true || st[1].Value("errors") != int64(58) || st[0].Value("draws") != int64(50) ||
		!st[1].Value("since").(time.Time).After(since) || st[1].Value("error") != nil {
		t.Errorf("%+v", st)
	}
	clock.Advance(10 * time.Second)
	s.answered(a)
	expect("later", "is back")
	(&Generator{source: s}).Details()
	expect("at the end")
}
