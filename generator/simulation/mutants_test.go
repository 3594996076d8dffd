package simulation

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// change replaces a text that occurs once in a file of package generator/….
type change struct{ file, old, new string }

// mutants are bugs that id servers had or could have. Each is added to the code
// that ships, for one build of this package's test.
var mutants = []struct {
	name    string // the bug
	from    string // system that had it, "" if none is known
	changes []change
}{
	{
		"a refused draw resets the sequence of its tick", "twitter/snowflake #6",
		[]change{{
			"snowflake/generator.go",
			"\t\tif first > limit || n < 1 {\n",
			"\t\tif first > limit || n < 1 {\n\t\t\tif now < g.Tick(last) {\n\t\t\t\tg.slot.Store(g.FirstSlot(g.Tick(last)) - 1)\n\t\t\t}\n",
		}},
	},
	{
		"a draw changes the state before it checks the bounds", "twitter/snowflake #6",
		[]change{{
			"snowflake/generator.go",
			"\t\tif first > limit || n < 1 {\n",
			"\t\tif first > limit || n < 1 {\n\t\t\tg.slot.Store(first - 1<<g.sequenceBits)\n",
		}},
	},
	{
		"a worker id is a lease that ends by its holder's clock", "most snowflake servers",
		[]change{{"snowflake/slot.go", "w.Last = t.LastSlot(end - 1)", "w.Last = Closed - 1"}},
	},
	{
		"a server without its store goes on with the worker id that it remembers", "Meituan Leaf's local file",
		[]change{{
			"worker/pool.go",
			"\tp.unsure = err != nil // R3\n",
			"\tif p.unsure = err != nil; p.unsure {\n\t\treturn base, end, nil\n\t}\n",
		}},
	},
	{
		"a slice is adopted because its row carries one's own name", "",
		[]change{{
			"worker/pool.go",
			"\tp.unsure = err != nil // R3\n",
			`	if p.unsure = err != nil; p.unsure {
		again, done := context.WithTimeout(p.pools.ctx, storeTimeout)
		defer done()
		marks, _ := p.pools.cfg.Store.Reserved(again, p.key(id))
		for _, m := range marks {
			if m.Key == p.key(id) && m.Owner == p.pools.cfg.Owner && m.Hi > base {
				return base, m.Hi, nil
			}
		}
	}
`,
		}},
	},
	{
		"a block is adopted because the row carries one's own name", "",
		[]change{{
			"segment/fetch.go",
			"\treturn lo, hi, g.storeError(err)\n",
			`	if err != nil {
		if store, ok := g.store.(generator.Store); ok {
			again, done := context.WithTimeout(g.ctx, storeTimeout)
			defer done()
			marks, _ := store.Reserved(again, generator.NameKey(g.name))
			for _, m := range marks {
				if m.Key == generator.NameKey(g.name) && m.Owner == g.owner {
					return max(m.Hi-positions, atLeast), m.Hi, nil
				}
			}
		}
	}
	return lo, hi, g.storeError(err)
`,
		}},
	},
	{
		"a commit without an answer is taken for one that failed, and its block used", "Meituan's Leaf",
		[]change{{
			"segment/fetch.go",
			"\treturn lo, hi, g.storeError(err)\n",
			"\tif err != nil {\n\t\tlo = max(atLeast, g.end)\n\t\treturn lo, lo + positions, nil\n\t}\n\treturn lo, hi, nil\n",
		}},
	},
	{
		"a slice begins where it was asked for, not where it was granted", "an extension that compares nothing",
		[]change{{"worker/pool.go", "\tp.adopt(l, l.Worker, lo, hi, now)\n", "\tp.adopt(l, l.Worker, base, hi, now)\n"}},
	},
	{
		"the store adds to what was read, not to what is there", "a lost update",
		[]change{{"store/shared/engine.go", "lo, seq = max(old.Hi, a.AtLeast), old.Seq", "lo, seq = max(old.Lo, a.AtLeast), old.Seq"}},
	},
	{
		"a failover is not noticed", "",
		[]change{{"store/shared/engine.go", "case old.Epoch != a.Epoch && (a.From", "case false && (a.From"}},
	},
	{
		"after a failover too few numbers are passed over", "",
		[]change{{"store/shared/reserve.go", "past := s.skipped(max(ask.AtLeast, a.Hi))", "past := max(ask.AtLeast, a.Hi)"}},
	},
	{
		"a name whose reservations were lost is taken for a new one", "",
		[]change{{"store/shared/reserve.go", "\tcase s.cfg.Failover == Lossless:\n\t\treturn nil\n\tcase name == \"\":", "\tcase s.cfg.Failover == Lossless, name != \"\":\n\t\treturn nil\n\tcase name == \"\":"}},
	},
	{
		"a recovery looks for the epoch itself, and believes a number from before", "",
		[]change{{"store/shared/reserve.go", "l, err := s.present(ctx) // atLeast", "l, err := s.meet(ctx, s.epoch.Load()) // atLeast"}},
	},
	{
		"after a failover worker ids are claimed at once", "",
		[]change{{"store/shared/epoch.go", "\tif wait > 0 {\n", "\tif wait > time.Hour {\n"}},
	},
	{
		"the wait after a failover ends by the wall clock of the server that noted it", "nextid until 2026-11-24",
		[]change{
			{"store/shared/epoch.go", "wait := s.cfg.Wait - (s.cfg.Clock.Monotonic() - l.seen)", "wait := s.cfg.Wait - time.Duration(s.now()-r.Lo)*time.Millisecond"},
			{"store/shared/epoch.go", "\tfloor, err := s.storeTime(ctx)\n", "\tfloor := int64(0)\n"},
			{"store/shared/epoch.go", "s.mayHaveLost(l) && (old != nil || !l.settled)", "false"},
		},
	},
	{
		"after a failover time is granted from the claimer's clock on", "",
		[]change{{"store/shared/epoch.go", "\tfloor, err := s.storeTime(ctx)\n", "\tfloor := int64(0)\n"}},
	},
	{
		"answers that were lost lead a worker id further ahead than servers wait after a failover", "",
		[]change{
			{"worker/pool.go", "if p.unsure && !p.Exclusive() { // see", "if false { // see"},
			{"worker/pool.go", "tooFar := hi > p.Furthest()", "tooFar := hi > p.Furthest() && !unsure"},
		},
	},
	{
		"a strict generator answers from memory", "",
		[]change{
			{"segment/generator.go", "\tif g.options.Strict {\n\t\tg.waits.Add(1)\n\t\treturn kinds.Draw(ctx, &g.batches, n, time.Duration(g.options.Deadline), g.impatient)\n\t}\n", ""},
		},
	},
	{
		"a strict snowflake answers from memory", "",
		[]change{{"snowflake/options.go", "\tif o.Strict {\n", "\tif o.Strict && ctx == nil {\n"}},
	},
	{
		"a server that ends gives back what it has used", "",
		[]change{{"worker/pool.go", "to := min(max(p.used.Load(), l.Lo), l.Hi)", "to := l.Lo"}},
	},
	{
		"an old message gives back what others have reserved since", "",
		[]change{{"simulation/store_test.go", "row.Hi == r.Hi && row.Seq == r.Seq && row.Epoch == r.Epoch", "true"}},
	},
	{
		"after a restart an embedded store begins at the clock", "",
		[]change{{"worker/claim.go", "base = max(base, m.greatest)", "base = max(base, math.MinInt64)"}},
	},
}

// TestMutantsAreOfTheCode finds mutants whose code has changed.
func TestMutantsAreOfTheCode(t *testing.T) {
	for _, m := range mutants {
		for _, c := range m.changes {
			c.text(t, filepath.Join("..", c.file))
		}
	}
}

// text returns the content of a file with the text to replace.
func (c change) text(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), c.old); n != 1 {
		t.Fatalf("%s has %d times\n%s\nThe code has changed: bring the mutant up to date.", c.file, n, c.old)
	}
	return string(text)
}

// TestMutants shows that the schedules of a test run find each mutant.
func TestMutants(t *testing.T) {
	for i, m := range mutants {
		if testing.Short() && i%5 != 0 {
			continue
		}
		t.Run(strings.ReplaceAll(m.name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			program := mutate(t, m.changes)
			began := time.Now()
			out, err := search(t, program)
			found := regexp.MustCompile(`seed \d+: (.*)`).FindSubmatch(out)
			if err == nil || found == nil {
				t.Fatalf("%d schedules did not find it (%s): %v\n%s", enough, m.from, err, out)
			}
			t.Logf("%s (%s): found in %v: %s", m.name, m.from, time.Since(began).Round(time.Millisecond), found[0])
		})
	}
}

// search runs a build of this test until a schedule fails.
func search(t *testing.T, program string) (out []byte, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	defer cancel()
	return exec.CommandContext(ctx, program, "-test.run", "^TestSchedules$", "-schedules", strconv.Itoa(enough)).CombinedOutput()
}

// mutate builds this package's test with the changed files.
func mutate(t *testing.T, changes []change) string {
	t.Helper()
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	replace := map[string]string{}
	for _, c := range changes {
		path := filepath.Join(root, c.file)
		from := path
		if earlier, ok := replace[path]; ok {
			from = earlier
		}
		text := c.text(t, from)
		replace[path] = filepath.Join(dir, strings.ReplaceAll(c.file, "/", "_"))
		if err := os.WriteFile(replace[path], []byte(strings.Replace(text, c.old, c.new, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	file, program := filepath.Join(dir, "overlay.json"), filepath.Join(dir, "mutant")
	if err := os.WriteFile(file, overlay, 0o600); err != nil {
		t.Fatal(err)
	}
	build := exec.CommandContext(t.Context(), "go", "test", "-c", "-vet=off", "-trimpath", "-ldflags=-s -w", "-overlay", file, "-o", program, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // as in make build, so that little is compiled again
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the mutant: %v\n%s", err, out)
	}
	return program
}
