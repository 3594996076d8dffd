package zookeeper

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
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

// Config names the ensemble.
type Config struct {
	// URL is zookeeper://USER:PASSWORD@HOST:PORT,HOST:PORT/PATH, or zookeepers:// for
	// TLS with the parameters ca, cert and key, names of PEM files. The user belongs
	// to the scheme digest.
	URL string
}

// Engine implements shared.Engine.
type Engine struct {
	*shared.CAS
	hosts       []string
	secure      *tls.Config // nil without TLS
	credentials string      // USER:PASSWORD; "" for none
	session     atomic.Pointer[session]
	what        string // for messages, without a password
	root        string
	acl         []zk.ACL
	stop        chan struct{} // closed by Close
	work        sync.WaitGroup
}

var (
	_ shared.Engine        = (*Engine)(nil)
	_ generator.Timekeeper = (*Engine)(nil)
)

const (
	sessionTimeout = 6 * time.Second
	format         = "1" // content of the marker
)

// Open returns an Engine. It connects in the background.
func Open(cfg Config) (*Engine, error) {
	u, hosts, err := dsn.Parse(cfg.URL)
	if err != nil {
		return nil, err
	}
	for i, host := range hosts {
		if _, _, err := net.SplitHostPort(host); err != nil {
			hosts[i] = net.JoinHostPort(strings.Trim(host, "[]"), "2181")
		}
	}
	e := &Engine{
		hosts: hosts, what: dsn.Redacted(u, hosts), root: strings.TrimRight(u.Path, "/"), acl: zk.WorldACL(zk.PermAll),
		stop: make(chan struct{}),
	}
	if e.root == "" {
		e.root = "/nextid"
	}
	if u.Scheme == "zookeepers" {
		if e.secure, err = dsn.TLS(u.Query()); err != nil {
			return nil, err
		}
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
	e.CAS = shared.NewCAS(swapper{e})
	return e, nil
}

// dialer connects to a member and limits how long reads wait for it to the session
// timeout. The library itself would wait ten times as long for a member that has
// stopped.
func dialer(secure *tls.Config) zk.Dialer {
	return func(network, address string, timeout time.Duration) (c net.Conn, err error) {
		d := &net.Dialer{Timeout: timeout}
		if secure == nil {
			c, err = d.Dial(network, address)
		} else {
			c, err = tls.DialWithDialer(d, network, address, secure)
		}
		if err != nil {
			return nil, err
		}
		return promptConn{c}, nil
	}
}

// promptConn is a connection whose read deadlines are at most one session timeout
// ahead.
type promptConn struct{ net.Conn }

// SetReadDeadline implements net.Conn.
func (c promptConn) SetReadDeadline(t time.Time) error {
	if most := time.Now().Add(sessionTimeout); t.After(most) {
		t = most
	}
	return c.Conn.SetReadDeadline(t)
}

func (e *Engine) marker() string            { return e.root + "/format" }
func (e *Engine) rows() string              { return e.root + "/reservations" }
func (e *Engine) names() string             { return e.root + "/generators" }
func (e *Engine) rowPath(key string) string { return e.rows() + "/" + url.PathEscape(key) }
func (e *Engine) namePath(n string) string  { return e.names() + "/" + url.PathEscape(n) }

// clock returns the path of the node that is written to read the time.
func (e *Engine) clock() string { return e.root + "/clock" }

// Time implements generator.Timekeeper. ZooKeeper has no request for the time, but
// keeps with each node when the leader wrote it.
func (e *Engine) Time(ctx context.Context) (earliest, latest time.Time, err error) {
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
func (e *Engine) unprepared() error { return shared.NoSchema(e.what, "zookeeper://…", nil) }

// ask waits for f until ctx ends. The library's calls take no context. A call that
// is left behind ends with the connection at the latest.
func ask[T any](ctx context.Context, e *Engine, f func() (T, error)) (T, error) {
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
func (e *Engine) failure(ctx context.Context, err error) error {
	if errors.Is(err, zk.ErrNoAuth) {
		return &generator.Error{
			Kind: generator.ErrPinned, Message: "the store " + e.what + " refuses access", Cause: err,
			Hint: "Give the user and the password with which nextid migrate store up was run.",
		}
	}
	return shared.Unreachable(ctx, e.what, err)
}

// read returns a node's data and version+1, or the zero Value if the node does not
// exist.
func (e *Engine) read(ctx context.Context, path string) (shared.Value, error) {
	v, err := ask(ctx, e, func() (shared.Value, error) {
		data, stat, err := e.conn().Get(path)
		if errors.Is(err, zk.ErrNoNode) {
			return shared.Value{}, nil
		}
		if err != nil {
			return shared.Value{}, err
		}
		return shared.Value{Text: string(data), Version: int64(stat.Version) + 1}, nil
	})
	return v, e.failure(ctx, err)
}

// catchUp makes the connected member apply everything that was confirmed before.
func (e *Engine) catchUp(ctx context.Context, path string) error {
	_, err := ask(ctx, e, func() (string, error) { return e.conn().Sync(path) })
	return e.failure(ctx, err)
}

// swapper implements the compare-and-set that shared.CAS needs.
type swapper struct{ *Engine }

// Epoch implements shared.Swapper.
func (s swapper) Epoch(ctx context.Context) (string, error) {
	if err := s.catchUp(ctx, s.marker()); err != nil {
		return "", err
	}
	stat, err := ask(ctx, s.Engine, func() (*zk.Stat, error) {
		_, stat, err := s.conn().Get(s.marker())
		return stat, err
	})
	if errors.Is(err, zk.ErrNoNode) {
		return "", s.unprepared()
	}
	if err != nil {
		return "", s.failure(ctx, err)
	}
	return fmt.Sprintf("%#x", stat.Czxid), nil
}

// Load implements shared.Swapper.
func (s swapper) Load(ctx context.Context, key string) (shared.Value, error) {
	return s.read(ctx, s.rowPath(key))
}

// Latest implements shared.Swapper.
func (s swapper) Latest(ctx context.Context, key string) (shared.Value, error) {
	if err := s.catchUp(ctx, s.rowPath(key)); err != nil {
		return shared.Value{}, err
	}
	return s.read(ctx, s.rowPath(key))
}

// Swap implements shared.Swapper.
func (s swapper) Swap(ctx context.Context, key string, was shared.Value, text string) (shared.Value, bool, error) {
	return s.swap(ctx, s.rowPath(key), was, text)
}

// swap sets a node to text if its version is was.Version-1. A was.Version of 0
// means that the node must not exist. Otherwise swap returns the present value.
func (e *Engine) swap(ctx context.Context, path string, was shared.Value, text string) (now shared.Value, swapped bool, err error) {
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
	case err == nil:
		return shared.Value{Text: text, Version: version}, true, nil
	case errors.Is(err, zk.ErrNoNode) && was.Version == 0: // the parent is missing, too
		e.Forget()
		return shared.Value{}, false, e.unprepared()
	case errors.Is(err, zk.ErrNodeExists), errors.Is(err, zk.ErrBadVersion), errors.Is(err, zk.ErrNoNode):
		if err := e.catchUp(ctx, path); err != nil {
			return shared.Value{}, false, err
		}
		now, err := e.read(ctx, path)
		return now, false, err
	}
	return shared.Value{}, false, e.failure(ctx, err)
}

// children reads all nodes below path whose unescaped names begin with prefix.
func (e *Engine) children(ctx context.Context, path, prefix string) (map[string]string, error) {
	names, err := e.childNames(ctx, path)
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
	shared.Parallel(len(keys), func(i int) {
		values[i], errs[i] = e.read(ctx, path+"/"+url.PathEscape(keys[i]))
	})
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

// childNames returns the names of the nodes below a path.
func (e *Engine) childNames(ctx context.Context, path string) ([]string, error) {
	if err := e.catchUp(ctx, path); err != nil {
		return nil, err
	}
	names, err := ask(ctx, e, func() ([]string, error) {
		names, _, err := e.conn().Children(path)
		return names, err
	})
	if errors.Is(err, zk.ErrNoNode) {
		return nil, e.unprepared()
	}
	if err != nil {
		return nil, e.failure(ctx, err)
	}
	return names, nil
}

// Rows implements shared.Engine.
func (e *Engine) Rows(ctx context.Context, prefix string) ([]shared.Row, error) {
	found, err := e.children(ctx, e.rows(), prefix)
	if err != nil {
		return nil, err
	}
	all := make([]shared.Row, 0, len(found))
	for key, text := range found {
		r, err := shared.DecodeRow(key, text)
		if err != nil {
			return nil, err
		}
		all = append(all, *r)
	}
	return all, nil
}

// Name implements shared.Engine.
func (e *Engine) Name(ctx context.Context, name string) (shared.Entry, error) {
	v, err := e.readLatest(ctx, name)
	if err != nil {
		return shared.Entry{}, err
	}
	if v.Version == 0 {
		return shared.Entry{}, shared.Unknown(name)
	}
	return shared.DecodeEntry(name, v.Text)
}

// readLatest reads the entry of a name with everything that was confirmed before.
func (e *Engine) readLatest(ctx context.Context, name string) (shared.Value, error) {
	if err := e.catchUp(ctx, e.namePath(name)); err != nil {
		return shared.Value{}, err
	}
	return e.read(ctx, e.namePath(name))
}

// Names implements shared.Engine.
func (e *Engine) Names(ctx context.Context) ([]shared.Entry, error) {
	found, err := e.children(ctx, e.names(), "")
	if err != nil {
		return nil, err
	}
	all := make([]shared.Entry, 0, len(found))
	for name, text := range found {
		n, err := shared.DecodeEntry(name, text)
		if err != nil {
			return nil, err
		}
		all = append(all, n)
	}
	return all, nil
}

// Count implements shared.Engine.
func (e *Engine) Count(ctx context.Context) (int, error) {
	names, err := e.childNames(ctx, e.names())
	return len(names), err
}

// PutName implements shared.Engine. An entry with an equal value counts as
// unchanged, so its value replaces the version in was.
func (e *Engine) PutName(ctx context.Context, n shared.Entry, was *shared.Entry) (written bool, err error) {
	var old shared.Value
	if was != nil {
		if old, err = e.readLatest(ctx, n.Name); err != nil {
			return false, err
		}
		if old.Text != shared.EncodeEntry(was) {
			return false, nil
		}
	}
	_, written, err = e.swap(ctx, e.namePath(n.Name), old, shared.EncodeEntry(&n))
	return written, err
}

// Close implements shared.Engine.
func (e *Engine) Close() error {
	close(e.stop)
	e.work.Wait()
	e.session.Load().close()
	return nil
}
