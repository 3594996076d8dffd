package worker

import (
	"context"
	"errors"
	"math"
	"strconv"
	"strings"
	"time"

	"nextid/generator"
)

// Repair makes a store usable again whose ids have reached a far future, because a
// clock was years ahead. All later ids would carry even later times, or none would
// be left.
//
// Repair reserves all remaining time of the worker ids that are ahead. No server
// can reserve time on them any more. Servers continue with worker ids on which
// nothing was ever reserved. An id holds its worker id, so none can appear again,
// whatever the clock says.

// spent is the end of the time line of a worker id that was given up.
const spent = generator.NoLimit

// repairer is the owner of such a time line.
const repairer = "nextid repair"

// spentPrefix begins the keys "worker/spent/<bits>/<id>", which record the end of
// the ids of these worker ids.
const spentPrefix = generator.WorkerKeyPrefix + "spent/"

// Spent reports whether a key is such a record. The record counts for names that
// were created before it was written.
func Spent(key string) bool { return strings.HasPrefix(key, spentPrefix) }

// Ahead describes a worker id whose time is ahead of the clock.
type Ahead struct {
	Bits   int
	Worker int64
	Until  time.Time // no id with it has this time or a later one
	Left   int64     // unused worker ids of this width
}

// FindAhead lists the worker ids whose time is ahead of now by more than tolerance.
func FindAhead(ctx context.Context, store generator.Store, now time.Time, tolerance time.Duration) ([]Ahead, error) {
	marks, err := generator.WorkerMarks(ctx, store)
	used := map[int]int64{}
	var ahead []Ahead
	for _, m := range marks {
		used[m.Bits]++
		if m.Hi < pastEnd && m.Hi > now.Add(tolerance).UnixMilli() {
			ahead = append(ahead, Ahead{Bits: m.Bits, Worker: m.ID, Until: time.UnixMilli(m.Hi).UTC()})
		}
	}
	for i := range ahead {
		ahead[i].Left = 1<<ahead[i].Bits - used[ahead[i].Bits]
	}
	return ahead, err
}

// Repair gives up worker ids that FindAhead found, for good. Only this process may
// use the store. If a width has no unused worker id to continue with, Repair
// changes nothing and returns ErrExhausted.
func Repair(ctx context.Context, store generator.Store, ahead []Ahead) error {
	for _, a := range ahead {
		if a.Left < 1 {
			return generator.Errorf(generator.ErrExhausted, "",
				"Nothing was changed. Use generators with other names, and a layout with more worker bits.",
				"there is no worker id of %d bits on which nothing was ever reserved: whether ids would come twice cannot be known", a.Bits)
		}
	}
	for _, a := range ahead {
		id := strconv.Itoa(a.Bits) + "/" + strconv.FormatInt(a.Worker, 10)
		for _, r := range []generator.Reservation{
			{Key: spentPrefix + id, AtLeast: a.Until.UnixMilli() - 1}, // first: it must be durable before the line is given up
			{Key: generator.WorkerKeyPrefix + id, AtLeast: spent - 1},
		} {
			r.N, r.Limit, r.Owner = 1, generator.NoLimit, repairer
			if _, _, err := store.Reserve(ctx, r); err != nil {
				return err
			}
		}
	}
	return nil
}

// spentBefore returns the end (Unix ms) of the ids that a name created at this time
// may have with worker ids that were given up later; math.MinInt64 for none.
func (p *Pool) spentBefore(ctx context.Context, created time.Time) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	marks, err := p.pools.cfg.Store.Reserved(ctx, spentPrefix+strconv.Itoa(int(p.bits))+"/")
	end := int64(math.MinInt64)
	now := time.UnixMicro(p.Wall())
	for _, m := range marks {
		// A time in the future comes from the clock that was wrong.
		if created.Before(m.Updated) || created.After(now) {
			end = max(end, m.Hi)
		}
	}
	return end, err
}

// Ids of the past carry times that have passed, which no slice covers. The greatest
// worker id of a width is set aside for them: if nothing was ever reserved on its
// line, all of the line is reserved at once, and no server claims it. For each name
// its sequence numbers are divided into shares. A server reserves a share, and it
// alone issues the ids of that share.

// pastEnd is the end of a line that is set aside: the year 9999, in Unix ms. Calls
// that set a line aside at the same time each add as much, so a line that ends at a
// multiple of it is set aside. A line that was in use before ends elsewhere.
const pastEnd = 253402300799999

// pastOwner is the owner of a line that is set aside.
const pastOwner = "ids of the past"

// ReservePast sets the worker id aside if needed, and reserves one of the shares of
// a name. Shares are numbered from 0; the name's key below 0 counts them. It
// returns ErrExhausted if no share is left, or if the worker id has been in use.
func (p *Pool) ReservePast(ctx context.Context, name string, shares int64) (id, share int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	store, id := p.pools.cfg.Store, p.width.IDs()-1
	if p.Exclusive() && p.wish.Firm {
		return 0, 0, generator.Errorf(generator.ErrWrongKind, name, "Start it with --worker-id auto, or let all servers share a store.",
			"ids of the past need worker ids that the store gives out: this server has one of its own, and a store that no other server sees")
	}
	m, known, err := store.Mark(ctx, p.key(id))
	if err == nil && !known {
		err = p.neverLost(ctx, name, id)
	}
	if err == nil && !known {
		_, m.Hi, err = store.Reserve(ctx, generator.Reservation{Key: p.key(id), AtLeast: 0, N: pastEnd, Limit: generator.NoLimit, Owner: pastOwner})
	}
	if err != nil {
		return 0, 0, err
	}
	if m.Hi < pastEnd || m.Hi%pastEnd != 0 {
		return 0, 0, generator.Errorf(generator.ErrExhausted, name,
			"Create a generator whose layout has another number of worker bits, and import under its name.",
			"worker id %d, the greatest of the layout, has been in use: it cannot be set aside for ids of the past", id)
	}
	lo, _, err := store.Reserve(ctx, generator.Reservation{
		Key: generator.NameKey(name), AtLeast: -shares, N: 1, Limit: 0, Owner: p.pools.cfg.Owner,
	})
	if errors.Is(err, generator.ErrExhausted) {
		err = generator.Errorf(generator.ErrExhausted, name,
			"A server takes a share with its first such id, and one more for every million of different times. Import under another name.",
			"generator %q has no ids of the past left: all %d shares are taken", name, shares)
	}
	return id, lo + shares, err
}

// neverLost returns ErrExhausted if the store may have lost reservations on the line
// of a worker id. The id may have been in use then.
func (p *Pool) neverLost(ctx context.Context, name string, id int64) error {
	if p.pools.cfg.Grants == nil {
		return nil
	}
	earliest, err := p.pools.cfg.Grants.EarliestTime(ctx, p.Now()/1000)
	if err != nil || earliest <= 0 {
		return err
	}
	return generator.Errorf(generator.ErrExhausted, name,
		"If nothing was lost then, start this server with --store-failover lossless for the first such id.",
		"the store was failed over or restored before worker id %d, the greatest of the layout, was set aside for ids of the past", id)
}
