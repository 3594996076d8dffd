package sqlfuncs

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/pgtest"
)

// catalogMajor is the PostgreSQL whose catalogs the files in catalog/ are.
const catalogMajor = "15"

// The files in catalog/ are what a fresh PostgreSQL 15 says about itself:
//
//	relations.tsv  every table and view of pg_catalog and information_schema with its columns
//	views.sql      the definitions of the views, as pg_get_viewdef prints them
//	*.tsv          the rows of the catalogs that do not depend on the database
//
// Only objects that nextid has, and what they refer to, are in the rows:
// the types of package datum and of the catalogs' own columns, the functions
// of our names, the operators and casts between our types.
//
//	go test -run TestCatalogFilesAreWhatPostgreSQLSays -update ./sqlfuncs
//
// writes the files again. Run it after adding functions or types: until then
// pg_proc has those that PostgreSQL knows under OIDs of ours.
func TestCatalogFilesAreWhatPostgreSQLSays(t *testing.T) {
	ctx := t.Context()
	conn, err := pgx.Connect(ctx, pgtest.Start(t))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	var version string
	if err := conn.QueryRow(ctx, "SHOW server_version").Scan(&version); err != nil {
		t.Fatal(err)
	}
	if major, _, _ := strings.Cut(version, "."); major != catalogMajor {
		t.Skipf("the files are of PostgreSQL %s, this is %s", catalogMajor, version)
	}
	if err := prepareDump(ctx, conn); err != nil {
		t.Fatal(err)
	}
	write := flag.Lookup("update").Value.String() == "true"
	for _, file := range slices.Sorted(maps.Keys(catalogDumps)) {
		t.Run(file, func(t *testing.T) {
			got := dumpQuery(ctx, t, conn, file, catalogDumps[file])
			path := filepath.Join("catalog", file)
			if write {
				if err := os.WriteFile(path, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			says := map[string]bool{}
			for line := range strings.Lines(string(got)) {
				says[line] = true
			}
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(string(text)) {
				if !says[line] {
					t.Errorf("%s: PostgreSQL %s does not say %q; run this test with -update", path, version, line)
				}
			}
		})
	}
}

// prepareDump makes tables of the OIDs of what goes into the files.
func prepareDump(ctx context.Context, conn *pgx.Conn) error {
	var types []uint32
	for _, info := range datum.Types() {
		types = append(types, uint32(info.OID))
	}
	names := slices.Sorted(maps.Keys(functions))
	statements := []struct {
		sql  string
		args []any
	}{
		{sql: `CREATE TEMP TABLE ours AS SELECT unnest($1::oid[]) AS oid`, args: []any{types}},
		{sql: `CREATE TEMP TABLE our_settings AS SELECT unnest($1::text[]) AS name`, args: []any{slices.Sorted(maps.Keys(settings))}},
		{sql: `CREATE TEMP TABLE casts AS SELECT c.* FROM pg_cast c WHERE castsource IN (TABLE ours) AND casttarget IN (TABLE ours)`},
		{sql: `CREATE TEMP TABLE operators AS SELECT o.* FROM pg_operator o
			WHERE (oprleft = 0 OR oprleft IN (TABLE ours)) AND oprright IN (TABLE ours)`},
		{sql: `CREATE TEMP TABLE types AS SELECT DISTINCT t.* FROM pg_type t WHERE oid IN (TABLE ours)
			OR oid IN (SELECT atttypid FROM pg_attribute a JOIN pg_class c ON c.oid = attrelid
				WHERE relnamespace IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace) AND relkind IN ('r', 'v') AND attnum > 0)
			OR (typtype = 'd' AND typnamespace = 'information_schema'::regnamespace)
			OR (typtype = 'p')`},
		{sql: `INSERT INTO types SELECT t.* FROM pg_type t WHERE oid NOT IN (SELECT oid FROM types)
			AND (oid IN (SELECT typelem FROM types) OR oid IN (SELECT typbasetype FROM types))`},
		{sql: `INSERT INTO types SELECT t.* FROM pg_type t WHERE oid NOT IN (SELECT oid FROM types)
			AND oid IN (SELECT typarray FROM types)`},
		{sql: `CREATE TEMP TABLE procs AS SELECT p.* FROM pg_proc p
			WHERE proname = ANY($1) AND NOT EXISTS (SELECT FROM pg_aggregate WHERE aggfnoid = p.oid AND aggkind = 'h') AND NOT EXISTS (SELECT FROM unnest(proargtypes) a WHERE a NOT IN (SELECT oid FROM types))
			OR oid IN (SELECT castfunc FROM casts)
			OR oid IN (SELECT unnest(ARRAY[oprcode, oprrest, oprjoin]::oid[]) FROM operators)
			OR oid IN (SELECT unnest(ARRAY[typinput, typoutput, typreceive, typsend, typmodin, typmodout, typanalyze, typsubscript]::oid[]) FROM types)
			OR oid IN (SELECT amhandler FROM pg_am)
			OR oid IN (SELECT unnest(ARRAY[lanplcallfoid, laninline, lanvalidator]) FROM pg_language WHERE oid < 13000)`, args: []any{names}},
	}
	for _, s := range statements {
		if _, err := conn.Exec(ctx, s.sql, s.args...); err != nil {
			return fmt.Errorf("%s: %w", s.sql, err)
		}
	}
	return nil
}

// catalogDumps says what a file holds. A query of one column gives the
// file's lines; a table's name gives its rows, with the names of the columns
// on the first line.
var catalogDumps = map[string]string{
	"relations.tsv": `SELECT concat_ws(E'\t', n.nspname, c.relname, c.oid, c.relkind,
			string_agg(concat(a.attname, ':', t.typname, CASE WHEN a.attnotnull THEN '!' END), ' ' ORDER BY attnum),
			obj_description(c.oid, 'pg_class'))
		FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace JOIN pg_attribute a ON attrelid = c.oid AND attnum > 0
		JOIN pg_type t ON t.oid = atttypid
		WHERE nspname IN ('pg_catalog', 'information_schema') AND relkind IN ('r', 'v')
		GROUP BY n.nspname, c.relname, c.oid ORDER BY n.nspname COLLATE "C", c.relname COLLATE "C"`,
	"views.sql": `SELECT concat('-- ', n.nspname, '.', c.relname, E'\n', pg_get_viewdef(c.oid), E'\n')
		FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
		WHERE relkind = 'v' AND (nspname = 'information_schema' OR nspname = 'pg_catalog'
			AND relname IN ('pg_roles', 'pg_shadow', 'pg_group', 'pg_user', 'pg_policies', 'pg_rules', 'pg_views', 'pg_tables',
				'pg_matviews', 'pg_indexes', 'pg_sequences'))
		ORDER BY n.nspname COLLATE "C", c.relname COLLATE "C"`,
	"pg_type.tsv":       `SELECT * FROM types ORDER BY oid`,
	"pg_proc.tsv":       `SELECT * FROM procs ORDER BY oid`,
	"pg_authid.tsv":     `SELECT * FROM pg_authid WHERE rolname LIKE 'pg\_%' ORDER BY oid`,
	"pg_cast.tsv":       `SELECT * FROM casts ORDER BY oid`,
	"pg_operator.tsv":   `SELECT * FROM operators ORDER BY oid`,
	"pg_am.tsv":         `SELECT * FROM pg_am ORDER BY oid`,
	"pg_language.tsv":   `SELECT * FROM pg_language WHERE oid < 13000 ORDER BY oid`,
	"pg_tablespace.tsv": `SELECT * FROM pg_tablespace ORDER BY oid`,
	"pg_collation.tsv":  `SELECT * FROM pg_collation WHERE oid < 1000 ORDER BY oid`,
	"pg_range.tsv":      `SELECT * FROM pg_range WHERE rngtypid IN (SELECT oid FROM types) ORDER BY rngtypid`,
	"pg_description.tsv": `SELECT * FROM pg_description WHERE
		classoid = 'pg_type'::regclass AND objoid IN (SELECT oid FROM types) OR
		classoid = 'pg_proc'::regclass AND objoid IN (SELECT oid FROM procs) OR
		classoid = 'pg_operator'::regclass AND objoid IN (SELECT oid FROM operators) OR
		classoid = 'pg_am'::regclass OR classoid = 'pg_language'::regclass AND objoid < 13000 OR
		classoid = 'pg_collation'::regclass AND objoid < 1000 OR
		classoid = 'pg_namespace'::regclass
		ORDER BY classoid, objoid, objsubid`,
	"pg_get_keywords.tsv":   `SELECT word, catcode, barelabel, catdesc, baredesc FROM pg_get_keywords() ORDER BY word COLLATE "C"`,
	"pg_timezone_names.tsv": `SELECT name FROM pg_timezone_names WHERE name !~ '^posix|^localtime|Factory' ORDER BY name COLLATE "C"`,
	"pg_settings.tsv":       `SELECT name, category, short_desc, extra_desc FROM pg_settings WHERE lower(name) IN (SELECT lower(name) FROM our_settings) ORDER BY name COLLATE "C"`,
}

// dumpQuery runs a query of catalogDumps. Columns that print as names (oid
// of functions, classes) are written as numbers.
func dumpQuery(ctx context.Context, t *testing.T, conn *pgx.Conn, file, query string) []byte {
	t.Helper()
	var b bytes.Buffer
	head := ""
	if file != "relations.tsv" && file != "views.sql" {
		rows, err := conn.Query(ctx, query+" LIMIT 0")
		if err != nil {
			t.Fatal(err)
		}
		var list, names []string
		for _, f := range rows.FieldDescriptions() {
			column := pgx.Identifier{f.Name}.Sanitize()
			switch datum.OID(f.DataTypeOID) {
			case datum.RegProc, datum.RegClass, datum.RegType:
				column += "::oid"
			}
			list, names = append(list, column), append(names, f.Name)
		}
		rows.Close()
		query = "SELECT " + strings.Join(list, ", ") + " FROM (" + query + ") q"
		head = strings.Join(names, "\t") + "\n"
	}
	b.WriteString(head)
	if head != "" {
		if _, err := conn.PgConn().CopyTo(ctx, &b, "COPY ("+query+") TO STDOUT"); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	rows, err := conn.Query(ctx, query)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range lines {
		b.WriteString(l + "\n")
	}
	return b.Bytes()
}
