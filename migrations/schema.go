package migrations

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"github.com/pressly/goose/v3"
)

// Schema is a folder of migrations and the database of a shared store.
type Schema struct {
	dialect  goose.Dialect
	db       *sql.DB
	folder   string // of Files
	provider *goose.Provider
}

// Open opens the migrations of a folder, for example "store/postgres", for a
// database. The Schema owns the database: Close closes it.
func Open(folder string, dialect goose.Dialect, db *sql.DB) (*Schema, error) {
	provider, err := Provider(dialect, db, Files, folder, VersionTable)
	return &Schema{dialect: dialect, db: db, folder: folder, provider: provider}, err
}

// Up applies the missing migrations. It returns an error if a table was dropped, and
// does not make the table again: an empty table would let ids begin anew.
func (s *Schema) Up(ctx context.Context) error {
	if _, err := s.provider.Up(ctx); err != nil {
		return err
	}
	dropped, err := s.dropped(ctx)
	if err == nil && len(dropped) > 0 {
		err = fmt.Errorf("%s: dropped, although %s says that the store was prepared: restore it from a backup and call recover_generator, "+
			"or, if no id of this store is in use any more, run nextid migrate store down, and up", strings.Join(dropped, ", "), VersionTable)
	}
	return err
}

// dropped returns the names of the store's tables that do not exist.
func (s *Schema) dropped(ctx context.Context) (names []string, err error) {
	exists := `SELECT count(*) FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = '%s'`
	if s.dialect == goose.DialectPostgres {
		exists = `SELECT count(*) FROM pg_catalog.pg_class WHERE oid = to_regclass('%s')`
	}
	for _, table := range storeTables {
		var n int
		if err := s.db.QueryRowContext(ctx, fmt.Sprintf(exists, table)).Scan(&n); err != nil {
			return nil, err
		}
		if n == 0 {
			names = append(names, table)
		}
	}
	return names, nil
}

// Down drops all tables of the store.
func (s *Schema) Down(ctx context.Context) error {
	if _, err := s.provider.DownTo(ctx, 0); err != nil {
		return err
	}
	_, err := s.db.ExecContext(ctx, "DROP TABLE "+VersionTable)
	return err
}

// storeTables lists the tables that a server on a shared store uses.
var storeTables = []string{"nextid_reservations", "nextid_generators"}

// Grant gives a user the rights to read and write the tables of a store. In MySQL
// the user may be NAME@HOST; NAME alone stands for any host.
func (s *Schema) Grant(ctx context.Context, user string) error {
	role := `"` + strings.ReplaceAll(user, `"`, `""`) + `"`
	if s.dialect == goose.DialectMySQL {
		name, host, found := strings.Cut(user, "@")
		if !found {
			host = "%"
		}
		quote := strings.NewReplacer("\\", "\\\\", "'", "''").Replace
		role = "'" + quote(name) + "'@'" + quote(host) + "'"
	}
	for _, table := range storeTables {
		if _, err := s.db.ExecContext(ctx, "GRANT SELECT, INSERT, UPDATE ON "+table+" TO "+role); err != nil {
			return err
		}
	}
	return nil
}

// Status lists the migrations and whether each is applied. complete reports that all
// are applied and no table was dropped.
func (s *Schema) Status(ctx context.Context) (text string, complete bool, err error) {
	steps, err := s.provider.Status(ctx)
	if err != nil {
		return "", false, err
	}
	var lines []string
	complete = true
	for _, step := range steps {
		state := string(step.State)
		if step.State != goose.StateApplied {
			complete = false
		} else {
			state += " " + step.AppliedAt.UTC().Format(time.RFC3339)
		}
		lines = append(lines, step.Source.Path+" "+state)
	}
	if complete {
		dropped, err := s.dropped(ctx)
		if err != nil {
			return "", false, err
		}
		for _, table := range dropped {
			complete, lines = false, append(lines, table+" was dropped")
		}
	}
	return strings.Join(lines, "; "), complete, nil
}

// Print returns the SQL of all migrations, which Up would run on an empty database.
func (s *Schema) Print() (string, error) {
	_, ups, err := Texts(Files, s.folder)
	return strings.Join(ups, ""), err
}

// Close closes the database.
func (s *Schema) Close() error { return s.db.Close() }
