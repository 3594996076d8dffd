package sqlfuncs

import (
	"hash/maphash"
	"strconv"
	"testing"
)

// Texts whose hashes meet come in turns, as from the sessions of a pool.
func TestTextsThatMeetAreCachedAllTheSame(t *testing.T) {
	var c statementCache
	c.init(100)
	set := func(text string) uint64 { return (maphash.String(c.seed, text) | 1) / 2 % doorkeeperSets }
	var texts []string
	for i := 0; len(texts) < 3; i++ {
		if text := "SELECT " + strconv.Itoa(i); set(text) == set("SELECT 0") {
			texts = append(texts, text)
		}
	}
	for round := range 2 {
		for _, text := range texts {
			if got := c.getString(text); got != nil {
				t.Fatalf("round %d: %s is there before it was seen twice", round, text)
			}
			c.offer(text, &Statement{Text: text})
		}
	}
	for _, text := range texts {
		if st := c.getString(text); st == nil || st.Text != text {
			t.Errorf("%s is not cached", text)
		}
	}
}
