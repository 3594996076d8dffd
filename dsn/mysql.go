package dsn

import (
	"cmp"
	"errors"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
)

// connectTimeout bounds connecting to a MySQL whose URL has no timeout.
const connectTimeout = 5 * time.Second

// MySQL reads mysql://USER:PASSWORD@HOST:PORT/DATABASE?…. The parameters are those
// of the driver. nextid adds socket, the path of a Unix socket, and the parameters
// of TLS.
func MySQL(text string) (*mysql.Config, error) {
	u, err := url.Parse(text)
	if err != nil {
		return nil, errors.New("not a URL") // the parser's message repeats the text, with the password
	}
	query := u.Query()
	address := "tcp(" + net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), "3306")) + ")"
	if socket := query.Get("socket"); socket != "" {
		address = "unix(" + socket + ")"
	}
	secure := query.Get("ca")+query.Get("cert")+query.Get("key") != ""
	for _, name := range []string{"ca", "cert", "key", "socket"} {
		query.Del(name)
	}
	c, err := mysql.ParseDSN(address + "/" + url.PathEscape(strings.TrimPrefix(u.Path, "/")) + "?" + query.Encode())
	if err != nil {
		return nil, err
	}
	if secure {
		if c.TLS, err = TLS(u.Query()); err != nil {
			return nil, err
		}
	}
	c.User = u.User.Username()
	c.Passwd, _ = u.User.Password()
	c.Timeout = cmp.Or(c.Timeout, connectTimeout)
	c.Logger = &mysql.NopLogger{} // the driver also returns what it would log
	return c, nil
}
