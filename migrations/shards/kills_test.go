package shards_test

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"nextid/dbtest"
	"nextid/migrations/shards"
)

// programDir is removed at the end.
var programDir string

var buildProgram = sync.OnceValues(func() (file string, err error) {
	if programDir, err = os.MkdirTemp("", "nextid-shards"); err != nil {
		return "", err
	}
	return filepath.Join(programDir, "nextid"), dbtest.Build(programDir, "nextid/cmd/nextid")
})

// program is the nextid that is killed.
func program(t *testing.T) string {
	t.Helper()
	file, err := buildProgram()
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// killed runs a command and kills it after a while, unless it has ended.
func (f *fleet) killed(after time.Duration, arguments ...string) (killed bool) {
	f.t.Helper()
	f.renew()
	var out strings.Builder
	cmd := exec.Command(program(f.t), append([]string{"migrate", "shards"}, arguments...)...)
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		f.t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err := <-ended:
		if err != nil && !strings.Contains(out.String(), "another migrate shards is at work") {
			f.t.Fatalf("%s: %v\n%s", arguments[0], err, &out)
		}
		return false
	case <-time.After(after):
		_ = cmd.Process.Kill() // it may have ended
		<-ended
		return true
	}
}

// apart checks that the next ids of shards differ if status finds no problem. It
// also checks the log of all ids.
func (f *fleet) apart(n int) (none bool) {
	f.t.Helper()
	r := f.status(n)
	for _, missed := range r.Missed {
		// status may report that it could not read all rows in its few seconds. The
		// log has all ids.
		if !strings.Contains(missed, "more than can be read in") {
			f.t.Errorf("not looked at: %q", missed)
		}
	}
	if len(r.Problems) > 0 {
		return false
	}
	for i := range n {
		f.ids(i, 3)
	}
	return true
}

// surely repeats a command until it succeeds: the server may not yet have noticed
// that the previous one was killed.
func (f *fleet) surely(arguments ...string) {
	f.t.Helper()
	for range 20 {
		if !f.killed(time.Minute, arguments...) && f.finished(arguments) {
			return
		}
		<-time.After(100 * time.Millisecond)
	}
	f.t.Fatalf("%s does not end", arguments[0])
}

func (f *fleet) finished(arguments []string) bool {
	states := f.status(strings.Count(strings.Join(arguments, " "), "--dsn") + strings.Count(strings.Join(arguments, " "), "--add")).States
	for _, st := range states {
		if (st.Member != nil) != (arguments[0] != "down") || st.Member != nil && (st.Member.Of != len(states) || st.Member.Draining) {
			return false
		}
	}
	return true
}

// testKills kills up, reshard and down at random moments. Clients insert while the
// shards have disjoint progressions. A round has about six kills; make test-kills
// runs more rounds.
func testKills(t *testing.T, f *fleet) {
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	kills := 1
	if wanted := os.Getenv("TEST_KILLS"); wanted != "" {
		var err error
		if kills, err = strconv.Atoi(wanted); err != nil {
			t.Fatalf("TEST_KILLS: %v", err)
		}
	}
	random := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 1))
	three := []string{"--dsn", f.dsns[0], "--dsn", f.dsns[1], "--dsn", f.dsns[2]}
	four := append(append([]string(nil), three...), "--dsn", f.dsns[3])
	with := func(command string, dsns []string, more ...string) []string {
		return append(append([]string{command}, dsns...), more...)
	}
	soon := func() time.Duration { return time.Duration(20+random.IntN(700)) * time.Millisecond }
	done, cleared := 0, 0
	kill := func(shards int, command ...string) {
		t.Helper()
		if f.killed(soon(), command...) {
			done++
		}
		if f.apart(shards) {
			cleared++
		}
	}
	f.rows = shards.RowsNone // ids may collide between down and up
	for done < kills {
		kill(3, with("up", three)...)
		f.surely(with("up", three)...)
		f.rows = shards.RowsForAWhile
		if !f.apart(3) {
			t.Fatalf("after up: %q", f.status(3).Problems)
		}
		l, ctx := f.startLoad(3, 200*time.Millisecond, time.Second)
		f.more(30)
		kill(3, with("up", three)...)
		for range 2 {
			kill(3, with("reshard", three, "--add", f.dsns[3])...)
			if r := f.status(3); strings.Contains(strings.Join(r.Problems, "\n"), "both draw") {
				t.Errorf("during reshard: %q", r.Problems)
			}
		}
		if !f.finished(with("up", four)) {
			f.surely(with("reshard", three, "--add", f.dsns[3])...)
		}
		f.load(l, ctx, 3, 200*time.Millisecond)
		f.more(30)
		if !f.apart(4) {
			t.Fatalf("after reshard: %q", f.status(4).Problems)
		}
		l.end(t)
		f.rows = shards.RowsNone
		if f.killed(soon(), with("down", four)...) {
			done++
		}
		f.status(4)
		f.surely(with("down", four)...)
		if r := f.status(4); len(r.Problems) == 0 {
			t.Error("shards without settings draw the same ids, and status finds nothing")
		}
	}
	f.check(100)
	t.Logf("%d kills, status saw no problem after %d of them", done, cleared)
}
