package pgwire

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"

	"nextid/generator"
	"nextid/sqlfuncs"
	"nextid/sqlfuncs/sqlstate"
)

// receive decodes the only message in b.
func receive(t *testing.T, b []byte) pgproto3.BackendMessage {
	t.Helper()
	r := bytes.NewReader(b)
	m, err := NewDecoder(t, r).Receive()
	if err != nil || r.Len() > 0 {
		t.Fatalf("%q: %v, %d bytes left", b, err, r.Len())
	}
	return m
}

func TestErrorResponse(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		want pgproto3.ErrorResponse
	}{
		"all fields": {
			sqlstate.New("42601", "syntax error").WithDetail("d").WithHint("h").At(7),
			pgproto3.ErrorResponse{Code: "42601", Message: "syntax error", Detail: "d", Hint: "h", Position: 7},
		},
		"wrapped": {fmt.Errorf("while: %w", sqlstate.New("22023", "m")), pgproto3.ErrorResponse{Code: "22023", Message: "m"}},
		"foreign": {
			errors.New("password=hunter2"),
			pgproto3.ErrorResponse{Code: "XX000", Message: "internal error", Hint: "The server's log has the details."},
		},
		"cause stays here": {
			&sqlstate.Error{Code: "XX000", Message: "internal error", Cause: errors.New("secret")},
			pgproto3.ErrorResponse{Code: "XX000", Message: "internal error"},
		},
		"broken characters": {sqlstate.New("42703", "a\xffb"), pgproto3.ErrorResponse{Code: "42703", Message: "a?b"}},
		"zero byte":         {sqlstate.New("42703", "a\x00b"), pgproto3.ErrorResponse{Code: "42703", Message: "a"}},
	} {
		t.Run(name, func(t *testing.T) {
			c.want.Severity, c.want.SeverityUnlocalized = "ERROR", "ERROR"
			got, ok := receive(t, encode(nil, errorMessage("ERROR", c.err))).(*pgproto3.ErrorResponse)
			if !ok || fmt.Sprint(*got) != fmt.Sprint(c.want) {
				t.Errorf("got  %+v\nwant %+v", got, c.want)
			}
		})
	}
}

func TestNotice(t *testing.T) {
	got, ok := receive(t, encode(nil, (*pgproto3.NoticeResponse)(errorMessage("WARNING", sqlstate.New("25001", "m").WithHint("h"))))).(*pgproto3.NoticeResponse)
	if !ok || got.Severity != "WARNING" || got.SeverityUnlocalized != "WARNING" || got.Code != "25001" || got.Message != "m" || got.Hint != "h" {
		t.Errorf("got %+v", got)
	}
}

func TestRowDescriptionHasEveryField(t *testing.T) {
	columns := []sqlfuncs.Column{
		{Name: "a", Type: 20, TypeMod: -1, Len: 8},
		{Name: "b", Type: 1043, TypeMod: 36, Len: -1, Table: 0x80000001, Attr: 2},
	}
	got, ok := receive(t, appendRowDescription(nil, columns, func(i int) bool { return i == 1 })).(*pgproto3.RowDescription)
	want := pgproto3.RowDescription{Fields: []pgproto3.FieldDescription{
		{Name: []byte("a"), DataTypeOID: 20, DataTypeSize: 8, TypeModifier: -1},
		{Name: []byte("b"), DataTypeOID: 1043, DataTypeSize: -1, TypeModifier: 36, TableOID: 0x80000001, TableAttributeNumber: 2, Format: 1},
	}}
	if !ok || fmt.Sprint(*got) != fmt.Sprint(want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestOneID(t *testing.T) {
	for _, id := range []int64{0, 1, -1, 9, 10, math.MaxInt64, math.MinInt64} {
		for name, c := range map[string]struct {
			got  []byte
			want pgproto3.BackendMessage
		}{
			"text":   {appendRun([]byte("x"), generator.Range{First: id, Count: 1}, false), textRow(id)},
			"binary": {appendRun([]byte("x"), generator.Range{First: id, Count: 1}, true), binaryRow(id)},
		} {
			want, err := c.want.Encode([]byte("x"))
			if err != nil || !bytes.Equal(c.got, want) {
				t.Errorf("%s of %d: got %q, want %q, %v", name, id, c.got, want, err)
			}
		}
	}
}
