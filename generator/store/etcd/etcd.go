package etcd

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"nextid/dsn"
	"nextid/generator"
	"nextid/generator/store/shared"
)

// Config names the cluster.
type Config struct {
	// URL is etcd://USER:PASSWORD@HOST:PORT,HOST:PORT/PREFIX, or etcds:// for TLS.
	// Parameters of etcds: ca, cert and key, names of PEM files.
	URL string
}

// Engine implements shared.Engine.
type Engine struct {
	*shared.CAS
	c      *client
	prefix string
}

var (
	_ shared.Engine        = (*Engine)(nil)
	_ generator.Timekeeper = (*Engine)(nil)
)

// Open returns an Engine. The first call connects.
func Open(cfg Config) (*Engine, error) {
	u, hosts, err := dsn.Parse(cfg.URL)
	if err != nil {
		return nil, err
	}
	c, err := newClient(u, hosts)
	if err != nil {
		return nil, err
	}
	prefix := strings.Trim(u.Path, "/")
	if prefix == "" {
		prefix = "nextid"
	}
	e := &Engine{c: c, prefix: prefix + "/"}
	e.CAS = shared.NewCAS(swapper{e})
	return e, nil
}

const format = "1" // content of the marker

func (e *Engine) marker() string           { return e.prefix + "format" }
func (e *Engine) rowKey(key string) string { return e.prefix + "reservations/" + key }
func (e *Engine) nameKey(n string) string  { return e.prefix + "generators/" + n }

// unprepared returns the error for a cluster without a marker.
func (e *Engine) unprepared() error { return shared.NoSchema(e.c.what, "etcd://…", nil) }

func (e *Engine) failure(ctx context.Context, err error) error {
	return shared.Unreachable(ctx, e.c.what, err)
}

// swapper implements the compare-and-set that shared.CAS needs.
type swapper struct{ *Engine }

// Epoch implements shared.Swapper.
func (s swapper) Epoch(ctx context.Context) (string, error) {
	found, err := s.c.get(ctx, s.marker(), "")
	if err != nil {
		return "", s.failure(ctx, err)
	}
	if len(found.KVs) == 0 {
		return "", s.unprepared()
	}
	return found.Header.ClusterID + "/" + found.KVs[0].CreateRevision, nil
}

// Time implements generator.Timekeeper. etcd has no request for the time, but each
// HTTP response has a Date, in whole seconds.
func (e *Engine) Time(ctx context.Context) (earliest, latest time.Time, err error) {
	found, err := e.c.get(ctx, e.marker(), "")
	if err != nil {
		return earliest, latest, e.failure(ctx, err)
	}
	if found.date.IsZero() {
		return earliest, latest, e.failure(ctx, errors.New("the answer has no date"))
	}
	return found.date, found.date.Add(time.Second), nil
}

// Load implements shared.Swapper.
func (s swapper) Load(ctx context.Context, key string) (shared.Value, error) {
	found, err := s.c.get(ctx, s.rowKey(key), "")
	if err != nil || len(found.KVs) == 0 {
		return shared.Value{}, s.failure(ctx, err)
	}
	return found.KVs[0].value()
}

// Latest implements shared.Swapper. Reads of etcd are linearizable, so it is Load.
func (s swapper) Latest(ctx context.Context, key string) (shared.Value, error) {
	return s.Load(ctx, key)
}

// Swap implements shared.Swapper.
func (s swapper) Swap(ctx context.Context, key string, was shared.Value, text string) (shared.Value, bool, error) {
	return s.swap(ctx, s.rowKey(key), was, text)
}

// swap puts text under key if its mod_revision is was.Version; 0 means that the key
// must not exist. Otherwise it returns the present value.
func (e *Engine) swap(ctx context.Context, key string, was shared.Value, text string) (now shared.Value, swapped bool, err error) {
	did, err := e.c.txn(ctx, txnRequest{
		Compare: []compare{
			{Key: []byte(key), Target: "MOD", Result: "EQUAL", ModRevision: strconv.FormatInt(was.Version, 10)},
			{Key: []byte(e.marker()), Target: "CREATE", Result: "GREATER", CreateRevision: "0"},
		},
		Success: []operation{{Put: &putRequest{Key: []byte(key), Value: []byte(text)}}},
		Failure: []operation{{Range: &rangeRequest{Key: []byte(key)}}, {Range: &rangeRequest{Key: []byte(e.marker())}}},
	})
	if err != nil {
		return shared.Value{}, false, e.failure(ctx, err)
	}
	if did.Succeeded {
		now.Text = text
		now.Version, err = strconv.ParseInt(did.Header.Revision, 10, 64)
		return now, err == nil, err
	}
	if len(did.Responses) != 2 || len(did.Responses[1].Range.KVs) == 0 {
		e.Forget()
		return shared.Value{}, false, e.unprepared()
	}
	if kvs := did.Responses[0].Range.KVs; len(kvs) > 0 {
		now, err = kvs[0].value()
	}
	return now, false, err
}

// Rows implements shared.Engine.
func (e *Engine) Rows(ctx context.Context, prefix string) ([]shared.Row, error) {
	start := e.rowKey(prefix)
	found, err := e.c.get(ctx, start, shared.PrefixEnd(start))
	if err != nil {
		return nil, e.failure(ctx, err)
	}
	all := make([]shared.Row, 0, len(found.KVs))
	for _, kv := range found.KVs {
		r, err := shared.DecodeRow(strings.TrimPrefix(string(kv.Key), e.rowKey("")), string(kv.Value))
		if err != nil {
			return nil, err
		}
		all = append(all, *r)
	}
	return all, nil
}

// Name implements shared.Engine.
func (e *Engine) Name(ctx context.Context, name string) (shared.Entry, error) {
	found, err := e.c.get(ctx, e.nameKey(name), "")
	if err != nil {
		return shared.Entry{}, e.failure(ctx, err)
	}
	if len(found.KVs) == 0 {
		return shared.Entry{}, shared.Unknown(name)
	}
	return shared.DecodeEntry(name, string(found.KVs[0].Value))
}

// Names implements shared.Engine.
func (e *Engine) Names(ctx context.Context) ([]shared.Entry, error) {
	found, err := e.c.get(ctx, e.nameKey(""), shared.PrefixEnd(e.nameKey("")))
	if err != nil {
		return nil, e.failure(ctx, err)
	}
	all := make([]shared.Entry, 0, len(found.KVs))
	for _, kv := range found.KVs {
		n, err := shared.DecodeEntry(strings.TrimPrefix(string(kv.Key), e.nameKey("")), string(kv.Value))
		if err != nil {
			return nil, err
		}
		all = append(all, n)
	}
	return all, nil
}

// Count implements shared.Engine.
func (e *Engine) Count(ctx context.Context) (int, error) {
	n, err := e.c.count(ctx, e.nameKey(""), shared.PrefixEnd(e.nameKey("")))
	if err != nil {
		return 0, e.failure(ctx, err)
	}
	return n, nil
}

// PutName implements shared.Engine. An entry with an equal value counts as
// unchanged, so its value replaces the revision in was.
func (e *Engine) PutName(ctx context.Context, n shared.Entry, was *shared.Entry) (written bool, err error) {
	key := e.nameKey(n.Name)
	var old shared.Value
	if was != nil {
		found, err := e.c.get(ctx, key, "")
		if err != nil {
			return false, e.failure(ctx, err)
		}
		if len(found.KVs) == 0 || string(found.KVs[0].Value) != shared.EncodeEntry(was) {
			return false, nil
		}
		if old, err = found.KVs[0].value(); err != nil {
			return false, err
		}
	}
	_, written, err = e.swap(ctx, key, old, shared.EncodeEntry(&n))
	return written, err
}

// Close implements shared.Engine.
func (e *Engine) Close() error {
	e.c.http.CloseIdleConnections()
	return nil
}

// value returns the value of a key. Its Version is the mod_revision, at least 1.
func (kv *keyValue) value() (shared.Value, error) {
	version, err := strconv.ParseInt(kv.ModRevision, 10, 64)
	if err != nil || version < 1 {
		return shared.Value{}, errors.Join(errors.New("etcd answers with no revision"), err)
	}
	return shared.Value{Text: string(kv.Value), Version: version}, nil
}
