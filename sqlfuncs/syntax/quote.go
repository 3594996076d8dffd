package syntax

import "strings"

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
