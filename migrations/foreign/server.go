package foreign

import (
	"cmp"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Server is a nextid server as an application's database reaches it.
type Server struct {
	Protocol    string // protocolPostgres or protocolMySQL
	User        string
	Options     []Option // of the foreign server, ordered by name
	UserOptions []Option // of the user mapping, ordered by name
}

// The protocols between an application's database and nextid.
const (
	protocolPostgres = "postgres"
	protocolMySQL    = "mysql"
)

// Option is an option of postgres_fdw or libpq.
type Option struct{ Name, Value string }

// localServers holds the default servers, on this machine, by protocol.
var localServers = map[string]Server{
	protocolPostgres: parsed("postgres://nextid@127.0.0.1:5433/nextid"),
	protocolMySQL:    parsed("mysql://nextid@127.0.0.1:3307/nextid"),
}

func parsed(text string) Server {
	s, err := ParseServer(text)
	if err != nil {
		panic(err) // only called with the constants above
	}
	return s
}

// Address returns HOST:PORT, for several hosts separated by commas.
func (s Server) Address() string { return address(s.Options) }

// option returns the value of an option, "" if it is not set.
func (s Server) option(name string) string { return optionOf(s.Options, name) }

// engine returns the storage engine with which MySQL connects to the server.
func (s Server) engine() engine {
	e := engines[cmp.Or(s.option("engine"), "federated")]
	e.authority = s.option("ssl_ca")
	return e
}

func optionOf(options []Option, name string) string {
	if i := slices.IndexFunc(options, func(o Option) bool { return o.Name == name }); i >= 0 {
		return options[i].Value
	}
	return ""
}

// address returns HOST:PORT of the options. libpq uses a single port for all hosts.
func address(options []Option) string {
	hosts, ports := strings.Split(optionOf(options, "host"), ","), strings.Split(optionOf(options, "port"), ",")
	for i := range hosts {
		if port := ports[min(i, len(ports)-1)]; port != "" {
			hosts[i] += ":" + port
		}
	}
	return strings.Join(hosts, ",")
}

// defaults holds options that a URL may override. The option "options" keeps the
// server from ending long transactions of the application
// (limits.idle_in_transaction_timeout). The time limits detect a server whose
// machine has failed within seconds instead of hours.
var defaults = []Option{
	{"connect_timeout", "5"},
	{"keepalives_count", "3"},
	{"keepalives_idle", "10"},
	{"keepalives_interval", "3"},
	{"options", "-c idle_in_transaction_session_timeout=0"},
	{"tcp_user_timeout", "20000"},
	{"updatable", "false"},
}

// ofUser lists the options that belong to the user mapping.
var ofUser = []string{"sslcert", "sslkey", "sslcrl", "password_required"}

// ParseServer parses
// postgres://USER@HOST:PORT[,HOST:PORT…]/DATABASE[?OPTION=VALUE&…] or
// mysql://USER@HOST:PORT/DATABASE[?engine=ENGINE[&ssl_ca=FILE]]. The options of the
// first form are those of libpq and postgres_fdw, which checks them. A password in
// the URL is an error.
func ParseServer(text string) (Server, error) {
	refuse := func(what string) (Server, error) {
		return Server{}, &Error{What: "--server: " + what, Hint: "Write postgres://nextid@HOST:5433/nextid, and ?sslmode=verify-full for TLS; or mysql://nextid@HOST:3307/nextid."}
	}
	text, hostList := cutHosts(text)
	u, err := url.Parse(text)
	if err != nil {
		return refuse("not a URL") // err quotes the text, which may hold a password
	}
	protocol, ok := map[string]string{
		"postgres": protocolPostgres, "postgresql": protocolPostgres, "mysql": protocolMySQL, "mariadb": protocolMySQL,
	}[u.Scheme]
	if !ok {
		return refuse("neither a postgres:// nor a mysql:// URL")
	}
	if _, ok := u.User.Password(); ok || u.Query().Has("password") {
		return Server{}, &Error{
			What: "--server: every user of this machine can see a password on the command line",
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
		ports = append(ports, cmp.Or(port, map[string]string{protocolPostgres: "5433", protocolMySQL: "3307"}[protocol]))
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
	if protocol == protocolMySQL {
		if what := checkMySQLServer(hosts, given); what != "" {
			return refuse(what)
		}
	} else {
		for _, d := range defaults {
			if _, ok := given[d.Name]; !ok {
				given[d.Name] = d.Value
			}
		}
	}
	s := Server{Protocol: protocol, User: cmp.Or(u.User.Username(), "nextid")}
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

// checkMySQLServer returns the first problem of a mysql:// URL, "" for none.
func checkMySQLServer(hosts []string, given map[string]string) string {
	if len(hosts) > 1 {
		return "MySQL's engines know one host each"
	}
	for name, value := range given {
		switch name {
		case "host", "port", "dbname":
		case "engine":
			if _, ok := engines[value]; !ok {
				return "no such engine: there are " + strings.Join(slices.Sorted(maps.Keys(engines)), ", ")
			}
		case "ssl_ca":
			switch {
			case given["engine"] != "spider":
				return "of MySQL's engines only SPIDER speaks TLS: engine=spider&ssl_ca=FILE"
			case value == "" || strings.ContainsAny(value, `"'\`):
				return "ssl_ca is a file on the database's machine, without quotes and backslashes in its name"
			}
		default:
			return "MySQL's engines have no option " + strconv.Quote(name)
		}
	}
	return ""
}

// cutHosts removes the hosts from a URL: net/url does not parse a list of hosts.
func cutHosts(text string) (rest, hosts string) {
	scheme, rest, _ := strings.Cut(text, "://")
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	start := strings.LastIndexByte(rest[:end], '@') + 1
	return scheme + "://" + rest[:start] + rest[end:], rest[start:end]
}

// optionName reports whether s can be the name of an option.
func optionName(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && r != '_' && r != '.'
	})
}
