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

// connectTimeout bounds the way to a MySQL whose URL has no timeout.
const connectTimeout = 5 * time.Second

// MySQL reads mysql://USER:PASSWORD@HOST:PORT/DATABASE?… for the driver, whose
// parameters are the URL's. Parameters of nextid are socket, the path of a Unix
// socket, and ca, cert and key: see TLS.
func MySQL(text string) (*mysql.Config, error) {
	u, err := url.Parse(text)
	if err != nil {
		return nil, errors.New("not a URL") // the parser's message repeats it, password and all
	}
	query := u.Query()
	address := "tcp(" + net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), "3306")) + ")"
	if socket := query.Get("socket"); socket != "" {
		address = "unix(" + socket + ")"
	}
	own := url.Values{}
	for _, name := range []string{"ca", "cert", "key", "socket"} {
		if value := query.Get(name); value != "" && name != "socket" {
			own.Set(name, value)
		}
		query.Del(name)
	}
	c, err := mysql.ParseDSN(address + "/" + url.PathEscape(strings.TrimPrefix(u.Path, "/")) + "?" + query.Encode())
	if err != nil {
		return nil, err
	}
	if len(own) > 0 {
		if c.TLS, err = TLS(own); err != nil {
			return nil, err
		}
	}
	c.User = u.User.Username()
	c.Passwd, _ = u.User.Password()
	c.Timeout = cmp.Or(c.Timeout, connectTimeout)
	c.Logger = &mysql.NopLogger{} // what it says comes as an error, too
	return c, nil
}
