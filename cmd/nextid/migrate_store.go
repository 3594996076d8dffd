package main

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"
	"strings"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
	"github.com/pressly/goose/v3"
	"github.com/spf13/cobra"

	"nextid/migrations"
)

// storePasswordEnv holds the password for a shared store. It has no flag: the
// arguments of a process can be read by everybody on its machine.
const storePasswordEnv = envPrefix + "STORE_PASSWORD"

// storeSchema is what has to be in a database before servers can use it as
// their store.
type storeSchema interface {
	Up(ctx context.Context) error   // installs or upgrades it
	Down(ctx context.Context) error // removes it, with everything in it
	Status(ctx context.Context) (text string, complete bool, err error)
	Print() (string, error) // what Up does, without connecting
	Close() error
}

// migrateTimeout bounds one command.
const migrateTimeout = time.Minute

func (p *program) migrateStoreCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "store",
		Short: "Prepare a database that several servers share as their store",
		Long: "Create, upgrade or remove the tables or keys of a shared store (serve --store URL):\n\n" +
			"  nextid migrate store up --dsn postgres://postgres@db/nextid\n" +
			"  GRANT SELECT, INSERT, UPDATE ON nextid_reservations, nextid_generators TO nextid;\n\n" +
			"serve needs no right to create anything. The password comes from the URL or from\n" +
			storePasswordEnv + ". See docs/operations.md.",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(
		p.storeSchemaCommand("up", "Install or upgrade what servers need", p.storeUp),
		p.storeSchemaCommand("down", "Remove it, and with it everything that keeps ids unique", p.storeDown),
		p.storeSchemaCommand("status", "Show what is installed; exit code 1 unless that is everything", p.storeStatus),
		p.storeSchemaCommand("print", "Print what up does, without connecting", p.storePrint),
	)
	return cmd
}

func (p *program) storeSchemaCommand(use, short string, run func(context.Context, StoreURL, storeSchema) error) *cobra.Command {
	var dsns []string
	cmd := &cobra.Command{
		Use: use + " --dsn URL", Short: short, Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if len(dsns) == 0 {
				return usageFailure(cmd, "--dsn URL is missing")
			}
			for _, dsn := range dsns {
				if err := p.withSchema(cmd, dsn, run); err != nil {
					return err
				}
			}
			return nil
		},
	}
	cmd.Flags().StringArrayVar(&dsns, "dsn", nil, "the database, as `URL`: "+strings.Join(sharedSchemes(), ", ")+"; may be repeated")
	return cmd
}

// withSchema runs one command on one database.
func (p *program) withSchema(cmd *cobra.Command, dsn string, run func(context.Context, StoreURL, storeSchema) error) error {
	var u StoreURL
	if err := u.Set(dsn); err != nil {
		return usageFailure(cmd, "--dsn "+err.Error())
	}
	if !u.Shared() {
		return usageFailure(cmd, "--dsn: serve prepares the embedded store by itself")
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), migrateTimeout)
	defer cancel()
	schema, err := sharedStoreOf(u.Scheme).schema(u.withPassword(lookupEnv(p.environ, storePasswordEnv)))
	if err != nil {
		return fmt.Errorf("%s: %w", u, err)
	}
	defer schema.Close()
	if err := run(ctx, u, schema); err != nil {
		return fmt.Errorf("%s: %w", u, err)
	}
	return nil
}

func (p *program) storeUp(ctx context.Context, u StoreURL, s storeSchema) error {
	if err := s.Up(ctx); err != nil {
		return err
	}
	_, err := fmt.Fprintf(p.stdout, "%s: installed\n", u)
	return err
}

func (p *program) storeDown(ctx context.Context, u StoreURL, s storeSchema) error {
	if err := s.Down(ctx); err != nil {
		return err
	}
	_, err := fmt.Fprintf(p.stdout, "%s: removed\n", u)
	return err
}

func (p *program) storeStatus(ctx context.Context, u StoreURL, s storeSchema) error {
	text, complete, err := s.Status(ctx)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(p.stdout, "%s: %s\n", u, text); err != nil || complete {
		return err
	}
	return &failure{what: "not everything is installed", hint: "Run nextid migrate store up."}
}

func (p *program) storePrint(_ context.Context, _ StoreURL, s storeSchema) error {
	text, err := s.Print()
	if err == nil {
		_, err = fmt.Fprint(p.stdout, text)
	}
	return err
}

// sqlSchema is a folder of goose migrations.
type sqlSchema struct {
	db       *sql.DB
	folder   fs.FS
	provider *goose.Provider
}

// gooseDialects are goose's dialects by database/sql's drivers.
var gooseDialects = map[string]goose.Dialect{"pgx": goose.DialectPostgres, "mysql": goose.DialectMySQL}

// openSQLSchema opens the migrations of a folder for a driver of
// database/sql, which gets the URL as dsn makes it.
func openSQLSchema(driver, path string, dsn func(url string) (string, error)) func(string) (storeSchema, error) {
	return func(url string) (storeSchema, error) {
		name, err := dsn(url)
		if err != nil {
			return nil, err
		}
		db, err := sql.Open(driver, name)
		if err != nil {
			return nil, err
		}
		folder, err := migrations.Folder(path)
		if err != nil {
			return nil, err
		}
		provider, err := goose.NewProvider(gooseDialects[driver], db, folder,
			goose.WithTableName(migrations.VersionTable), goose.WithDisableGlobalRegistry(true))
		if err != nil {
			return nil, err
		}
		return &sqlSchema{db: db, folder: folder, provider: provider}, nil
	}
}

// Up implements storeSchema.
func (s *sqlSchema) Up(ctx context.Context) error {
	_, err := s.provider.Up(ctx)
	return err
}

// Down implements storeSchema.
func (s *sqlSchema) Down(ctx context.Context) error {
	if _, err := s.provider.DownTo(ctx, 0); err != nil {
		return err
	}
	_, err := s.db.ExecContext(ctx, "DROP TABLE "+migrations.VersionTable)
	return err
}

// Status implements storeSchema.
func (s *sqlSchema) Status(ctx context.Context) (text string, complete bool, err error) {
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
	return strings.Join(lines, "; "), complete, nil
}

// Print implements storeSchema.
func (s *sqlSchema) Print() (string, error) {
	var out strings.Builder
	err := fs.WalkDir(s.folder, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(s.folder, path)
		if err != nil {
			return err
		}
		up, _, _ := strings.Cut(string(text), "-- +goose Down")
		out.WriteString(strings.Replace(up, "-- +goose Up\n", "", 1))
		return nil
	})
	return out.String(), err
}

// Close implements storeSchema.
func (s *sqlSchema) Close() error { return s.db.Close() }
