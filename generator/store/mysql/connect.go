package mysql

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"nextid/generator/store/shared"
)

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

// flavour is a kind of database, by a mark in VERSION().
type flavour struct {
	mark, epoch string
	durable     bool   // it keeps what it confirmed whatever its settings
	afterCommit string // the question for the epoch; NULL when settings are not safe any more
}

var flavours = []flavour{
	{"MariaDB", `CONCAT(@@GLOBAL.server_id, '/', @@GLOBAL.gtid_domain_id)`, false, ``},
	{"TiDB", `'tidb'`, true, ``},
	{"Vitess", `'vitess'`, true, ``},
	{"", `@@server_uuid`, false, ``},
}

// settings are those of the whole server that make a commit durable.
const settings = `@@GLOBAL.innodb_flush_log_at_trx_commit, @@GLOBAL.innodb_doublewrite, @@GLOBAL.log_bin, @@GLOBAL.sync_binlog`

// after is the afterCommit of a flavour. It asks whether the settings are still
// those that checkSettings lets pass: in a condition, since that costs the
// database and the driver less than columns do. The one on innodb_doublewrite
// costs most; where doubleFixed, it cannot change while the server runs.
func (e *Engine) after(f flavour, doubleFixed bool) string {
	if f.durable {
		return "SELECT " + f.epoch
	}
	var all []string
	for _, c := range []struct{ name, condition string }{
		{"innodb_flush_log_at_trx_commit", `@@GLOBAL.innodb_flush_log_at_trx_commit = 1`},
		{"innodb_doublewrite", `@@GLOBAL.innodb_doublewrite <> 'OFF'`},
		{"sync_binlog", `(@@GLOBAL.sync_binlog = 1 OR NOT @@GLOBAL.log_bin)`},
	} {
		if !slices.Contains(e.cfg.Unsafe, c.name) && (c.name != "innodb_doublewrite" || !doubleFixed) {
			all = append(all, c.condition)
		}
	}
	if len(all) == 0 {
		return "SELECT " + f.epoch
	}
	return "SELECT IF(" + strings.Join(all, " AND ") + ", " + f.epoch + ", NULL) AS s"
}

// errUnsafe stands for the error of Engine.unsafe.
var errUnsafe = errors.New("settings are not safe")

// unsafe is the error for a database whose epoch was NULL after a commit.
func (e *Engine) unsafe(ctx context.Context, c *sql.Conn) error {
	var flush, double, binlog, sync string
	if err := c.QueryRowContext(ctx, "SELECT "+settings).Scan(&flush, &double, &binlog, &sync); err != nil {
		return err
	}
	return cmp.Or(e.checkSettings(flush, double, binlog, sync), errors.New("settings of the database were changed meanwhile"))
}

// checkSettings refuses settings with which the server can forget what it
// confirmed.
func (e *Engine) checkSettings(flush, double, binlog, sync string) error {
	for _, s := range []struct {
		name, value string
		bad         bool
		want        string
	}{
		{"innodb_flush_log_at_trx_commit", flush, flush != "1", "1"},
		{"innodb_doublewrite", double, off(double), "ON"},
		{"sync_binlog", sync, !off(binlog) && sync != "1", "1 (the binary log is on)"},
	} {
		if s.bad && !slices.Contains(e.cfg.Unsafe, s.name) {
			return shared.Unsafe(s.name, s.value, s.want)
		}
	}
	return nil
}

func off(s string) bool { return s == "0" || s == "OFF" }

func (e *Engine) check(ctx context.Context, conn driver.Conn) error {
	row, err := queryRow(ctx, conn, `SELECT VERSION()`, 1)
	if err != nil {
		return err
	}
	f := flavours[slices.IndexFunc(flavours, func(f flavour) bool { return strings.Contains(row[0], f.mark) })]
	if f.durable {
		f.afterCommit = e.after(f, true)
		e.flavour.Store(&f)
		return nil
	}
	fixed := `'NO'`
	if f.mark == "MariaDB" {
		fixed = `(SELECT READ_ONLY FROM information_schema.SYSTEM_VARIABLES WHERE VARIABLE_NAME = 'INNODB_DOUBLEWRITE')`
	}
	row, err = queryRow(ctx, conn, `SELECT `+settings+`, @@read_only,
(SELECT COALESCE(MIN(ENGINE), 'InnoDB') FROM information_schema.TABLES
 WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME IN ('nextid_reservations', 'nextid_generators') AND ENGINE <> 'InnoDB'), `+fixed, 7)
	if err != nil {
		return err
	}
	f.afterCommit = e.after(f, row[6] == "YES")
	e.flavour.Store(&f)
	readOnly, engine := row[4], row[5]
	if !off(readOnly) {
		return shared.ReadOnly(e.what, nil)
	}
	if err := e.checkSettings(row[0], row[1], row[2], row[3]); err != nil {
		return err
	}
	if engine != "InnoDB" && !slices.Contains(e.cfg.Unsafe, "engine") {
		return shared.Unsafe("engine", engine, "InnoDB for the tables of nextid (ALTER TABLE … ENGINE = InnoDB)")
	}
	return tryRights(ctx, conn)
}

// tryRights writes nothing, as the server will write.
func tryRights(ctx context.Context, conn driver.Conn) error {
	for _, text := range []string{
		"INSERT INTO nextid_reservations SELECT * FROM nextid_reservations WHERE FALSE", "UPDATE nextid_reservations SET hi = hi WHERE FALSE",
		"INSERT INTO nextid_generators SELECT * FROM nextid_generators WHERE FALSE", "UPDATE nextid_generators SET version = version WHERE FALSE",
	} {
		if _, err := conn.(driver.ExecerContext).ExecContext(ctx, text, nil); err != nil {
			return err
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
