package etcd_test

import (
	"bytes"
	"encoding/json"
	"errors"
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
	_, err := engine.Try(t.Context(), dbtest.ClusterURL("etcd", members), shared.Config{})
	dbtest.WantError(t, err, generator.ErrPinned, "no tables of nextid")
	_, err = engine.Try(t.Context(), "etcd://user:secret@"+dbtest.FreeAddr(t), shared.Config{})
	dbtest.WantError(t, err, generator.ErrNotNow, "cannot use the store")
	if strings.Contains(err.Error(), "secret") {
		t.Errorf("the message holds the password: %v", err)
	}
	// Everything is deleted during use: nothing starts from zero. After it was
	// prepared again, it is another store.
	u := place(t, members)
	schema, err := etcd.Driver().Schema(u)
	if err != nil {
		t.Fatal(err)
	}
	defer schema.Close()
	engine.Emptied(t, u, schema)
}

// TestARestoredClusterInTheSamePlace: a server that has asked for nothing while the cluster
// was replaced grants nothing by the epoch that it knows.
func TestARestoredClusterInTheSamePlace(t *testing.T) {
	t.Parallel()
	old, restored := dbtest.Etcd(t, 1)[0], dbtest.Etcd(t, 1)[0]
	proxy := dbtest.Cut(t, old.Addr)
	u := "etcd://" + proxy.Addr + "/same"
	prepare(t, u)
	idle, other := engine.Start(t, u, shared.Config{}), engine.Start(t, u, shared.Config{})
	dbtest.Grant(t, idle, dbtest.Order(10), 1)
	copyAll(t, old, restored)
	dbtest.Grant(t, other, dbtest.Order(10), 11) // is not in the copy
	proxy.To(restored.Addr)
	old.Kill()
	_, _, err := idle.Reserve(t.Context(), dbtest.Order(10))
	if errors.Is(err, generator.ErrNotNow) { // the request was written to the old cluster's connection
		_, _, err = idle.Reserve(t.Context(), dbtest.Order(10))
	}
	dbtest.WantError(t, err, generator.ErrRegressed, "failed over or restored")
}

// copyAll puts the keys of a cluster into an empty one, with the same revisions if each was
// written once.
func copyAll(t *testing.T, from, to *dbtest.Server) {
	t.Helper()
	call := func(s *dbtest.Server, method string, request, response any) {
		t.Helper()
		text, err := json.Marshal(request)
		if err != nil {
			t.Fatal(err)
		}
		r, err := http.Post("http://"+s.Addr+"/v3/kv/"+method, "application/json", bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		if err := json.NewDecoder(r.Body).Decode(response); err != nil || r.StatusCode != http.StatusOK {
			t.Fatal(r.Status, err)
		}
	}
	type keyValue struct {
		Key      []byte `json:"key"`
		Value    []byte `json:"value"`
		Revision int64  `json:"mod_revision,string"`
	}
	var found, put struct {
		Header struct {
			Revision int64 `json:"revision,string"`
		} `json:"header"`
		KVs []keyValue `json:"kvs"`
	}
	call(from, "range", map[string]any{"key": []byte{0}, "range_end": []byte{0}, "sort_target": "MOD", "sort_order": "ASCEND"}, &found)
	for _, kv := range found.KVs {
		call(to, "put", map[string]any{"key": kv.Key, "value": kv.Value}, &put)
		if put.Header.Revision != kv.Revision {
			t.Fatalf("%q has revision %d, not %d", kv.Key, put.Header.Revision, kv.Revision)
		}
	}
}

func TestAConnectionThatIsCutAtAnyByte(t *testing.T) {
	t.Parallel()
	members := dbtest.Etcd(t, 1)
	engine.CutAnywhere(t, place(t, members), members[0].Addr, 17)
}
