// Package redis is the shared store on Redis, version 6 or newer, or Valkey: on one
// master, on the master that sentinels name, or on the master of a Redis Cluster
// that has nextid's keys. engine implements shared.Engine with Lua scripts
// (script.go). Driver describes it to the server.
//
// Everything is in two hashes, a sorted set and a marker. Their names begin with
// the namespace (nextid unless the URL has ?namespace=…):
//
//	{nextid}:reservations  key → lo, hi, seq, updated, epoch, owner
//	{nextid}:keys          the same keys in order
//	{nextid}:generators    name → its definition as JSON
//	{nextid}:format        made by nextid migrate store up (the marker)
//
// A round of reservations is one call of a Lua script for all its keys. So it takes
// one round trip, and one flush with appendfsync always. Numbers in Lua are floating
// point. So the script computes with decimal texts of 20 digits in two halves; lo
// and hi are stored as such texts, with 2^63 added.
//
// The epoch is master_replid. It changes when a replica is promoted. It also changes
// with every restart of Redis and when the first replica is attached; Redis does not
// distinguish these. A database without the marker is refused: it was emptied by
// FLUSHALL, is an empty volume, or has the wrong number.
//
// These settings are refused, unless the caller of Driver.Open accepts them: appendonly = no,
// appendfsync other than always, an eviction policy that may drop keys without
// expiry, and min-replicas-to-write = 0 if sentinels replace the master and the URL
// has no wait=1. Each reservation checks them.
//
// A master that is cut off and still runs while another one is promoted would repeat
// time slices. It must stop within Config.Wait of package shared. In a cluster it
// does (cluster-node-timeout). With sentinels, min-replicas-to-write or wait stops it.
package redis

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"

	"nextid/generator"
	"nextid/generator/store/shared"
)

// Driver describes this store to the server: its URL schemes, Open and its schema.
func Driver() shared.Driver {
	return shared.Driver{
		Schemes: []string{"redis", "rediss", "redis+sentinel", "rediss+sentinel", "redis+cluster", "rediss+cluster"},
		Example: "redis://HOST:6379", Failover: shared.Skip,
		Open:   func(_ context.Context, url string, unsafe []string) (shared.Engine, error) { return open(url, unsafe) },
		Schema: func(url string) (shared.Schema, error) { return open(url, nil) },
	}
}

const (
	format  = "2" // content of the marker
	maxWait = 2 * time.Second
)

// engine implements shared.Engine and shared.Schema.
type engine struct {
	client   redis.UniversalClient
	what     string // for messages, without a password
	wait     int    // replicas that must confirm a reservation
	settings []setting

	rows, index, entries, marker string // names of the keys
}

// open returns an engine. The first call connects. unsafe names unsafe settings that
// are accepted: appendonly, appendfsync, maxmemory-policy, min-replicas-to-write. The
// URL is one of
//
//	redis://USER:PASSWORD@HOST:PORT/NUMBER
//	redis+sentinel://USER:PASSWORD@SENTINEL:PORT,SENTINEL:PORT/MASTER/NUMBER
//	redis+cluster://USER:PASSWORD@HOST:PORT,HOST:PORT
//
// or the same with rediss for TLS. Parameters: namespace (default nextid); wait=N, the
// replicas that must confirm a reservation before it is used; ca, cert and key, names
// of PEM files for TLS; sentinel_user and sentinel_password, if the sentinels require
// them.
func open(url string, unsafe []string) (*engine, error) {
	logging.Disable() // for the whole process; go-redis returns as an error what it logs
	l, err := parse(url)
	if err != nil {
		return nil, err
	}
	key := func(name string) string { return "{" + l.namespace + "}:" + name }
	return &engine{
		client: redis.NewUniversalClient(&l.options), what: l.shown, wait: l.wait,
		settings: settings(unsafe, l.options.MasterName != "" && l.wait == 0),
		rows:     key("reservations"), index: key("keys"), entries: key("generators"), marker: key("format"),
	}, nil
}

// failure turns an error of the database into a *generator.Error.
func (e *engine) failure(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	_, clustered := e.client.(*redis.ClusterClient)
	if _, moved := redis.IsMovedError(err); moved && !clustered {
		return generator.CausedError(err, generator.ErrPinned, "", "Write redis+cluster://HOST:PORT,HOST:PORT.",
			"the store %s is a Redis Cluster", e.what)
	}
	if redis.IsReadOnlyError(err) {
		return shared.ReadOnly(e.what, err)
	}
	return shared.Unreachable(ctx, e.what, err)
}

// on calls f with the client of the master that has nextid's keys.
func (e *engine) on(ctx context.Context, f func(c *redis.Client) error) error {
	cluster, ok := e.client.(*redis.ClusterClient)
	if !ok {
		return e.failure(ctx, f(e.client.(*redis.Client))) // the other kind, also with sentinels
	}
	c, err := cluster.MasterForKey(ctx, e.rows)
	if err == nil {
		err = f(c)
	}
	if err != nil {
		cluster.ReloadState(ctx) // another node may be the master now
	}
	return e.failure(ctx, err)
}

// read returns what f reads from the master that has nextid's keys.
func read[V any](ctx context.Context, e *engine, f func(c *redis.Client) (V, error)) (v V, err error) {
	err = e.on(ctx, func(c *redis.Client) (err error) {
		v, err = f(c)
		return err
	})
	return v, err
}

// field reads a field of a hash; nil for none.
func (e *engine) field(ctx context.Context, hash, name string) (*string, error) {
	return read(ctx, e, func(c *redis.Client) (*string, error) {
		text, err := c.HGet(ctx, hash, name).Result()
		if errors.Is(err, redis.Nil) {
			return nil, nil //nolint:nilnil // no field is no error
		}
		return &text, err
	})
}

// pipeline sends the commands that fill adds, on one connection. It repeats them
// once if the server did not have the scripts and so did nothing. Nothing else is
// ever repeated. Each command holds its own answer or error; the error returned
// here is one of the connection.
func pipeline(ctx context.Context, c *redis.Client, fill func(p redis.Pipeliner)) error {
	for try := 1; ; try++ {
		p := c.Pipeline()
		fill(p)
		commands, err := p.Exec(ctx)
		if err == nil {
			return nil
		}
		if try == 1 && redis.HasErrorPrefix(err, "NOSCRIPT") {
			for _, s := range scripts {
				if err := s.Load(ctx, c).Err(); err != nil {
					return err
				}
			}
			continue
		}
		if slices.ContainsFunc(commands, func(c redis.Cmder) bool { return c.Err() != nil }) {
			return nil
		}
		return err
	}
}

// checked sends commands, and after them those that ask for the settings. What read
// finds in the answers counts only if the settings are safe.
func (e *engine) checked(ctx context.Context, send func(p redis.Pipeliner), read func() error) error {
	return e.on(ctx, func(c *redis.Client) error {
		var found []*redis.StringSliceCmd
		err := pipeline(ctx, c, func(p redis.Pipeliner) {
			send(p)
			found = e.ask(ctx, p)
		})
		if err == nil {
			err = read()
		}
		if err != nil {
			return err
		}
		return e.checkSettings(found)
	})
}

func (e *engine) Epoch(ctx context.Context) (epoch string, err error) {
	var info, marker *redis.Cmd
	err = e.checked(ctx, func(p redis.Pipeliner) {
		info, marker = p.Do(ctx, "INFO"), p.Do(ctx, "GET", e.marker)
	}, func() error {
		text, err := info.Text()
		if err != nil {
			return err
		}
		field := func(name string) string {
			_, rest, _ := strings.Cut(text, "\n"+name+":")
			value, _, _ := strings.Cut(rest, "\r")
			return value
		}
		said, err := marker.Text()
		switch {
		case field("role") != "master":
			return shared.ReadOnly(e.what, nil)
		case errors.Is(err, redis.Nil) || err == nil && said != format:
			return e.unprepared()
		case err == nil:
			epoch = field("master_replid")
		}
		return err
	})
	return epoch, err
}

func (e *engine) Time(ctx context.Context) (earliest, latest time.Time, err error) {
	now, err := read(ctx, e, func(c *redis.Client) (time.Time, error) { return c.Time(ctx).Result() })
	return now, now, err
}

func (e *engine) unprepared() error { return shared.NoSchema(e.what, "redis://…", nil) }

// shifted maps an int64 to a number whose 20-digit text sorts like it. The scripts
// compare such texts.
func shifted(n int64) uint64 { return uint64(n) + 1<<63 }

// digits writes a number with 20 digits.
func digits(n uint64) string { return fmt.Sprintf("%020d", n) }

// unshifted is the inverse of shifted.
func unshifted(text string) (int64, error) {
	n, err := strconv.ParseUint(text, 10, 64)
	return int64(n - 1<<63), err
}

// Advance implements shared.Engine. It asks for the settings and the replicas after
// the script, on the same connection.
func (e *engine) Advance(ctx context.Context, asks []shared.Ask) (answers []shared.Answer, err error) {
	args := make([]any, 0, 9*len(asks))
	for i := range asks {
		a := &asks[i]
		create := 0
		if a.Create {
			create = 1
		}
		args = append(args, a.Key, digits(shifted(a.AtLeast))+digits(uint64(a.N))+digits(shifted(a.Limit))+digits(shifted(a.Bound())), a.Owner, a.Now,
			a.Epoch, a.Count, create, a.From, a.Write)
	}
	var said, confirmed *redis.Cmd
	err = e.checked(ctx, func(p redis.Pipeliner) {
		said = advance.EvalSha(ctx, p, []string{e.rows, e.marker, e.index}, args...)
		if e.wait > 0 {
			confirmed = p.Do(ctx, "WAIT", e.wait, maxWait.Milliseconds())
		}
	}, func() error {
		reply, err := said.Result()
		if err != nil {
			return err
		}
		if reply == "unprepared" {
			return e.unprepared()
		}
		each, _ := reply.([]any)
		if len(each) != len(asks) {
			return fmt.Errorf("%d answers to %d reservations", len(each), len(asks))
		}
		answers = make([]shared.Answer, len(asks))
		for i := range asks {
			if answers[i], err = answer(&asks[i], each[i]); err != nil {
				answers[i].Err = err // concerns this row only
			}
		}
		if confirmed != nil {
			if have, err := confirmed.Int(); err != nil || have < e.wait {
				return errors.Join(fmt.Errorf("%d of %d replicas confirmed the reservation", have, e.wait), err)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return answers, nil
}

// answer decodes what the script advance returned for one ask. Its error is a damaged
// row.
func answer(a *shared.Ask, reply any) (shared.Answer, error) {
	if granted, ok := reply.(string); ok && len(granted) > 40 {
		r, err := row(a.Key, granted[:20], granted[20:40], granted[40:])
		return shared.Answer{Outcome: shared.Granted, Lo: r.Lo, Hi: r.Hi, Seq: r.Seq}, err
	}
	refused, ok := reply.([]any)
	if !ok {
		return shared.Answer{}, shared.Damaged("reservation", a.Key, nil)
	}
	var text [5]string
	for i := range min(len(refused), len(text)) {
		text[i], _ = refused[i].(string) // nil: ""
	}
	if text[1] == "" {
		return a.Refused(nil, text[0]), nil
	}
	r, err := row(a.Key, text[1], text[2], text[3])
	if err != nil {
		return shared.Answer{}, err
	}
	r.Epoch = text[4]
	return a.Refused(&r, text[0]), nil
}

// row reads the numbers of a row.
func row(key, lo, hi, seq string) (shared.Row, error) {
	r := shared.Row{Key: key}
	var errs [3]error
	r.Lo, errs[0] = unshifted(lo)
	r.Hi, errs[1] = unshifted(hi)
	r.Seq, errs[2] = strconv.ParseInt(seq, 10, 64)
	if err := errors.Join(errs[:]...); err != nil {
		return shared.Row{}, shared.Damaged("reservation", key, err)
	}
	return r, nil
}

func (e *engine) Lower(ctx context.Context, r shared.Return) error {
	return e.on(ctx, func(c *redis.Client) error {
		var said *redis.Cmd
		err := pipeline(ctx, c, func(p redis.Pipeliner) {
			said = lower.EvalSha(ctx, p, []string{e.rows, e.marker}, r.Key, digits(shifted(r.Hi)), digits(shifted(r.To)), r.Epoch, r.Now, r.Seq)
		})
		return cmp.Or(err, said.Err())
	})
}

func (e *engine) Row(ctx context.Context, key string) (*shared.Row, error) {
	text, err := e.field(ctx, e.rows, key)
	if err != nil || text == nil {
		return nil, err
	}
	r, err := decode(key, *text)
	return &r, err
}

// listAtOnce is the number of keys that one command reads. Redis runs nothing else
// meanwhile.
const listAtOnce = 1000

func (e *engine) Rows(ctx context.Context, prefix string) (all []shared.Row, err error) {
	err = e.on(ctx, func(c *redis.Client) error {
		for from := "[" + prefix; ; {
			keys, err := c.ZRangeByLex( //nolint:staticcheck // its replacement is new in Redis 6.2
				ctx, e.index, &redis.ZRangeBy{Min: from, Max: "[" + prefix + "\xff", Count: listAtOnce}).Result()
			if err != nil || len(keys) == 0 {
				return err
			}
			texts, err := c.HMGet(ctx, e.rows, keys...).Result()
			if err != nil {
				return err
			}
			for i, key := range keys {
				text, there := texts[i].(string)
				if !there {
					continue // deleted by hand
				}
				r, err := decode(key, text)
				if err != nil {
					return err
				}
				all = append(all, r)
			}
			from = "(" + keys[len(keys)-1]
		}
	})
	return all, err
}

// decode decodes a value of the hash of reservations.
func decode(key, text string) (shared.Row, error) {
	f := strings.SplitN(text, "\t", 6)
	if len(f) != 6 {
		return shared.Row{}, shared.Damaged("reservation", key, nil)
	}
	r, err := row(key, f[0], f[1], f[2])
	if err != nil {
		return shared.Row{}, err
	}
	if r.Updated, err = strconv.ParseInt(f[3], 10, 64); err != nil {
		return shared.Row{}, shared.Damaged("reservation", key, err)
	}
	r.Epoch, r.Owner = f[4], f[5]
	return r, nil
}

func (e *engine) Name(ctx context.Context, name string) (shared.Entry, error) {
	text, err := e.field(ctx, e.entries, name)
	if err == nil && text == nil {
		err = generator.UnknownError(name)
	}
	if err != nil {
		return shared.Entry{}, err
	}
	return shared.DecodeEntry(name, *text)
}

func (e *engine) Count(ctx context.Context) (int, error) {
	n, err := read(ctx, e, func(c *redis.Client) (int64, error) { return c.HLen(ctx, e.entries).Result() })
	return int(n), err
}

func (e *engine) Names(ctx context.Context) (all []shared.Entry, err error) {
	found := map[string]string{} // HSCAN may return a name twice
	err = e.on(ctx, func(c *redis.Client) error {
		for cursor := uint64(0); ; {
			pairs, next, err := c.HScan(ctx, e.entries, cursor, "", listAtOnce).Result()
			for ; len(pairs) >= 2; pairs = pairs[2:] {
				found[pairs[0]] = pairs[1]
			}
			if cursor = next; err != nil || cursor == 0 {
				return err
			}
		}
	})
	for name, text := range found {
		entry, err := shared.DecodeEntry(name, text)
		if err != nil {
			return nil, err
		}
		all = append(all, entry)
	}
	return all, err
}

func (e *engine) PutName(ctx context.Context, epoch string, n shared.Entry, was *shared.Entry) (written bool, err error) {
	args := []any{n.Name, epoch, shared.EncodeEntry(&n)}
	if was != nil {
		args = append(args, shared.EncodeEntry(was))
	}
	var said *redis.Cmd
	err = e.checked(ctx, func(p redis.Pipeliner) {
		said = put.EvalSha(ctx, p, []string{e.entries, e.marker}, args...)
	}, func() error {
		outcome, err := said.Text()
		if err == nil && outcome == "unprepared" {
			err = e.unprepared()
		}
		written = err == nil && outcome == "done"
		return err
	})
	return written, err
}

// Up implements shared.Schema. It creates the marker, and changes nothing that exists.
func (e *engine) Up(ctx context.Context) error {
	return e.on(ctx, func(c *redis.Client) error { return c.SetNX(ctx, e.marker, format, 0).Err() })
}

// Down implements shared.Schema. It removes all keys of the store.
func (e *engine) Down(ctx context.Context) error {
	return e.on(ctx, func(c *redis.Client) error { return c.Del(ctx, e.marker, e.rows, e.index, e.entries).Err() })
}

func (e *engine) Status(ctx context.Context) (text string, complete bool, err error) {
	err = e.on(ctx, func(c *redis.Client) error {
		switch said, err := c.Get(ctx, e.marker).Result(); {
		case errors.Is(err, redis.Nil):
			text = "not prepared"
			return nil
		case err != nil:
			return err
		case said != format:
			text = "prepared by another version of nextid"
			return nil
		}
		rows, err := c.HLen(ctx, e.rows).Result()
		if err != nil {
			return err
		}
		names, err := c.HLen(ctx, e.entries).Result()
		text, complete = fmt.Sprintf("prepared; %d generators, %d keys", names, rows), true
		return err
	})
	return text, complete, err
}

// Print implements shared.Schema. It returns the command of Up for a new database.
func (e *engine) Print() (string, error) {
	return fmt.Sprintf("SET %s %s\n", e.marker, format), nil
}

func (e *engine) Close() error { return e.client.Close() }
