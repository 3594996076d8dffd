package sqlfuncs

import (
	"encoding/binary"
	"hash/maphash"
	"maps"
	"strings"
	"sync"
	"sync/atomic"

	"nextid/sqlfuncs/datum"
)

// maxCachedTextBytes is the longest statement text that is worth caching.
const maxCachedTextBytes = 2048

// The texts that were seen last are remembered by their hashes, in sets of several:
// with room for one, two texts of a set that come in turn would never be remembered.
const (
	doorkeeperSets = 1024
	doorkeeperWays = 4
)

// doorkeeper remembers which texts were seen.
type doorkeeper struct {
	hashes [doorkeeperSets][doorkeeperWays]atomic.Uint64
	next   atomic.Uint32 // counts what was overwritten, to choose the place in a set
}

// saw reports whether a hash, which is not 0, was seen lately.
func (d *doorkeeper) saw(hash uint64) bool {
	set := &d.hashes[hash/2%doorkeeperSets] // the last bit is always set
	for i := range set {
		if set[i].Load() == hash {
			return true
		}
	}
	set[d.next.Add(1)%doorkeeperWays].Store(hash)
	return false
}

// statementCache maps statement texts, and the parameter types that a client
// declares with them, to analysed statements. Readers take no lock: the map is
// copied on write. A text enters on its second appearance, so that clients that
// write literals into their statements do not make the server copy maps all day.
type statementCache struct {
	entries atomic.Pointer[map[string]*Statement]
	near    [nearPlaces]atomic.Pointer[Statement] // spares a look-up in entries, whose hash is of the whole text
	seen    doorkeeper
	seed    maphash.Seed
	max     int
	mu      sync.Mutex
}

// cache returns the statements of the session's dialect and lexical mode. One
// text can mean different things in two of them.
func (s *Session) cache() *statementCache { return &s.server.caches[s.cacheIndex] }

// The caches of a server, by what a text means there. Sessions that read texts in
// any other way have cacheNone.
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

// cacheKey returns the key of a text. The parameter types that the client declares
// follow the text behind a zero byte, which no text has.
func cacheKey(text string, params []datum.OID) string {
	if len(params) == 0 {
		return text
	}
	var key strings.Builder
	key.Grow(len(text) + 1 + 4*len(params))
	key.WriteString(text)
	key.WriteByte(0)
	for _, t := range params {
		key.Write(binary.BigEndian.AppendUint32(nil, uint32(t)))
	}
	return key.String()
}

// nearPlaces sets how many places there are for the newest entries.
const nearPlaces = 1024

// nearPlace is the place of a text by how it ends, which is where statements that
// ask for ids of several names differ.
func nearPlace[T string | []byte](text T) uint64 {
	const words = 16 // bytes of two
	if len(text) < words {
		return 0
	}
	end := []byte(text[len(text)-words:])
	const spread, otherSpread = 0x9e3779b97f4a7c15, 0xc2b2ae3d27d4eb4f // Knuth's multiplicative hashing
	hash := binary.LittleEndian.Uint64(end)*spread ^ binary.LittleEndian.Uint64(end[8:])*otherSpread
	return hash >> 32 % nearPlaces
}

func (c *statementCache) get(text []byte) *Statement {
	if st := c.near[nearPlace(text)].Load(); st != nil && st.Text == string(text) {
		return st
	}
	return (*c.entries.Load())[string(text)]
}

func (c *statementCache) getString(key string) *Statement {
	return (*c.entries.Load())[key]
}

// offer puts st under a key if the key was offered before. A full cache drops
// an arbitrary quarter: statements in use come back at once.
func (c *statementCache) offer(key string, st *Statement) {
	if len(key) > maxCachedTextBytes || c.max < 1 {
		return
	}
	if !c.seen.saw(maphash.String(c.seed, key) | 1) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	next := maps.Clone(*c.entries.Load())
	if len(next) >= c.max {
		drop := c.max/4 + 1
		for k, dropped := range next {
			if drop--; drop < 0 {
				break
			}
			delete(next, k)
			c.near[nearPlace(k)].CompareAndSwap(dropped, nil)
		}
	}
	next[key] = st
	if key == st.Text {
		c.near[nearPlace(key)].Store(st)
	}
	c.entries.Store(&next)
}
