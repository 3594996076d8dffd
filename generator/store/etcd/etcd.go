// Package etcd is the shared store on an etcd cluster, version 3.4 or newer. engine
// implements shared.Engine by compare-and-set (shared.CAS). client sends the
// requests. Driver describes it to the server.
//
// Keys begin with the path of the URL (nextid/ if it has none):
//
//	nextid/reservations/KEY   a row as JSON
//	nextid/generators/NAME    a definition as JSON
//	nextid/format             made by nextid migrate store up (the marker)
//
// A reservation is one transaction. It puts the new row if the key's mod_revision
// and value are unchanged; otherwise it returns the present row. Its answer names the
// cluster and has the marker. So correctness does not depend on an earlier read, and
// leases are not used. etcd writes all transactions that arrive together at once.
//
// The epoch is the cluster's id, the marker's create_revision and its random part. A
// new leader does not change it. A cluster that was restored from a snapshot has
// another id if its token or its peer URLs differ (--initial-cluster-token); otherwise
// only high-water marks tell. An etcd that runs with --unsafe-no-fsync cannot be
// detected. Do not use it.
//
// The package uses etcd's JSON gateway over HTTP on the client port. The official
// client (client/v3 over gRPC) would add 12.5 MB to a binary whose limit is 40 MB, and
// save 0.4 ms of 1.06 ms a transaction (November 2026). Waiting calls share one.
package etcd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"nextid/dsn"
	"nextid/generator/store/shared"
)

// Driver describes this store to the server: its URL schemes, Open and its schema.
func Driver() shared.Driver {
	return shared.Driver{
		Schemes: []string{"etcd", "etcds"}, Example: "etcd://HOST:2379,HOST:2379", Failover: shared.Stop,
		Open:   func(_ context.Context, url string, _ []string) (shared.Engine, error) { return open(url) },
		Schema: func(url string) (shared.Schema, error) { return open(url) },
	}
}

// engine implements shared.Engine, shared.Schema and shared.Swapper.
type engine struct {
	*shared.CAS
	c      *client
	prefix string
}

// open returns an engine. The first call connects. The URL is
// etcd://USER:PASSWORD@HOST:PORT,HOST:PORT/PREFIX, or etcds:// for TLS. Parameters of
// etcds: ca, cert and key, names of PEM files.
func open(url string) (*engine, error) {
	u, hosts, err := dsn.Parse(url)
	if err != nil {
		return nil, err
	}
	c, err := newClient(u, hosts)
	if err != nil {
		return nil, err
	}
	e := &engine{c: c, prefix: cmp.Or(strings.Trim(u.Path, "/"), "nextid") + "/"}
	e.CAS = shared.NewCAS(e, e.unprepared())
	return e, nil
}

func (e *engine) marker() string { return e.prefix + "format" }

func (e *engine) path(in shared.Folder, key string) string { return e.prefix + string(in) + "/" + key }

// unprepared returns the error for a cluster without a marker.
func (e *engine) unprepared() error { return shared.NoSchema(e.c.what, "etcd://…", nil) }

func (e *engine) Present(ctx context.Context) (string, error) {
	found, err := e.c.get(ctx, rangeRequest{Key: []byte(e.marker())})
	if err != nil || len(found.KVs) == 0 {
		return "", err
	}
	return epochOf(found.Header, found.KVs[0]), nil
}

// epochOf returns the epoch of a cluster with a marker.
func epochOf(h header, marker keyValue) string {
	return shared.MarkedEpoch(h.ClusterID+"/"+marker.CreateRevision, string(marker.Value))
}

// Time implements shared.Engine. etcd has no request for the time, but each
// HTTP response has a Date, in whole seconds.
func (e *engine) Time(ctx context.Context) (earliest, latest time.Time, err error) {
	found, err := e.c.get(ctx, rangeRequest{Key: []byte(e.marker())})
	if err == nil && found.date.IsZero() {
		err = shared.Unreachable(ctx, e.c.what, errors.New("the answer has no date"))
	}
	return found.date, found.date.Add(time.Second), err
}

// Get implements shared.Swapper. Reads of etcd are linearizable.
func (e *engine) Get(ctx context.Context, in shared.Folder, key string) (shared.Value, error) {
	found, err := e.c.get(ctx, rangeRequest{Key: []byte(e.path(in, key))})
	if err != nil || len(found.KVs) == 0 {
		return shared.Value{}, err
	}
	return found.KVs[0].value()
}

// Swap implements shared.Swapper. It puts text under the key if its mod_revision is
// was.Version; 0 means that the key must not exist. It compares the value, too: the
// cluster of another epoch may have the same revisions.
func (e *engine) Swap(ctx context.Context, epoch string, in shared.Folder, key string, was shared.Value, text string) (now shared.Value, swapped bool, err error) {
	path, marker := []byte(e.path(in, key)), []byte(e.marker())
	unchanged := []compare{
		{Key: marker, Target: "CREATE", Result: "GREATER", CreateRevision: "0"},
		{Key: path, Target: "MOD", Result: "EQUAL", ModRevision: strconv.FormatInt(was.Version, 10)},
	}
	if was.Version != 0 {
		unchanged = append(unchanged, compare{Key: path, Target: "VALUE", Result: "EQUAL", Value: []byte(was.Text)})
	}
	did, err := e.c.txn(ctx, txnRequest{
		Compare: unchanged,
		Success: []operation{{Put: &putRequest{Key: path, Value: []byte(text)}}, {Range: &rangeRequest{Key: marker}}},
		Failure: []operation{{Range: &rangeRequest{Key: path}}, {Range: &rangeRequest{Key: marker}}},
	})
	if err != nil {
		return shared.Value{}, false, err
	}
	if len(did.Responses) != 2 || len(did.Responses[1].Range.KVs) == 0 {
		return shared.Value{}, false, e.unprepared()
	}
	if epoch != "" && epochOf(did.Header, did.Responses[1].Range.KVs[0]) != epoch {
		return shared.Value{}, false, shared.ErrEpoch
	}
	if did.Succeeded {
		now.Text = text
		now.Version, err = strconv.ParseInt(did.Header.Revision, 10, 64)
		return now, err == nil, err
	}
	if kvs := did.Responses[0].Range.KVs; len(kvs) > 0 {
		now, err = kvs[0].value()
	}
	return now, false, err
}

// value returns the value of a key. Its Version is the mod_revision, at least 1.
func (kv *keyValue) value() (shared.Value, error) {
	version, err := strconv.ParseInt(kv.ModRevision, 10, 64)
	if err != nil || version < 1 {
		return shared.Value{}, errors.Join(errors.New("etcd answers with no revision"), err)
	}
	return shared.Value{Text: string(kv.Value), Version: version}, nil
}

// all returns the request for the keys that begin with prefix.
func (e *engine) all(in shared.Folder, prefix string) rangeRequest {
	start := e.path(in, prefix)
	return rangeRequest{Key: []byte(start), RangeEnd: []byte(shared.PrefixEnd(start))}
}

func (e *engine) List(ctx context.Context, in shared.Folder, prefix string) (map[string]string, error) {
	found, err := e.c.get(ctx, e.all(in, prefix))
	values := make(map[string]string, len(found.KVs))
	for _, kv := range found.KVs {
		values[strings.TrimPrefix(string(kv.Key), e.path(in, ""))] = string(kv.Value)
	}
	return values, err
}

func (e *engine) Size(ctx context.Context, in shared.Folder) (int, error) {
	r := e.all(in, "")
	r.CountOnly = true
	found, err := e.c.get(ctx, r)
	return found.Count, err
}

// Up implements shared.Schema. It creates the marker, and changes nothing that
// exists.
func (e *engine) Up(ctx context.Context) error {
	key := []byte(e.marker())
	_, err := e.c.txn(ctx, txnRequest{
		Compare: []compare{{Key: key, Target: "CREATE", Result: "EQUAL", CreateRevision: "0"}},
		Success: []operation{{Put: &putRequest{Key: key, Value: []byte(shared.NewMarker())}}},
	})
	return err
}

// Down implements shared.Schema. It removes all keys of the store.
func (e *engine) Down(ctx context.Context) error {
	return e.c.call(ctx, "kv/deleterange",
		rangeRequest{Key: []byte(e.prefix), RangeEnd: []byte(shared.PrefixEnd(e.prefix))}, new(struct{}))
}

// Print implements shared.Schema. It returns the commands of Up.
func (e *engine) Print() (string, error) {
	return fmt.Sprintf("put %s %q (unless it exists)\n", e.marker(), shared.NewMarker()), nil
}

// Close closes the connections.
func (e *engine) Close() error {
	e.c.http.CloseIdleConnections()
	return nil
}
