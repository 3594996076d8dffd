package shared

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"nextid/generator"
	"nextid/generator/generatortest"
)

// cluster is a database that can lose its newest commits, and what its servers
// share: a start at which all clocks are right, and a slice of 50 s.
type cluster struct {
	t     *testing.T
	d     *database
	clock *generatortest.Clock   // the database's
	all   []*generatortest.Clock // the first is right
	log   bytes.Buffer           // of the servers, which run one at a time
}

const (
	testSlice = 50 * time.Second
	testWait  = time.Minute
)

var testStart = time.UnixMilli(1_700_000_000_000)

func newCluster(t *testing.T) *cluster {
	c := &cluster{t: t, d: newDatabase(), clock: generatortest.NewClock(testStart)}
	c.d.clock, c.all = c.clock, append(c.all, generatortest.NewClock(testStart), c.clock)
	return c
}

// server starts a server whose clock is wrong by so much.
func (c *cluster) server(wrong time.Duration) (*Store, *generatortest.Clock) {
	clock := generatortest.NewClock(c.all[0].Time().Add(wrong))
	c.all = append(c.all, clock)
	return newStore(c.t, c.d, Config{Clock: clock, Wait: testWait, Logger: slog.New(slog.NewTextHandler(&c.log, nil))}), clock
}

// pass lets time pass for everybody.
func (c *cluster) pass(d time.Duration) {
	for _, clock := range c.all {
		clock.Advance(d)
	}
}

// lose is a failover after which the database does not know what do did.
func (c *cluster) lose(name string, do func()) {
	values, entries := c.d.copied()
	do()
	c.d.restore(values, entries, name)
}

// claim reserves a slice as a worker pool does: from the time that the store
// grants, or the server's own if that is later.
func claim(t *testing.T, s *Store, id int) (lo, hi int64, err error) {
	t.Helper()
	now := s.now()
	earliest, err := s.EarliestTime(t.Context(), now)
	if err != nil {
		return 0, 0, err
	}
	return s.Reserve(t.Context(), generator.Reservation{
		Key: fmt.Sprint(generator.WorkerKeyPrefix, "10/", id), AtLeast: max(now, earliest),
		N: testSlice.Milliseconds(), Limit: generator.NoLimit,
	})
}

func mustClaim(t *testing.T, s *Store, id int) (lo, hi int64) {
	t.Helper()
	lo, hi, err := claim(t, s, id)
	if err != nil {
		t.Fatal(err)
	}
	return lo, hi
}

func wantWait(t *testing.T, s *Store, id int) {
	t.Helper()
	if lo, hi, err := claim(t, s, id); !errors.Is(err, generator.ErrNotNow) {
		t.Fatalf("claimed [%d, %d), %v: a slice that was lost may last", lo, hi, err)
	}
}

// One wall clock is wrong, in either direction: that of the server which meets
// the new epoch first, of the one that claims then, or of the new primary. The
// slice that was lost is granted to no other server, and ids come again after
// Config.Wait.
func TestOneWrongClockAfterALossyFailover(t *testing.T) {
	t.Parallel()
	for _, by := range []time.Duration{-24 * time.Hour, -51 * time.Minute, -85 * time.Second, -11 * time.Second, 11 * time.Second, 51 * time.Minute, 24 * time.Hour} {
		for _, whose := range []string{"first to meet", "claimer", "primary"} {
			t.Run(fmt.Sprintf("%s %v", whose, by), func(t *testing.T) {
				t.Parallel()
				c := newCluster(t)
				holder, _ := c.server(0)
				first, firstClock := c.server(0)
				mustClaim(t, holder, 0)
				var lost int64
				c.lose("two", func() { _, lost = mustClaim(t, holder, 1) })
				behind := time.Duration(0)
				switch whose {
				case "first to meet":
					firstClock.Step(by)
				case "claimer":
					behind = by
				case "primary":
					c.clock.Step(by)
				}
				wantWait(t, first, 2)
				claimer, _ := c.server(behind)
				wantWait(t, claimer, 1)
				c.pass(testWait - time.Second)
				wantWait(t, claimer, 1)
				c.pass(2 * time.Second)
				if lo, _ := mustClaim(t, claimer, 1); lo < lost {
					t.Errorf("granted from %d, %d ms before the end of the slice that was lost", lo, lost-lo)
				}
				mustClaim(t, first, 2)
			})
		}
	}
}

// A server that runs makes the store know its slices again when it meets the
// new epoch, however far ahead its clock is.
func TestARunningServerRaisesItsRows(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	holder, _ := c.server(time.Hour)
	other, _ := c.server(0)
	mustClaim(t, holder, 0)
	var ends [2]int64
	c.lose("two", func() {
		_, ends[0] = mustClaim(t, holder, 0)
		_, ends[1] = mustClaim(t, holder, 1)
	})
	if _, _, err := holder.Time(t.Context()); err != nil { // as the comparison of the clocks asks
		t.Fatal(err)
	}
	for id, end := range ends {
		m, ok, err := other.Mark(t.Context(), fmt.Sprint(generator.WorkerKeyPrefix, "10/", id))
		if err != nil || !ok || m.Hi != end {
			t.Errorf("worker id %d ends at %d (%v, %v), want %d", id, m.Hi, ok, err, end)
		}
	}
	c.pass(testWait)
	wantWait(t, other, 3) // it meets the epoch only now
	if lo, _ := mustClaim(t, holder, 1); lo < ends[1] {
		t.Errorf("granted %d, before the end of the slice in hand, %d", lo, ends[1])
	}
	mustClaim(t, other, 3) // holder has settled it
}

// The wait begins anew with each failover, and a server that starts later
// waits no longer than the others.
func TestWhenAnEpochIsSettled(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	a, _ := c.server(0)
	mustClaim(t, a, 0)
	c.lose("two", func() {})
	wantWait(t, a, 0)
	c.pass(testWait / 2)
	c.lose("three", func() {})
	wantWait(t, a, 0)
	c.pass(testWait/2 + time.Second)
	wantWait(t, a, 0)
	late, _ := c.server(0)
	wantWait(t, late, 1)
	c.pass(testWait / 2)
	mustClaim(t, a, 0)
	mustClaim(t, late, 1)
	fresh, _ := c.server(0)
	mustClaim(t, fresh, 2)

	// A server with longer slices waits for as long as they are.
	long := newStore(t, c.d, Config{Clock: c.all[0], Wait: 2 * testWait})
	wantWait(t, long, 3)
	c.pass(2 * testWait)
	mustClaim(t, long, 3)
	shorter, _ := c.server(0)
	mustClaim(t, shorter, 4)
}

// TestThePrimaryBeforeComesBack without what its successor granted: its epoch mark names
// no epoch but its own. A server that met the successor starts the wait.
func TestThePrimaryBeforeComesBack(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	holder, _ := c.server(0)
	values, entries := c.d.copied()
	meet := func(epoch string) {
		t.Helper()
		c.d.restore(values, entries, epoch)
		if _, _, err := holder.Time(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	meet("two")
	wantWait(t, holder, 1)
	c.pass(testWait)
	mustClaim(t, holder, 1)
	meet("one")
	fresh, _ := c.server(0)
	wantWait(t, fresh, 1)
	c.pass(testWait)
	mustClaim(t, fresh, 1)
}

// TestTheNewPrimaryHasNoMark, not even the first one: it forgot everything. A server
// that knew the store before starts the wait, also if another one has begun it anew.
func TestTheNewPrimaryHasNoMark(t *testing.T) {
	t.Parallel()
	for _, begun := range []bool{false, true} {
		t.Run(fmt.Sprint("begun anew: ", begun), func(t *testing.T) {
			t.Parallel()
			c := newCluster(t)
			holder, _ := c.server(0)
			mustClaim(t, holder, 1)
			c.d.restore(map[string]Value{}, map[string]Value{}, "two")
			if begun {
				other, _ := c.server(0)
				mustClaim(t, other, 2)
			}
			if _, _, err := holder.Time(t.Context()); err != nil {
				t.Fatal(err)
			}
			fresh, _ := c.server(0)
			wantWait(t, fresh, 1)
			c.pass(testWait)
			mustClaim(t, fresh, 1)
		})
	}
}

// TestThePrimaryBeforeComesBackSettled: servers that stayed with it have settled its
// epoch meanwhile, so that its mark ends later than its successor's.
func TestThePrimaryBeforeComesBackSettled(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	holder, _ := c.server(0)
	stays, _ := c.server(0)
	c.lose("two", func() {})
	wantWait(t, stays, 1)
	wantWait(t, holder, 1)
	values, entries := c.d.copied()
	c.d.restore(values, entries, "three")
	wantWait(t, holder, 1)
	c.d.restore(values, entries, "two")
	c.pass(testWait)
	mustClaim(t, stays, 2)
	wantWait(t, holder, 3)
	fresh, _ := c.server(0)
	wantWait(t, fresh, 1)
	c.pass(testWait)
	mustClaim(t, fresh, 1)
}

// TestASecondRestoreDuringTheWait puts back a mark that says the epoch is settled.
func TestASecondRestoreDuringTheWait(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.server(0)
	c.lose("two", func() {})
	holder, _ := c.server(0)
	wantWait(t, holder, 1)
	c.pass(testWait)
	mustClaim(t, holder, 1)
	values, entries := c.d.copied()
	mustClaim(t, holder, 2)
	for _, id := range []int{2, 3} {
		c.d.restore(values, entries, "two")
		wantWait(t, holder, id)
	}
	if log := c.log.String(); strings.Count(log, "lost the mark of its epoch") != 1 {
		t.Errorf("the second restore takes the mark of the first one back: %s", log)
	}
	fresh, _ := c.server(0)
	wantWait(t, fresh, 4)
	c.pass(testWait)
	mustClaim(t, fresh, 4)
}

// A floor that was made by a clock which was ahead goes with the mistake.
func TestAFloorHealsWithTheClock(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	a, _ := c.server(0)
	mustClaim(t, a, 0)
	c.lose("two", func() {})
	c.clock.Step(51 * time.Minute)
	wantWait(t, a, 0)
	c.pass(testWait)
	if lo, _ := mustClaim(t, a, 0); lo < a.now()+50*time.Minute.Milliseconds() {
		t.Errorf("granted from %d: the store's clock was not asked", lo)
	}
	c.clock.Step(-51 * time.Minute)
	b, _ := c.server(0)
	if lo, _ := mustClaim(t, b, 1); lo > b.now()+1000 {
		t.Errorf("granted from %d, %d ms ahead of both clocks", lo, lo-b.now())
	}
}

// A reservation that does not ask for the floor is refused below it.
func TestTimeBelowTheFloorIsRefused(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	a, _ := c.server(-time.Hour)
	c.lose("two", func() {})
	wantWait(t, a, 0)
	c.pass(testWait)
	mustClaim(t, a, 0)
	refused(t, a, generator.Reservation{
		Key: generator.LineKeyPrefix + "orders/10/0/1", AtLeast: a.now(), N: 1000, Limit: generator.NoLimit,
	}, generator.ErrNotNow, "by its clock")
}
