package foreign

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Server is a nextid server as an application's database reaches it.
type Server struct {
	User    string
	Options []Option // of the foreign server, ordered by name

	// UserOptions are those that PostgreSQL takes with the login.
	UserOptions []Option
}

// Option is an option of postgres_fdw or libpq.
type Option struct{ Name, Value string }

// Address is the server's host and port.
func (s Server) Address() string { return address(s.Options) }

func address(options []Option) string {
	value := func(name string) string {
		if i := slices.IndexFunc(options, func(o Option) bool { return o.Name == name }); i >= 0 {
			return options[i].Value
		}
		return ""
	}
	hosts, ports := strings.Split(value("host"), ","), strings.Split(value("port"), ",")
	for i := range hosts {
		if port := ports[min(i, len(ports)-1)]; port != "" {
			hosts[i] += ":" + port
		}
	}
	return strings.Join(hosts, ",")
}

// defaults are the options that a URL may overrule. Without them a transaction
// of the application that takes longer than the server's
// limits.idle_in_transaction_timeout fails when it commits, and a server
// whose machine is gone is noticed after hours.
var defaults = []Option{
	{"connect_timeout", "5"},
	{"keepalives_count", "3"},
	{"keepalives_idle", "10"},
	{"keepalives_interval", "3"},
	{"options", "-c idle_in_transaction_session_timeout=0"},
	{"tcp_user_timeout", "20000"},
	{"updatable", "false"},
}

// ofUser are the options that belong to the user mapping.
var ofUser = []string{"sslcert", "sslkey", "sslcrl", "password_required"}

// ParseServer reads postgres://USER@HOST:PORT[,HOST:PORT…]/DATABASE[?OPTION=VALUE&…].
// The options are those of libpq and postgres_fdw, which checks them.
func ParseServer(text string) (Server, error) {
	refuse := func(what string) (Server, error) {
		return Server{}, &Error{What: "--server: " + what, Hint: "Write postgres://nextid@HOST:5433/nextid, and ?sslmode=verify-full for TLS."}
	}
	text, hostList := cutHosts(text)
	u, err := url.Parse(text)
	if err != nil {
		return refuse("not a URL") // the error repeats the text, and the text may hold a password
	}
	if u.Scheme != "postgres" && u.Scheme != "postgresql" {
		return refuse("not a postgres:// URL")
	}
	if _, ok := u.User.Password(); ok || u.Query().Has("password") {
		return Server{}, &Error{
			What: "--server: a password on the command line is seen by everybody on this machine",
			Hint: "Put it into the environment: NEXTID_FOREIGN_PASSWORD.",
		}
	}
	var hosts, ports []string
	for host := range strings.SplitSeq(hostList, ",") {
		port := ""
		if i := strings.LastIndexByte(host, ':'); i > strings.LastIndexByte(host, ']') {
			host, port = host[:i], host[i+1:]
		}
		if _, err := strconv.ParseUint(cmp.Or(port, "0"), 10, 16); err != nil {
			return refuse("not a port: " + strconv.Quote(port))
		}
		hosts = append(hosts, strings.Trim(host, "[]"))
		ports = append(ports, cmp.Or(port, "5433"))
	}
	given := map[string]string{
		"host": strings.Join(hosts, ","), "port": strings.Join(ports, ","),
		"dbname": cmp.Or(strings.TrimPrefix(u.Path, "/"), "nextid"),
	}
	for name, values := range u.Query() {
		if name == "user" {
			return refuse("the user stands before the host")
		}
		given[name] = values[len(values)-1]
	}
	if given["host"] == "" {
		return refuse("no host")
	}
	for _, d := range defaults {
		if _, ok := given[d.Name]; !ok {
			given[d.Name] = d.Value
		}
	}
	s := Server{User: cmp.Or(u.User.Username(), "nextid")}
	for name, value := range given {
		if !optionName(name) || strings.ContainsFunc(value, unicode.IsControl) || strings.ContainsFunc(s.User, unicode.IsControl) {
			return refuse("not a name or value of an option")
		}
		if slices.Contains(ofUser, name) {
			s.UserOptions = append(s.UserOptions, Option{name, value})
		} else {
			s.Options = append(s.Options, Option{name, value})
		}
	}
	byName := func(a, b Option) int { return cmp.Compare(a.Name, b.Name) }
	slices.SortFunc(s.Options, byName)
	slices.SortFunc(s.UserOptions, byName)
	return s, nil
}

// cutHosts takes the hosts out of a URL: net/url knows only one.
func cutHosts(text string) (rest, hosts string) {
	scheme, rest, _ := strings.Cut(text, "://")
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	start := strings.LastIndexByte(rest[:end], '@') + 1
	return scheme + "://" + rest[:start] + rest[end:], rest[start:end]
}

func optionName(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && r != '_' && r != '.'
	})
}
