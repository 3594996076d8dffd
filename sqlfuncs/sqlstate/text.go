package sqlstate

import "strings"

// Cut shortens a client's text for a message.
func Cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}
