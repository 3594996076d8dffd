package shards

import (
	"cmp"
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/pressly/goose/v3"

	"nextid/migrations"
	"nextid/migrations/appdb"
)

//go:embed mysql postgres
var files embed.FS

// versionTable is the table in which goose records the migrations of a shard.
const versionTable = "nextid_shard_version"

// Error is an error that the user can correct.
type Error = appdb.Error

var hints = appdb.Hints{
	"55P03": "A transaction holds the sequence. Run it again when that has ended; up and reshard wait longer with --wait.",
	"42501": "Log in as the owner of the sequences and tables. The owner also needs the right to create tables in the schema.",
	"1205":  "A transaction uses the table. Run it again when that has ended, or with a longer --wait.",
	"1227":  "SET GLOBAL takes SUPER on MariaDB, SYSTEM_VARIABLES_ADMIN on MySQL 8. MariaDB without the right: nextid migrate feed.",
}

// Member is the note in a shard's database, in table nextid_shard.
type Member struct {
	Set      string // random name of the set of shards
	Number   int    // of this shard, from 1
	Of       int    // number of shards in the set
	Has      Progression
	Draining bool // sessions may still draw from the former progression
}

// State describes a shard.
type State struct {
	Title   string      // the server's name and version
	Member  *Member     // nil: no shard
	Setting Progression // MySQL and MariaDB: of sessions that begin now
	Lines   []Line
	Notes   []string // for the operator, a line each
	restart string   // what the operator must do so that the settings outlast a restart, "" for nothing
	missed  []missed // what Status could not check
	trouble string   // why the server cannot be a shard, "" if it can
	blind   bool     // the account cannot see the sessions of others
	lapsed  bool     // the settings ended with a restart, also if they were made again by hand
}

// missed describes something that was not checked.
type missed struct {
	path []string // of the line, nil for none
	what string
}

// asNoted reports whether all started lines, and the setting if there is one, are as
// in the shard's note. Member must be set.
func (s State) asNoted() bool {
	return !slices.ContainsFunc(s.Lines, func(l Line) bool { return l.Started && l.Draws != s.Member.Has }) &&
		(s.Setting == Progression{} || s.Setting == s.Member.Has)
}

// database changes one shard. In a dry run the methods write their statements and
// change nothing.
type database interface {
	// begin prepares the connection, and sets title.
	begin(ctx context.Context) error
	// state reads the settings, the note and the lines.
	state(ctx context.Context) (State, error)
	// able returns an error if the account has no right to run assign. It changes
	// nothing.
	able(ctx context.Context) error
	// join writes the note. A new note includes the present settings, for restore.
	join(ctx context.Context, m Member) error
	// assign sets the progression of sessions that begin after it.
	assign(ctx context.Context, lines []Line, has Progression) error
	// older lists the sessions that may still draw from the progression before
	// assign. If there are none, it records that.
	older(ctx context.Context) ([]session, error)
	// start moves a line so that it draws no number below least.
	start(ctx context.Context, l Line, has Progression, least int64) error
	// restore restores the settings from before up, given a note.
	restore(ctx context.Context) error
}

// session is a connection of another client.
type session struct {
	id      int64
	account string // USER@HOST
}

// system holds what differs between kinds of databases, and needs no method.
type system struct {
	folder       string // of the migrations
	dialect      goose.Dialect
	most         int64  // greatest possible increment
	tables       string // FROM, and a condition for tables of the shard's schema, up to the column of names
	tryLock      string // query that returns 1 if it has got the lock
	unlock       string
	first, last  string // statements around many changes, see together
	locked, hint string // error if another run has the lock
	fits         string // query: do the tables of the note have what the last migration made?
	unfit        string // query: why the server cannot be a shard, '' if it can
	unsettle     string // records that lines may have left the progression, so that up starts them again
}

// connection holds what all databases have in common. One connection, conn, has the
// lock and runs all statements except those that read rows.
type connection struct {
	system
	db    *sql.DB
	conn  *sql.Conn
	name  string // URL without user and password, for messages
	title string // the server's name and version
	wait  time.Duration
	dry   io.Writer // gets the statements of a dry run; nil: run them
	held  bool      // the lock is held
}

// open connects to a shard.
func open(ctx context.Context, dsn string, o Options) (*shard, error) {
	db, mysql, err := appdb.Open(dsn)
	if err != nil {
		return nil, err
	}
	db.SetMaxIdleConns(0) // older must not find idle sessions of this pool
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	c := &connection{system: postgresSystem, db: db, conn: conn, name: appdb.NameOf(dsn), wait: o.Wait, dry: o.dry}
	one := &shard{connection: c, database: postgresShard{c}}
	if mysql {
		c.system, one.database = mysqlSystem, &mysqlShard{connection: c, changed: time.Now()}
	}
	if err := one.begin(ctx); err != nil {
		return nil, errors.Join(err, c.close())
	}
	return one, nil
}

// lock excludes other runs of migrate shards until close. It does not wait. So it
// fails if the same database is given twice.
func (c *connection) lock(ctx context.Context) error {
	var got sql.NullInt64
	err := c.conn.QueryRowContext(ctx, c.tryLock).Scan(&got)
	if c.held = got.Int64 == 1; err == nil && !c.held {
		err = &Error{What: c.locked, Hint: c.hint}
	}
	return err
}

// close releases the lock first: a server may notice the end of a session late, and
// until then the next run would fail.
func (c *connection) close() error {
	if c.held {
		const limit = 2 * time.Second // for a server that does not answer
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		defer cancel()
		_, _ = c.conn.ExecContext(ctx, c.unlock) // the end of the session releases it, too
	}
	return errors.Join(c.conn.Close(), c.db.Close())
}

// exec runs statements, or writes them in a dry run.
func (c *connection) exec(ctx context.Context, statements ...string) error {
	if c.dry == nil {
		return appdb.Exec(ctx, c.conn, statements...)
	}
	for _, statement := range statements {
		if _, err := fmt.Fprintf(c.dry, "/* %s */ %s;\n", c.name, strings.Join(strings.Fields(statement), " ")); err != nil {
			return err
		}
	}
	return nil
}

// together runs f. The changes of f are durable when together returns, not
// necessarily before.
func (c *connection) together(ctx context.Context, f func() error) error {
	if c.dry != nil {
		return f()
	}
	err := c.exec(ctx, c.first)
	if err == nil {
		err = f()
	}
	return errors.Join(err, c.exec(context.WithoutCancel(ctx), c.last))
}

// patiently runs a statement, and repeats it after lock timeouts, up to wait.
func (c *connection) patiently(ctx context.Context, statement string) error {
	for deadline := time.Now().Add(c.wait); ; {
		err := c.exec(ctx, statement)
		if !appdb.LockTimeout(err) || time.Now().After(deadline) {
			return err
		}
	}
}

// install makes the tables of the note. A dry run writes the statements, one per
// line. If the user runs them, install later finds the tables (IF NOT EXISTS), and
// goose records their version.
func (c *shard) install(ctx context.Context) error {
	if c.state.Member == nil {
		if err := c.forget(ctx); err != nil {
			return err
		}
	}
	if c.dry == nil {
		return c.migrate(ctx)
	}
	_, ups, err := migrations.Texts(files, c.folder)
	if err != nil {
		return err
	}
	statements := strings.Split(comment.ReplaceAllString(strings.Join(ups, ""), ""), ";")
	return c.exec(ctx, slices.DeleteFunc(statements, func(s string) bool { return strings.TrimSpace(s) == "" })...)
}

var comment = regexp.MustCompile(`--.*`)

// migrate applies the missing migrations.
func (c *connection) migrate(ctx context.Context) error {
	provider, err := migrations.Provider(c.dialect, c.db, files, c.folder, versionTable)
	if err == nil {
		_, err = provider.Up(ctx)
	}
	return err
}

// current migrates the note of an earlier build. It returns an error in a command that
// changes nothing.
func (c *connection) current(ctx context.Context) error {
	var fits bool
	err := c.conn.QueryRowContext(ctx, c.fits).Scan(&fits)
	switch {
	case err != nil || fits:
		return err
	case c.held && c.dry == nil:
		return c.migrate(ctx)
	}
	return &Error{What: "the note is one of an earlier nextid", Hint: "Run nextid migrate shards up: it keeps the note, in the present form."}
}

// count returns how many of some tables are in the shard's own schema. search_path
// may name others.
func (c *connection) count(ctx context.Context, names string) (n int, err error) {
	err = c.conn.QueryRowContext(ctx, "SELECT COUNT(*) FROM "+c.tables+" IN ("+names+")").Scan(&n)
	return n, err
}

// member reads why the server cannot be a shard, and the note into st.Member. It scans
// further columns of the note into more.
func (c *connection) member(ctx context.Context, st *State, columns string, more ...any) error {
	if err := c.conn.QueryRowContext(ctx, c.unfit).Scan(&st.trouble); err != nil {
		return err
	}
	n, err := c.count(ctx, "'nextid_shard', 'nextid_shard_lines'")
	if err != nil || n < 2 {
		return err
	}
	var m Member
	err = c.conn.QueryRowContext(ctx, "SELECT shards, number, members, first_number, increment"+columns+" FROM nextid_shard").
		Scan(append([]any{&m.Set, &m.Number, &m.Of, &m.Has.Offset, &m.Has.Increment}, more...)...)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	st.Member = &m
	return cmp.Or(err, c.current(ctx))
}

// selectAll runs SELECTs with equal columns, many in one query (UNION ALL).
func (c *connection) selectAll(ctx context.Context, selects []string, scan func(*sql.Rows) error) error {
	const chunk = 200
	for part := range slices.Chunk(selects, chunk) {
		if err := appdb.Each(ctx, c.conn, scan, strings.Join(part, " UNION ALL ")); err != nil {
			return err
		}
	}
	return nil
}

// forget drops the tables that install has made, once down has restored the settings.
// Without a Member they are empty and from a dump of another shard's schema, or left
// by an interrupted up or down on MySQL, which drops them one by one, in this order.
func (c *connection) forget(ctx context.Context) error {
	n, err := c.count(ctx, "'nextid_shard', 'nextid_shard_lines', '"+versionTable+"'")
	if err != nil || n == 0 {
		return err
	}
	return c.exec(ctx, "DROP TABLE IF EXISTS nextid_shard_lines, nextid_shard, "+versionTable)
}
