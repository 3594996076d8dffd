package sqlfuncs

import (
	"hash/maphash"
	"maps"
	"sync"
	"sync/atomic"
)

// maxCachedTextBytes is the longest statement text that is worth caching.
const maxCachedTextBytes = 2048

// doorkeeperSize is the number of recently seen texts that are remembered by
// their hash.
const doorkeeperSize = 4096

// statementCache maps statement texts to analysed statements. Readers take
// no lock: the map is copied on write. A text enters on its second
// appearance, so that clients that write literals into their statements do
// not make the server copy maps all day.
type statementCache struct {
	entries atomic.Pointer[map[string]*Statement]
	seen    [doorkeeperSize]atomic.Uint64
	seed    maphash.Seed
	max     int
	mu      sync.Mutex
}

// cache returns the statements of the session's dialect and lexical mode. One
// text can mean different things in two of them.
func (s *Session) cache() *statementCache { return &s.server.caches[s.cacheIndex] }

// The caches of a server. Sessions with another mode share none.
const (
	cachePostgreSQL = iota
	cacheMySQL
	cacheExact
	cacheANSIQuotes
	cacheNone
	caches
)

func (c *statementCache) init(max int) {
	c.max = max
	c.seed = maphash.MakeSeed()
	c.entries.Store(&map[string]*Statement{})
}

func (c *statementCache) get(text []byte) *Statement {
	return (*c.entries.Load())[string(text)]
}

func (c *statementCache) getString(text string) *Statement {
	return (*c.entries.Load())[text]
}

// offer puts st under text if text was offered before. A full cache drops
// an arbitrary quarter: statements in use come back at once.
func (c *statementCache) offer(text string, st *Statement) {
	if len(text) > maxCachedTextBytes || c.max < 1 {
		return
	}
	h := maphash.String(c.seed, text) | 1
	if slot := &c.seen[h%doorkeeperSize]; slot.Swap(h) != h {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	next := maps.Clone(*c.entries.Load())
	if len(next) >= c.max {
		drop := c.max/4 + 1
		for k := range next {
			if drop--; drop < 0 {
				break
			}
			delete(next, k)
		}
	}
	next[text] = st
	c.entries.Store(&next)
}
