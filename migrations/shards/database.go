package shards

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/pressly/goose/v3"

	"nextid/migrations/appdb"
)

//go:embed mysql postgres
var files embed.FS

// versionTable is the table in which goose records the migrations of a shard.
const versionTable = "nextid_shard_version"

// Error is an error that the user can correct.
type Error = appdb.Error

var hints = appdb.Hints{
	pgLockNotAvailable: "A transaction holds the sequence. Run it again when that has ended, or with a longer --wait.",
	"42501":            "Log in as the owner of the sequences and tables. The owner also needs the right to create tables in the schema.",
	"1205":             "A transaction uses the table. Run it again when that has ended, or with a longer --wait.",
	"1227":             "SET GLOBAL takes SUPER on MariaDB, SYSTEM_VARIABLES_ADMIN on MySQL 8. MariaDB without the right: nextid migrate feed.",
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
	missed  []missed // what Status could not check
	trouble string   // why the server cannot be a shard, "" if it can
	blind   bool     // the account cannot see the sessions of others
}

// missed describes something that was not checked.
type missed struct {
	path []string // of the line, nil for none
	what string
}

// asNoted reports whether the shard's settings equal those in its note. Member must
// be set.
func (s State) asNoted() bool {
	for _, l := range s.Lines {
		if l.Started && l.Draws != s.Member.Has {
			return false
		}
	}
	return s.Setting == (Progression{}) || s.Setting == s.Member.Has
}

// drawsAll reports whether a shard draws all numbers of a progression. It may draw
// others, too.
func (s State) drawsAll(has Progression) bool {
	for _, l := range s.Lines {
		if l.Started && !l.Draws.covers(has) {
			return false
		}
	}
	return s.Setting == (Progression{}) || s.Setting.covers(has)
}

// database changes one shard. In a dry run the methods write their statements and
// change nothing.
type database interface {
	// lock excludes other runs of migrate shards until Close. It does not wait. So
	// it fails if the same database is given twice.
	lock(ctx context.Context) error
	// state reads the settings, the note and the lines.
	state(ctx context.Context) (State, error)
	// able returns an error if the account has no right to run assign. It changes
	// nothing.
	able(ctx context.Context) error
	// install makes the tables of the note.
	install(ctx context.Context) error
	// join writes the note. A new note includes the present settings, for restore.
	join(ctx context.Context, m Member) error
	// assign sets the progression of sessions that begin after it.
	assign(ctx context.Context, lines []Line, has Progression) error
	// unsettle records that lines may have left the shard's progression, so that
	// up starts them again.
	unsettle(ctx context.Context) error
	// older lists the sessions that may still draw from the progression before
	// assign. If there are none, it records that.
	older(ctx context.Context) ([]session, error)
	kill(ctx context.Context, s session) error
	// together runs f. The changes of f are durable when together returns, not
	// necessarily before.
	together(ctx context.Context, f func() error) error
	// start moves a line so that it draws no number below least.
	start(ctx context.Context, l Line, has Progression, least int64) error
	// ids iterates over the ids of a line, the greatest first.
	ids(ctx context.Context, l Line) (*idRows, error)
	// restore restores the settings from before up, and removes the note.
	restore(ctx context.Context) error
	// most returns the greatest possible increment.
	most() int64
	// settings writes what the operator must do so that the settings outlast a
	// restart.
	settings(ctx context.Context, w io.Writer, name string, has Progression) error
	Close() error
}

// session is a connection of another client.
type session struct {
	id      int64
	account string // USER@HOST
}

// open connects to a shard.
func open(ctx context.Context, dsn string, o Options) (database, error) {
	switch mysql, known := appdb.IsMySQL(dsn); {
	case mysql:
		return openMySQL(ctx, dsn, o)
	case known:
		return openPostgres(ctx, dsn, o)
	}
	return nil, &Error{ // does not quote the URL, which may hold a password
		What: "a shard is given as a mysql:// or postgres:// URL",
		Hint: "Write --dsn mysql://USER@HOST:3306/DATABASE or --dsn postgres://USER@HOST:5432/DATABASE.",
	}
}

// connection holds what both kinds of database have in common. One connection, conn,
// has the lock and runs all statements except ids.
type connection struct {
	db      *sql.DB
	conn    *sql.Conn
	name    string // of the shard, for the dry run
	folder  string
	dialect goose.Dialect
	dry     io.Writer // gets the statements of a dry run; nil: run them
	unlock  string    // statement that releases the lock, "" while it is not held
}

// connect opens the connection that runs all statements. It owns db.
func connect(ctx context.Context, db *sql.DB, name, folder string, dialect goose.Dialect, dry io.Writer) (*connection, error) {
	db.SetMaxIdleConns(0) // older must not find idle sessions of this pool
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &connection{db: db, conn: conn, name: name, folder: folder, dialect: dialect, dry: dry}, nil
}

// Close implements database.
//
// It releases the lock first: a server may notice the end of a session late, and
// until then the next run would fail.
func (c *connection) Close() error {
	if c.unlock != "" {
		ctx, cancel := context.WithTimeout(context.Background(), unlockTime)
		defer cancel()
		_, _ = c.conn.ExecContext(ctx, c.unlock) // the end of the session releases it, too
	}
	return errors.Join(c.conn.Close(), c.db.Close())
}

// unlockTime bounds how long Close waits for a server that does not answer.
const unlockTime = 2 * time.Second

// exec runs a statement, or writes it in a dry run.
func (c *connection) exec(ctx context.Context, statement string) error {
	if c.dry != nil {
		_, err := fmt.Fprintf(c.dry, "/* %s */ %s;\n", c.name, strings.Join(strings.Fields(statement), " "))
		return err
	}
	_, err := c.conn.ExecContext(ctx, statement)
	return err
}

func (c *connection) provider() (*goose.Provider, error) {
	folder, err := fs.Sub(files, c.folder)
	if err != nil {
		return nil, err
	}
	return goose.NewProvider(c.dialect, c.db, folder,
		goose.WithTableName(versionTable), goose.WithDisableGlobalRegistry(true))
}

// install implements database.
func (c *connection) install(ctx context.Context) error {
	if err := c.forget(ctx); err != nil {
		return err
	}
	if c.dry != nil {
		return c.printInstall(ctx)
	}
	provider, err := c.provider()
	if err != nil {
		return err
	}
	_, err = provider.Up(ctx)
	return err
}

// printInstall writes the statements of install, one per line. If the user runs
// them, install later finds the tables (IF NOT EXISTS), and goose records their
// version.
func (c *connection) printInstall(ctx context.Context) error {
	text, err := fs.ReadFile(files, c.folder+"/00001_shard.sql")
	if err != nil {
		return err
	}
	up, _, _ := strings.Cut(string(text), "-- +goose Down")
	for statement := range strings.SplitSeq(comment.ReplaceAllString(up, ""), ";") {
		if strings.TrimSpace(statement) != "" {
			if err := c.exec(ctx, statement); err != nil {
				return err
			}
		}
	}
	return nil
}

var comment = regexp.MustCompile(`--.*`)

// chunk bounds the SELECTs in one query of selectAll.
const chunk = 200

// selectAll runs SELECTs with equal columns, many in one query (UNION ALL).
func (c *connection) selectAll(ctx context.Context, selects []string, scan func(*sql.Rows) error) error {
	for part := range slices.Chunk(selects, chunk) {
		if err := appdb.Each(ctx, c.conn, scan, strings.Join(part, " UNION ALL ")); err != nil {
			return err
		}
	}
	return nil
}

// forget drops incomplete installations. One kind is the empty tables from a dump of
// another shard's schema: no version is recorded. The other kind is left by an
// interrupted up or down on MySQL: one of the tables is missing. No note is lost:
// down restores the settings before it drops tables.
func (c *connection) forget(ctx context.Context) error {
	var versions int
	if err := c.conn.QueryRowContext(ctx, "SELECT COUNT(*) FROM "+versionTable).Scan(&versions); err != nil {
		return nil //nolint:nilerr // there is no such table, or the next statement says what is wrong
	}
	if versions > 0 {
		schema := map[goose.Dialect]string{goose.DialectMySQL: "DATABASE()", goose.DialectPostgres: "current_schema()"}[c.dialect]
		var tables int
		err := c.conn.QueryRowContext(ctx, `SELECT COUNT(*) FROM information_schema.tables
			WHERE table_schema = `+schema+` AND table_name IN ('nextid_shard', 'nextid_shard_lines')`).Scan(&tables)
		if err != nil || tables == 2 {
			return err
		}
	}
	for _, table := range []string{"nextid_shard_lines", "nextid_shard", versionTable} {
		if err := c.exec(ctx, "DROP TABLE IF EXISTS "+table); err != nil {
			return err
		}
	}
	return nil
}

// remove drops the tables that install has made.
func (c *connection) remove(ctx context.Context) error {
	if c.dry != nil {
		_, err := fmt.Fprintf(c.dry, "/* %s */ DROP TABLE nextid_shard, nextid_shard_lines, %s;\n", c.name, versionTable)
		return err
	}
	provider, err := c.provider()
	if err != nil {
		return err
	}
	if _, err := provider.DownTo(ctx, 0); err != nil {
		return err
	}
	return c.exec(ctx, "DROP TABLE "+versionTable)
}
