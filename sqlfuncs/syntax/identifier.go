package syntax

import "strings"

// SplitIdentifier splits a dotted name with PostgreSQL's quoting. Unquoted parts are
// not folded: generator names keep their case. It returns nil if a quote is missing.
func SplitIdentifier(text string) []string {
	var parts []string
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '"':
			end := i + 1
			for ; end < len(text); end++ {
				if text[end] != '"' {
					b.WriteByte(text[end])
				} else if end+1 < len(text) && text[end+1] == '"' {
					b.WriteByte('"')
					end++
				} else {
					break
				}
			}
			if end >= len(text) {
				return nil
			}
			i = end
		case '.':
			parts = append(parts, b.String())
			b.Reset()
		default:
			b.WriteByte(c)
		}
	}
	return append(parts, b.String())
}
