package etcd_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"nextid/dbtest"
	"nextid/generator"
	"nextid/generator/generatortest"
	"nextid/generator/store/etcd"
	"nextid/generator/store/shared"
)

// leader returns the leader of a cluster.
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

// Rows 38 and 53: the leader is killed, and frozen, three times each. The store of
// a new leader is the same: nothing is skipped and no name stops.
func TestLeadersThatAreKilledAndFrozen(t *testing.T) {
	t.Parallel()
	members := dbtest.Etcd(t, 3)
	u := place(t, members)
	cfg := shared.Config{Timeout: 2 * time.Second}
	stores := []generator.Store{engine.Start(t, u, cfg), engine.Start(t, u, cfg)}
	load := generatortest.StartLoad(t, stores...)
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
	engine.Crash(t, place(t, members), shared.Config{}, members[0], 60)
}

func TestClustersThatAreNotReady(t *testing.T) {
	t.Parallel()
	members := dbtest.Etcd(t, 1)
	_, err := engine.Try(t.Context(), dbtest.EtcdURL(members), shared.Config{})
	dbtest.WantError(t, err, generator.ErrPinned, "no tables of nextid")
	_, err = engine.Try(t.Context(), "etcd://user:secret@"+dbtest.FreeAddr(t), shared.Config{})
	dbtest.WantError(t, err, generator.ErrNotNow, "cannot use the store")
	if strings.Contains(err.Error(), "secret") {
		t.Errorf("the message holds the password: %v", err)
	}
	// Everything is deleted during use: nothing starts from zero. After it was
	// prepared again, it is another store.
	u := place(t, members)
	schema, err := etcd.Open(u)
	if err != nil {
		t.Fatal(err)
	}
	defer schema.Close()
	engine.Emptied(t, u, schema)
}

func TestAConnectionThatIsCutAtAnyByte(t *testing.T) {
	t.Parallel()
	members := dbtest.Etcd(t, 1)
	engine.CutAnywhere(t, place(t, members), members[0].Addr, 17)
}
