package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"nextid/generator"
	"nextid/generator/store/shared"
)

// Config names the database.
type Config struct {
	URL    string   // postgres://USER:PASSWORD@HOST:PORT/DATABASE?…, as libpq reads it
	Unsafe []string // accepted although they are unsafe: synchronous_commit, fsync, full_page_writes, persistence
	Conns  int      // greatest number of connections; 0: 6
}

const defaultConns = 6

// Engine implements shared.Engine.
type Engine struct {
	pool *pgxpool.Pool
	what string // for messages, without a password
	url  string // for the hint to migrate
	cfg  Config

	dialects map[string]*dialect
}

var (
	_ shared.Engine        = (*Engine)(nil)
	_ generator.Timekeeper = (*Engine)(nil)
)

// Open returns an Engine. The first call connects. Every new connection checks how
// durable the database is.
func Open(ctx context.Context, cfg Config) (*Engine, error) {
	parsed, err := pgxpool.ParseConfig(cfg.URL)
	if err != nil {
		return nil, err // pgconn hides the password
	}
	e := &Engine{cfg: cfg, what: describe(parsed.ConnConfig), url: "postgres://…", dialects: newDialects(cfg.Unsafe)}
	parsed.MaxConns = defaultConns
	if cfg.Conns > 0 {
		parsed.MaxConns = int32(cfg.Conns)
	}
	parsed.MaxConnIdleTime = 5 * time.Minute
	// Unnamed statements: PgBouncer may give each transaction another session.
	parsed.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec
	if parsed.ConnConfig.ConnectTimeout == 0 {
		parsed.ConnConfig.ConnectTimeout = 5 * time.Second
	}
	if len(parsed.ConnConfig.Fallbacks) > 0 && parsed.ConnConfig.ValidateConnect == nil {
		parsed.ConnConfig.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
	}
	if _, ok := parsed.ConnConfig.RuntimeParams["application_name"]; !ok {
		parsed.ConnConfig.RuntimeParams["application_name"] = "nextid"
	}
	parsed.AfterConnect = e.check
	if e.pool, err = pgxpool.NewWithConfig(ctx, parsed); err != nil {
		return nil, e.failure(ctx, err)
	}
	return e, nil
}

// describe names the database without its password.
func describe(c *pgx.ConnConfig) string {
	return fmt.Sprintf("postgres://%s@%s:%d/%s", c.User, c.Host, c.Port, c.Database)
}

// Expressions for Engine.Epoch. The first 8 digits of a WAL file's name are the
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
		epoch:    `SELECT ` + epoch,
		standing: `
SELECT ` + epoch + `, r.hi, r.seq, r.stamp
FROM (SELECT 1) AS one LEFT JOIN nextid_reservations AS r ON r.key = $1`,
		advance: map[variant]string{},
	}
	// Parameters: $1 key, $2 at least, $3 n, $4 limit, $5 owner, $6 now, $7 present
	// epoch, $8 count, $9 hi of a new row, $10 an older epoch, $11 the epoch to write.
	// The sum is numeric, since it may not fit a bigint. The database parses the text
	// each time, so every word costs time.
	for i := range 8 {
		v := variant{i&1 > 0, i&2 > 0, i&4 > 0}
		exists, returned, older, write := ``, ``, ` OR r.stamp = $10::text`, `$11::text`
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
WHERE $2::bigint < $4::bigint AND ` + epoch + ` = $7::text` + exists + `
ON CONFLICT (key) DO UPDATE SET
    lo = greatest(r.hi, excluded.lo),
    hi = CAST(least(greatest(r.hi, excluded.lo)::numeric + $3::numeric, $4::numeric) AS bigint),
    seq = r.seq + excluded.seq, stamp = excluded.stamp, owner = excluded.owner, updated_at = excluded.updated_at
WHERE greatest(r.hi, excluded.lo) < $4::bigint AND (r.stamp = $7::text` + older + `)
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

// flavour returns the key of the dialect for a text of version().
func (e *Engine) flavour(version string) string {
	for mark := range e.dialects {
		if mark != "" && strings.Contains(version, mark) {
			return mark
		}
	}
	return ""
}

// flavourKey is the key under which a connection keeps its flavour.
const flavourKey = "nextid.flavour"

// check runs on every new connection: settings may have changed, and another server
// may have taken over the address.
func (e *Engine) check(ctx context.Context, c *pgx.Conn) error {
	var version string
	if err := c.QueryRow(ctx, "SELECT version()").Scan(&version); err != nil {
		return e.failure(ctx, err)
	}
	flavour := e.flavour(version)
	c.PgConn().CustomData()[flavourKey] = flavour
	if e.dialects[flavour].durable {
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
		return e.failure(ctx, err)
	}
	if standby || readOnly == "on" {
		return shared.ReadOnly(e.what, nil)
	}
	if !rights {
		return shared.NoRights(e.what, e.url, nil)
	}
	persistence = map[string]string{"p": "logged", "u": "UNLOGGED", "t": "temporary"}[persistence]
	if err := e.checkServer(fsync, pages); err != nil {
		return err
	}
	for _, s := range []struct{ name, value, bad, want string }{
		{"persistence", persistence, "UNLOGGED", "logged (ALTER TABLE … SET LOGGED)"},
		{"persistence", persistence, "temporary", "logged (remove the temporary table)"},
	} {
		if s.value == s.bad && !slices.Contains(e.cfg.Unsafe, s.name) {
			return shared.Unsafe(s.name, s.value, s.want)
		}
	}
	return nil
}

// checkServer refuses settings with which the server can lose confirmed commits.
func (e *Engine) checkServer(fsync, fullPageWrites string) error {
	for _, s := range []struct{ name, value string }{{"fsync", fsync}, {"full_page_writes", fullPageWrites}} {
		if s.value == "off" && !slices.Contains(e.cfg.Unsafe, s.name) {
			return shared.Unsafe(s.name, s.value, "on")
		}
	}
	return nil
}

// failure turns an error of the database into a *generator.Error.
func (e *Engine) failure(ctx context.Context, err error) error {
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		switch pg.Code {
		case "42P01", "3F000": // no table, no schema
			return shared.NoSchema(e.what, e.url, err)
		case "42501": // insufficient_privilege
			return shared.NoRights(e.what, e.url, err)
		case "25006": // read_only_sql_transaction: a standby, or made read-only
			e.pool.Reset() // the next connections look for the primary
			return shared.ReadOnly(e.what, err)
		}
	}
	return shared.Unreachable(ctx, e.what, err)
}

// retryable reports whether the database has certainly rolled back:
// serialization_failure or deadlock_detected.
func retryable(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && (pg.Code == "40001" || pg.Code == "40P01")
}

// on runs f on a connection. It repeats f after retryable errors.
func (e *Engine) on(ctx context.Context, f func(*pgx.Conn, *dialect) error) error {
	const tries = 5
	for try := 1; ; try++ {
		err := e.pool.AcquireFunc(ctx, func(c *pgxpool.Conn) error {
			flavour, _ := c.Conn().PgConn().CustomData()[flavourKey].(string)
			return f(c.Conn(), e.dialects[flavour])
		})
		if !retryable(err) || try == tries {
			return e.failure(ctx, err)
		}
		select {
		case <-time.After(rand.N(time.Duration(try) * 10 * time.Millisecond)):
		case <-ctx.Done():
			return e.failure(ctx, err)
		}
	}
}

// Epoch implements shared.Engine.
func (e *Engine) Epoch(ctx context.Context) (epoch string, err error) {
	err = e.on(ctx, func(c *pgx.Conn, d *dialect) error { return c.QueryRow(ctx, d.epoch).Scan(&epoch) })
	return epoch, err
}

// Time implements generator.Timekeeper.
func (e *Engine) Time(ctx context.Context) (earliest, latest time.Time, err error) {
	var micros int64
	err = e.on(ctx, func(c *pgx.Conn, _ *dialect) error {
		return c.QueryRow(ctx, "SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS bigint)").Scan(&micros)
	})
	return time.UnixMicro(micros), time.UnixMicro(micros), err
}

// Advance implements shared.Engine. It takes one round trip, and a second one if
// asks were refused, for the reasons.
func (e *Engine) Advance(ctx context.Context, asks []shared.Ask) (answers []shared.Answer, err error) {
	if len(asks) == 1 {
		answer, err := e.advanceOne(ctx, &asks[0])
		return []shared.Answer{answer}, err
	}
	// All servers lock keys in the same order, so that two rounds cannot deadlock.
	order := make([]int, len(asks))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return strings.Compare(asks[a].Key, asks[b].Key) })
	err = e.on(ctx, func(c *pgx.Conn, d *dialect) error {
		answers = make([]shared.Answer, len(asks))
		var refused []int
		batch := pgx.Batch{QueuedQueries: make([]*pgx.QueuedQuery, 0, len(asks)+1)}
		batch.Queue(d.before).QueryRow(func(row pgx.Row) error {
			var fsync, pages string
			err := row.Scan(&fsync, &pages, nil)
			return cmp.Or(err, e.checkServer(fsync, pages))
		})
		for _, i := range order {
			v, args := advance(&asks[i])
			batch.Queue(d.advance[v], args...).QueryRow(func(row pgx.Row) error {
				err := row.Scan(&answers[i].Lo, &answers[i].Hi, &answers[i].Seq)
				if errors.Is(err, pgx.ErrNoRows) {
					refused = append(refused, i)
					return nil
				}
				return err
			})
		}
		// Close waits for the end of the transaction. Before that, nothing is durable.
		if err := c.SendBatch(ctx, &batch).Close(); err != nil || len(refused) == 0 {
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
func advance(a *shared.Ask) (v variant, args []any) {
	v = variant{create: a.Create, usual: a.From == "" && a.Write == a.Epoch}
	args = []any{a.Key, a.AtLeast, a.N, a.Limit, a.Owner, a.Now, a.Epoch, a.Count, a.End(a.AtLeast)}
	if !v.usual {
		args = append(args, a.From, a.Write)
	}
	return v, args
}

// advanceOne is Advance for one ask.
func (e *Engine) advanceOne(ctx context.Context, a *shared.Ask) (answer shared.Answer, err error) {
	v, args := advance(a)
	v.alone = true
	err = e.on(ctx, func(c *pgx.Conn, d *dialect) error {
		answer = shared.Answer{}
		var fsync, pages string
		// Scan waits for the end of the transaction. Before that, nothing is durable.
		err := c.QueryRow(ctx, d.advance[v], args...).Scan(&answer.Lo, &answer.Hi, &answer.Seq, &fsync, &pages, nil)
		if !errors.Is(err, pgx.ErrNoRows) {
			return cmp.Or(err, e.checkServer(fsync, pages))
		}
		answers := []shared.Answer{{}}
		err = explain(ctx, c, d, []shared.Ask{*a}, answers, []int{0})
		answer = answers[0]
		return err
	})
	return answer, err
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

// Lower implements shared.Engine.
func (e *Engine) Lower(ctx context.Context, r shared.Return) error {
	return e.on(ctx, func(c *pgx.Conn, _ *dialect) error {
		_, err := c.Exec(ctx, `UPDATE nextid_reservations SET lo = least(lo, $3::bigint), hi = $3::bigint, updated_at = $5::bigint
WHERE key = $1::text AND hi = $2::bigint AND stamp = $4::text AND seq = $6::bigint`, r.Key, r.Hi, r.To, r.Epoch, r.Now, r.Seq)
		return err
	})
}

// Row implements shared.Engine.
func (e *Engine) Row(ctx context.Context, key string) (*shared.Row, error) {
	all, err := e.rows(ctx, `key = $1::text`, key)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	return &all[0], nil
}

// Rows implements shared.Engine.
func (e *Engine) Rows(ctx context.Context, prefix string) ([]shared.Row, error) {
	// In byte order, as the index has it, with any collation of the database.
	return e.rows(ctx, `key COLLATE "C" >= $1::text AND key COLLATE "C" < $2::text`, prefix, shared.PrefixEnd(prefix))
}

// rows reads the rows that where selects.
func (e *Engine) rows(ctx context.Context, where string, args ...any) (all []shared.Row, err error) {
	err = e.on(ctx, func(c *pgx.Conn, _ *dialect) error {
		rows, err := c.Query(ctx, `SELECT key, lo, hi, seq, stamp, owner, updated_at FROM nextid_reservations WHERE `+where, args...)
		if err != nil {
			return err
		}
		all, err = pgx.CollectRows(rows, pgx.RowToStructByPos[shared.Row])
		return err
	})
	return all, err
}

const entryColumns = `name, kind, options, version, created_at, dropped`

// scanEntry reads entryColumns.
func scanEntry(row pgx.CollectableRow) (e shared.Entry, err error) {
	var options string
	var created int64
	err = row.Scan(&e.Name, &e.Kind, &options, &e.Version, &created, &e.Dropped)
	e.Options, e.Created = []byte(options), time.UnixMilli(created)
	return e, err
}

// Name implements shared.Engine.
func (e *Engine) Name(ctx context.Context, name string) (entry shared.Entry, err error) {
	err = e.on(ctx, func(c *pgx.Conn, _ *dialect) error {
		rows, err := c.Query(ctx, `SELECT `+entryColumns+` FROM nextid_generators WHERE name = $1`, name)
		if err != nil {
			return err
		}
		entry, err = pgx.CollectExactlyOneRow(rows, scanEntry)
		if errors.Is(err, pgx.ErrNoRows) {
			return shared.Unknown(name)
		}
		return err
	})
	return entry, err
}

// Names implements shared.Engine.
func (e *Engine) Names(ctx context.Context) (entries []shared.Entry, err error) {
	err = e.on(ctx, func(c *pgx.Conn, _ *dialect) error {
		rows, err := c.Query(ctx, `SELECT `+entryColumns+` FROM nextid_generators`)
		if err != nil {
			return err
		}
		entries, err = pgx.CollectRows(rows, scanEntry)
		return err
	})
	return entries, err
}

// Count implements shared.Engine.
func (e *Engine) Count(ctx context.Context) (n int, err error) {
	err = e.on(ctx, func(c *pgx.Conn, _ *dialect) error {
		return c.QueryRow(ctx, `SELECT count(*) FROM nextid_generators`).Scan(&n)
	})
	return n, err
}

// PutName implements shared.Engine.
func (e *Engine) PutName(ctx context.Context, n shared.Entry, was *shared.Entry) (written bool, err error) {
	args := []any{n.Name, n.Kind, string(n.Options), n.Version, n.Created.UnixMilli(), n.Dropped}
	text := `INSERT INTO nextid_generators (` + entryColumns + `)
VALUES ($1::text, $2::text, $3::text, $4::bigint, $5::bigint, $6::boolean) ON CONFLICT (name) DO NOTHING`
	if was != nil {
		text = `UPDATE nextid_generators
SET kind = $2::text, options = $3::text, version = $4::bigint, created_at = $5::bigint, dropped = $6::boolean
WHERE name = $1::text AND version = $7::bigint AND dropped = $8::boolean`
		args = append(args, was.Version, was.Dropped)
	}
	err = e.on(ctx, func(c *pgx.Conn, d *dialect) error {
		var fsync, pages string
		err := c.QueryRow(ctx, text+` RETURNING `+d.settings, args...).Scan(&fsync, &pages, nil)
		if errors.Is(err, pgx.ErrNoRows) {
			written = false
			return nil
		}
		written = err == nil
		return cmp.Or(err, e.checkServer(fsync, pages))
	})
	return written, err
}

// Close implements shared.Engine.
func (e *Engine) Close() error {
	e.pool.Close()
	return nil
}
