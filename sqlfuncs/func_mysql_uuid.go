package sqlfuncs

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"strings"
	"sync"
)

// timeUUIDs makes UUIDs of version 1 (RFC 9562, 5.1) with a random node and
// clock sequence, which are new at each start of the server.
type timeUUIDs struct {
	mu    sync.Mutex
	node  [8]byte // clock sequence and node
	ready bool
	last  uint64
}

// gregorian is the number of 100 ns steps from 1582-10-15 to 1970-01-01.
const gregorian = 0x01b21dd213814000

// timeUUID returns a new UUID. The time never goes back while the server
// runs: it counts on from the last one.
func (s *Server) timeUUID() [16]byte {
	g := &s.uuids
	g.mu.Lock()
	if !g.ready {
		_, _ = rand.Read(g.node[:]) // does not fail
		g.node[0] = g.node[0]&0x3f | 0x80
		g.node[2] |= 1 // multicast: no real network card
		g.ready = true
	}
	t := max(uint64(s.clock.Wall())/100+gregorian, g.last+1)
	g.last = t
	node := g.node
	g.mu.Unlock()
	var id [16]byte
	binary.BigEndian.PutUint32(id[0:], uint32(t))
	binary.BigEndian.PutUint16(id[4:], uint16(t>>32))
	binary.BigEndian.PutUint16(id[6:], uint16(t>>48)&0x0fff|0x1000)
	copy(id[8:], node[:])
	return id
}

func uuidText(id [16]byte) string {
	h := hex.EncodeToString(id[:])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

func hexUpper(s string) string { return strings.ToUpper(hex.EncodeToString([]byte(s))) }

func unhex(s string) string {
	b, err := hex.DecodeString(s)
	if err != nil {
		return ""
	}
	return string(b)
}

// parseUUIDMySQL reads a UUID in one of the three forms that IS_UUID knows and
// returns its 32 digits.
func parseUUIDMySQL(s string) (digits string, ok bool) {
	switch {
	case len(s) == 38 && s[0] == '{' && s[37] == '}':
		s = s[1:37]
		fallthrough
	case len(s) == 36:
		if s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' {
			return "", false
		}
		s = s[:8] + s[9:13] + s[14:18] + s[19:23] + s[24:]
	}
	if len(s) != 32 {
		return "", false
	}
	_, err := hex.DecodeString(s)
	return s, err == nil
}
