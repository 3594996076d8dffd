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

// versionTable is the table of goose's versions.
const versionTable = "nextid_shard_version"

// Error is a failure that the person at the terminal can do something about.
type Error = appdb.Error

var hints = appdb.Hints{
	pgLockNotAvailable: "A transaction holds the sequence. Run it again when that has ended, or with a longer --wait.",
	"42501":            "Log in as the owner of the sequences and tables, who may also create tables in the schema.",
	"1205":             "A transaction uses the table. Run it again when that has ended, or with a longer --wait.",
	"1227":             "SET GLOBAL takes SUPER on MariaDB, SYSTEM_VARIABLES_ADMIN on MySQL 8. MariaDB without the right: nextid migrate feed.",
}

// Member is the note that a shard has of itself.
type Member struct {
	Set      string // random name of the set of shards
	Number   int    // of this shard, from 1
	Of       int    // how many shards the set has
	Has      Progression
	Draining bool // sessions may still draw what the shard had before
}

// State describes a shard.
type State struct {
	Title   string // the server's name and version
	Member  *Member
	Setting Progression // MySQL and MariaDB: of sessions that begin now
	Lines   []Line
	Notes   []string // what an operator should know
	missed  []missed // what Status could not look at
	trouble string   // why the server cannot be a shard, "" if it can
	blind   bool     // the account cannot see the sessions of others
}

// missed is something that was not looked at.
type missed struct {
	path []string // of the line, nil for none
	what string
}

// asNoted reports whether the shard's settings are those in its note.
func (s State) asNoted() bool {
	for _, l := range s.Lines {
		if l.Started && l.Draws != s.Member.Has {
			return false
		}
	}
	return s.Setting == (Progression{}) || s.Setting == s.Member.Has
}

// drawsAll reports whether a shard draws all numbers of a progression, and
// perhaps others.
func (s State) drawsAll(has Progression) bool {
	for _, l := range s.Lines {
		if l.Started && !l.Draws.covers(has) {
			return false
		}
	}
	return s.Setting == (Progression{}) || s.Setting.covers(has)
}

// database is one shard. Everything that changes it is also written to a dry
// run, which then changes nothing.
type database interface {
	// lock keeps other runs of migrate shards away until Close. It fails at
	// once when the same database is given twice.
	lock(ctx context.Context) error
	state(ctx context.Context) (State, error)
	// able sees that the account may do what assign does, and changes nothing.
	able(ctx context.Context) error
	// install makes the tables of the note.
	install(ctx context.Context) error
	// join writes the note, and what the settings were before if it is new.
	join(ctx context.Context, m Member) error
	// assign makes sessions that begin from now on draw what the note says.
	assign(ctx context.Context, lines []Line, has Progression) error
	// unsettle notes that lines may have left the shard's progression, so that
	// up starts them again.
	unsettle(ctx context.Context) error
	// older lists the sessions that may still draw as before assign, and
	// notes it when there are none.
	older(ctx context.Context) ([]session, error)
	kill(ctx context.Context, s session) error
	// together runs f, whose many changes need not be durable one by one. They
	// are when together returns.
	together(ctx context.Context, f func() error) error
	// start moves a line so that it draws no number below least.
	start(ctx context.Context, l Line, has Progression, least int64) error
	// ids reads the ids of a line's rows, the greatest first.
	ids(ctx context.Context, l Line) (*idRows, error)
	// restore brings the settings back and removes the note.
	restore(ctx context.Context) error
	// most is the greatest increment.
	most() int64
	// settings writes what the operator has to do so that the settings last.
	settings(ctx context.Context, w io.Writer, name string, has Progression) error
	Close() error
}

// session is a connection to a server of somebody else.
type session struct {
	id  int64
	who string
}

// open connects to a shard.
func open(ctx context.Context, dsn string, o Options) (database, error) {
	switch mysql, known := appdb.IsMySQL(dsn); {
	case mysql:
		return openMySQL(ctx, dsn, o)
	case known:
		return openPostgres(ctx, dsn, o)
	}
	return nil, &Error{ // without the URL, which may hold a password
		What: "a shard is given as a mysql:// or postgres:// URL",
		Hint: "Write --dsn mysql://USER@HOST:3306/DATABASE or --dsn postgres://USER@HOST:5432/DATABASE.",
	}
}

// connection holds what both kinds of database have: one connection that holds
// the lock and runs all statements.
type connection struct {
	db      *sql.DB
	conn    *sql.Conn
	name    string // of the shard, for the dry run
	folder  string
	dialect goose.Dialect
	dry     io.Writer // where a dry run writes what would be run; nil: run it
	unlock  string    // the statement that gives the lock back, "" while it is not held
}

func connect(ctx context.Context, db *sql.DB, name, folder string, dialect goose.Dialect, dry io.Writer) (*connection, error) {
	db.SetMaxIdleConns(0) // no session of ours stays behind the one below
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &connection{db: db, conn: conn, name: name, folder: folder, dialect: dialect, dry: dry}, nil
}

// Close implements database.
//
// The lock is given back first: a server may take a while to notice the end of
// a session, and the next migration would find the lock taken.
func (c *connection) Close() error {
	if c.unlock != "" {
		ctx, cancel := context.WithTimeout(context.Background(), unlockTime)
		defer cancel()
		_, _ = c.conn.ExecContext(ctx, c.unlock) // else the session's end does it
	}
	return errors.Join(c.conn.Close(), c.db.Close())
}

// unlockTime bounds how long a dead server keeps us at the end.
const unlockTime = 2 * time.Second

// exec changes something.
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

// printInstall writes what install would run, a statement a line. goose finds
// the tables later, and notes their version.
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

// selectAll runs SELECTs of one form, many in one query.
func (c *connection) selectAll(ctx context.Context, selects []string, scan func(*sql.Rows) error) error {
	for part := range slices.Chunk(selects, chunk) {
		if err := appdb.Each(ctx, c.conn, scan, strings.Join(part, " UNION ALL ")); err != nil {
			return err
		}
	}
	return nil
}

// forget removes what is not installed: the empty tables that came with a dump
// of another shard's schema, where no version is noted, and what an up or down
// that was killed has left on MySQL, where one of the tables is missing. A down
// has brought back all that is noted before it drops them.
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

// remove takes away what install has made.
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
