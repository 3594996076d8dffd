package datum

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"nextid/sqlfuncs/pgtest"
	"nextid/sqlfuncs/sqlstate"
)

// oracle is a real PostgreSQL that says what is right.
type oracle struct {
	t    *testing.T
	conn *pgconn.PgConn
}

// sharedDSN is one server for all tests of the package; TestMain's parent
// test keeps it alive.
var sharedServer struct {
	sync.Mutex
	dsn string
}

func newOracle(t *testing.T) *oracle {
	t.Helper()
	dsn := pgtest.Start(t)
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

func TestTextInputAgreesWithPostgreSQL(t *testing.T) {
	o := newOracle(t)
	for _, c := range literals {
		for _, name := range strings.Fields(c.types) {
			oid, ok := TypeByName(name)
			if !ok {
				t.Fatalf("no type %s", name)
			}
			for _, literal := range c.values {
				want, _, wantErr := o.value(0, "SELECT $1::text::"+name, literal)
				wantBinary, _, _ := o.value(1, "SELECT $1::text::"+name, literal)
				v, err := ParseText(oid, literal, nil)
				got := show(AppendText(nil, v, nil), false, err)
				if w := show(want, false, wantErr); got != w {
					t.Errorf("%q::%s = %s\n   PostgreSQL: %s", literal, name, got, w)
					continue
				}
				if err != nil || name == "aclitem" {
					continue
				}
				binary, err := AppendBinary(nil, v)
				if got, w := show(binary, false, err), show(wantBinary, false, nil); got != w {
					t.Errorf("%q::%s in binary = %s\n   PostgreSQL: %s", literal, name, got, w)
				}
				back, err := DecodeBinary(oid, binary)
				if text := AppendText(nil, back, nil); err != nil || string(text) != string(want) {
					t.Errorf("%q::%s from binary = %q, %v, want %q", literal, name, text, err, want)
				}
			}
		}
	}
}
