package workerid

import (
	"cmp"
	"context"
	"log/slog"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"nextid/dsn"
	"nextid/generator/worker"
)

// handOut is a counter in Redis that wraps around. Scripts of this kind return a
// number again even if its holder is alive. Here the store refuses it, and the next
// number is taken.
type handOut struct {
	options redis.UniversalOptions
	shown   string // without a password
	key     string
	log     *slog.Logger
}

// handOutScript increments the counter KEYS[1], which wraps around after ARGV[1]
// numbers.
var handOutScript = redis.NewScript(`local n = redis.call('INCR', KEYS[1])
if n > tonumber(ARGV[1]) then
  n = 1
  redis.call('SET', KEYS[1], n)
end
return n - 1`)

const handOutTimeout = 5 * time.Second

// parseRedis parses redis://…/NUMBER?key=NAME.
func parseRedis(text string) (opener, error) {
	u, hosts, err := dsn.Parse(text)
	if err != nil || u.Host == "" || len(hosts) > 1 {
		return nil, errNotAURL
	}
	h := handOut{key: cmp.Or(u.Query().Get("key"), "nextid:worker-id"), shown: u.Redacted()}
	if h.options, err = dsn.Redis(u, hosts, "6379", strings.Trim(u.Path, "/")); err != nil {
		return nil, err
	}
	return func(cfg Config) (wisher, error) {
		h := h
		h.log = cfg.Logger
		return h, nil
	}, nil
}

// Wish implements worker.Source. Without Redis it returns no wish: then any free
// worker id is claimed.
func (h handOut) Wish(ctx context.Context, w worker.Width) (worker.Wish, error) {
	n, err := h.next(ctx, w.IDs())
	if err != nil {
		h.log.Warn("Redis hands out no worker id; any free one is claimed", "redis", h.shown, "error", err)
		return worker.Wish{ID: worker.None}, nil
	}
	return worker.Wish{ID: n, Again: true, Note: "the counter in Redis has come round to an id in use"}, nil
}

// next increments the counter on a new connection.
func (h handOut) next(ctx context.Context, ids int64) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, handOutTimeout)
	defer cancel()
	c := redis.NewClient(h.options.Simple())
	defer func() { _ = c.Close() }() // nothing is sent any more
	return handOutScript.Eval(ctx, c, []string{h.key}, ids).Int64()
}
