package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"nextid/dbtest"
	"nextid/generator"
	"nextid/generator/history"
)

// systemctl replaces systemd's: it starts and stops one server with the environment
// file of the page. After each start it draws.
const systemctl = `#!/bin/bash
set -eu
stop() { [ ! -e PID ] || { kill "$(cat PID)"; while [ -e /proc/"$(cat PID)" ]; do sleep 0.05; done; rm PID; }; }
start() {
	set -a; . ENVIRONMENT; set +a
	PROGRAM serve --data DATA --pg 127.0.0.1:PGPORT --mysql off --http 127.0.0.1:HTTPPORT --worker-slice 1s >>LOG 2>&1 &
	echo $! >PID
	for i in $(seq 200); do curl -fs http://127.0.0.1:HTTPPORT/readyz >/dev/null && break; kill -0 $! || exit 1; sleep 0.05; done
	for name in orders invoices; do
		for i in $(seq 20); do echo "SELECT '$name', next_id('$name');"; done | psql -h 127.0.0.1 -p PGPORT -U x -At -F ' ' postgres >>IDS 2>>LOG || true
	done
}
case $1 in start) start ;; stop) stop ;; restart) stop; start ;; esac
`

// TestUpgradesPage runs the commands of docs/upgrades.md in their order. No id is
// repeated.
func TestUpgradesPage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/upgrades.md")
	if err != nil {
		t.Fatal(err)
	}
	db := dbtest.Postgres(t)
	admin, err := pgx.Connect(t.Context(), db.PostgresURL("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close(context.Background())
	if _, err := admin.Exec(t.Context(), "CREATE ROLE nextid LOGIN"); err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	_, pgPort, _ := strings.Cut(dbtest.FreeAddr(t), ":")
	_, httpPort, _ := strings.Cut(dbtest.FreeAddr(t), ":")
	in := func(path string) string { return filepath.Join(root, path) }
	places := strings.NewReplacer(
		"postgres://postgres@db/nextid", db.PostgresURL("postgres"), "postgres://nextid@db/nextid", db.PostgresURL("nextid"),
		"-h 127.0.0.1 -p 5433", "-h 127.0.0.1 -p "+pgPort, ":8433", ":"+httpPort, "sleep 70", "sleep 11",
		"/var/lib/nextid", in("lib"), "/var/backups", in("backups"), "/usr/bin/", in("bin")+"/", "/run/restore", in("run"), "/etc/nextid", in("etc"),
	)
	for _, dir := range []string{"bin", "lib", "etc"} {
		if err := os.Mkdir(in(dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	program, err := os.ReadFile(binary)
	if err != nil {
		t.Fatal(err)
	}
	shim := strings.NewReplacer("PID", in("pid"), "ENVIRONMENT", in("etc/environment"), "PROGRAM", in("bin/nextid"), "DATA", in("lib"),
		"PGPORT", pgPort, "HTTPPORT", httpPort, "LOG", in("log"), "IDS", in("ids")).Replace(systemctl)
	for file, content := range map[string]string{
		"bin/nextid": string(program), "nextid-new": string(program), "bin/systemctl": shim, "etc/environment": "", "ids": "", "log": "",
		"etc/nextid.yaml": "generators:\n  invoices: {kind: segment}\n",
	} {
		if err := os.WriteFile(in(file), []byte(content), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(in("etc/environment"), []byte("NEXTID_CONFIG="+in("etc/nextid.yaml")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(text string) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, "bash", "-euc", "set -m\n"+places.Replace(text))
		cmd.Dir, cmd.Env = root, append(os.Environ(), "PATH="+in("bin")+":"+os.Getenv("PATH"), "PGUSER=x", "PGDATABASE=nextid")
		if out, err := cmd.CombinedOutput(); err != nil {
			log, _ := os.ReadFile(in("log")) // may say why
			t.Fatalf("%s\n%v\n%s\n%s", text, err, out, log)
		}
	}
	run("systemctl start nextid")
	t.Cleanup(func() {
		if pid, err := os.ReadFile(in("pid")); err == nil {
			if n, err := strconv.Atoi(strings.TrimSpace(string(pid))); err == nil {
				if p, err := os.FindProcess(n); err == nil {
					_ = p.Kill() // it may have ended
				}
			}
		}
	})
	moved := false
	blocks := regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	// The last block of the page moves to a shared store. The block with the backup of
	// a shared store comes before it on the page, and runs after it.
	var first, last []string
	for _, b := range blocks {
		if strings.Contains(b[1], "pg_dump") || strings.Contains(b[1], "pg_restore") {
			last = append(last, b[1])
		} else {
			first = append(first, b[1])
		}
		moved = moved || strings.Contains(b[1], "migrate store copy")
	}
	if len(first) != 6 || len(last) != 2 || !moved {
		t.Fatalf("the page has %d and %d blocks", len(first), len(last))
	}
	for i, text := range append(first, last...) {
		run(text)
		if strings.Contains(text, "pg_dump") {
			run("systemctl restart nextid") // draws ids that the backup does not have
		}
		if i == len(first)+len(last)-1 { // after the wait for the draws that the backup does not have
			run("until psql -h 127.0.0.1 -p 5433 -c \"SELECT next_id('orders')\"; do sleep 0.2; done; systemctl restart nextid")
		}
	}
	ids, err := os.ReadFile(in("ids"))
	if err != nil {
		t.Fatal(err)
	}
	var log history.Log
	counts := map[string]int{}
	for i, line := range strings.Split(strings.TrimSpace(string(ids)), "\n") {
		var name string
		var id int64
		if _, err := fmt.Sscan(line, &name, &id); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		counts[name]++
		log.Add(history.Event{Name: name, Client: i, Range: generator.Range{First: id, Step: 1, Count: 1}})
	}
	if err := log.Check(); err != nil {
		t.Error(err)
	}
	if counts["orders"] < 140 || counts["invoices"] < 140 {
		t.Errorf("ids drawn: %v", counts)
	}
}

// TestVersionsBesideEachOther: an older server refuses a name that a newer version
// has made in the store, and only that name.
func TestVersionsBesideEachOther(t *testing.T) {
	t.Parallel()
	place := prepared(t, "postgres")
	db, err := pgx.Connect(t.Context(), place.url)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close(context.Background())
	for name, definition := range map[string][2]string{
		"kind": {"quantum", `{}`}, "option": {"segment", `{"colour":"blue"}`}, "layout": {"snowflake", `{"layout":"andromeda"}`},
	} {
		if _, err := db.Exec(t.Context(), "INSERT INTO nextid_generators VALUES ($1, $2, $3, 1, 0, false)", name, definition[0], definition[1]); err != nil {
			t.Fatal(err)
		}
	}
	s := startServer(t, nil, "--store", place.url)
	conn := s.connect()
	for name, code := range map[string]string{"kind": "22023", "option": "58000", "layout": "58000"} {
		if _, err := drawOnce(t.Context(), conn, name); sqlState(t, err) != code {
			t.Errorf("%s: %v", name, err)
		}
	}
	draw(t, conn, "orders")
	var n int
	if err := conn.QueryRow(t.Context(), "SELECT count(*) FROM nextid.generators").Scan(&n); err != nil || n != 4 {
		t.Errorf("nextid.generators: %d, %v", n, err)
	}
}
