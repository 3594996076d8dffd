package generator

import (
	"hash/maphash"
	"iter"
	"sync"
	"sync/atomic"
)

// names is a hash table of all entries of a process, with linear probing. Readers
// take no lock. Entries are never removed.
type names struct {
	seed  maphash.Seed
	slots atomic.Pointer[[]nameSlot] // the length is a power of two; at least one slot is free

	mu sync.Mutex // held by writers
	n  int        // number of entries; guarded by mu
}

// nameSlot is free while entry is nil. hash is written before entry is.
type nameSlot struct {
	entry atomic.Pointer[Entry]
	hash  uint64
}

const leastSlots = 64

func newNames() *names {
	n := &names{seed: maphash.MakeSeed()}
	slots := make([]nameSlot, leastSlots)
	n.slots.Store(&slots)
	return n
}

// find returns the entry of a name, or nil.
func (n *names) find(name []byte) *Entry {
	slots := *n.slots.Load()
	hash := maphash.Bytes(n.seed, name)
	for i := hash; ; i++ {
		s := &slots[i&uint64(len(slots)-1)]
		switch e := s.entry.Load(); {
		case e == nil:
			return nil
		case s.hash == hash && e.is(name):
			return e
		}
	}
}

// add returns the entry of a name. If the name is new, add calls create with the
// number of entries.
func (n *names) add(name string, create func(known int) (*Entry, error)) (*Entry, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if e := n.find([]byte(name)); e != nil {
		return e, nil
	}
	e, err := create(n.n)
	if err != nil {
		return nil, err
	}
	slots := *n.slots.Load()
	if 4*(n.n+1) > 3*len(slots) {
		more := make([]nameSlot, 2*len(slots))
		for i := range slots {
			if e := slots[i].entry.Load(); e != nil {
				put(more, slots[i].hash, e)
			}
		}
		slots = more
		n.slots.Store(&slots)
	}
	put(slots, maphash.String(n.seed, name), e)
	n.n++
	return e, nil
}

func put(slots []nameSlot, hash uint64, e *Entry) {
	for i := hash; ; i++ {
		if s := &slots[i&uint64(len(slots)-1)]; s.entry.Load() == nil {
			s.hash = hash
			s.entry.Store(e)
			return
		}
	}
}

// all iterates over the entries in undefined order. It may miss entries that are
// added meanwhile.
func (n *names) all() iter.Seq[*Entry] {
	return func(yield func(*Entry) bool) {
		slots := *n.slots.Load()
		for i := range slots {
			if e := slots[i].entry.Load(); e != nil && !yield(e) {
				return
			}
		}
	}
}
