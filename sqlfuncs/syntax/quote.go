package syntax

import (
	"strings"
)

// QuoteIdent quotes a name, as quote_ident does, if PostgreSQL would not read it
// back unchanged.
func QuoteIdent(s string) string {
	safe := s != "" && (s[0] < '0' || s[0] > '9') && !IsKeyword(s)
	for i := range len(s) {
		c := s[i]
		safe = safe && (c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '_')
	}
	if safe {
		return s
	}
	return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
}

// QuoteLiteral writes a text constant of PostgreSQL. A text with a backslash becomes
// an escape string E'…'.
func QuoteLiteral(s string) string {
	quoted := "'" + strings.ReplaceAll(s, "'", "''") + "'"
	if strings.Contains(s, `\`) {
		return "E" + strings.ReplaceAll(quoted, `\`, `\\`)
	}
	return quoted
}

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
