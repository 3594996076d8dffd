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
	engine *engine
}

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

// settings are the variables that decide whether a commit is durable.
var settings = []struct{ name, condition, want string }{
	{"innodb_flush_log_at_trx_commit", `@@GLOBAL.innodb_flush_log_at_trx_commit = 1`, "1"},
	{"innodb_doublewrite", `CONCAT(@@GLOBAL.innodb_doublewrite) NOT IN ('0', 'OFF')`, "ON"},
	{"sync_binlog", `(@@GLOBAL.sync_binlog = 1 OR NOT @@GLOBAL.log_bin)`, "1 (the binary log is on)"},
}

// after returns the afterCommit of a flavour. It checks the settings in one
// condition. Returning them as columns would cost the database and the driver more.
func (e *engine) after(f flavour) string {
	var all []string
	for _, s := range settings {
		if !f.durable && !slices.Contains(e.unsafe, s.name) {
			all = append(all, s.condition)
		}
	}
	if len(all) == 0 {
		return "SELECT " + f.epoch
	}
	return "SELECT IF(" + strings.Join(all, " AND ") + ", " + f.epoch + ", NULL) AS s"
}

// becameUnsafe returns the error for a database that answered with a NULL epoch after a
// commit.
func (e *engine) becameUnsafe(ctx context.Context, c *sql.Conn) error {
	err := c.Raw(func(conn any) error { return e.checkSettings(ctx, conn.(driver.Conn)) })
	return cmp.Or(err, errors.New("settings of the database were changed meanwhile"))
}

// checkSettings refuses settings with which the server can lose confirmed commits.
func (e *engine) checkSettings(ctx context.Context, conn driver.Conn) error {
	var columns []string
	for _, s := range settings {
		columns = append(columns, "@@GLOBAL."+s.name, s.condition)
	}
	row, err := queryRow(ctx, conn, "SELECT "+strings.Join(columns, ", "))
	if err != nil {
		return err
	}
	for i, s := range settings {
		if row[2*i+1] != "1" && !slices.Contains(e.unsafe, s.name) {
			return shared.Unsafe(s.name, row[2*i], s.want)
		}
	}
	return nil
}

// check reads the product and the settings of a new connection, and stores the
// flavour. It refuses standbys, unsafe settings and missing privileges.
func (e *engine) check(ctx context.Context, conn driver.Conn) error {
	row, err := queryRow(ctx, conn, `SELECT VERSION()`)
	if err != nil {
		return err
	}
	f := flavours[slices.IndexFunc(flavours, func(f flavour) bool { return strings.Contains(row[0], f.mark) })]
	f.afterCommit = e.after(f)
	e.flavour.Store(&f)
	if f.durable {
		return nil
	}
	row, err = queryRow(ctx, conn, `SELECT @@read_only,
(SELECT COALESCE(MIN(ENGINE), 'InnoDB') FROM information_schema.TABLES
 WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME IN ('nextid_reservations', 'nextid_generators') AND ENGINE <> 'InnoDB')`)
	if err != nil {
		return err
	}
	if row[0] != "0" && row[0] != "OFF" {
		return shared.ReadOnly(e.what, nil)
	}
	if err := e.checkSettings(ctx, conn); err != nil {
		return err
	}
	if engine := row[1]; engine != "InnoDB" && !slices.Contains(e.unsafe, "engine") {
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
func queryRow(ctx context.Context, conn driver.Conn, text string) ([]string, error) {
	rows, err := conn.(driver.QueryerContext).QueryContext(ctx, text, nil)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	values := make([]driver.Value, len(rows.Columns()))
	if err := rows.Next(values); err != nil {
		if errors.Is(err, io.EOF) {
			err = errors.New("no row")
		}
		return nil, err
	}
	row := make([]string, len(values))
	for i, v := range values {
		if b, ok := v.([]byte); ok {
			row[i] = string(b)
		} else {
			row[i] = fmt.Sprint(v)
		}
	}
	return row, nil
}
