// Package zookeeper is the shared store on a ZooKeeper ensemble, version 3.6 or
// newer. engine implements shared.Engine by compare-and-set (shared.CAS). session
// is its connection. Driver describes it to the server.
//
// Nodes are below the path of the URL (/nextid if it has none):
//
//	/nextid/reservations/KEY   a row as JSON; a slash in KEY is %2F
//	/nextid/generators/NAME    a definition as JSON
//	/nextid/clock              written to read the leader's time
//	/nextid/format             made by nextid migrate store up (the marker)
//
// A reservation is one setData with the node's version, or the creation of the
// node. There are no ephemeral nodes. So nothing is lost with a session that ends,
// for example while the server is paused.
//
// The epoch is the id of the transaction that made the marker, and the marker's random
// part. Another ensemble, or one that was emptied, has another one. An ensemble that runs with forceSync=no
// cannot be detected. Do not use it.
package zookeeper

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-zookeeper/zk"

	"nextid/dsn"
	"nextid/generator"
	"nextid/generator/store/shared"
)

// Driver describes this store to the server: its URL schemes, Open and its schema.
func Driver() shared.Driver {
	return shared.Driver{
		Schemes: []string{"zookeeper", "zookeepers"}, Example: "zookeeper://HOST:2181,HOST:2181", Failover: shared.Stop,
		Open:   func(_ context.Context, url string, _ []string) (shared.Engine, error) { return open(url) },
		Schema: func(url string) (shared.Schema, error) { return open(url) },
	}
}

// engine implements shared.Engine, shared.Schema and shared.Swapper.
type engine struct {
	*shared.CAS
	hosts       []string
	dial        zk.Dialer
	credentials string // USER:PASSWORD; "" for none
	session     atomic.Pointer[session]
	present     atomic.Pointer[present]
	what        string // for messages, without a password
	root        string
	acl         []zk.ACL
	stop        chan struct{} // closed by Close
	work        sync.WaitGroup
}

// present is the epoch that was last read. It holds while the client's session does:
// another ensemble does not know the session.
type present struct {
	epoch   string
	session int64
}

const sessionTimeout = 6 * time.Second

// open returns an engine. It connects in the background. The URL is
// zookeeper://USER:PASSWORD@HOST:PORT,HOST:PORT/PATH, or zookeepers:// for TLS with the
// parameters ca, cert and key, names of PEM files. The user belongs to the scheme
// digest.
func open(url string) (*engine, error) {
	u, hosts, err := dsn.Parse(url)
	if err != nil {
		return nil, err
	}
	hosts = dsn.WithPort(hosts, "2181")
	e := &engine{
		hosts: hosts, dial: dialer(nil), what: dsn.Redacted(u, hosts), root: cmp.Or(strings.TrimRight(u.Path, "/"), "/nextid"),
		acl: zk.WorldACL(zk.PermAll), stop: make(chan struct{}),
	}
	if u.Scheme == "zookeepers" {
		secure, err := dsn.TLS(u.Query())
		if err != nil {
			return nil, err
		}
		e.dial = dialer(secure)
	}
	if password, has := u.User.Password(); has {
		e.acl, e.credentials = zk.AuthACL(zk.PermAll), u.User.Username()+":"+password
	}
	first, err := e.connect()
	if err != nil {
		return nil, err
	}
	e.session.Store(first)
	e.work.Go(e.watch)
	e.CAS = shared.NewCAS(e, e.unprepared())
	return e, nil
}

// Close closes the connection.
func (e *engine) Close() error {
	close(e.stop)
	e.work.Wait()
	e.session.Load().close()
	return nil
}

func (e *engine) marker() string { return e.root + "/format" }

// clock returns the path of the node that is written to read the time.
func (e *engine) clock() string { return e.root + "/clock" }

func (e *engine) folder(in shared.Folder) string { return e.root + "/" + string(in) }

func (e *engine) path(in shared.Folder, key string) string {
	return e.folder(in) + "/" + url.PathEscape(key)
}

// Time implements shared.Engine. ZooKeeper has no request for the time, but
// keeps with each node when the leader wrote it.
func (e *engine) Time(ctx context.Context) (earliest, latest time.Time, err error) {
	stat, err := ask(ctx, e, func() (*zk.Stat, error) {
		stat, err := e.conn().Set(e.clock(), nil, -1)
		if !errors.Is(err, zk.ErrNoNode) {
			return stat, err
		}
		if _, err := e.conn().Create(e.clock(), nil, 0, e.acl); err != nil && !errors.Is(err, zk.ErrNodeExists) {
			return nil, err
		}
		return e.conn().Set(e.clock(), nil, -1)
	})
	if err != nil {
		return earliest, latest, e.failure(ctx, err)
	}
	return time.UnixMilli(stat.Mtime), time.UnixMilli(stat.Mtime + 1), nil
}

// unprepared returns the error for an ensemble without a marker.
func (e *engine) unprepared() error { return shared.NoSchema(e.what, "zookeeper://…", nil) }

// ask waits for f until ctx ends. The library's calls take no context. A call that
// is left behind ends with the connection at the latest.
func ask[T any](ctx context.Context, e *engine, f func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	var none T
	select {
	case <-e.session.Load().user:
	case <-ctx.Done():
		return none, shared.Unreachable(ctx, e.what, ctx.Err())
	}
	done := make(chan result, 1)
	go func() {
		v, err := f()
		done <- result{v, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		return none, shared.Unreachable(ctx, e.what, ctx.Err())
	}
}

// failure turns an error that does not concern a single node into a
// *generator.Error.
func (e *engine) failure(ctx context.Context, err error) error {
	if errors.Is(err, zk.ErrNoAuth) {
		return generator.CausedError(err, generator.ErrPinned, "",
			"Give the user and the password with which nextid migrate store up was run.", "the store %s refuses access", e.what)
	}
	return shared.Unreachable(ctx, e.what, err)
}

// read returns a node as its value and its state, which is nil if it does not exist.
// The version of a value is the node's version plus one. With latest the connected
// member first applies everything that was confirmed before.
func (e *engine) read(ctx context.Context, path string, latest bool) (v shared.Value, stat *zk.Stat, err error) {
	// A call that is left behind still writes its result: that must not be ours.
	type node struct {
		data []byte
		stat *zk.Stat
	}
	n, err := ask(ctx, e, func() (n node, err error) {
		if latest {
			if _, err := e.conn().Sync(path); err != nil {
				return n, err
			}
		}
		n.data, n.stat, err = e.conn().Get(path)
		return n, err
	})
	switch {
	case errors.Is(err, zk.ErrNoNode):
		return shared.Value{}, nil, nil
	case err != nil:
		return shared.Value{}, nil, e.failure(ctx, err)
	}
	return shared.Value{Text: string(n.data), Version: int64(n.stat.Version) + 1}, n.stat, nil
}

func (e *engine) Present(ctx context.Context) (string, error) {
	session := e.conn().SessionID()
	marker, stat, err := e.read(ctx, e.marker(), true)
	if err != nil || stat == nil {
		return "", err
	}
	now := &present{shared.MarkedEpoch(fmt.Sprintf("%#x", stat.Czxid), marker.Text), session}
	e.present.Store(now)
	return now.epoch, nil
}

func (e *engine) Get(ctx context.Context, in shared.Folder, key string) (shared.Value, error) {
	v, _, err := e.read(ctx, e.path(in, key), true)
	return v, err
}

// Swap implements shared.Swapper. ZooKeeper cannot compare the epoch. So it is checked
// before and after that the session is still the one in which the epoch was read.
func (e *engine) Swap(ctx context.Context, epoch string, in shared.Folder, key string, was shared.Value, text string) (now shared.Value, swapped bool, err error) {
	same := func() bool {
		p := e.present.Load()
		return epoch == "" || p != nil && *p == present{epoch, e.conn().SessionID()}
	}
	if !same() {
		return shared.Value{}, false, shared.ErrEpoch
	}
	path := e.path(in, key)
	version, err := ask(ctx, e, func() (int64, error) {
		if was.Version == 0 {
			_, err := e.conn().Create(path, []byte(text), 0, e.acl)
			return 1, err
		}
		stat, err := e.conn().Set(path, []byte(text), int32(was.Version-1))
		if err != nil {
			return 0, err
		}
		return int64(stat.Version) + 1, nil
	})
	switch {
	case err == nil && !same():
		return shared.Value{}, false, shared.ErrEpoch
	case err == nil:
		return shared.Value{Text: text, Version: version}, true, nil
	case errors.Is(err, zk.ErrNoNode) && was.Version == 0: // the parent is missing, too
		return shared.Value{}, false, e.unprepared()
	case errors.Is(err, zk.ErrNodeExists), errors.Is(err, zk.ErrBadVersion), errors.Is(err, zk.ErrNoNode):
		now, err := e.Get(ctx, in, key)
		return now, false, err
	}
	return shared.Value{}, false, e.failure(ctx, err)
}

func (e *engine) List(ctx context.Context, in shared.Folder, prefix string) (map[string]string, error) {
	names, err := e.children(ctx, in)
	if err != nil {
		return nil, err
	}
	var keys []string
	for _, name := range names {
		if key, err := url.PathUnescape(name); err == nil && strings.HasPrefix(key, prefix) {
			keys = append(keys, key)
		}
	}
	values, errs := make([]shared.Value, len(keys)), make([]error, len(keys))
	shared.Parallel(len(keys), func(i int) { values[i], _, errs[i] = e.read(ctx, e.path(in, keys[i]), false) })
	all := make(map[string]string, len(keys))
	for i, key := range keys {
		if errs[i] != nil {
			return nil, errs[i]
		}
		if values[i].Version != 0 {
			all[key] = values[i].Text
		}
	}
	return all, nil
}

func (e *engine) Size(ctx context.Context, in shared.Folder) (int, error) {
	names, err := e.children(ctx, in)
	return len(names), err
}

// children returns the names of the nodes in a folder.
func (e *engine) children(ctx context.Context, in shared.Folder) ([]string, error) {
	names, err := ask(ctx, e, func() (names []string, err error) {
		if _, err = e.conn().Sync(e.folder(in)); err == nil {
			names, _, err = e.conn().Children(e.folder(in))
		}
		return names, err
	})
	if errors.Is(err, zk.ErrNoNode) {
		return nil, e.unprepared()
	}
	return names, e.failure(ctx, err)
}

// nodes returns the nodes that Up creates with the content of a marker, parents first.
func (e *engine) nodes() []string {
	var all []string
	for i, c := range e.root {
		if c == '/' && i > 0 {
			all = append(all, e.root[:i])
		}
	}
	return append(all, e.root, e.folder(shared.RowFolder), e.folder(shared.NameFolder), e.marker())
}

// Up implements shared.Schema. It creates the nodes, and changes nothing that exists.
func (e *engine) Up(ctx context.Context) error {
	for _, path := range e.nodes() {
		_, err := ask(ctx, e, func() (string, error) { return e.conn().Create(path, []byte(shared.NewMarker()), 0, e.acl) })
		if err != nil && !errors.Is(err, zk.ErrNodeExists) {
			return e.failure(ctx, err)
		}
	}
	return nil
}

// Down implements shared.Schema. It removes all nodes of the store. The marker goes
// first, so that servers stop.
func (e *engine) Down(ctx context.Context) error {
	if err := e.remove(ctx, e.marker()); err != nil {
		return err
	}
	for _, in := range []shared.Folder{shared.RowFolder, shared.NameFolder} {
		nodes, err := e.children(ctx, in)
		if err != nil && !errors.Is(err, generator.ErrPinned) { // unprepared: there is no folder
			return err
		}
		for i, name := range nodes {
			nodes[i] = e.folder(in) + "/" + name
		}
		if err := e.remove(ctx, append(nodes, e.folder(in))...); err != nil {
			return err
		}
	}
	return e.remove(ctx, e.clock(), e.root)
}

// remove deletes nodes that exist.
func (e *engine) remove(ctx context.Context, paths ...string) error {
	for _, path := range paths {
		_, err := ask(ctx, e, func() (struct{}, error) { return struct{}{}, e.conn().Delete(path, -1) })
		if err != nil && !errors.Is(err, zk.ErrNoNode) {
			return e.failure(ctx, err)
		}
	}
	return nil
}

// Print implements shared.Schema. It returns the commands of Up.
func (e *engine) Print() (string, error) {
	var out strings.Builder
	for _, path := range e.nodes() {
		fmt.Fprintf(&out, "create %s %q\n", path, shared.NewMarker())
	}
	return out.String(), nil
}
