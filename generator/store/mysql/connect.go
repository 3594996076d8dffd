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

// connector checks every new connection: settings may have changed, and another
// server may have taken over the address.
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

// flavour describes a database product. mark is a part of its VERSION().
type flavour struct {
	mark, epoch string
	durable     bool   // keeps what it confirmed with any settings
	afterCommit string // query for the epoch; NULL if the settings are not safe any more
}

var flavours = []flavour{
	{"MariaDB", `CONCAT(@@GLOBAL.server_id, '/', @@GLOBAL.gtid_domain_id)`, false, ``},
	{"TiDB", `'tidb'`, true, ``},
	{"Vitess", `'vitess'`, true, ``},
	{"", `@@server_uuid`, false, ``},
}

// settings are the variables of the server that decide whether a commit is durable.
const settings = `@@GLOBAL.innodb_flush_log_at_trx_commit, @@GLOBAL.innodb_doublewrite, @@GLOBAL.log_bin, @@GLOBAL.sync_binlog`

// after returns the afterCommit of a flavour. It checks the settings as
// checkSettings does, in one condition. Returning them as columns would cost the
// database and the driver more. The check of innodb_doublewrite costs most. It is
// left out with doubleFixed: the setting cannot change while the server runs.
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

// errUnsafe makes Advance ask for the settings that are unsafe; see Engine.unsafe.
var errUnsafe = errors.New("settings are not safe")

// unsafe returns the error for a database that answered with a NULL epoch after a
// commit.
func (e *Engine) unsafe(ctx context.Context, c *sql.Conn) error {
	var flush, double, binlog, sync string
	if err := c.QueryRowContext(ctx, "SELECT "+settings).Scan(&flush, &double, &binlog, &sync); err != nil {
		return err
	}
	return cmp.Or(e.checkSettings(flush, double, binlog, sync), errors.New("settings of the database were changed meanwhile"))
}

// checkSettings refuses settings with which the server can lose confirmed commits.
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

// off reports whether a variable is off. MySQL shows 0 or OFF.
func off(s string) bool { return s == "0" || s == "OFF" }

// check reads the product and the settings of a new connection, and stores the
// flavour. It refuses standbys, unsafe settings and missing privileges.
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

// tryRights checks the privileges that the store needs, with statements that change
// no row.
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

// queryRow reads one row as texts, without database/sql.
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
