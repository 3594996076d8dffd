package generator

import (
	"context"
	"sync"
	"time"
)

// catalogue caches the number of names in the store.
type catalogue struct {
	mu      sync.Mutex // never held while the store is asked
	names   int
	coming  int       // being created by this server
	made    int       // created by this server
	counted time.Time // zero: never
	asked   bool      // a count is running
}

const (
	countEvery = time.Minute     // while names are created
	countFull  = 5 * time.Second // while the store is full
)

// admit counts a name that is about to be created. It returns ErrTooMany if the
// store has MaxNames: otherwise any client could fill the store. Declared names are
// always admitted. Names that other servers created are noticed by the next count.
func (r *Registry) admit(ctx context.Context, name string) error {
	_, declared := r.declared[name]
	if !declared {
		if err := r.count(ctx); err != nil {
			return err
		}
	}
	c := &r.catalogue
	c.mu.Lock()
	defer c.mu.Unlock()
	if n := c.names + c.coming; !declared && n >= r.cfg.MaxNames {
		c.mu.Unlock()
		_, err := r.cfg.Store.Defined(ctx, name)
		c.mu.Lock()
		if err != nil { // the name does not exist yet
			return r.tooMany(name, "the store has %d generator names already", n)
		}
	}
	c.coming++
	return nil
}

// count asks the store for its number of names, unless a recent count is known. All
// callers wait for the first count; later callers use the old one meanwhile.
func (r *Registry) count(ctx context.Context) error {
	c := &r.catalogue
	c.mu.Lock()
	never, age, made := c.counted.IsZero(), time.Since(c.counted), c.made
	due := never || !c.asked && (age > countEvery || age > countFull && c.names+c.coming >= r.cfg.MaxNames)
	c.asked = c.asked || due
	c.mu.Unlock()
	if !due {
		return nil
	}
	n, err := r.cfg.Store.Count(ctx)
	if err == nil && n >= r.cfg.MaxNames { // Count may include dropped names
		var list []Definition
		list, err = r.cfg.Store.ListDefined(ctx)
		n = len(list)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked = false
	if err == nil {
		c.names, c.counted = n+c.made-made, time.Now() // names made meanwhile may count twice
	}
	return err
}

func (r *Registry) tooMany(name, format string, n int) error {
	return Errorf(ErrTooMany, name, "Raise max_names in the configuration, drop unused names, or use fewer.", format, n)
}
