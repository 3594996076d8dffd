package etcd_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"nextid/generator"
	"nextid/generator/store/dbtest"
	"nextid/generator/store/etcd"
	"nextid/generator/store/shared"
	"nextid/generator/store/storetest"
)

func order(n int64) generator.Reservation {
	return generator.Reservation{Key: generator.NameKey("orders"), AtLeast: 1, N: n, Limit: generator.NoLimit}
}

func wantError(t *testing.T, err, kind error, text string) {
	t.Helper()
	if !errors.Is(err, kind) || !strings.Contains(err.Error(), text) {
		t.Fatalf("%v, want %v with %q", err, kind, text)
	}
}

// leader finds the leader of a cluster.
func leader(t *testing.T, members []*dbtest.Server) *dbtest.Server {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		for _, m := range members {
			if !m.Running() {
				continue
			}
			c := http.Client{Timeout: time.Second}
			r, err := c.Post("http://"+m.Addr+"/v3/maintenance/status", "application/json", strings.NewReader("{}"))
			if err != nil {
				continue
			}
			text, _ := io.ReadAll(r.Body)
			r.Body.Close()
			var said struct {
				Header struct {
					MemberID string `json:"member_id"`
				} `json:"header"`
				Leader string `json:"leader"`
			}
			if json.Unmarshal(text, &said) == nil && said.Leader == said.Header.MemberID && said.Leader != "" {
				return m
			}
		}
	}
	t.Fatal("no leader")
	return nil
}

// Rows 38 and 53: the leader is killed, and frozen, three times each. A new
// leader is the same store: nothing is skipped and no name stops.
func TestLeadersThatAreKilledAndFrozen(t *testing.T) {
	t.Parallel()
	members := dbtest.Etcd(t, 3)
	u := place(t, members)
	cfg := shared.Config{Timeout: 2 * time.Second}
	stores := []generator.Store{start(t, u, cfg), start(t, u, cfg)}
	load := storetest.StartLoad(t, stores...)
	for range 3 {
		load.Await(60)
		l := leader(t, members)
		l.Kill()
		load.Await(60)
		l.Start()
		l = leader(t, members)
		l.Freeze()
		load.Await(60)
		l.Thaw()
	}
	load.Stop()
	marks, err := stores[0].Reserved(t.Context(), "name/load")
	if err != nil || len(marks) != 3 {
		t.Fatalf("%v, %v", marks, err)
	}
}

func TestAllMembersAreKilledAtOnce(t *testing.T) {
	t.Parallel()
	members := dbtest.Etcd(t, 1)
	u := place(t, members)
	load := storetest.StartLoad(t, start(t, u, shared.Config{}), start(t, u, shared.Config{}))
	for range 3 {
		load.Await(60)
		members[0].Kill()
		members[0].Start()
	}
	load.Await(60)
	load.Stop()
}

func TestClustersThatAreNotReady(t *testing.T) {
	t.Parallel()
	members := dbtest.Etcd(t, 1)
	_, err := try(t.Context(), dbtest.EtcdURL(members), shared.Config{})
	wantError(t, err, generator.ErrPinned, "no tables of nextid")
	_, err = try(t.Context(), "etcd://user:secret@"+dbtest.FreeAddr(t), shared.Config{})
	wantError(t, err, generator.ErrNotNow, "cannot use the store")
	if strings.Contains(err.Error(), "secret") {
		t.Errorf("the message holds the password: %v", err)
	}
	// Everything is deleted while it runs: nothing starts from zero. Prepared
	// again, it is another store.
	u := place(t, members)
	store := start(t, u, shared.Config{})
	if _, _, err := store.Reserve(t.Context(), order(10)); err != nil {
		t.Fatal(err)
	}
	schema, err := etcd.OpenSchema(etcd.Config{URL: u})
	if err != nil {
		t.Fatal(err)
	}
	defer schema.Close()
	if err := schema.Down(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, _, err = store.Reserve(t.Context(), order(10))
	wantError(t, err, generator.ErrPinned, "no tables of nextid")
	if err := schema.Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	if text, complete, err := schema.Status(t.Context()); err != nil || !complete || !strings.HasPrefix(text, "prepared") {
		t.Errorf("%s %v %v", text, complete, err)
	}
	_, _, err = store.Reserve(t.Context(), order(10))
	wantError(t, err, generator.ErrRegressed, "gone back")
}

func TestAConnectionThatIsCutAtAnyByte(t *testing.T) {
	t.Parallel()
	members := dbtest.Etcd(t, 1)
	u := place(t, members)
	cut := dbtest.Cut(t, members[0].Addr)
	load := storetest.StartLoad(t, start(t, strings.Replace(u, members[0].Addr, cut.Addr, 1), shared.Config{}), start(t, u, shared.Config{}))
	for i := range int64(60) {
		before := load.Refused()
		cut.After(1 + 17*i)
		for end := time.Now().Add(20 * time.Second); load.Refused() == before && time.Now().Before(end); {
			time.Sleep(time.Millisecond)
		}
	}
	cut.After(0)
	load.Await(20)
	load.Stop()
	if load.Refused() < 60 {
		t.Errorf("only %d connections were cut", load.Refused())
	}
}
