package worker

import (
	"context"
	"errors"

	"nextid/generator"
)

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
