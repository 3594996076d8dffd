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

	"nextid/dsn"
	"nextid/generator/store/shared"
)

// location is a parsed URL.
type location struct {
	options   redis.UniversalOptions
	shown     string // for messages, without a password
	namespace string
	wait      int
}

// parse parses the URL of open.
func parse(text string) (l location, err error) {
	u, hosts, err := dsn.Parse(text)
	if err != nil {
		return l, err
	}
	query := u.Query()
	l.namespace = cmp.Or(query.Get("namespace"), "nextid")
	if w := query.Get("wait"); w != "" {
		if l.wait, err = strconv.Atoi(w); err != nil || l.wait < 0 {
			return l, fmt.Errorf("wait=%s is not a number of replicas", w)
		}
	}
	_, kind, _ := strings.Cut(u.Scheme, "+")
	path, port, master := strings.Trim(u.Path, "/"), "6379", ""
	switch kind {
	case "cluster":
		if path != "" && path != "0" {
			return l, errors.New("a Redis Cluster has no numbered databases")
		}
	case "sentinel":
		port = "26379"
		if master, path, _ = strings.Cut(path, "/"); master == "" {
			return l, errors.New("the URL lacks the name of the master: redis+sentinel://HOST:26379/MASTER")
		}
	default:
		if len(hosts) > 1 {
			return l, errors.New("several hosts need redis+sentinel:// or redis+cluster://")
		}
	}
	l.options, err = dsn.Redis(u, hosts, port, path)
	l.options.IsClusterMode, l.options.MasterName = kind == "cluster", master
	l.options.SentinelUsername, l.options.SentinelPassword = query.Get("sentinel_user"), query.Get("sentinel_password")
	l.options.PoolSize, l.options.ConnMaxIdleTime = 6, 5*time.Minute
	l.shown = dsn.Redacted(u, l.options.Addrs)
	return l, err
}

// setting is a setting with which Redis can lose confirmed writes.
type setting struct {
	name   string // its name in CONFIG, and for Open
	safe   func(value string) bool
	wanted string
}

// settings returns the settings to check. replaced is set with sentinels: a master
// that was replaced while it is cut off may still run, so it must stop by itself.
func settings(unsafe []string, replaced bool) []setting {
	all := []setting{
		{"appendonly", func(v string) bool { return v == "yes" }, "yes: snapshots alone (save) lose what came after the last one"},
		{"appendfsync", func(v string) bool { return v == "always" }, "always"},
		// Policies volatile-… drop only keys that expire, and nextid's do not.
		{"maxmemory-policy", func(v string) bool { return v == "noeviction" || strings.HasPrefix(v, "volatile-") }, "noeviction"},
	}
	if replaced {
		all = append(all, setting{
			"min-replicas-to-write", func(v string) bool { return v != "0" },
			"1, or write ?wait=1: else a master that is cut off goes on after another one was promoted",
		})
	}
	return slices.DeleteFunc(all, func(s setting) bool { return slices.Contains(unsafe, s.name) })
}

// ask adds the commands of checkSettings to a pipeline. The settings can change while
// Redis runs, so every reservation asks for them. Before version 7 a command reads
// one setting.
func (e *engine) ask(ctx context.Context, p redis.Pipeliner) (found []*redis.StringSliceCmd) {
	for _, s := range e.settings {
		found = append(found, redis.NewStringSliceCmd(ctx, "CONFIG", "GET", s.name))
		_ = p.Process(ctx, found[len(found)-1]) // sent with the others
	}
	return found
}

// checkSettings refuses a Redis that can lose confirmed writes, and one that does
// not show its settings.
func (e *engine) checkSettings(found []*redis.StringSliceCmd) error {
	for i, s := range e.settings {
		value := "unknown"
		switch pair, err := found[i].Result(); {
		case redis.IsPermissionError(err) || redis.HasErrorPrefix(err, "ERR unknown command"):
			value = "unknown (CONFIG GET is not allowed)"
		case err != nil:
			return err
		case len(pair) == 2:
			value = pair[1]
		}
		if !s.safe(value) {
			return shared.Unsafe(s.name, value, s.wanted)
		}
	}
	return nil
}
