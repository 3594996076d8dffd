package mysqlwire

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"nextid/sqlfuncs/sqlstate"
)

// checkText refuses text that is not UTF-8, as MySQL does for utf8mb4:
// nothing behind this point has to think of it.
func checkText(b []byte) error {
	if utf8.Valid(b) {
		return nil
	}
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 {
			return sqlstate.New(sqlstate.CharacterNotInRepert, "Invalid utf8mb4 character string: '%s'", brokenBytes(b[i:]))
		}
		i += n
	}
	return nil
}

// brokenBytes names the bytes that should have been a character.
func brokenBytes(b []byte) string {
	var s strings.Builder
	for _, c := range b[:min(6, len(b))] {
		if c >= ' ' && c < utf8.RuneSelf {
			s.WriteByte(c)
		} else {
			fmt.Fprintf(&s, "\\x%02X", c)
		}
	}
	return s.String()
}

// cutText shortens a client's text for a message or the log.
func cutText(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most-len("…")], "") + "…"
}
