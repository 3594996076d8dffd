package redis

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gomodule/redigo/redis"

	"nextid/generator"
	"nextid/generator/store/shared"
)

// Config says where the database is.
type Config struct {
	// URL is redis://USER:PASSWORD@HOST:PORT/NUMBER, or rediss:// for TLS.
	// Parameters: namespace (default nextid), and wait=N, the replicas that
	// must have confirmed a reservation before it is believed.
	URL    string
	Unsafe []string // settings that may be as they are: appendonly, appendfsync, maxmemory-policy
	Conns  int      // greatest number of connections; 0: 6
}

const (
	defaultConns = 6
	format       = "1" // of what the marker says
	waitMost     = 2 * time.Second
)

// Engine implements shared.Engine.
type Engine struct {
	pool      *redis.Pool
	cfg       Config
	what      string // for messages, without a password
	wait      int
	rows      string // names of the keys
	entries   string
	marker    string
	advance   *redis.Script
	lower     *redis.Script
	put       *redis.Script
	unchecked bool // no check of settings: for the commands that prepare
}

var (
	_ shared.Engine     = (*Engine)(nil)
	_ shared.Timekeeper = (*Engine)(nil)
)

// Open returns an Engine. It does not connect yet: the first call does, and
// every new connection checks how durable the database is.
func Open(cfg Config) (*Engine, error) {
	u, err := url.Parse(cfg.URL)
	if err != nil {
		return nil, errors.New("not a URL") // the parser's message repeats it, password and all
	}
	query := u.Query()
	namespace := "nextid"
	if n := query.Get("namespace"); n != "" {
		namespace = n
	}
	e := &Engine{
		cfg: cfg, what: u.Redacted(), rows: "{" + namespace + "}:reservations", entries: "{" + namespace + "}:generators",
		marker:  "{" + namespace + "}:format",
		advance: redis.NewScript(2, luaAdvance), lower: redis.NewScript(2, luaLower), put: redis.NewScript(2, luaPut),
	}
	if w := query.Get("wait"); w != "" {
		if e.wait, err = strconv.Atoi(w); err != nil || e.wait < 0 {
			return nil, fmt.Errorf("wait=%s is not a number of replicas", w)
		}
	}
	u.RawQuery = ""
	conns := defaultConns
	if cfg.Conns > 0 {
		conns = cfg.Conns
	}
	address := u.String()
	e.pool = &redis.Pool{
		MaxActive: conns, MaxIdle: conns, Wait: true, IdleTimeout: 5 * time.Minute,
		DialContext: func(ctx context.Context) (redis.Conn, error) {
			c, err := redis.DialURLContext(ctx, address, redis.DialConnectTimeout(5*time.Second), redis.DialClientName("nextid"))
			if err != nil {
				return nil, err
			}
			if err := e.prepare(ctx, c); err != nil {
				c.Close()
				return nil, err
			}
			return c, nil
		},
	}
	return e, nil
}

// prepare checks a new connection's server and gives it the scripts.
func (e *Engine) prepare(ctx context.Context, c redis.Conn) error {
	info, err := redis.String(redis.DoContext(c, ctx, "INFO"))
	if err != nil {
		return err
	}
	field := func(name string) string {
		_, rest, _ := strings.Cut(info, "\n"+name+":")
		value, _, _ := strings.Cut(rest, "\r")
		return value
	}
	if field("role") != "master" {
		return shared.ReadOnly(e.what, nil)
	}
	if field("cluster_enabled") == "1" {
		return shared.Unsafe("cluster-enabled", "yes", "no (nextid needs one master that holds all keys)")
	}
	if !e.unchecked {
		if err := e.check(ctx, c); err != nil {
			return err
		}
	}
	for _, text := range []string{luaAdvance, luaLower, luaPut} {
		if _, err := redis.DoContext(c, ctx, "SCRIPT", "LOAD", text); err != nil {
			return err
		}
	}
	return nil
}

// check refuses settings with which Redis forgets what it confirmed.
func (e *Engine) check(ctx context.Context, c redis.Conn) error {
	setting := func(name string) string {
		pair, err := redis.StringMap(redis.DoContext(c, ctx, "CONFIG", "GET", name))
		if value, ok := pair[name]; err == nil && ok {
			return value
		}
		return "unknown (CONFIG GET is not allowed)"
	}
	policy := setting("maxmemory-policy")
	if setting("maxmemory") == "0" {
		policy = "noeviction"
	}
	appendonly := setting("appendonly")
	for _, s := range []struct {
		name, value string
		bad         bool
		want        string
	}{
		{"appendonly", appendonly, appendonly != "yes", "yes: snapshots alone (save) lose what came after the last one"},
		{"appendfsync", setting("appendfsync"), setting("appendfsync") != "always", "always"},
		// The policies volatile-… drop only keys that expire, and ours do not.
		{"maxmemory-policy", policy, policy != "noeviction" && !strings.HasPrefix(policy, "volatile-"), "noeviction"},
	} {
		if s.bad && !slices.Contains(e.cfg.Unsafe, s.name) {
			return shared.Unsafe(s.name, s.value, s.want)
		}
	}
	return nil
}

// failure words an error of the database.
func (e *Engine) failure(ctx context.Context, err error) error {
	var said redis.Error
	if errors.As(err, &said) && strings.HasPrefix(string(said), "READONLY") {
		return shared.ReadOnly(e.what, err)
	}
	return shared.Unreachable(ctx, e.what, err)
}

// on runs f on a connection. After an error the connection is given up.
func (e *Engine) on(ctx context.Context, f func(c redis.Conn) error) error {
	c, err := e.pool.GetContext(ctx)
	if err != nil {
		return e.failure(ctx, err)
	}
	err = f(c)
	var said redis.Error
	if err != nil && (errors.As(err, &said) || c.Err() == nil) {
		drop(c)
	}
	c.Close()
	return e.failure(ctx, err)
}

// drop closes a pooled connection for good: its server may be a replica now,
// or have lost the scripts, or still owe an answer.
func drop(c redis.Conn) {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	_, _ = redis.DoContext(c, ended, "PING") // an ended context breaks the connection
}

// Stamp implements shared.Engine.
func (e *Engine) Stamp(ctx context.Context) (stamp string, err error) {
	err = e.on(ctx, func(c redis.Conn) error {
		there, err := redis.Bool(redis.DoContext(c, ctx, "EXISTS", e.marker))
		if err != nil {
			return err
		}
		if !there {
			return e.unprepared()
		}
		info, err := redis.String(redis.DoContext(c, ctx, "INFO", "replication"))
		_, rest, _ := strings.Cut(info, "master_replid:")
		stamp, _, _ = strings.Cut(rest, "\r")
		return err
	})
	return stamp, err
}

// Time implements shared.Timekeeper.
func (e *Engine) Time(ctx context.Context) (earliest, latest time.Time, err error) {
	err = e.on(ctx, func(c redis.Conn) error {
		now, err := redis.Int64s(redis.DoContext(c, ctx, "TIME"))
		if err == nil && len(now) == 2 {
			earliest = time.Unix(now[0], now[1]*1000)
		}
		return err
	})
	return earliest, earliest, err
}

func (e *Engine) unprepared() error { return shared.NoSchema(e.what, "redis://…", nil) }

// The scripts compare numbers as texts of 20 digits: shifted ones, so that
// negative numbers come first.
func shifted(n int64) string { return fmt.Sprintf("%020d", uint64(n)+1<<63) }

func plain(n int64) string { return fmt.Sprintf("%020d", n) }

func unshifted(text string) (int64, error) {
	n, err := strconv.ParseUint(text, 10, 64)
	return int64(n - 1<<63), err
}

// Advance implements shared.Engine.
func (e *Engine) Advance(ctx context.Context, asks []shared.Ask) (answers []shared.Answer, err error) {
	err = e.on(ctx, func(c redis.Conn) error {
		for i := range asks {
			a := &asks[i]
			if err := e.advance.SendHash(c, e.rows, e.marker, a.Key, shifted(a.AtLeast), plain(a.N), shifted(a.Limit),
				a.Owner, a.Now, a.Stamp, a.Count, flag(a.Create), a.From, a.Write); err != nil {
				return err
			}
		}
		if e.wait > 0 {
			if err := c.Send("WAIT", e.wait, waitMost.Milliseconds()); err != nil {
				return err
			}
		}
		replies, err := flush(ctx, c, len(asks)+min(e.wait, 1))
		if err != nil {
			return err
		}
		if e.wait > 0 {
			if have, err := redis.Int(replies[len(asks)], nil); err != nil || have < e.wait {
				return fmt.Errorf("%d of %d replicas confirmed the reservation", have, e.wait)
			}
		}
		answers = make([]shared.Answer, len(asks))
		for i := range asks {
			answer, err := e.answer(&asks[i], replies[i])
			switch {
			case errors.Is(err, generator.ErrRegressed): // of this row alone
				answer.Err = err
			case err != nil:
				return err
			}
			answers[i] = answer
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return answers, nil
}

func flag(b bool) int {
	if b {
		return 1
	}
	return 0
}

// flush sends the pipeline and reads n replies. All are read, whatever they
// say, so that the connection stays in step.
func flush(ctx context.Context, c redis.Conn, n int) ([]any, error) {
	if err := c.Flush(); err != nil {
		return nil, err
	}
	replies := make([]any, n)
	var first error
	for i := range replies {
		reply, err := redis.ReceiveContext(c, ctx)
		if err != nil && first == nil {
			first = err
		}
		if c.Err() != nil {
			break
		}
		replies[i] = reply
	}
	return replies, first
}

// answer reads what the script advance returned.
func (e *Engine) answer(a *shared.Ask, reply any) (shared.Answer, error) {
	said, err := redis.Values(reply, nil)
	if err != nil {
		return shared.Answer{}, err
	}
	text := make([]string, 6)
	for i, v := range said {
		if b, ok := v.([]byte); ok && i < len(text) {
			text[i] = string(b)
		}
	}
	var r *shared.Row
	if text[2] != "" {
		r = &shared.Row{Stamp: text[5]}
		var errs [3]error
		r.Lo, errs[0] = unshifted(text[2])
		r.Hi, errs[1] = unshifted(text[3])
		r.Seq, errs[2] = strconv.ParseInt(text[4], 10, 64)
		if err := errors.Join(errs[:]...); err != nil {
			return shared.Answer{}, shared.Damaged("reservation", a.Key, err)
		}
	}
	switch text[0] {
	case "granted":
		return shared.Answer{Outcome: shared.Granted, Lo: r.Lo, Hi: r.Hi, Seq: r.Seq}, nil
	case "refused":
		return a.Refused(r, text[1]), nil
	case "damaged":
		return shared.Answer{}, shared.Damaged("reservation", a.Key, nil)
	default:
		return shared.Answer{}, e.unprepared()
	}
}

// Lower implements shared.Engine.
func (e *Engine) Lower(ctx context.Context, r shared.Return) error {
	return e.on(ctx, func(c redis.Conn) error {
		_, err := e.lower.DoContext(ctx, c, e.rows, e.marker, r.Key, shifted(r.Hi), shifted(r.To), r.Stamp, r.Now, r.Seq)
		return err
	})
}

// Row implements shared.Engine.
func (e *Engine) Row(ctx context.Context, key string) (row *shared.Row, err error) {
	err = e.on(ctx, func(c redis.Conn) error {
		text, err := redis.String(redis.DoContext(c, ctx, "HGET", e.rows, key))
		if errors.Is(err, redis.ErrNil) {
			return nil
		}
		if err != nil {
			return err
		}
		r, err := decode(key, text)
		row = &r
		return err
	})
	return row, err
}

// Rows implements shared.Engine.
func (e *Engine) Rows(ctx context.Context, prefix string) (all []shared.Row, err error) {
	err = e.on(ctx, func(c redis.Conn) error {
		found, err := redis.StringMap(redis.DoContext(c, ctx, "HGETALL", e.rows))
		if err != nil {
			return err
		}
		for key, text := range found {
			if !strings.HasPrefix(key, prefix) {
				continue
			}
			r, err := decode(key, text)
			if err != nil {
				return err
			}
			all = append(all, r)
		}
		return nil
	})
	return all, err
}

// decode reads a value of the hash of reservations.
func decode(key, text string) (shared.Row, error) {
	f := strings.SplitN(text, "\t", 6)
	if len(f) != 6 {
		return shared.Row{}, shared.Damaged("reservation", key, nil)
	}
	r := shared.Row{Key: key, Stamp: f[4], Owner: f[5]}
	var errs [4]error
	r.Lo, errs[0] = unshifted(f[0])
	r.Hi, errs[1] = unshifted(f[1])
	r.Seq, errs[2] = strconv.ParseInt(f[2], 10, 64)
	r.Updated, errs[3] = strconv.ParseInt(f[3], 10, 64)
	if err := errors.Join(errs[:]...); err != nil {
		return shared.Row{}, shared.Damaged("reservation", key, err)
	}
	return r, nil
}

// Name implements shared.Engine.
func (e *Engine) Name(ctx context.Context, name string) (entry shared.Entry, err error) {
	err = e.on(ctx, func(c redis.Conn) error {
		text, err := redis.String(redis.DoContext(c, ctx, "HGET", e.entries, name))
		if errors.Is(err, redis.ErrNil) {
			return shared.Unknown(name)
		}
		if err == nil {
			entry, err = shared.DecodeEntry(name, text)
		}
		return err
	})
	return entry, err
}

// Names implements shared.Engine.
func (e *Engine) Names(ctx context.Context) (all []shared.Entry, err error) {
	err = e.on(ctx, func(c redis.Conn) error {
		found, err := redis.StringMap(redis.DoContext(c, ctx, "HGETALL", e.entries))
		if err != nil {
			return err
		}
		for name, text := range found {
			entry, err := shared.DecodeEntry(name, text)
			if err != nil {
				return err
			}
			all = append(all, entry)
		}
		return nil
	})
	return all, err
}

// PutName implements shared.Engine.
func (e *Engine) PutName(ctx context.Context, n shared.Entry, was *shared.Entry) (written bool, err error) {
	old := ""
	if was != nil {
		old = shared.EncodeEntry(was)
	}
	err = e.on(ctx, func(c redis.Conn) error {
		said, err := redis.Strings(e.put.DoContext(ctx, c, e.entries, e.marker, n.Name, shared.EncodeEntry(&n), old))
		if err == nil && said[0] == "unprepared" {
			err = e.unprepared()
		}
		written = err == nil && said[0] == "done"
		return err
	})
	return written, err
}

// Close implements shared.Engine.
func (e *Engine) Close() error { return e.pool.Close() }
