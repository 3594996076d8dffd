// Package postgres is the shared store on PostgreSQL, and on databases that speak
// its protocol and SQL: CockroachDB and YugabyteDB. engine implements
// shared.Engine; Driver describes it to the server.
//
// A round of reservations is one pipeline of INSERT … ON CONFLICT DO UPDATE …
// RETURNING statements with one Sync at its end. So it takes one round trip, one
// implicit transaction and one flush of the log. Statements are not prepared and
// sessions are not changed, so a PgBouncer in transaction mode may be in between.
//
// The epoch is PostgreSQL's system identifier and timeline. Another cluster, a
// promoted standby and point-in-time recovery change it; a crash does not. On
// CockroachDB it is the cluster's id. On YugabyteDB it is constant.
//
// These settings are refused, unless the caller of Driver.Open accepts them: fsync = off and
// full_page_writes = off (checked with every reservation), and UNLOGGED or
// temporary tables (checked by each new connection). synchronous_commit = off is
// overridden in each transaction.
package postgres

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"

	"nextid/generator/store/shared"
	"nextid/migrations"
)

// Driver describes this store to the server: its URL schemes, Open and its schema.
func Driver() shared.Driver {
	return shared.Driver{
		Schemes: []string{"postgres", "postgresql"}, Example: "postgres://USER@HOST:5432/DATABASE", Failover: shared.Stop,
		Open: func(_ context.Context, url string, unsafe []string) (shared.Engine, error) { return open(url, unsafe) },
		Schema: func(url string) (shared.Schema, error) {
			c, err := pgx.ParseConfig(url)
			if err != nil {
				return nil, err // pgx hides the password
			}
			return migrations.Open("store/postgres", goose.DialectPostgres, stdlib.OpenDB(*c))
		},
	}
}

// engine implements shared.Engine.
type engine struct {
	*shared.SQL
	unsafe   []string // settings that are accepted although they are unsafe
	what     string   // for messages, without a password
	dialects map[string]*dialect
	dialect  atomic.Pointer[dialect] // stored by check
}

// open returns an engine for postgres://USER:PASSWORD@HOST:PORT/DATABASE?…, as libpq
// reads it. The first call connects. Every new connection checks how durable the
// database is. unsafe names settings that are accepted all the same:
// synchronous_commit, fsync, full_page_writes, persistence.
func open(url string, unsafe []string) (*engine, error) {
	c, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, err // pgx hides the password
	}
	// Unnamed statements: PgBouncer may give each transaction another session.
	c.DefaultQueryExecMode = pgx.QueryExecModeExec
	c.ConnectTimeout = cmp.Or(c.ConnectTimeout, 5*time.Second)
	if len(c.Fallbacks) > 0 && c.ValidateConnect == nil {
		c.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
	}
	if _, ok := c.RuntimeParams["application_name"]; !ok {
		c.RuntimeParams["application_name"] = "nextid"
	}
	e := &engine{unsafe: unsafe, what: fmt.Sprintf("postgres://%s@%s:%d/%s", c.User, c.Host, c.Port, c.Database), dialects: newDialects(unsafe)}
	e.SQL = shared.OpenSQL(stdlib.GetConnector(*c, stdlib.OptionAfterConnect(e.connected)), shared.SQLDialect{
		Time:      "SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS bigint)",
		ByteOrder: ` COLLATE "C"`, // as the index has it, with any collation of the database
		IgnoreOld: " ON CONFLICT (name) DO NOTHING",
		Text:      numbered,
		Epoch:     func() string { return e.dialect.Load().epoch },
		Put:       e.put,
		Retryable: retryable,
		Failure:   e.failure,
	})
	return e, nil
}

// numbered replaces the parameters ? of a statement by $1, $2, …
func numbered(statement string) string {
	parts := strings.Split(statement, "?")
	for i := range parts[1:] {
		parts[i] += "$" + strconv.Itoa(i+1)
	}
	return strings.Join(parts, "")
}

// schemaURL stands for the URL in the hint to migrate.
const schemaURL = "postgres://…"

// Expressions for the epoch. The first 8 digits of a WAL file's name are the
// timeline.
const (
	postgresEpoch = `(SELECT system_identifier::text FROM pg_control_system()) || '/' || ` +
		`left(pg_walfile_name(pg_current_wal_lsn()), 8)`
	cockroachEpoch = `crdb_internal.cluster_id()::text`
	yugabyteEpoch  = `'yugabytedb'`
)

// dialect holds the statements. They differ by the epoch, and by the columns that
// writing statements return in addition (see durably).
type dialect struct {
	epoch, standing, settings string
	before                    string // query for the settings; precedes many asks
	advance                   map[variant]string
	durable                   bool // by consensus, with any settings
}

// variant selects the statement for one ask. With create it may insert the key.
// With alone it returns the settings as well. With usual the only epoch in the ask
// is the present one.
type variant struct{ create, alone, usual bool }

// durably returns the additional columns of writing statements: the settings that
// checkServer checks, and synchronous_commit. The statement turns that on for its
// transaction alone. So turning it off for the role or the server cannot undo
// confirmed reservations. The next client of a pooler gets its own setting. For a
// single ask these columns cost less than another statement; a batch of asks has
// one such statement before it.
func durably(unsafe []string) string {
	commit := `replace(current_setting('synchronous_commit'), 'off', 'on')`
	if slices.Contains(unsafe, "synchronous_commit") {
		commit = `current_setting('synchronous_commit')`
	}
	return `current_setting('fsync'), current_setting('full_page_writes'), set_config('synchronous_commit', ` + commit + `, true)`
}

// newDialect builds the statements for an expression of the epoch. settings are the
// additional columns of writing statements; see durably.
func newDialect(epoch, settings string, durable bool) *dialect {
	d := &dialect{
		durable:  durable,
		settings: settings,
		before:   `SELECT ` + settings,
		epoch:    epoch,
		standing: `
SELECT ` + epoch + `, r.hi, r.seq, r.stamp
FROM (SELECT 1) AS one LEFT JOIN nextid_reservations AS r ON r.key = $1`,
		advance: map[variant]string{},
	}
	// Parameters: $1 key, $2 at least, $3 n, $4 limit, $5 owner, $6 now, $7 present
	// epoch, $8 count, $9 hi of a new row, $10 the bound of lo, $11 an older epoch, $12 the epoch to write.
	// The sum is numeric, since it may not fit a bigint. The database parses the text
	// each time, so every word costs time.
	for i := range 8 {
		v := variant{i&1 > 0, i&2 > 0, i&4 > 0}
		exists, returned, older, write := ``, ``, ` OR r.stamp = $11::text`, `$12::text`
		if v.usual {
			older, write = ``, `$7::text`
		}
		if !v.create {
			exists = ` AND EXISTS (SELECT 1 FROM nextid_reservations WHERE key = $1::text)`
		}
		if v.alone {
			returned = `, ` + settings
		}
		d.advance[v] = `
INSERT INTO nextid_reservations AS r (key, lo, hi, seq, stamp, owner, updated_at)
SELECT $1::text, $2::bigint, $9::bigint, $8::bigint, ` + write + `, $5::text, $6::bigint
WHERE $2::bigint < $10::bigint AND ` + epoch + ` = $7::text` + exists + `
ON CONFLICT (key) DO UPDATE SET
    lo = greatest(r.hi, excluded.lo),
    hi = CAST(least(greatest(r.hi, excluded.lo)::numeric + $3::numeric, $4::numeric) AS bigint),
    seq = r.seq + excluded.seq, stamp = excluded.stamp, owner = excluded.owner, updated_at = excluded.updated_at
WHERE greatest(r.hi, excluded.lo) < $10::bigint AND (r.stamp = $7::text` + older + `)
RETURNING lo, hi, seq` + returned
	}
	return d
}

// newDialects returns the dialects by the part of version() that identifies them.
// "" is PostgreSQL.
func newDialects(unsafe []string) map[string]*dialect {
	const consensus = `'on', 'on', ''`
	return map[string]*dialect{
		"":            newDialect(postgresEpoch, durably(unsafe), false),
		"CockroachDB": newDialect(cockroachEpoch, consensus, true),
		"-YB-":        newDialect(yugabyteEpoch, consensus, true),
	}
}

// connected runs on every new connection: settings may have changed, and another
// server may have taken over the address.
func (e *engine) connected(ctx context.Context, c *pgx.Conn) error {
	err := e.check(ctx, c)
	if err != nil {
		_ = c.Close(ctx)
	}
	return e.failure(ctx, err)
}

// check stores the dialect of the database. It refuses standbys, unsafe settings
// and missing privileges.
func (e *engine) check(ctx context.Context, c *pgx.Conn) error {
	var version string
	if err := c.QueryRow(ctx, "SELECT version()").Scan(&version); err != nil {
		return err
	}
	d := e.dialects[""]
	for mark, other := range e.dialects {
		if mark != "" && strings.Contains(version, mark) {
			d = other
		}
	}
	e.dialect.Store(d)
	if d.durable {
		return nil
	}
	var standby, rights bool
	var readOnly, fsync, pages, persistence string
	err := c.QueryRow(ctx, `
SELECT pg_is_in_recovery(), current_setting('transaction_read_only'),
       current_setting('fsync'), current_setting('full_page_writes'),
       coalesce((SELECT min(relpersistence::text) FILTER (WHERE relpersistence <> 'p')
                 FROM pg_class WHERE oid IN (to_regclass('nextid_reservations'), to_regclass('nextid_generators'))), 'p'),
       coalesce((SELECT bool_and(has_table_privilege(oid, 'SELECT') AND has_table_privilege(oid, 'INSERT') AND has_table_privilege(oid, 'UPDATE'))
                 FROM pg_class WHERE oid IN (to_regclass('nextid_reservations'), to_regclass('nextid_generators'))), true)`).
		Scan(&standby, &readOnly, &fsync, &pages, &persistence, &rights)
	if err != nil {
		return err
	}
	if standby || readOnly == "on" {
		return shared.ReadOnly(e.what, nil)
	}
	if !rights {
		return shared.NoRights(e.what, schemaURL, nil)
	}
	if err := e.checkServer(fsync, pages); err != nil || slices.Contains(e.unsafe, "persistence") {
		return err
	}
	switch persistence {
	case "u":
		return shared.Unsafe("persistence", "UNLOGGED", "logged (ALTER TABLE … SET LOGGED)")
	case "t":
		return shared.Unsafe("persistence", "temporary", "logged (remove the temporary table)")
	}
	return nil
}

// checkServer refuses settings with which the server can lose confirmed commits.
func (e *engine) checkServer(fsync, fullPageWrites string) error {
	for _, s := range []struct{ name, value string }{{"fsync", fsync}, {"full_page_writes", fullPageWrites}} {
		if s.value == "off" && !slices.Contains(e.unsafe, s.name) {
			return shared.Unsafe(s.name, s.value, "on")
		}
	}
	return nil
}

// failure turns an error of the database into a *generator.Error.
func (e *engine) failure(ctx context.Context, err error) error {
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		switch pg.Code {
		case "42P01", "3F000": // no table, no schema
			return shared.NoSchema(e.what, schemaURL, err)
		case "42501": // insufficient_privilege
			return shared.NoRights(e.what, schemaURL, err)
		case "25006": // read_only_sql_transaction: a standby, or made read-only
			e.Reconnect() // the next connections look for the primary
			return shared.ReadOnly(e.what, err)
		}
	}
	return shared.Unreachable(ctx, e.what, err)
}

// retryable reports whether the database has certainly rolled back:
// serialization_failure or deadlock_detected.
func retryable(err error) bool {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (pg.Code == "40001" || pg.Code == "40P01")
}

// pgx runs f on a connection of pgx, which can send several statements at once.
func (e *engine) pgx(ctx context.Context, f func(*pgx.Conn, *dialect) error) error {
	return e.On(ctx, func(c *sql.Conn) error {
		return c.Raw(func(c any) error { return f(c.(*stdlib.Conn).Conn(), e.dialect.Load()) })
	})
}

// put runs a statement on the catalogue.
func (e *engine) put(ctx context.Context, c *sql.Conn, statement string, args ...any) (written bool, err error) {
	var fsync, pages string
	err = c.QueryRowContext(ctx, statement+` RETURNING `+e.dialect.Load().settings, args...).Scan(&fsync, &pages, new(any))
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, cmp.Or(err, e.checkServer(fsync, pages))
}

// Advance implements shared.Engine. It takes one round trip, and a second one if
// asks were refused, for the reasons.
func (e *engine) Advance(ctx context.Context, asks []shared.Ask) (answers []shared.Answer, err error) {
	// All servers lock keys in the same order, so that two rounds cannot deadlock.
	order := make([]int, len(asks))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return strings.Compare(asks[a].Key, asks[b].Key) })
	err = e.pgx(ctx, func(c *pgx.Conn, d *dialect) error {
		answers = make([]shared.Answer, len(asks))
		var refused []int
		var fsync, pages string
		settings := []any{&fsync, &pages, nil}
		batch := pgx.Batch{QueuedQueries: make([]*pgx.QueuedQuery, 0, len(asks)+1)}
		alone := len(asks) == 1
		if !alone {
			batch.Queue(d.before).QueryRow(func(row pgx.Row) error { return row.Scan(settings...) })
		}
		for _, i := range order {
			v, args := advance(&asks[i], alone)
			batch.Queue(d.advance[v], args...).QueryRow(func(row pgx.Row) error {
				found := []any{&answers[i].Lo, &answers[i].Hi, &answers[i].Seq}
				if alone {
					found = append(found, settings...)
				}
				err := row.Scan(found...)
				if errors.Is(err, pgx.ErrNoRows) {
					refused = append(refused, i)
					return nil
				}
				return err
			})
		}
		// Close waits for the end of the transaction. Before that, nothing is durable.
		err := c.SendBatch(ctx, &batch).Close()
		if err = cmp.Or(err, e.checkServer(fsync, pages)); err != nil || len(refused) == 0 {
			return err
		}
		return explain(ctx, c, d, asks, answers, refused)
	})
	if err != nil {
		return nil, err
	}
	return answers, nil
}

// advance returns the statement for an ask, and its arguments.
func advance(a *shared.Ask, alone bool) (v variant, args []any) {
	v = variant{create: a.Create, alone: alone, usual: a.From == "" && a.Write == a.Epoch}
	args = []any{a.Key, a.AtLeast, a.N, a.Limit, a.Owner, a.Now, a.Epoch, a.Count, a.End(a.AtLeast), a.Bound()}
	if !v.usual {
		args = append(args, a.From, a.Write)
	}
	return v, args
}

// explain reads the reasons why asks were refused. It grants nothing.
func explain(ctx context.Context, c *pgx.Conn, d *dialect, asks []shared.Ask, answers []shared.Answer, refused []int) error {
	var batch pgx.Batch
	for _, i := range refused {
		batch.Queue(d.standing, asks[i].Key).QueryRow(func(row pgx.Row) error {
			var epoch string
			var hi, seq *int64
			var of *string
			if err := row.Scan(&epoch, &hi, &seq, &of); err != nil {
				return err
			}
			var r *shared.Row
			if hi != nil && seq != nil && of != nil {
				r = &shared.Row{Hi: *hi, Seq: *seq, Epoch: *of}
			}
			answers[i] = asks[i].Refused(r, epoch)
			return nil
		})
	}
	return c.SendBatch(ctx, &batch).Close()
}
