package pgwire

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"nextid/sqlfuncs/sqlstate"
)

// maxNameBytes bounds the names of prepared statements and portals, which a
// session keeps. PostgreSQL looks at 63 bytes of them only.
const maxNameBytes = 1024

// checkName checks the name of a statement or portal that is to be made.
func checkName(name []byte) error {
	if len(name) > maxNameBytes {
		return sqlstate.New(sqlstate.LimitExceeded, "a name of %d bytes is longer than %d bytes", len(name), maxNameBytes)
	}
	return checkText(name)
}

// checkText refuses text that is not UTF-8, as PostgreSQL does: nothing
// behind this point has to think of it.
func checkText(b []byte) error {
	if utf8.Valid(b) {
		return nil
	}
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 {
			return sqlstate.New(sqlstate.CharacterNotInRepert, "invalid byte sequence for encoding \"UTF8\": %s", brokenBytes(b[i:]))
		}
		i += n
	}
	return nil
}

// brokenBytes names the bytes that should have been a character.
func brokenBytes(b []byte) string {
	size := 1
	switch {
	case b[0] >= 0xf0:
		size = 4
	case b[0] >= 0xe0:
		size = 3
	case b[0] >= 0xc0:
		size = 2
	}
	var s strings.Builder
	for i, c := range b[:min(size, len(b))] {
		if i > 0 {
			s.WriteByte(' ')
		}
		fmt.Fprintf(&s, "0x%02x", c)
	}
	return s.String()
}

// cutText shortens a client's text for a message or the log.
func cutText(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
