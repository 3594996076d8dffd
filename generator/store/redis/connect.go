package redis

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"nextid/dsn"
	"nextid/generator/store/shared"
)

// location is a parsed URL.
type location struct {
	shown     string // for messages, without a password
	hosts     []string
	user      *url.Userinfo
	tls       *tls.Config
	cluster   bool
	master    string // the master's name at the sentinels; "" without sentinels
	number    int
	namespace string
	wait      int
	sentinel  *url.Userinfo
}

const (
	defaultPort         = "6379"
	defaultSentinelPort = "26379"
)

// parse parses the URL of Config.
func parse(text string) (location, error) {
	u, hosts, err := dsn.Parse(text)
	if err != nil {
		return location{}, err
	}
	query := u.Query()
	l := location{
		shown: dsn.Redacted(u, hosts), hosts: hosts, user: u.User, namespace: query.Get("namespace"),
		sentinel: url.UserPassword(query.Get("sentinel_user"), query.Get("sentinel_password")),
	}
	if l.namespace == "" {
		l.namespace = "nextid"
	}
	if w := query.Get("wait"); w != "" {
		if l.wait, err = strconv.Atoi(w); err != nil || l.wait < 0 {
			return l, fmt.Errorf("wait=%s is not a number of replicas", w)
		}
	}
	if strings.HasPrefix(u.Scheme, "rediss") {
		if l.tls, err = dsn.TLS(query); err != nil {
			return l, err
		}
	}
	path := strings.Trim(u.Path, "/")
	port := defaultPort
	_, kind, _ := strings.Cut(u.Scheme, "+")
	switch kind {
	case "cluster":
		l.cluster = true
		if path != "" && path != "0" {
			return l, errors.New("a Redis Cluster has no numbered databases")
		}
		path = ""
	case "sentinel":
		port = defaultSentinelPort
		if l.master, path, _ = strings.Cut(path, "/"); l.master == "" {
			return l, errors.New("the URL lacks the name of the master: redis+sentinel://HOST:26379/MASTER")
		}
	default:
		if len(hosts) > 1 {
			return l, errors.New("several hosts need redis+sentinel:// or redis+cluster://")
		}
	}
	if path != "" {
		if l.number, err = strconv.Atoi(path); err != nil {
			return l, fmt.Errorf("%q is not the number of a Redis database", path)
		}
	}
	for i, host := range hosts {
		if _, _, err := net.SplitHostPort(host); err != nil {
			hosts[i] = net.JoinHostPort(strings.Trim(host, "[]"), port)
		}
	}
	return l, nil
}

const (
	dialTimeout = 5 * time.Second
	idleTimeout = 5 * time.Minute
)

// open returns the client of one master, or of a cluster. Neither repeats a
// command: a command without an answer may have been carried out.
func (l location) open(conns int) (*redis.Client, *redis.ClusterClient) {
	password, _ := l.user.Password()
	none := &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	if l.cluster {
		return nil, redis.NewClusterClient(&redis.ClusterOptions{
			Addrs: l.hosts, ClientName: "nextid", Protocol: 2, Username: l.user.Username(), Password: password, TLSConfig: l.tls,
			MaxRetries: -1, MaxRedirects: -1, DialerRetries: 1, DialTimeout: dialTimeout, ContextTimeoutEnabled: true,
			PoolSize: conns, PipelinePoolSize: -1, ConnMaxIdleTime: idleTimeout, DisableIdentity: true, MaintNotificationsConfig: none,
		})
	}
	if l.master != "" {
		sentinelPassword, _ := l.sentinel.Password()
		return redis.NewFailoverClient(&redis.FailoverOptions{
			MasterName: l.master, SentinelAddrs: l.hosts, SentinelUsername: l.sentinel.Username(), SentinelPassword: sentinelPassword,
			ClientName: "nextid", Protocol: 2, Username: l.user.Username(), Password: password, DB: l.number, TLSConfig: l.tls,
			MaxRetries: -1, DialerRetries: 1, DialTimeout: dialTimeout, ContextTimeoutEnabled: true,
			PoolSize: conns, PipelinePoolSize: -1, ConnMaxIdleTime: idleTimeout, DisableIdentity: true,
		}), nil
	}
	return redis.NewClient(&redis.Options{
		Addr: l.hosts[0], ClientName: "nextid", Protocol: 2, Username: l.user.Username(), Password: password, DB: l.number, TLSConfig: l.tls,
		MaxRetries: -1, DialerRetries: 1, DialTimeout: dialTimeout, ContextTimeoutEnabled: true,
		PoolSize: conns, PipelinePoolSize: -1, ConnMaxIdleTime: idleTimeout, DisableIdentity: true, MaintNotificationsConfig: none,
	}), nil
}

// setting is a setting with which Redis can lose confirmed writes.
type setting struct {
	name   string // its name in CONFIG and Config.Unsafe
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

// ask adds the commands of checkSettings to a pipeline. The settings can change
// while Redis runs, so every reservation asks for them: in one command if the
// server accepts several names.
func (e *Engine) ask(ctx context.Context, p redis.Pipeliner) []*redis.StringSliceCmd {
	questions := e.oneByOne
	if e.several.Load() {
		questions = e.atOnce
	}
	found := make([]*redis.StringSliceCmd, len(questions))
	for i, q := range questions {
		found[i] = redis.NewStringSliceCmd(ctx, q...)
		_ = p.Process(ctx, found[i]) // sent with the others
	}
	return found
}

// questions returns the commands that ask for settings: one per setting, and one
// for all, which Redis accepts since version 7.
func questions(settings []setting) (oneByOne, atOnce [][]any) {
	all := []any{"CONFIG", "GET"}
	for _, s := range settings {
		oneByOne = append(oneByOne, []any{"CONFIG", "GET", s.name})
		all = append(all, s.name)
	}
	if len(settings) > 0 {
		atOnce = [][]any{all}
	}
	return oneByOne, atOnce
}

// answersSeveral reports whether a server of this version accepts several settings
// in one command.
func answersSeveral(version string) bool {
	major, _, _ := strings.Cut(version, ".")
	n, err := strconv.Atoi(major)
	return err == nil && n >= 7
}

// checkSettings refuses a Redis that can lose confirmed writes, and one that does
// not show its settings.
func (e *Engine) checkSettings(found []*redis.StringSliceCmd) error {
	unknown := "unknown"
	for _, c := range found {
		switch err := c.Err(); {
		case err == nil:
		case redis.IsPermissionError(err) || redis.HasErrorPrefix(err, "ERR unknown command"):
			unknown = "unknown (CONFIG GET is not allowed)"
		default:
			e.several.Store(false) // the new master may be an older Redis
			return err
		}
	}
	for _, s := range e.settings {
		value := unknown
		for _, c := range found {
			for pairs := c.Val(); len(pairs) >= 2; pairs = pairs[2:] {
				if pairs[0] == s.name {
					value = pairs[1]
				}
			}
		}
		if !s.safe(value) {
			return shared.Unsafe(s.name, value, s.wanted)
		}
	}
	return nil
}
