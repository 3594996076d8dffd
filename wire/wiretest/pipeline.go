package wiretest

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// pipelined has queries of both dialects. Their answers depend on earlier queries.
var pipelined = []string{
	"SELECT next_id('numbers')", "SELECT next_id('near') AS id", "SELECT next_id('down')", "SELECT next_id('far')",
	"SELECT next_id('few')", "SELECT nextval('numbers')", "SELECT lastval()", "SELECT next_id('numbers', 1)", "nonsense",
	"BEGIN", "COMMIT", "SELECT next_id('numbers') AS id, 1",
}

// pipelineNames makes generators whose ids change their length, descend and end.
var pipelineNames = []string{
	`SELECT create_generator('numbers', 'segment', '{"step": 1000000}')`,
	`SELECT create_generator('near', 'segment', '{"start": 9000}')`,
	`SELECT create_generator('down', 'segment', '{"start": 20300, "increment": -3, "min": 1}')`,
	`SELECT create_generator('far', 'segment', '{"start": 9223372036854700000, "increment": 7}')`,
	`SELECT create_generator('few', 'segment', '{"max": 5}')`,
}

// CheckPipelines sends queries one after another to one server, and all at once to
// another. The two servers issue the same ids, so the answers must be the same
// bytes. loginAlone and login start the servers, log in, and return a function that
// sends bytes and returns the answers. request encodes a query under test; query
// encodes the ones that create the generators. more are queries of one dialect.
func CheckPipelines(t *testing.T, loginAlone, login func() (ask func([]byte) []byte), query, request func(sql string) []byte, more ...string) {
	t.Helper()
	queries := append(more, pipelined...)
	for seed := range uint64(40) {
		random := rand.New(rand.NewPCG(seed, 1))
		var asked [][]byte
		for range 12 {
			one := request(queries[random.IntN(len(queries))])
			for range []int{1, 2, 20, 300}[random.IntN(4)] {
				asked = append(asked, one)
			}
		}
		alone, together := loginAlone(), login()
		for _, name := range pipelineNames {
			if a, b := alone(query(name)), together(query(name)); !bytes.Equal(a, b) {
				t.Fatalf("%s: %q and %q", name, a, b)
			}
		}
		var want []byte
		for _, one := range asked {
			want = append(want, alone(one)...)
		}
		begun := asked[0][:3] // of another one
		if got := together(append(bytes.Join(asked, nil), begun...)); !bytes.Equal(got, want) {
			at := 0
			for at < min(len(got), len(want)) && got[at] == want[at] {
				at++
			}
			from := max(at-100, 0)
			t.Fatalf("seed %d: %d bytes, want %d; from byte %d on\n%q, not\n%q", seed, len(got), len(want), from,
				got[from:min(at+100, len(got))], want[from:min(at+100, len(want))])
		}
	}
}
