package datum

import (
	"context"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"nextid/dbtest"
	"nextid/sqlfuncs/sqlstate"
)

// oracle is a real PostgreSQL that says what is right.
type oracle struct {
	t    *testing.T
	conn *pgconn.PgConn
}

// newOracle connects to a server of dbtest.
func newOracle(t *testing.T, dsn string) *oracle {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	conn, err := pgconn.Connect(ctx, dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	return &oracle{t, conn}
}

// value asks for one value in text (format 0) or binary (1).
func (o *oracle) value(format int16, query string, params ...string) (value []byte, typ OID, err error) {
	o.t.Helper()
	args := make([][]byte, len(params))
	for i, p := range params {
		args[i] = []byte(p)
	}
	r := o.conn.ExecParams(o.t.Context(), query, args, nil, nil, []int16{format}).Read()
	if r.Err != nil {
		var pg *pgconn.PgError
		if !errors.As(r.Err, &pg) {
			o.t.Fatalf("%s %q: %v", query, params, r.Err)
		}
		return nil, Invalid, pg
	}
	typ = OID(r.FieldDescriptions[0].DataTypeOID)
	if r.Rows[0][0] == nil {
		return nil, typ, nil
	}
	return r.Rows[0][0], typ, nil
}

// fault is an error as SQLSTATE and message.
func fault(err error) string {
	var pg *pgconn.PgError
	var own *sqlstate.Error
	switch {
	case err == nil:
		return ""
	case errors.As(err, &pg):
		return pg.Code + " " + pg.Message + detailOf(pg.Detail)
	case errors.As(err, &own):
		return string(own.Code) + " " + own.Message + detailOf(own.Detail)
	}
	return "not an sqlstate.Error: " + err.Error()
}

func detailOf(detail string) string {
	if detail == "" {
		return ""
	}
	return " | " + detail
}

// show prints a result for comparison.
func show(value []byte, null bool, err error) string {
	switch {
	case err != nil:
		return fault(err)
	case null:
		return "NULL"
	}
	return fmt.Sprintf("%q", value)
}

// agrees reports whether two results, as show prints them, are the same value,
// or errors of one SQLSTATE: messages are our own. What nextid refuses by name,
// PostgreSQL has; TestRefusedValues says what that is.
func agrees(got, want string) bool {
	if strings.HasPrefix(got, "0A000") {
		return true
	}
	if isValue(got) || isValue(want) {
		return got == want
	}
	return len(got) >= 5 && strings.HasPrefix(want, got[:5])
}

func isValue(shown string) bool { return shown == "NULL" || strings.HasPrefix(shown, `"`) }

// TestAgreesWithPostgreSQL holds this package to a real PostgreSQL: the same
// input must give the same text, binary form and type, or an error of the same
// SQLSTATE.
func TestAgreesWithPostgreSQL(t *testing.T) {
	dsn := dbtest.QuickPostgres(t)
	if version := newOracle(t, dsn).conn.ParameterStatus("server_version"); !strings.HasPrefix(version, "15.") {
		t.Skipf("needs PostgreSQL 15, whose rules these are, not %s", version)
	}
	for _, c := range []struct {
		name    string
		compare func(t *testing.T, o *oracle)
	}{
		{"text input and binary output", compareInput},
		{"arithmetic", compareAllArithmetic},
		{"casts", compareCasts},
		{"cast contexts", compareCastContexts},
		{"common types", compareCommonTypes},
		{"type modifiers", compareTypeModifiers},
		{"comparisons", compareComparisons},
		{"zones of output", compareSettings},
		{"zones of input", compareZones},
		{"floating point output", compareFloatOutput},
		{"catalog", compareCatalog},
		{"binary input", compareBinaryInput},
		{"random values", compareRandom},
	} {
		t.Run(c.name, func(t *testing.T) { c.compare(t, newOracle(t, dsn)) })
	}
}

// eachLiteral calls f for every literal and type of the table.
func eachLiteral(t *testing.T, f func(name string, oid OID, literal string)) {
	t.Helper()
	for _, c := range literals {
		for name := range strings.FieldsSeq(c.types) {
			oid, ok := TypeByName(name)
			if !ok {
				t.Fatalf("no type %s", name)
			}
			for _, literal := range c.values {
				f(name, oid, literal)
			}
		}
	}
}

// answer holds what a literal becomes: its text and binary form, or the error.
type answer struct{ text, binary string }

func ourAnswer(oid OID, literal string) answer {
	v, err := ParseText(oid, literal, nil)
	a := answer{text: show(AppendText(nil, v, nil), false, err)}
	if err == nil {
		b, err := AppendBinary(nil, v)
		a.binary = show(b, false, err)
	}
	return a
}

func (o *oracle) answer(name, literal string) answer {
	o.t.Helper()
	text, _, err := o.value(0, "SELECT $1::text::"+name, literal)
	a := answer{text: show(text, false, err)}
	if err == nil {
		b, _, err := o.value(1, "SELECT $1::text::"+name, literal)
		a.binary = show(b, false, err)
	}
	return a
}

var update = flag.Bool("update", false, "record PostgreSQL's answers in testdata")

// recorded holds PostgreSQL 15's answers, for machines without it.
const recorded = "testdata/postgres15.tsv"

func compareInput(t *testing.T, o *oracle) {
	var lines []byte
	eachLiteral(t, func(name string, oid OID, literal string) {
		want := o.answer(name, literal)
		lines = fmt.Appendf(lines, "%s\t%q\t%s\t%s\n", name, literal, strings.ReplaceAll(want.text, "\n", `\n`), want.binary)
		if got := ourAnswer(oid, literal); !agrees(got.text, want.text) || isValue(got.text) && got.binary != want.binary {
			t.Errorf("%q::%s = %v\n   PostgreSQL: %v", literal, name, got, want)
		}
	})
	if *update {
		if err := os.WriteFile(recorded, lines, 0o644); err != nil {
			t.Error(err)
		}
	}
}

func TestInputMatchesRecordedAnswers(t *testing.T) {
	b, err := os.ReadFile(recorded)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
	eachLiteral(t, func(name string, oid OID, literal string) {
		if len(lines) == 0 {
			t.Fatalf("%s ends before %s %q; run with -update", recorded, name, literal)
		}
		input := fmt.Sprintf("%s\t%q\t", name, literal)
		want, ok := strings.CutPrefix(lines[0], input)
		text, binary, _ := strings.Cut(want, "\t")
		a := ourAnswer(oid, literal)
		if !ok || !agrees(strings.ReplaceAll(a.text, "\n", `\n`), text) || isValue(a.text) && a.binary != binary {
			t.Errorf("got  %s%s\t%s\nwant %s", input, a.text, a.binary, lines[0])
		}
		lines = lines[1:]
	})
}

// TestRefusedValues lists the values that PostgreSQL has and nextid has not.
func TestRefusedValues(t *testing.T) {
	for _, c := range []operand{
		{"numeric", "NaN"},
		{"numeric", "-Infinity"},
		{"float8", "NaN"},
		{"float4", "+inf"},
		{"date", "infinity"},
		{"timestamp", "-infinity"},
		{"timestamptz", "Infinity "},
		{"int4[]", "{{1},{2}}"},
		{"text[]", "{a,{b}}"},
		{"int4[]", "[1:2]={1,2}"},
	} {
		oid, _ := TypeByName(c.typ)
		if v, err := ParseText(oid, c.text, nil); code(err) != "0A000" {
			t.Errorf("%v = %s, %v, want 0A000", c, AppendText(nil, v, nil), err)
		}
	}
	for _, form := range []struct {
		oid  OID
		form string
	}{{Float8, "7ff8000000000000"}, {Float4, "ff800000"}, {Int4Array, "0000000200000000000000170000000100000001000000010000000100000004" + "00000001"}} {
		b, err := hex.DecodeString(form.form)
		if err != nil {
			t.Fatal(err)
		}
		if v, err := DecodeBinary(form.oid, b); code(err) != "0A000" {
			t.Errorf("%s %s = %v, %v, want 0A000", display(form.oid), form.form, v, err)
		}
	}
}

func TestTimesOfOtherFormsAreRefused(t *testing.T) {
	for _, text := range refusedTimes {
		for _, oid := range []OID{Date, Timestamp, TimestampTZ} {
			if v, err := ParseText(oid, text, nil); err == nil {
				t.Errorf("%q::%s = %s", text, display(oid), AppendText(nil, v, nil))
			}
		}
	}
}

// exec runs a statement that must work.
func (o *oracle) exec(sql string) {
	o.t.Helper()
	if _, err := o.conn.Exec(o.t.Context(), sql).ReadAll(); err != nil {
		o.t.Fatalf("%s: %v", sql, err)
	}
}

// rows returns the rows of a query as text.
func (o *oracle) rows(sql string) [][]string {
	o.t.Helper()
	r := o.conn.ExecParams(o.t.Context(), sql, nil, nil, nil, nil).Read()
	if r.Err != nil {
		o.t.Fatalf("%s: %v", sql, r.Err)
	}
	out := make([][]string, len(r.Rows))
	for i, row := range r.Rows {
		for _, col := range row {
			out[i] = append(out[i], string(col))
		}
	}
	return out
}

// typeMod returns the modifier of a type as written.
func (o *oracle) typeMod(name string) int32 {
	o.t.Helper()
	r := o.conn.ExecParams(o.t.Context(), "SELECT NULL::"+name, nil, nil, nil, nil).Read()
	if r.Err != nil {
		o.t.Fatalf("%s: %v", name, r.Err)
	}
	return r.FieldDescriptions[0].TypeModifier
}

// formatType returns format_type of a type as written.
func (o *oracle) formatType(name string) string {
	o.t.Helper()
	r := o.conn.ExecParams(o.t.Context(), "SELECT NULL::"+name, nil, nil, nil, nil).Read()
	if r.Err != nil {
		o.t.Fatalf("%s: %v", name, r.Err)
	}
	f := r.FieldDescriptions[0]
	return o.rows(fmt.Sprintf("SELECT format_type(%d, %d)", f.DataTypeOID, f.TypeModifier))[0][0]
}

func parseTestOID(t *testing.T, s string) OID {
	t.Helper()
	n, err := strconv.ParseUint(s, 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	return OID(n)
}
