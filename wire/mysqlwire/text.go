package mysqlwire

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"nextid/sqlfuncs/sqlstate"
)

// checkText returns an error for text that is not UTF-8, as MySQL does for utf8mb4.
// Package sqlfuncs relies on it.
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

// brokenBytes returns the first bytes of a broken text in the form of MySQL's error.
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

// cutText shortens a text to most bytes, with … at its end. It cuts no character in
// two.
func cutText(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most-len("…")], "") + "…"
}
