package mysql

import (
	"context"
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
	mark, stamp string
	durable     bool // it keeps what it confirmed whatever its settings
}

var flavours = []flavour{
	{"MariaDB", `CONCAT(@@GLOBAL.server_id, '/', @@GLOBAL.gtid_domain_id)`, false},
	{"TiDB", `'tidb'`, true},
	{"Vitess", `'vitess'`, true},
	{"", `@@server_uuid`, false},
}

// settings are those of the whole server that make a commit durable, and can
// be changed while it runs: every answer to a commit comes with them.
func (f *flavour) settings() string {
	if f.durable {
		return `1, 1, 0, 1`
	}
	return `@@GLOBAL.innodb_flush_log_at_trx_commit, @@GLOBAL.innodb_doublewrite, @@GLOBAL.log_bin, @@GLOBAL.sync_binlog`
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
	f := &flavours[slices.IndexFunc(flavours, func(f flavour) bool { return strings.Contains(row[0], f.mark) })]
	e.flavour.Store(f)
	if f.durable {
		return nil
	}
	row, err = queryRow(ctx, conn, `SELECT `+f.settings()+`, @@read_only,
(SELECT COALESCE(MIN(ENGINE), 'InnoDB') FROM information_schema.TABLES
 WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME IN ('nextid_reservations', 'nextid_generators') AND ENGINE <> 'InnoDB')`, 6)
	if err != nil {
		return err
	}
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
