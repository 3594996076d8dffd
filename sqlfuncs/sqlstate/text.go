package sqlstate

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Cut shortens a client's text for a message.
func Cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}

// BrokenText is the error of a text that PostgreSQL refuses in a UTF8 database: it has
// a sequence of bytes that is no character, or the zero byte (22021). It is nil for others.
func BrokenText(s string) *Error {
	if utf8.ValidString(s) && strings.IndexByte(s, 0) < 0 {
		return nil
	}
	at := 0
	for at < len(s) && s[at] != 0 {
		r, n := utf8.DecodeRuneInString(s[at:])
		if r == utf8.RuneError && n == 1 {
			break
		}
		at += n
	}
	size := 1 // of the character that should have been there
	switch {
	case s[at]&0xf8 == 0xf0:
		size = 4
	case s[at]&0xf0 == 0xe0:
		size = 3
	case s[at]&0xe0 == 0xc0:
		size = 2
	}
	var bytes strings.Builder
	for _, c := range []byte(s[at:min(at+size, len(s))]) {
		fmt.Fprintf(&bytes, " 0x%02x", c)
	}
	return New(CharacterNotInRepert, "invalid byte sequence for encoding \"UTF8\":%s", bytes.String())
}
