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

// maxCachedTextBytes is the longest statement text that is cached.
const maxCachedTextBytes = 2048

// Size of a doorkeeper: sets, and hashes in a set. With one hash in a set, two
// alternating texts of a set would never be remembered.
const (
	doorkeeperSets = 1024
	doorkeeperWays = 4
)

// doorkeeper keeps the hashes of recent texts. It keeps texts that occur once out of
// the cache. The term is that of TinyLFU's admission filter.
type doorkeeper struct {
	hashes [doorkeeperSets][doorkeeperWays]atomic.Uint64
	next   atomic.Uint32 // number of overwritten hashes; selects the way to overwrite
}

// saw reports whether a hash was seen recently, and keeps the hash. It must not be
// 0, which stands for an empty way.
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

// statementCache maps statement texts and their declared parameter types to
// analysed statements. Readers take no lock, since the map is copied on write. A
// text is stored when it appears for the second time. So clients that write literals
// into their statements do not cause constant copying.
type statementCache struct {
	entries atomic.Pointer[map[string]*Statement]
	near    [nearSlots]atomic.Pointer[Statement] // newest entries; a look-up in entries would hash the whole text
	seen    doorkeeper
	seed    maphash.Seed
	max     int        // largest number of entries; 0 stores none
	mu      sync.Mutex // held by writers of entries and near
}

// cache returns the cache of the session's dialect and lexical mode. One text can
// have different meanings in two of them.
func (s *Session) cache() *statementCache { return &s.server.caches[s.cacheIndex] }

// Indexes of the server's caches, one for each way to read a text. Sessions that
// read texts in another way use cacheNone.
const (
	cachePostgreSQL = iota
	cacheMySQL
	cacheExact      // MySQL with a binary collation
	cacheANSIQuotes // MySQL with the SQL mode ANSI_QUOTES
	cacheNone       // always empty
	caches          // number of caches
)

// init makes an empty cache of at most max entries.
func (c *statementCache) init(max int) {
	c.max = max
	c.seed = maphash.MakeSeed()
	c.entries.Store(&map[string]*Statement{})
}

// cacheKey returns the key of a text: the text, a zero byte (which no text
// contains) and the declared parameter types.
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

// nearSlots is the size of statementCache.near.
const nearSlots = 1024

// nearSlot returns the index of a text in near. It hashes the end of the text, where
// statements for ids of several names differ.
func nearSlot[T string | []byte](text T) uint64 {
	const hashed = 16 // bytes
	if len(text) < hashed {
		return 0
	}
	end := []byte(text[len(text)-hashed:])
	const spread, otherSpread = 0x9e3779b97f4a7c15, 0xc2b2ae3d27d4eb4f // Knuth's multiplicative hashing
	hash := binary.LittleEndian.Uint64(end)*spread ^ binary.LittleEndian.Uint64(end[8:])*otherSpread
	return hash >> 32 % nearSlots
}

// get returns the statement of a text without declared parameter types, or nil. It
// does not allocate.
func (c *statementCache) get(text []byte) *Statement {
	if st := c.near[nearSlot(text)].Load(); st != nil && st.Text == string(text) {
		return st
	}
	return (*c.entries.Load())[string(text)]
}

// getString returns the statement of a cacheKey, or nil.
func (c *statementCache) getString(key string) *Statement {
	return (*c.entries.Load())[key]
}

// offer stores st if its key was offered before. A full cache drops an arbitrary
// quarter; statements in use are soon stored again.
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
			c.near[nearSlot(k)].CompareAndSwap(dropped, nil)
		}
	}
	next[key] = st
	if key == st.Text {
		c.near[nearSlot(key)].Store(st)
	}
	c.entries.Store(&next)
}
