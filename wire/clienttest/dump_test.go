package clienttest

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql"

	"nextid/dbtest"
)

// dumped is a MySQL server, nextid or MariaDB. Its sequences are dumped with
// mariadb-dump and restored with mariadb.
type dumped struct {
	t          *testing.T
	name       string
	host, port string
	database   string
	db         *sql.DB
}

func newDumped(t *testing.T, name, addr, database string) *dumped {
	t.Helper()
	host, port, _ := strings.Cut(addr, ":")
	db, err := sql.Open("mysql", "root@tcp("+addr+")/"+database)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return &dumped{t, name, host, port, database, db}
}

func (d *dumped) exec(statements ...string) {
	d.t.Helper()
	for _, s := range statements {
		if _, err := d.db.Exec(s); err != nil {
			d.t.Fatalf("%s: %v", s, err)
		}
	}
}

// draw draws n ids of a sequence and adds them to seen. An id that is in seen
// already fails the test. draw returns the error that stopped it.
func (d *dumped) draw(seen map[int64]string, sequence string, n int) error {
	d.t.Helper()
	for range n {
		var id int64
		if err := d.db.QueryRow("SELECT NEXTVAL(" + sequence + ")").Scan(&id); err != nil {
			return err
		}
		if who, again := seen[id]; again {
			d.t.Errorf("%s gives %d of %s again, which %s gave", d.name, id, sequence, who)
		}
		seen[id] = d.name
	}
	return nil
}

func (d *dumped) client(program string, in []byte, args ...string) ([]byte, error) {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(d.t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, append([]string{"--no-defaults", "-h" + d.host, "-P" + d.port, "-uroot", "--protocol=tcp"}, args...)...)
	cmd.Stdin = bytes.NewReader(in)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%w: %s", err, said.Bytes())
	}
	return out, err
}

func (d *dumped) dump(args ...string) []byte {
	d.t.Helper()
	out, err := d.client("mariadb-dump", nil, append([]string{d.database}, args...)...)
	if err != nil {
		d.t.Fatal(err)
	}
	return out
}

func (d *dumped) restore(dump []byte) error {
	d.t.Helper()
	_, err := d.client("mariadb", dump, d.database)
	return err
}

// TestDumpAndRestore carries sequences from nextid to a MariaDB, from there to
// nextid and back into the server that they came from. No id comes twice.
func TestDumpAndRestore(t *testing.T) {
	for _, program := range []string{"mariadb-dump", "mariadb"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(program + " is not installed, on Debian: apt-get install mariadb-client")
		}
	}
	addr, _ := dbtest.QuickMariaDB(t)
	maria := newDumped(t, "MariaDB", addr, "test")
	ours := newDumped(t, "nextid", "127.0.0.1:"+newServer(t).mysql, "nextid")
	ours.exec(
		"CREATE SEQUENCE plain", "CREATE SEQUENCE tens START WITH 100 INCREMENT BY 10 CACHE 50 COMMENT='it''s a \\\\ sequence'",
		"CREATE SEQUENCE down START WITH -5 INCREMENT BY -2", "CREATE SEQUENCE bounded MINVALUE 5 MAXVALUE 7",
		"CREATE SEQUENCE unused START WITH 40", "SELECT create_generator('gapless', 'counter', '{}')",
		"SELECT create_generator('mixed', 'segment', '{\"scatter\": true}')", "SELECT next_id('snow')", // which nextval would make otherwise
	)
	names := []string{"plain", "tens", "down", "bounded", "unused", "gapless", "mixed", "snow"}
	seen := map[string]map[int64]string{}
	draws := func(d *dumped, n int) (stopped []string) {
		t.Helper()
		for _, name := range names {
			if seen[name] == nil {
				seen[name] = map[int64]string{}
			}
			if name == "unused" && d == ours {
				continue
			}
			if err := d.draw(seen[name], name, n); err != nil {
				stopped = append(stopped, name)
			}
		}
		return stopped
	}
	if got := fmt.Sprint(draws(ours, 60)); got != "[bounded]" { // has three ids
		t.Fatalf("nextid stops at %s", got)
	}

	dump := ours.dump()
	if n := strings.Count(string(dump), "DO SETVAL("); n != len(names) {
		t.Errorf("the dump has the positions of %d sequences, want %d", n, len(names))
	}
	if err := maria.restore(dump); err != nil {
		t.Fatal(err)
	}
	// The ids have no order: a sequence could issue any of them again.
	if got := fmt.Sprint(draws(maria, 60)); got != "[bounded mixed]" {
		t.Errorf("MariaDB stops at %s", got)
	}
	var comment string
	if err := maria.db.QueryRow("SELECT table_comment FROM information_schema.tables WHERE table_name = 'tens'").Scan(&comment); err != nil || comment != `it's a \ sequence` {
		t.Errorf("comment %q, %v", comment, err)
	}

	// Restore into a nextid without these names, and go on drawing.
	dump = maria.dump(names...)
	other := newDumped(t, "the second nextid", "127.0.0.1:"+newServer(t).mysql, "nextid")
	if err := other.restore(dump); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(draws(other, 60)); got != "[bounded mixed]" {
		t.Errorf("the second nextid stops at %s", got)
	}

	// Restore into the server that they came from. Generators that CREATE SEQUENCE
	// cannot express are not dropped.
	sequences := []string{"plain", "tens", "down", "bounded", "unused"}
	if err := ours.restore(maria.dump(sequences...)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"gapless", "mixed", "snow"} {
		if err := ours.restore(maria.dump(name)); err == nil || !strings.Contains(err.Error(), "no sequence that CREATE SEQUENCE could make") {
			t.Errorf("%s was dropped: %v", name, err)
		}
		seen[name] = map[int64]string{} // it goes on as it was, beside its copies
	}
	for _, name := range sequences {
		for id, who := range seen[name] {
			if who == other.name { // a copy that went on beside it
				delete(seen[name], id)
			}
		}
	}
	if got := fmt.Sprint(draws(ours, 60)); got != "[bounded]" {
		t.Errorf("nextid stops at %s", got)
	}
}
