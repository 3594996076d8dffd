package shards_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"
	"time"

	"nextid/dbtest"
	"nextid/migrations/appdb"
	"nextid/migrations/shards"
)

// testInterrupted cuts reshard's connections after random numbers of bytes of
// answers, stride bytes apart on average. Meanwhile the shards draw ids. The next
// run completes the work.
func testInterrupted(t *testing.T, f *fleet, stride int64, least int) {
	through, cut := cutting(t, f.dsns)
	failures := 0
	for after := rand.Int64N(stride); ; after += stride/2 + rand.Int64N(stride) {
		t.Logf("cut after %d bytes", after)
		cut(after)
		f.exec(0, fmt.Sprintf("INSERT INTO orders VALUES (%d, 'above the fourth shard')", 1000*(failures+1)))
		f.up(3)
		allDraw := func(n int) {
			for i := range n {
				f.ids(i, 7)
			}
		}
		allDraw(3)
		err := shards.Reshard(t.Context(), through[:3], through[3], f.options())
		allDraw(3)
		if err != nil {
			failures++
			finish(t, f)
		}
		allDraw(4)
		allDraw(4)
		f.sound(4)
		f.check(7 * 14)
		f.down(4)
		if err == nil {
			break
		}
	}
	if failures < least {
		t.Errorf("only %d runs were interrupted", failures)
	}
	t.Logf("%d runs were interrupted", failures)
}

// cutting returns URLs by way of proxies. cut makes these cut each connection after a
// number of bytes of answers.
func cutting(t *testing.T, dsns []string) (through []string, cut func(after int64)) {
	t.Helper()
	proxies := map[string]*dbtest.Proxy{}
	for _, dsn := range dsns {
		u, err := url.Parse(dsn)
		if err != nil {
			t.Fatal(err)
		}
		if proxies[u.Host] == nil {
			proxies[u.Host] = dbtest.Cut(t, u.Host)
		}
		through = append(through, strings.Replace(dsn, u.Host, proxies[u.Host].Addr, 1))
	}
	return through, func(after int64) {
		for _, proxy := range proxies {
			proxy.After(after)
		}
	}
}

// testNoted: a run was killed after it had written the donor's note, and before it
// had applied the note. The next run completes it. A note from a backup that is older
// than reshard is not obeyed. A shard that left such a set gets free numbers.
func testNoted(t *testing.T, f *fleet, older string) {
	f.up(3)
	for i := range 3 {
		f.ids(i, 7)
	}
	f.exec(0, "UPDATE nextid_shard SET increment = 6")
	if err := shards.Reshard(t.Context(), f.dsns[:3], f.dsns[3], f.options()); err != nil {
		t.Fatal(err)
	}
	for i := range 4 {
		f.ids(i, 7)
	}
	f.exec(0, "UPDATE nextid_shard SET increment = 3")
	for range 2 {
		fails(t, shards.Up(t.Context(), f.dsns[:4], f.options()), "has the note of 1, 4, 7, …")
	}
	f.exec(0, older) // the whole shard is from the backup, and reshard did not end
	f.everywhere("UPDATE nextid_shard SET members = 3 WHERE number < 4")
	fails(t, shards.Reshard(t.Context(), f.dsns[:3], f.dsns[3], f.options()), "has the note of 1, 4, 7, …")
	f.everywhere("UPDATE nextid_shard SET members = 4")
	f.exec(0, "UPDATE nextid_shard SET increment = 6")
	f.up(4)
	f.sound(4)
	// A shard from a backup older than reshard leaves the set alone, as the hint says,
	// and returns.
	f.exec(1, "UPDATE nextid_shard SET members = 3")
	err := shards.Up(t.Context(), f.dsns, f.options())
	if fails(t, err, "is one of 3 shards, and 4 are given"); !strings.Contains(appdb.HintOf(err), "run nextid migrate shards down for it alone") {
		t.Errorf("hint %q", appdb.HintOf(err))
	}
	if err := shards.Down(t.Context(), f.dsns[1:2], f.options()); err != nil {
		t.Fatal(err)
	}
	f.up(4)
	f.sound(4)
	for i := range 4 {
		f.ids(i, 7)
	}
	f.check(11 * 7)
	f.down(4)
}

// finish follows the hints of errors until reshard has added the fourth shard.
func finish(t *testing.T, f *fleet) {
	t.Helper()
	deadline := time.After(time.Minute)
	for {
		err := shards.Reshard(t.Context(), f.dsns[:3], f.dsns[3], f.options())
		if err == nil {
			return
		}
		e, ok := errors.AsType[*shards.Error](err)
		switch {
		case ok && strings.Contains(e.Hint, "run nextid migrate shards up again"):
			f.up(3)
		case ok && strings.Contains(e.What, "another migrate shards is at work"): // the server has not noticed yet
			select {
			case <-time.After(100 * time.Millisecond):
			case <-deadline:
				t.Fatal(err)
			}
		default:
			t.Fatalf("%v\n%s", err, &f.out)
		}
	}
}
