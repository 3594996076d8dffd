package sqlfuncs

import (
	"hash/maphash"
	"strconv"
	"testing"
)

// TestTextsOfOneDoorkeeperSetAreCached sends texts of one set in turns, as the
// sessions of a pool do.
func TestTextsOfOneDoorkeeperSetAreCached(t *testing.T) {
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

// TestTextsWithOneEndingAreBothFound has two texts with the same slot in near.
func TestTextsWithOneEndingAreBothFound(t *testing.T) {
	var c statementCache
	c.init(3)
	offer := func(text string) *Statement {
		st := &Statement{Text: text}
		c.offer(text, st)
		c.offer(text, st)
		return st
	}
	first, second := "SELECT 1 AS a_long_enough_ending", "SELECT 2 AS a_long_enough_ending"
	one, two := offer(first), offer(second)
	if c.near[nearSlot(first)].Load() != two {
		t.Error("the newest entry is not in its slot")
	}
	if c.get([]byte(first)) != one || c.get([]byte(second)) != two {
		t.Error("one of them is not found")
	}
	for i := range 20 {
		offer("SELECT 'another statement', " + strconv.Itoa(i))
	}
	for _, text := range []string{first, second} {
		if st := c.getString(text); c.get([]byte(text)) != st {
			t.Errorf("%s was dropped and is still found", text)
		}
	}
}
