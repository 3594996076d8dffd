package pgcatalog

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

	"nextid/dbtest"
	"nextid/sqlfuncs/datum"
)

var updateFacts = flag.Bool("update-facts", false, "write the files in catalog/ again")

// catalogMajor is the version of PostgreSQL that the files in catalog/ describe.
const catalogMajor = "15"

// TestCatalogFilesAreWhatPostgreSQLSays compares the files in catalog/ with a fresh
// PostgreSQL 15. The files hold names, OIDs, types and flags. They list only the
// functions, operators and casts that nextid has or that a type names. They leave
// out values that are the same in all rows (see constants), and columns that only
// PostgreSQL's executor needs.
//
//	go test -run TestCatalogFilesAreWhatPostgreSQLSays -update-facts ./sqlfuncs/pgcatalog
//
// writes the files. Run it after adding functions or types: until then, functions
// that PostgreSQL has, too, are listed with OIDs of nextid's own.
func TestCatalogFilesAreWhatPostgreSQLSays(t *testing.T) {
	ctx := t.Context()
	conn, err := pgx.Connect(ctx, dbtest.QuickPostgres(t))
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
	for _, file := range slices.Sorted(maps.Keys(catalogDumps)) {
		t.Run(file, func(t *testing.T) {
			got := dumpQuery(ctx, t, conn, file, catalogDumps[file])
			path := filepath.Join("catalog", file)
			if *updateFacts {
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
					t.Errorf("%s: PostgreSQL %s does not say %q; run this test with -update-facts", path, version, line)
				}
			}
		})
	}
}

// prepareDump makes tables of the OIDs of the objects that go into the files.
func prepareDump(ctx context.Context, conn *pgx.Conn) error {
	var types []uint32
	for _, info := range datum.Types() {
		types = append(types, uint32(info.OID))
	}
	asked, err := os.ReadFile("../asked.tsv") // every function of nextid is there
	if err != nil {
		return err
	}
	var names []string
	for line := range strings.Lines(string(asked)) {
		if name, _, ok := strings.Cut(line, "\t"); ok {
			names = append(names, name)
		}
	}
	statements := []struct {
		sql  string
		args []any
	}{
		{sql: `CREATE TEMP TABLE ours AS SELECT unnest($1::oid[]) AS oid`, args: []any{types}},
		{sql: `CREATE TEMP TABLE casts AS SELECT c.* FROM pg_cast c WHERE castsource IN (TABLE ours) AND casttarget IN (TABLE ours)`},
		{sql: `CREATE TEMP TABLE types AS SELECT t.* FROM pg_type t LEFT JOIN pg_type e ON e.oid = t.typelem
			WHERE t.typname IN ('pg_statistic', '_pg_statistic') OR t.typrelid = 0 AND coalesce(e.typrelid, 0) = 0
			AND (t.typnamespace = 'pg_catalog'::regnamespace OR 'd' IN (t.typtype, e.typtype))`},
		{sql: `CREATE TEMP TABLE procs AS SELECT p.* FROM pg_proc p
			WHERE pronamespace = 'pg_catalog'::regnamespace AND (
			proname = ANY($1) AND NOT EXISTS (SELECT FROM pg_aggregate WHERE aggfnoid = p.oid AND aggkind = 'h')
				AND NOT EXISTS (SELECT FROM unnest(proargtypes) a WHERE a NOT IN (TABLE ours)
					AND a NOT IN (SELECT oid FROM types WHERE typtype = 'p'))
			OR oid IN (SELECT castfunc FROM casts)
			OR oid IN (SELECT unnest(ARRAY[typinput, typoutput, typreceive, typsend, typmodin, typmodout, typanalyze, typsubscript]::oid[]) FROM types))`, args: []any{names}},
	}
	for _, s := range statements {
		if _, err := conn.Exec(ctx, s.sql, s.args...); err != nil {
			return fmt.Errorf("%s: %w", s.sql, err)
		}
	}
	return nil
}

// catalogDumps maps each file to the query whose rows it holds. The first line of a
// file has the names of the columns; relations.tsv has none.
var catalogDumps = map[string]string{
	"relations.tsv": `SELECT concat_ws(E'\t', n.nspname, c.relname, c.oid, c.relkind,
			string_agg(concat(a.attname, ':', t.typname, CASE WHEN a.attnotnull THEN '!' END), ' ' ORDER BY attnum))
		FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace JOIN pg_attribute a ON attrelid = c.oid AND attnum > 0
		JOIN pg_type t ON t.oid = atttypid
		WHERE nspname IN ('pg_catalog', 'information_schema') AND relkind IN ('r', 'v')
		GROUP BY n.nspname, c.relname, c.oid ORDER BY n.nspname COLLATE "C", c.relname COLLATE "C"`,
	"pg_type.tsv": `SELECT oid, typname, nullif(typnamespace, 'pg_catalog'::regnamespace) AS typnamespace, typlen, nullif(typbyval, false) AS typbyval,
			typtype, typcategory, nullif(typispreferred, false) AS typispreferred, nullif(typdelim, ',') AS typdelim,
			nullif(typsubscript::oid, 0) AS typsubscript, nullif(typelem, 0) AS typelem, nullif(typarray, 0) AS typarray,
			typinput::oid, typoutput::oid, typreceive::oid, typsend::oid, nullif(typmodin::oid, 0) AS typmodin,
			nullif(typmodout::oid, 0) AS typmodout, nullif(typanalyze::oid, 0) AS typanalyze, typalign, typstorage,
			nullif(typbasetype, 0) AS typbasetype, nullif(typtypmod, -1) AS typtypmod, nullif(typcollation, 0) AS typcollation, typdefault
		FROM types ORDER BY oid`,
	"pg_proc.tsv": `SELECT oid, proname, nullif(prorows, 0) AS prorows, nullif(provariadic, 0) AS provariadic, nullif(prokind, 'f') AS prokind,
			nullif(proisstrict, true) AS proisstrict, nullif(proretset, false) AS proretset, nullif(provolatile, 'i') AS provolatile,
			nullif(proparallel, 's') AS proparallel, nullif(pronargdefaults, 0) AS pronargdefaults, prorettype, nullif(proargtypes, '') AS proargtypes,
			proallargtypes, proargmodes, proargnames FROM procs ORDER BY oid`,
	"pg_authid.tsv": `SELECT oid, rolname FROM pg_authid WHERE rolname LIKE 'pg\_%' ORDER BY oid`,
	"pg_cast.tsv":   `SELECT oid, castsource, casttarget, nullif(castfunc, 0) AS castfunc, castcontext, castmethod FROM casts ORDER BY oid`,
	"pg_operator.tsv": `SELECT oid, oprname, nullif(oprkind, 'b') AS oprkind, nullif(oprcanmerge, false) AS oprcanmerge,
			nullif(oprcanhash, false) AS oprcanhash, nullif(oprleft, 0) AS oprleft, oprright, oprresult, nullif(oprcom, 0) AS oprcom,
			nullif(oprnegate, 0) AS oprnegate FROM pg_operator
		WHERE (oprleft = 0 OR oprleft IN (TABLE ours)) AND oprright IN (TABLE ours) ORDER BY oid`,
	"pg_am.tsv":           `SELECT oid, amname, amtype FROM pg_am ORDER BY oid`,
	"pg_language.tsv":     `SELECT oid, lanname, nullif(lanpltrusted, false) AS lanpltrusted FROM pg_language WHERE oid < 13000 ORDER BY oid`,
	"pg_tablespace.tsv":   `SELECT oid, spcname FROM pg_tablespace ORDER BY oid`,
	"pg_collation.tsv":    `SELECT oid, collname, collprovider, collencoding, collcollate, collctype FROM pg_collation WHERE oid < 1000 ORDER BY oid`,
	"pg_range.tsv":        `SELECT rngtypid, rngsubtype, rngmultitypid, nullif(rngcollation, 0) AS rngcollation FROM pg_range WHERE rngtypid IN (SELECT oid FROM types) ORDER BY rngtypid`,
	"pg_get_keywords.tsv": `SELECT word, nullif(catcode, 'U') AS catcode, nullif(barelabel, true) AS barelabel FROM pg_get_keywords() ORDER BY word COLLATE "C"`,
}

// dumpQuery runs a query of catalogDumps. Columns that print as names (oid
// of functions, classes) are written as numbers.
func dumpQuery(ctx context.Context, t *testing.T, conn *pgx.Conn, file, query string) []byte {
	t.Helper()
	var b bytes.Buffer
	head := ""
	if file != "relations.tsv" {
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
		if _, err := conn.PgConn().CopyTo(ctx, &b, "COPY ("+query+") TO STDOUT (NULL '')"); err != nil {
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
