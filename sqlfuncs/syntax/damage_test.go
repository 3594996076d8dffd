package syntax

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestDamagedTextsParseOrFailCleanly changes a few tokens of known statements and
// checks the result as the fuzz targets do. Changed tokens reach more of the grammar
// than changed bytes.
func TestDamagedTextsParseOrFailCleanly(t *testing.T) {
	for name, d := range dialects {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(3, 4))
			texts := slices.Concat(corpus(t, d), grammar(t, d), grammar(t, d), grammar(t, d))
			words := vocabulary(d)
			for range 20_000 {
				sql := texts[r.IntN(len(texts))]
				for range 1 + r.IntN(3) {
					sql = damage(r, sql, d, words)
				}
				checkParse(t, sql, d)
				if t.Failed() {
					t.Fatalf("the text was %q", sql)
				}
			}
		})
	}
}

// vocabulary returns the keywords of a dialect, plain and quoted, and other
// tokens, in a fixed order.
func vocabulary(d Dialect) []string {
	quote := map[Dialect]string{PostgreSQL: `"`, MySQL: "`"}[d]
	words := []string{"x", "1", "1.5", "'s'", "(", ")", ",", ".", "*", "-", "::", "[", "]", ":", "=", "<", "@", "=>", ":=", "||", ";"}
	for w := range keywords[d] {
		words = append(words, w, quote+w+quote, quote+w+quote+"(")
	}
	for w := range quotedWords {
		words = append(words, w, quote+w+quote)
	}
	slices.Sort(words)
	return words
}

// damage changes one token of a text.
func damage(r *rand.Rand, sql string, d Dialect, words []string) string {
	l := lexer{src: sql, dialect: d}
	var tokens []token
	for tok := l.next(); tok.kind != tokEOF && tok.kind != tokError; tok = l.next() {
		tokens = append(tokens, tok)
	}
	if len(tokens) == 0 {
		return sql
	}
	tok, other := tokens[r.IntN(len(tokens))], tokens[r.IntN(len(tokens))]
	switch r.IntN(4) {
	case 0:
		return sql[:tok.start] + sql[tok.end:]
	case 1:
		return sql[:tok.start] + " " + words[r.IntN(len(words))] + " " + sql[tok.start:]
	case 2:
		return sql[:tok.start] + " " + words[r.IntN(len(words))] + " " + sql[tok.end:]
	}
	return sql[:tok.start] + sql[other.start:other.end] + sql[tok.end:]
}
