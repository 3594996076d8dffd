package redis

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"nextid/generator"
	"nextid/generator/store/shared"
)

// Config names the database.
type Config struct {
	// URL is one of
	//
	//	redis://USER:PASSWORD@HOST:PORT/NUMBER
	//	redis+sentinel://USER:PASSWORD@SENTINEL:PORT,SENTINEL:PORT/MASTER/NUMBER
	//	redis+cluster://USER:PASSWORD@HOST:PORT,HOST:PORT
	//
	// or the same with rediss for TLS. Parameters: namespace (default nextid);
	// wait=N, the replicas that must confirm a reservation before it is used; ca, cert
	// and key, names of PEM files for TLS; sentinel_user and sentinel_password, if the
	// sentinels require them.
	URL    string
	Unsafe []string // unsafe settings that are accepted: appendonly, appendfsync, maxmemory-policy, min-replicas-to-write
	Conns  int      // greatest number of connections; 0: 6
}

const (
	defaultConns = 6
	format       = "2" // content of the marker
	maxWait      = 2 * time.Second
)

// Engine implements shared.Engine.
type Engine struct {
	client   *redis.Client        // of one master, also of the one that the sentinels name
	cluster  *redis.ClusterClient // nil outside a cluster
	cfg      Config
	what     string // for messages, without a password
	wait     int    // replicas that must confirm a reservation
	settings []setting
	oneByOne [][]any     // commands that ask for the settings
	atOnce   [][]any     // the same in one command; see questions
	several  atomic.Bool // the master accepts atOnce
	advance  []any       // the command that runs the script advance, without the asks
	rows     string      // names of the keys
	index    string
	entries  string
	marker   string
}

var (
	_ shared.Engine        = (*Engine)(nil)
	_ generator.Timekeeper = (*Engine)(nil)
)

// Open returns an Engine. The first call connects.
func Open(cfg Config) (*Engine, error) {
	l, err := parse(cfg.URL)
	if err != nil {
		return nil, err
	}
	e := &Engine{cfg: cfg, what: l.shown, wait: l.wait}
	e.rows, e.index = "{"+l.namespace+"}:reservations", "{"+l.namespace+"}:keys"
	e.entries, e.marker = "{"+l.namespace+"}:generators", "{"+l.namespace+"}:format"
	e.advance = []any{"EVALSHA", advance.Hash(), 3, e.rows, e.marker, e.index}
	e.settings = settings(cfg.Unsafe, l.master != "" && l.wait == 0)
	e.oneByOne, e.atOnce = questions(e.settings)
	e.client, e.cluster = l.open(cmp.Or(cfg.Conns, defaultConns))
	return e, nil
}

// failure turns an error of the database into a *generator.Error.
func (e *Engine) failure(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if _, moved := redis.IsMovedError(err); moved && e.cluster == nil {
		return &generator.Error{
			Kind: generator.ErrPinned, Message: "the store " + e.what + " is a Redis Cluster", Cause: err,
			Hint: "Write redis+cluster://HOST:PORT,HOST:PORT.",
		}
	}
	if redis.IsReadOnlyError(err) {
		return shared.ReadOnly(e.what, err)
	}
	return shared.Unreachable(ctx, e.what, err)
}

// on calls f with the client of the master that has nextid's keys.
func (e *Engine) on(ctx context.Context, f func(c *redis.Client) error) error {
	if e.cluster == nil {
		return e.failure(ctx, f(e.client))
	}
	c, err := e.cluster.MasterForKey(ctx, e.rows)
	if err == nil {
		err = f(c)
	}
	if err != nil {
		e.cluster.ReloadState(ctx) // another node may be the master now
	}
	return e.failure(ctx, err)
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

// Epoch implements shared.Engine.
func (e *Engine) Epoch(ctx context.Context) (epoch string, err error) {
	err = e.on(ctx, func(c *redis.Client) error {
		var info, marker *redis.Cmd
		var found []*redis.StringSliceCmd
		err := pipeline(ctx, c, func(p redis.Pipeliner) {
			info, marker = p.Do(ctx, "INFO"), p.Do(ctx, "GET", e.marker)
			found = e.ask(ctx, p)
		})
		if err != nil {
			return err
		}
		text, err := info.Text()
		if err != nil {
			return err
		}
		field := func(name string) string {
			_, rest, _ := strings.Cut(text, "\n"+name+":")
			value, _, _ := strings.Cut(rest, "\r")
			return value
		}
		e.several.Store(answersSeveral(field("redis_version")))
		if field("role") != "master" {
			return shared.ReadOnly(e.what, nil)
		}
		if err := e.checkSettings(found); err != nil {
			return err
		}
		if said, err := marker.Text(); errors.Is(err, redis.Nil) || err == nil && said != format {
			return e.unprepared()
		} else if err != nil {
			return err
		}
		epoch = field("master_replid")
		return nil
	})
	return epoch, err
}

// Time implements generator.Timekeeper.
func (e *Engine) Time(ctx context.Context) (earliest, latest time.Time, err error) {
	err = e.on(ctx, func(c *redis.Client) error {
		earliest, err = c.Time(ctx).Result()
		return err
	})
	return earliest, earliest, err
}

func (e *Engine) unprepared() error { return shared.NoSchema(e.what, "redis://…", nil) }

// shifted maps an int64 to a number whose 20-digit text sorts like it. The scripts
// compare such texts.
func shifted(n int64) uint64 { return uint64(n) + 1<<63 }

// digits writes up to three numbers with 20 digits each.
func digits(numbers ...uint64) string {
	var text [60]byte
	for i, n := range numbers {
		for end := 20*i + 19; end >= 20*i; end-- {
			text[end] = '0' + byte(n%10)
			n /= 10
		}
	}
	return string(text[:20*len(numbers)])
}

// unshifted is the inverse of shifted.
func unshifted(text string) (int64, error) {
	n, err := strconv.ParseUint(text, 10, 64)
	return int64(n - 1<<63), err
}

// Advance implements shared.Engine. It asks for the settings and the replicas after
// the script, on the same connection.
func (e *Engine) Advance(ctx context.Context, asks []shared.Ask) (answers []shared.Answer, err error) {
	// Like EvalSha, but with one slice and a prepared beginning.
	args := make([]any, 0, len(e.advance)+9*len(asks))
	args = append(args, e.advance...)
	for i := range asks {
		a := &asks[i]
		epoch := any(a.Epoch)
		write := epoch
		if a.Write != a.Epoch {
			write = a.Write
		}
		args = append(args, a.Key, digits(shifted(a.AtLeast), uint64(a.N), shifted(a.Limit)), a.Owner, a.Now, epoch, a.Count, flag(a.Create), a.From, write)
	}
	err = e.on(ctx, func(c *redis.Client) error {
		var said *redis.Cmd
		var found []*redis.StringSliceCmd
		var confirmed *redis.Cmd
		err := pipeline(ctx, c, func(p redis.Pipeliner) {
			said = p.Do(ctx, args...)
			found = e.ask(ctx, p)
			if e.wait > 0 {
				confirmed = p.Do(ctx, "WAIT", e.wait, maxWait.Milliseconds())
			}
		})
		if err != nil {
			return err
		}
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
			answer, err := answer(&asks[i], each[i])
			switch {
			case errors.Is(err, generator.ErrRegressed): // concerns this row only
				answer.Err = err
			case err != nil:
				return err
			}
			answers[i] = answer
		}
		if err := e.checkSettings(found); err != nil {
			return err
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

// flag returns a bool as the scripts expect it.
func flag(b bool) int {
	if b {
		return 1
	}
	return 0
}

// answer decodes what the script advance returned for one ask.
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

// Lower implements shared.Engine.
func (e *Engine) Lower(ctx context.Context, r shared.Return) error {
	return e.on(ctx, func(c *redis.Client) error {
		var said *redis.Cmd
		err := pipeline(ctx, c, func(p redis.Pipeliner) {
			said = lower.EvalSha(ctx, p, []string{e.rows, e.marker}, r.Key, digits(shifted(r.Hi)), digits(shifted(r.To)), r.Epoch, r.Now, r.Seq)
		})
		return cmp.Or(err, said.Err())
	})
}

// Row implements shared.Engine.
func (e *Engine) Row(ctx context.Context, key string) (row *shared.Row, err error) {
	err = e.on(ctx, func(c *redis.Client) error {
		text, err := c.HGet(ctx, e.rows, key).Result()
		if errors.Is(err, redis.Nil) {
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

// listAtOnce is the number of keys that one command reads. Redis runs nothing else
// meanwhile.
const listAtOnce = 1000

// Rows implements shared.Engine.
func (e *Engine) Rows(ctx context.Context, prefix string) (all []shared.Row, err error) {
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

// Name implements shared.Engine.
func (e *Engine) Name(ctx context.Context, name string) (entry shared.Entry, err error) {
	err = e.on(ctx, func(c *redis.Client) error {
		text, err := c.HGet(ctx, e.entries, name).Result()
		if errors.Is(err, redis.Nil) {
			return shared.Unknown(name)
		}
		if err == nil {
			entry, err = shared.DecodeEntry(name, text)
		}
		return err
	})
	return entry, err
}

// Count implements shared.Engine.
func (e *Engine) Count(ctx context.Context) (n int, err error) {
	err = e.on(ctx, func(c *redis.Client) error {
		length, err := c.HLen(ctx, e.entries).Result()
		n = int(length)
		return err
	})
	return n, err
}

// Names implements shared.Engine.
func (e *Engine) Names(ctx context.Context) (all []shared.Entry, err error) {
	err = e.on(ctx, func(c *redis.Client) error {
		all = nil
		seen := map[string]bool{} // HSCAN may return a name twice
		for cursor := uint64(0); ; {
			pairs, next, err := c.HScan(ctx, e.entries, cursor, "", listAtOnce).Result()
			if err != nil {
				return err
			}
			for i := 0; i+1 < len(pairs); i += 2 {
				if seen[pairs[i]] {
					continue
				}
				seen[pairs[i]] = true
				entry, err := shared.DecodeEntry(pairs[i], pairs[i+1])
				if err != nil {
					return err
				}
				all = append(all, entry)
			}
			if cursor = next; cursor == 0 {
				return nil
			}
		}
	})
	return all, err
}

// PutName implements shared.Engine.
func (e *Engine) PutName(ctx context.Context, n shared.Entry, was *shared.Entry) (written bool, err error) {
	old := ""
	if was != nil {
		old = shared.EncodeEntry(was)
	}
	err = e.on(ctx, func(c *redis.Client) error {
		var said *redis.Cmd
		var found []*redis.StringSliceCmd
		err := pipeline(ctx, c, func(p redis.Pipeliner) {
			said = put.EvalSha(ctx, p, []string{e.entries, e.marker}, n.Name, shared.EncodeEntry(&n), old)
			found = e.ask(ctx, p)
		})
		if err != nil {
			return err
		}
		outcome, err := said.Text()
		if err != nil {
			return err
		}
		if outcome == "unprepared" {
			return e.unprepared()
		}
		written = outcome == "done"
		return e.checkSettings(found)
	})
	return written, err
}

// Close implements shared.Engine.
func (e *Engine) Close() error {
	if e.cluster != nil {
		return e.cluster.Close()
	}
	return e.client.Close()
}
