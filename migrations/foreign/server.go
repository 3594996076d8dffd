package foreign

import (
	"cmp"
	"maps"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"nextid/dsn"
	"nextid/migrations/appdb"
)

// Server is a nextid server as an application's database reaches it.
type Server struct {
	Protocol string // protocolPostgres or protocolMySQL
	User     string
	Options  map[string]string // of postgres_fdw, libpq, or MySQL's engines
}

// The protocols between an application's database and nextid, and their URLs'
// schemes.
const (
	protocolPostgres = "postgres"
	protocolMySQL    = "mysql"
)

// Address returns HOST:PORT, for several hosts separated by commas. libpq uses a
// single port for all hosts.
func (s Server) Address() string {
	hosts, ports := strings.Split(s.Options["host"], ","), strings.Split(s.Options["port"], ",")
	for i := range hosts {
		if port := ports[min(i, len(ports)-1)]; port != "" {
			hosts[i] += ":" + port
		}
	}
	return strings.Join(hosts, ",")
}

// engine returns the storage engine with which MySQL connects to the server.
func (s Server) engine() engine {
	e := engines[cmp.Or(s.Options["engine"], "federated")]
	e.authority = s.Options["ssl_ca"]
	return e
}

// defaults holds options that a URL may override. The option "options" keeps the
// server from ending long transactions of the application
// (limits.idle_in_transaction_timeout). The time limits detect a server whose
// machine has failed within seconds instead of hours.
var defaults = map[string]string{
	"connect_timeout":     "5",
	"keepalives_count":    "3",
	"keepalives_idle":     "10",
	"keepalives_interval": "3",
	"options":             "-c idle_in_transaction_session_timeout=0",
	"tcp_user_timeout":    "20000",
	"updatable":           "false",
}

// ParseServer parses
// postgres://USER@HOST:PORT[,HOST:PORT…]/DATABASE[?OPTION=VALUE&…] or
// mysql://USER@HOST:PORT/DATABASE[?engine=ENGINE[&ssl_ca=FILE]]. The options of the
// first form are those of libpq and postgres_fdw, which checks them. A password in
// the URL is an error.
func ParseServer(text string) (Server, error) {
	refuse := func(what string) (Server, error) {
		return Server{}, &Error{What: "--server: " + what, Hint: "Write postgres://nextid@HOST:5433/nextid, and ?sslmode=verify-full for TLS; or mysql://nextid@HOST:3307/nextid."}
	}
	mysql, err := appdb.IsMySQL(text)
	if err != nil {
		return refuse("neither a postgres:// nor a mysql:// URL")
	}
	u, list, err := dsn.Parse(text)
	if err != nil {
		return refuse(err.Error())
	}
	if _, ok := u.User.Password(); ok || u.Query().Has("password") {
		return Server{}, &Error{
			What: "--server: every user of this machine can see a password on the command line",
			Hint: "Put it into the environment: NEXTID_FOREIGN_PASSWORD.",
		}
	}
	given := map[string]string{}
	s, standard := Server{Protocol: protocolPostgres, User: cmp.Or(u.User.Username(), "nextid"), Options: given}, "5433"
	if mysql {
		s.Protocol, standard = protocolMySQL, "3307"
	} else {
		maps.Copy(given, defaults)
	}
	var hosts, ports []string
	for _, address := range dsn.WithPort(list, standard) {
		host, port, err := net.SplitHostPort(address)
		if err == nil {
			_, err = strconv.ParseUint(cmp.Or(port, standard), 10, 16)
		}
		if err != nil {
			return refuse("not a host and a port: " + strconv.Quote(address))
		}
		hosts, ports = append(hosts, host), append(ports, cmp.Or(port, standard))
	}
	given["host"], given["port"] = strings.Join(hosts, ","), strings.Join(ports, ",")
	given["dbname"] = cmp.Or(strings.TrimPrefix(u.Path, "/"), "nextid")
	for name, values := range u.Query() {
		if name == "user" {
			return refuse("the user stands before the host")
		}
		given[name] = values[len(values)-1]
	}
	if given["host"] == "" {
		return refuse("no host")
	}
	for name, value := range given {
		if !optionName.MatchString(name) || strings.ContainsFunc(value+s.User, unicode.IsControl) {
			return refuse("not a name or value of an option")
		}
	}
	if mysql {
		if what := checkMySQLServer(hosts, given); what != "" {
			return refuse(what)
		}
	}
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

// optionName matches what can be the name of an option.
var optionName = regexp.MustCompile(`^[a-z_.]+$`)
