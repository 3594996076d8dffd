package sqlstate

import (
	"fmt"
	"math/bits"
	"strings"
	"unicode/utf8"
)

// Cut shortens a client's text to at most n bytes for a message, and marks it with
// an ellipsis.
func Cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}

// BrokenText returns an error (22021) for a text that PostgreSQL refuses in a UTF8
// database: one with bytes that are no character, or with a zero byte. For other
// texts it returns nil.
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
	size := bits.LeadingZeros8(^s[at]) // bytes of a character that begins with s[at]
	if size < 2 || size > 4 {
		size = 1
	}
	var bytes strings.Builder
	for _, c := range []byte(s[at:min(at+size, len(s))]) {
		fmt.Fprintf(&bytes, " 0x%02x", c)
	}
	return New(CharacterNotInRepert, "invalid byte sequence for encoding \"UTF8\":%s", bytes.String())
}
