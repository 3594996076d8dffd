package workerid

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"nextid/dsn"
	"nextid/generator/worker"
)

// hardware is MyBatis-Plus's way (class Sequence). The datacenter comes from the
// network card's address, the worker from the datacenter and the process id. In
// containers the process id is mostly 1, so that at most 32 pairs exist. Then two
// of six servers have the same pair with a probability of 39 %.
type hardware struct {
	mac net.HardwareAddr // nil: no network card; empty: one without an address
	pid int
}

// newHardware uses the first network card that is up and not the loopback.
func newHardware(pid int) (hardware, error) {
	cards, err := net.Interfaces()
	if err != nil {
		return hardware{}, fmt.Errorf("the network cards: %w", err)
	}
	h := hardware{pid: pid}
	for _, card := range cards {
		if card.Flags&net.FlagLoopback == 0 && card.Flags&net.FlagUp != 0 {
			h.mac = append(net.HardwareAddr{}, card.HardwareAddr...)
			if len(h.mac) > 0 {
				break
			}
		}
	}
	return h, nil
}

func (h hardware) Wish(_ context.Context, w worker.Width) (worker.Wish, error) {
	datacenter := h.datacenter(1 << w.Datacenter)
	return worker.Wish{
		ID:   datacenter<<w.Worker | h.worker(datacenter, 1<<w.Worker),
		Note: "with MyBatis-Plus's rule both servers would have issued the same ids",
	}, nil
}

// datacenter computes MyBatis-Plus's getDatacenterId.
func (h hardware) datacenter(ids int64) int64 {
	switch n := len(h.mac); {
	case h.mac == nil:
		return 1 % ids
	case n < 2:
		return 0
	default:
		return (int64(h.mac[n-2]) | int64(h.mac[n-1])<<8) >> 6 % ids
	}
}

// worker computes MyBatis-Plus's getMaxWorkerId.
func (h hardware) worker(datacenter, ids int64) int64 {
	return int64(hashCode(strconv.FormatInt(datacenter, 10)+strconv.Itoa(h.pid))&0xffff) % ids
}

// hashCode computes Java's String.hashCode for ASCII.
func hashCode(s string) int32 {
	var h int32
	for i := range len(s) {
		h = 31*h + int32(s[i])
	}
	return h
}

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
