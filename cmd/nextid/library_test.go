package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/bwmarrin/snowflake"
	"github.com/jackc/pgx/v5"
	"github.com/sony/sonyflake/v2"
)

// These tests run the recipes of docs/systems.md: processes lease worker ids from a
// pool of two, and issue ids with other projects' libraries.

// libraryVariable makes the test binary one of these processes.
const libraryVariable = "NEXTID_TEST_LIBRARY"

// libraries have one bit of worker ids here.
var libraries = map[string]func(worker int64) (draw func() (id int64, at time.Time), err error){
	"bwmarrin": func(worker int64) (func() (int64, time.Time), error) {
		snowflake.NodeBits = 1
		node, err := snowflake.NewNode(worker)
		return func() (int64, time.Time) {
			id := node.Generate()
			return id.Int64(), time.UnixMilli(id.Time())
		}, err
	},
	"sonyflake": func(worker int64) (func() (int64, time.Time), error) {
		flake, err := sonyflake.New(sonyflake.Settings{BitsMachineID: 1, MachineID: func() (int, error) { return int(worker), nil }})
		return func() (int64, time.Time) {
			id, err := flake.NextID()
			if err != nil {
				panic(err)
			}
			return id, flake.ToTime(id)
		}, err
	},
}

// issueWith writes ids to standard output until the process is killed. After an
// error it leases another worker id.
func issueWith(library, dsn string) {
	ctx := context.Background()
	for ; ; time.Sleep(50 * time.Millisecond) {
		conn, err := pgx.Connect(ctx, dsn)
		if err == nil {
			err = issueLeased(ctx, conn, library)
			_ = conn.Close(ctx) // the lease is over
		}
		_, _ = fmt.Fprintln(os.Stderr, err)
	}
}

func issueLeased(ctx context.Context, conn *pgx.Conn, library string) error {
	var worker int64
	var from, until time.Time
	lease := func(sql string, args ...any) error {
		var begin time.Time
		err := conn.QueryRow(ctx, "SELECT worker, not_before, until FROM "+sql, args...).Scan(&worker, &begin, &until)
		if from.IsZero() {
			from = begin
		}
		return err
	}
	if err := lease("lease_worker('1', $1)", library); err != nil {
		return err
	}
	draw, err := libraries[library](worker)
	if err != nil {
		return err
	}
	renew := time.Now()
	for {
		id, at := draw()
		if now := time.Now(); now.After(renew) {
			renew = now.Add(200 * time.Millisecond) // a third of the lease, or what a retry waits
			_ = lease("renew_worker('1', $1, $2)", worker, until)
		}
		switch {
		case !at.Before(until):
			return fmt.Errorf("the lease of worker id %d ended", worker)
		case !at.Before(from):
			_, _ = os.Stdout.WriteString(strconv.FormatInt(id, 10) + "\n") // one write, so that a kill cuts no number
		}
		time.Sleep(100 * time.Microsecond)
	}
}

// checkLibrary runs two processes at a time, kills them, and looks for repeated
// ids.
func checkLibrary(t *testing.T, s *process, command func() *exec.Cmd) {
	var mu sync.Mutex
	seen, counts := map[string]int{}, map[int]int{}
	var readers sync.WaitGroup
	start := func(who int) *exec.Cmd {
		cmd := command()
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		readers.Go(func() {
			for lines := bufio.NewScanner(out); lines.Scan(); {
				mu.Lock()
				if other, twice := seen[lines.Text()]; twice {
					t.Errorf("processes %d and %d issued %s", other, who, lines.Text())
				}
				seen[lines.Text()] = who
				counts[who]++
				mu.Unlock()
			}
		})
		return cmd
	}
	kill := func(cmd *exec.Cmd) {
		_ = cmd.Process.Kill()
		_, _ = cmd.Process.Wait()
	}
	await := func(who int) {
		for end := time.Now().Add(2 * patience); ; pause(t, 10*time.Millisecond) {
			mu.Lock()
			n := counts[who]
			mu.Unlock()
			if n >= 100 {
				return
			}
			if time.Now().After(end) {
				t.Errorf("process %d issued %d ids", who, n)
				return
			}
		}
	}
	running := []*exec.Cmd{start(0), start(1)}
	for who := 2; who < 6; who++ {
		await(who - 2)
		kill(running[who%2])
		running[who%2] = start(who)
	}
	await(4)
	await(5)
	kill(running[0])
	kill(running[1])
	readers.Wait()
	t.Logf("%d ids: %v", len(seen), counts)
}

// librariesServer has leases of 2 seconds.
func librariesServer(t *testing.T, args ...string) *process {
	return startServer(t, nil, append([]string{"--store", prepared(t, "redis").url, "--worker-slice", "2s"}, args...)...)
}

func TestLibrariesOnLeasedWorkerIDs(t *testing.T) {
	t.Parallel()
	for library := range libraries {
		t.Run(library, func(t *testing.T) {
			t.Parallel()
			s := librariesServer(t)
			checkLibrary(t, s, func() *exec.Cmd {
				cmd := exec.Command(os.Args[0], "postgres://anybody@"+s.address+"/nextid?sslmode=disable")
				cmd.Env = append(os.Environ(), libraryVariable+"="+library)
				return cmd
			})
		})
	}
}

// testdata/library.mjs is the same with @sapphire/snowflake over HTTP.
func TestSapphireOnLeasedWorkerIDs(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("installs a package of npm")
	}
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(program + " is not here")
		}
	}
	dir := t.TempDir()
	script, err := os.ReadFile("testdata/library.mjs")
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "library.mjs"), script, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	install := exec.CommandContext(t.Context(), "npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "@sapphire/snowflake@3.5.5")
	install.Dir = dir
	if out, err := install.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	s := librariesServer(t, "--http", "127.0.0.1:0")
	checkLibrary(t, s, func() *exec.Cmd {
		cmd := exec.Command("node", "library.mjs", "http://"+s.http+"/api/v1/workers/1")
		cmd.Dir = dir
		return cmd
	})
}
