package ids_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"nextid/sqlfuncs/sqltest"
)

// TestRefusedRequestsCostNothing sends requests, too large ones among them, to
// one server, and those of them that were answered to another one: their ids are
// alike.
func TestRefusedRequestsCostNothing(t *testing.T) {
	for name, create := range map[string]string{
		"counter":       `'counter', '{"max": 60}'`,
		"counter by 5":  `'counter', '{"start": 3, "increment": 5, "max": 301}'`,
		"dated":         `'dated', '{"pattern": "yyyy", "width": 2}'`,
		"segment":       `'segment', '{"max": 60, "step": 7}'`,
		"one segment":   `'segment', '{"max": 60}'`,
		"down":          `'segment', '{"start": -1, "min": -180, "increment": -3, "step": 5}'`,
		"strict":        `'segment', '{"max": 60, "strict": true}'`,
		"an offset":     `'segment', '{"max": 181, "increment": 3, "offset": 2, "step": 4}'`,
		"prefixed":      `'counter', '{"max": 60, "prefix": "R-", "pad": 4}'`,
		"scattered":     `'counter', '{"max": 60, "scatter": "bit_reverse"}'`,
		"scatter's end": `'counter', '{"start": 65480, "scatter": {"bits": 16, "key": "0123456789abcdef"}}'`,
	} {
		t.Run(name, func(t *testing.T) {
			a, b := sqltest.NewServer(t), sqltest.NewServer(t)
			pg, twin := a.Session(t), b.Session(t)
			my, myTwin := a.MySQLSession(t), b.MySQLSession(t)
			for _, s := range []*sqltest.Session{pg, twin} {
				if _, err := s.Query(t, "SELECT create_generator('g', "+create+")"); err != nil {
					t.Fatal(err)
				}
			}
			seed := rand.Uint64()
			random := rand.New(rand.NewPCG(seed, 0))
			refused := 0
			for i := range 60 {
				n := 1 + random.IntN(12)
				if random.IntN(3) == 0 {
					n = 1 + random.IntN(120)
				}
				sql, one, two := fmt.Sprintf([]string{
					"SELECT * FROM next_ids('g', %d)", "SELECT next_ids('g', %d)", "SELECT next_codes('g', %d)",
					"SELECT * FROM next_range('g', %d)", "SELECT next_id('g') FROM generate_series(1, %d)",
					"SELECT id FROM id_batch WHERE name = 'g' AND n = %d", "SELECT first, last FROM id_ranges WHERE name = 'g' AND n = %d",
					"SELECT sum(n) FROM next_ids('g', %d) n", "SELECT setval('g', 100000000000%d)", "SELECT next_ids('g', -%d)",
					"SELECT * FROM next_ids('g', %d) LIMIT 1", "SELECT next_id('g') -- %d",
				}[random.IntN(12)], n), pg, twin
				if random.IntN(8) == 0 {
					sql, one, two = fmt.Sprintf("SELECT NEXT %d VALUES FROM g", n), my, myTwin
				}
				got, err := one.Query(t, sql)
				if err != nil {
					refused++
					continue
				}
				want, err := two.Query(t, sql)
				if err != nil || got.String() != want.String() {
					t.Fatalf("seed %d, request %d, %d refused before: %s\n%s\nwithout those\n%s %v", seed, i, refused, sql, got, want, err)
				}
			}
			if refused == 0 {
				t.Error("nothing was refused")
			}
			for range 70 { // whatever is left
				got, err1 := pg.Query(t, "SELECT next_id('g')")
				want, err2 := twin.Query(t, "SELECT next_id('g')")
				if (err1 == nil) != (err2 == nil) || got.String() != want.String() {
					t.Fatalf("seed %d: %s %v, want %s %v", seed, got, err1, want, err2)
				}
			}
		})
	}
}

// TestRefusalSaysHowMany checks the words for a client that asks for too much.
func TestRefusalSaysHowMany(t *testing.T) {
	s := sqltest.NewServer(t).Session(t)
	s.Value(t, `SELECT create_generator('cg', 'counter', max => 10)`)
	s.Want(t, "SELECT next_id('cg')", "1")
	_, err := s.Query(t, "SELECT * FROM next_ids('cg', 11)")
	if err == nil || !strings.Contains(err.Error(), `"cg" has fewer than 11 numbers left`) {
		t.Error(err)
	}
	s.Want(t, "SELECT count(*) || ' from ' || min(n) FROM next_ids('cg', 9) n", "9 from 2")
}
