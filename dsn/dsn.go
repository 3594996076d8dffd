// Package dsn reads the URLs of databases: with several hosts, with the parameters
// of TLS, and mysql://, which MySQL's driver does not know. It also makes the
// errors of drivers readable.
//
// URLs may hold passwords: the errors of Parse and MySQL do not repeat them.
package dsn

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// Parse reads a URL that may name several hosts, HOST:PORT,HOST:PORT. The URL that
// it returns has the first of them.
func Parse(text string) (u *url.URL, hosts []string, err error) {
	bad := errors.New("not a URL") // url.Parse's message repeats the text, with the password
	scheme, rest, ok := strings.Cut(text, "://")
	if !ok {
		return nil, nil, bad
	}
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	authority, rest := rest[:end], rest[end:]
	user := ""
	if at := strings.LastIndexByte(authority, '@'); at >= 0 {
		user, authority = authority[:at+1], authority[at+1:]
	}
	hosts = strings.Split(authority, ",")
	if u, err = url.Parse(scheme + "://" + user + hosts[0] + rest); err != nil {
		return nil, nil, bad
	}
	return u, hosts, nil
}

// WithPort adds a port to the hosts that have none.
func WithPort(hosts []string, port string) []string {
	all := make([]string, len(hosts))
	for i, host := range hosts {
		if _, _, err := net.SplitHostPort(host); err != nil {
			host = net.JoinHostPort(strings.Trim(host, "[]"), port)
		}
		all[i] = host
	}
	return all
}

// reasons matches the text before a reason: of pgx for each attempt to connect, and
// of goose for its first statement.
var reasons = regexp.MustCompile("(failed to initialize: )?failed to connect to `[^`]*`:|(\\S+ \\([^)]*\\): )?(dial|server|tls) error: |^failed to initialize: ")

// Plain returns a driver's error with a text of one line. Repeated reasons appear
// once: pgx gives one for each way in which it tries to connect. Without TLS is its
// second way, so a refusal of TLS is shown only if it is the only reason.
func Plain(err error) error { return plain{err} }

type plain struct{ error }

// Unwrap returns the driver's error.
func (p plain) Unwrap() error { return p.error }

func (p plain) Error() string {
	var said []string
	for line := range strings.Lines(p.error.Error()) {
		line = strings.TrimSpace(reasons.ReplaceAllString(strings.TrimSpace(line), ""))
		if line != "" && !slices.Contains(said, line) {
			said = append(said, line)
		}
	}
	if len(said) > 1 {
		said = slices.DeleteFunc(said, func(line string) bool { return line == "server refused TLS connection" })
	}
	return strings.Join(said, "; ")
}

// Unreachable reports whether an error says that no connection could be made.
func Unreachable(err error) bool {
	_, network := errors.AsType[*net.OpError](err)
	_, lookup := errors.AsType[*net.DNSError](err)
	return network || lookup
}

// hostsMark stands for the hosts of a URL while it is printed.
const hostsMark = "hosts.invalid"

// Text returns a URL with several hosts, as Parse reads it.
func Text(u *url.URL, hosts []string) string {
	shown := *u
	shown.Host = hostsMark
	return strings.Replace(shown.String(), hostsMark, strings.Join(hosts, ","), 1)
}

// secretParameters lists the URL parameters with secret values.
var secretParameters = []string{"password", "sslpassword", "passwd", "secret", "token"}

// Redacted returns a URL with several hosts for messages: its secrets are replaced by
// xxxxx.
func Redacted(u *url.URL, hosts []string) string {
	shown, query := *u, u.Query()
	for key := range query {
		if slices.Contains(secretParameters, strings.ToLower(key)) {
			query.Set(key, "xxxxx")
			shown.RawQuery = query.Encode()
		}
	}
	shown.Host = hostsMark
	return strings.Replace(shown.Redacted(), hostsMark, strings.Join(hosts, ","), 1)
}

// TLS reads the parameters ca, cert and key of a URL, the names of PEM files. ca
// has the authority of the servers, if it is not one of the system's. cert and key
// belong to this client.
func TLS(query url.Values) (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if file := query.Get("ca"); file != "" {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("%s holds no certificate", file)
		}
	}
	if cert, key := query.Get("cert"), query.Get("key"); cert != "" || key != "" {
		pair, err := tls.LoadX509KeyPair(cert, key)
		if err != nil {
			return nil, err
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}

// Redis returns the options of a client for the Redis of a URL, or its sentinels, and
// for the database of a number, "" for 0. With rediss:// it reads the parameters of TLS.
// The client repeats no command: one without an answer may have been carried out.
func Redis(u *url.URL, hosts []string, port, number string) (o redis.UniversalOptions, err error) {
	o = redis.UniversalOptions{
		ClientName: "nextid", Protocol: 2, Username: u.User.Username(), Addrs: WithPort(hosts, port),
		MaxRetries: -1, MaxRedirects: -1, DialerRetries: 1, DialTimeout: connectTimeout, ContextTimeoutEnabled: true,
		PipelinePoolSize: -1, DisableIdentity: true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	}
	o.Password, _ = u.User.Password()
	if strings.HasPrefix(u.Scheme, "rediss") {
		if o.TLSConfig, err = TLS(u.Query()); err != nil {
			return o, err
		}
	}
	if number != "" {
		if o.DB, err = strconv.Atoi(number); err != nil {
			err = fmt.Errorf("%q is not the number of a Redis database", number)
		}
	}
	return o, err
}
