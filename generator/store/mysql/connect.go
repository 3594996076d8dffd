package mysql

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"

	"nextid/generator/store/shared"
)

// DSN makes of a URL mysql://USER:PASSWORD@HOST:PORT/DATABASE?… what the
// driver github.com/go-sql-driver/mysql calls a DSN. Parameters are the
// driver's.
func DSN(text string) (string, error) {
	c, err := parse(text)
	if err != nil {
		return "", err
	}
	c.ParseTime = true // of the tables of migrations
	return c.FormatDSN(), nil
}

func parse(text string) (*mysql.Config, error) {
	u, err := url.Parse(text)
	if err != nil {
		return nil, errors.New("not a URL") // the parser's message repeats it, password and all
	}
	host, port := u.Hostname(), u.Port()
	if port == "" {
		port = "3306"
	}
	c, err := mysql.ParseDSN("tcp(" + net.JoinHostPort(host, port) + ")/" + url.PathEscape(strings.TrimPrefix(u.Path, "/")) + "?" + u.RawQuery)
	if err != nil {
		return nil, err
	}
	c.User = u.User.Username()
	c.Passwd, _ = u.User.Password()
	if c.DBName == "" {
		return nil, errors.New("the URL names no database")
	}
	if c.Timeout == 0 {
		c.Timeout = 5 * time.Second
	}
	c.Logger = silent{}
	return c, nil
}

// silent is the driver's logger: what it says comes as an error, too.
type silent struct{}

// Print implements the driver's Logger.
func (silent) Print(...any) {}

// connector checks every new connection: settings may have changed, and
// another server may have taken over the address.
type connector struct {
	driver.Connector
	engine *Engine
}

// Connect implements driver.Connector.
func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	if err := c.engine.check(ctx, conn); err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}

// flavours are the databases whose stamp is not MySQL's, by a mark in
// VERSION(). durable ones keep what they confirmed whatever their settings.
var flavours = []struct {
	mark, stamp string
	durable     bool
}{
	{"MariaDB", `CONCAT(@@GLOBAL.server_id, '/', @@GLOBAL.gtid_domain_id)`, false},
	{"TiDB", `'tidb'`, true},
	{"Vitess", `'vitess'`, true},
	{"", `@@server_uuid`, false},
}

func (e *Engine) check(ctx context.Context, conn driver.Conn) error {
	row, err := queryRow(ctx, conn, `SELECT VERSION()`, 1)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(flavours, func(f struct {
		mark, stamp string
		durable     bool
	},
	) bool {
		return strings.Contains(row[0], f.mark)
	})
	e.stamp.Store(&flavours[i].stamp)
	if flavours[i].durable {
		return nil
	}
	row, err = queryRow(ctx, conn, `SELECT @@read_only, @@innodb_flush_log_at_trx_commit, @@innodb_doublewrite, @@log_bin, @@sync_binlog,
(SELECT COALESCE(MIN(ENGINE), 'InnoDB') FROM information_schema.TABLES
 WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME IN ('nextid_reservations', 'nextid_generators') AND ENGINE <> 'InnoDB')`, 6)
	if err != nil {
		return err
	}
	readOnly, flush, double, binlog, sync, engine := row[0], row[1], row[2], row[3], row[4], row[5]
	off := func(s string) bool { return s == "0" || s == "OFF" }
	if !off(readOnly) {
		return shared.ReadOnly(e.what, nil)
	}
	for _, s := range []struct {
		name, value string
		bad         bool
		want        string
	}{
		{"innodb_flush_log_at_trx_commit", flush, flush != "1", "1"},
		{"innodb_doublewrite", double, off(double), "ON"},
		{"sync_binlog", sync, !off(binlog) && sync != "1", "1 (the binary log is on)"},
		{"engine", engine, engine != "InnoDB", "InnoDB for the tables of nextid (ALTER TABLE … ENGINE = InnoDB)"},
	} {
		if s.bad && !slices.Contains(e.cfg.Unsafe, s.name) {
			return shared.Unsafe(s.name, s.value, s.want)
		}
	}
	return nil
}

// queryRow reads one row of texts on a bare connection.
func queryRow(ctx context.Context, conn driver.Conn, text string, columns int) ([]string, error) {
	rows, err := conn.(driver.QueryerContext).QueryContext(ctx, text, nil)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	values := make([]driver.Value, columns)
	if err := rows.Next(values); err != nil {
		if errors.Is(err, io.EOF) {
			err = errors.New("no row")
		}
		return nil, err
	}
	row := make([]string, columns)
	for i, v := range values {
		if b, ok := v.([]byte); ok {
			row[i] = string(b)
		} else {
			row[i] = fmt.Sprint(v)
		}
	}
	return row, nil
}
