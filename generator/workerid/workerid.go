// Package workerid parses --worker-id: the ways to choose a server's worker id.
//
// Each way is a worker.Source, which only names the worker id that a server wishes
// for. The server has the worker id once the store has reserved time on it (package
// worker). So no way can make two servers issue the same id. That holds for copied
// configurations, process ids that are equal in all containers, counters that
// wrapped around, and outdated local files.
package workerid

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"

	"nextid/generator"
	"nextid/generator/worker"
)

// Config holds what sources need.
type Config struct {
	Store generator.Store
	// Port is the port of the server. With the host's address it names the server for
	// Leaf.
	Port string
	// Dir is the directory for files; "" means that none are written.
	Dir    string
	Logger *slog.Logger // nil: slog.Default()
}

// Auto is the text of the source that takes any free worker id.
const Auto = "auto"

// maxWorkerID is the greatest worker id of any layout. The layout of a name may
// allow less, which is checked at its first use.
const maxWorkerID = 1<<31 - 1

// Check returns an error unless text is one of these forms:
//
//	auto               any free one
//	7                  this one
//	ordinal            the number at the end of the host's name: a pod of a StatefulSet
//	env:VARIABLE       the number in a variable of the environment
//	3/7                datacenter 3, worker 7; each part may also be ordinal or env:VARIABLE
//	disposable         a new one at each start, as Baidu's table WORKER_NODE
//	mac                from the network card and the process, as MyBatis-Plus
//	leaf:URL           the sequence of a node in ZooKeeper, as Meituan's Leaf
//	redis://…          a counter in Redis, by a script
func Check(text string) error {
	_, err := parse(text)
	return err
}

// Open returns the source for a text that Check accepts. It fails if a variable of
// the environment or a property of the host is missing.
func Open(text string, cfg Config) (worker.Source, error) {
	open, err := parse(text)
	if err != nil {
		return nil, err
	}
	cfg.Logger = cmp.Or(cfg.Logger, slog.Default())
	w, err := open(cfg)
	return source{w, Redacted(text)}, err
}

// wisher is a worker.Source without its text.
type wisher interface {
	Wish(ctx context.Context, w worker.Width) (worker.Wish, error)
}

// source is a worker.Source with the text that named it.
type source struct {
	wisher
	text string
}

func (s source) String() string { return s.text }

// Redacted returns a text without its password.
func Redacted(text string) string {
	if u, err := url.Parse(text); err == nil && u.User != nil {
		return u.Redacted()
	}
	return text
}

// opener creates a source.
type opener func(Config) (wisher, error)

// simple holds the sources that are written as one word.
var simple = map[string]opener{
	Auto:         func(Config) (wisher, error) { return worker.Any{}, nil },
	"disposable": func(cfg Config) (wisher, error) { return disposable{cfg.Store}, nil },
	"mac":        func(Config) (wisher, error) { return newHardware(os.Getpid()) },
}

// parse returns the opener of a source, or an error if text has no known form.
func parse(text string) (opener, error) {
	if open := simple[text]; open != nil {
		return open, nil
	}
	switch scheme, rest, _ := strings.Cut(text, ":"); scheme {
	case "leaf":
		return parseLeaf(rest)
	case "redis", "rediss":
		return parseRedis(text)
	}
	datacenter, number, pair := strings.Cut(text, "/")
	if !pair {
		n, err := parseNumber(text)
		return func(Config) (wisher, error) {
			id, err := n()
			return worker.Fixed{ID: id}, err
		}, err
	}
	high, err := parseNumber(datacenter)
	if err != nil {
		return nil, err
	}
	low, err := parseNumber(number)
	return func(Config) (wisher, error) {
		d, err := high()
		if err != nil {
			return nil, err
		}
		w, err := low()
		return both{text, d, w}, err
	}, err
}

// both is a configured pair of datacenter and worker.
type both struct {
	text               string
	datacenter, worker int64
}

func (b both) Wish(_ context.Context, w worker.Width) (worker.Wish, error) {
	if b.datacenter >= 1<<w.Datacenter || b.worker >= 1<<w.Worker {
		return worker.Wish{}, generator.Errorf(generator.ErrOption, "",
			fmt.Sprintf("They come from --worker-id %s. Give smaller ones, or one number for both, or auto.", b.text),
			"datacenter %d and worker %d do not fit the %d and %d bits that this layout has for them", b.datacenter, b.worker, w.Datacenter, w.Worker)
	}
	return worker.Wish{ID: b.datacenter<<w.Worker | b.worker, Firm: true}, nil
}

// number returns a part of a configured worker id. It reads the host's name or the
// environment at each call.
type number func() (int64, error)

const forms = "auto, a number, ordinal, env:VARIABLE, DATACENTER/WORKER, disposable, mac, leaf:zookeeper://HOST:2181/snowflake/NAME or redis://HOST:6379"

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// parseNumber parses a number, ordinal or env:VARIABLE.
func parseNumber(text string) (number, error) {
	if text == "ordinal" {
		return func() (int64, error) {
			host, err := os.Hostname()
			if err != nil {
				return 0, fmt.Errorf("the name of this host: %w", err)
			}
			return ordinalOf(host)
		}, nil
	}
	if name, ok := strings.CutPrefix(text, "env:"); ok {
		if !variableName.MatchString(name) {
			return nil, fmt.Errorf("%q is not the name of a variable", name)
		}
		return func() (int64, error) {
			text, ok := os.LookupEnv(name)
			if !ok {
				return 0, fmt.Errorf("the environment has no variable %s, which --worker-id names", name)
			}
			n, ok := parseID(strings.TrimSpace(text))
			if !ok {
				return 0, fmt.Errorf("the variable %s, which --worker-id names, is %q and not a worker id", name, text)
			}
			return n, nil
		}, nil
	}
	n, ok := parseID(text)
	if !ok {
		return nil, fmt.Errorf("%q is none of %s (up to %d)", text, forms, maxWorkerID)
	}
	return func() (int64, error) { return n, nil }, nil
}

func parseID(text string) (n int64, ok bool) {
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil && n >= 0 && n <= maxWorkerID
}

// ordinals matches the names of the pods of a StatefulSet.
var ordinals = regexp.MustCompile(`-([0-9]{1,9})$`)

// ordinalOf returns the number at the end of the first label of a host's name.
func ordinalOf(host string) (int64, error) {
	label, _, _ := strings.Cut(host, ".")
	m := ordinals.FindStringSubmatch(label)
	if m == nil {
		return 0, fmt.Errorf("the host's name %q does not end in a number, as those of a StatefulSet do (nextid-0); --worker-id ordinal needs one", host)
	}
	return strconv.ParseInt(m[1], 10, 64)
}

// disposable is Baidu's way: each start takes the next number. Baidu's number is
// the key of a new row in WORKER_NODE, and after the last number no server starts.
// Here the count wraps around to numbers whose time is over.
type disposable struct{ store generator.Reserver }

func (d disposable) Wish(ctx context.Context, w worker.Width) (worker.Wish, error) {
	n, _, err := d.store.Reserve(ctx, generator.Reservation{
		Key: fmt.Sprintf("disposable/%d", w.Bits()), AtLeast: 0, N: 1, Limit: generator.NoLimit,
	})
	if err != nil {
		return worker.Wish{}, err
	}
	return worker.Wish{ID: n % w.IDs(), Again: true, Note: "the count of starts has come round to an id in use"}, nil
}

var errNotAURL = errors.New("is not a URL") // url.Parse's own error contains the URL with its password
