package sqlfuncs_test

import (
	"strings"
	"testing"

	"nextid/sqlfuncs/sqltest"

	"nextid/sqlfuncs"
	"nextid/sqlfuncs/setting"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

// TestReading checks the settings that change how a text is parsed. Each is obeyed
// and reported by ReadingMode, or refused without effect.
func TestReading(t *testing.T) {
	server := sqltest.NewServer(t)
	for _, c := range []struct {
		set    string
		mode   syntax.Mode
		sql    string // what is read by it
		want   string
		number uint16 // of the error of set
	}{
		{set: "SET sql_mode = 'NO_BACKSLASH_ESCAPES'", mode: syntax.Mode{NoBackslashEscapes: true}, sql: `SELECT 'a\'`, want: `a\`},
		{set: "SET sql_mode = 'ANSI_QUOTES'", mode: syntax.Mode{ANSIQuotes: true}, sql: `SELECT "a" FROM (SELECT 'b\'' AS "a") t`, want: `b'`},
		{set: "SET sql_mode = 'PIPES_AS_CONCAT'", mode: syntax.Mode{PipesAsConcat: true}, sql: `SELECT 'a' || 'b'`, want: "ab"},
		{set: "SET sql_mode = 'ansi,no_backslash_escapes'", mode: syntax.Mode{ANSIQuotes: true, PipesAsConcat: true, NoBackslashEscapes: true}, sql: `SELECT 'a\' || 'b'`, want: `a\b`},
		{set: "SET sql_mode = 'DB2'", number: 1235, sql: `SELECT "a"`, want: "a"},
		{set: "SET sql_mode = 4", mode: syntax.Mode{ANSIQuotes: true}, sql: "SELECT 1", want: "1"},
		{set: "SET sql_mode = 'ORACLE'", number: 1235, sql: `SELECT 'a' || NULL IS NULL`, want: "1"},
		{set: "SET sql_mode = 'EMPTY_STRING_IS_NULL'", number: 1235, sql: "SELECT '' IS NULL", want: "0"},
		{set: "SET sql_mode = 'HIGH_NOT_PRECEDENCE'", number: 1235, sql: "SELECT NOT 1 BETWEEN -5 AND 5", want: "0"},
		{set: "SET sql_mode = 'MYSQL40,ANSI_QUOTES'", number: 1235, sql: `SELECT "a"`, want: "a"},
		{set: "SET sql_auto_is_null = 1", number: 1235, sql: "SELECT @@sql_auto_is_null", want: "0"},
		{set: "SET NAMES gbk", number: 1115, sql: "SELECT @@character_set_client", want: "utf8mb4"},
		{set: "SET character_set_client = sjis", number: 1115, sql: "SELECT @@character_set_client", want: "utf8mb4"},
		{set: "SET CHARACTER SET big5", number: 1115, sql: "SELECT @@character_set_client", want: "utf8mb4"},
		{set: "SET collation_connection = cp932_bin", number: 1273, sql: "SELECT @@character_set_connection", want: "utf8mb4"},
	} {
		s := server.MySQLSession(t)
		if c.number != 0 {
			if number, _ := s.MySQLError(t, c.set); number != c.number {
				t.Errorf("%s: error %d, want %d", c.set, number, c.number)
			}
		} else if _, err := s.Query(t, c.set); err != nil {
			t.Errorf("%s: %v", c.set, err)
		}
		if got := s.ReadingMode(); got != c.mode {
			t.Errorf("%s: the client is told %+v, want %+v", c.set, got, c.mode)
		}
		if got := s.Value(t, c.sql); got != c.want {
			t.Errorf("%s; %s: %q, want %q", c.set, c.sql, got, c.want)
		}
		s.Reset()
		if got := s.ReadingMode(); got != (syntax.Mode{}) {
			t.Errorf("%s: %+v after a reset", c.set, got)
		}
	}
	for _, c := range []struct{ set, sql, want string }{ // want "": set is accepted
		{"SET standard_conforming_strings = off", `SELECT 'a\'`, `a\`},
		{"SET LOCAL standard_conforming_strings TO 'no'", `SELECT 'a\'`, `a\`},
		{"SELECT set_config('standard_conforming_strings', '0', false)", `SELECT 'a\'`, `a\`},
		{"SET backslash_quote = off", `SELECT E'\''`, `'`},
		{"SET transform_null_equals = on", `SELECT (1 = NULL) IS NULL`, "t"},
		{"SET array_nulls = off", `SELECT ('{NULL}'::text[])[1] IS NULL`, "t"},
	} {
		s := server.Session(t)
		s.Fails(t, c.set, sqlstate.FeatureNotSupported)
		s.Want(t, c.sql, c.want)
	}
	s := server.Session(t)
	for _, accepted := range []string{
		"SET standard_conforming_strings = on", "SET backslash_quote = safe_encoding", "SET escape_string_warning = off",
		"SET transform_null_equals = false", "SET array_nulls = true", "SET xmloption = content",
	} {
		s.Must(t, accepted)
	}
	s.Fails(t, "SET quote_all_identifiers = on", sqlstate.UndefinedObject)
	_, err := server.NewSession(sqlfuncs.SessionOptions{Settings: []setting.Own{{Key: "standard_conforming_strings", Value: "off"}}})
	sqltest.WantCode(t, "a start-up packet", err, sqlstate.FeatureNotSupported)
}

// TestReadingInEncodingsOfSeveralBytes: in GBK the last byte of 中 and a backslash
// after it are one character. A client that escapes in GBK leaves that backslash.
func TestReadingInEncodingsOfSeveralBytes(t *testing.T) {
	server := sqltest.NewServer(t)
	const split = `SELECT '中\' OR 1=1 -- '`
	for id, charset := range map[int]string{28: "gbk", 87: "gbk", 1052: "gbk", 13: "sjis", 1: "big5", 95: "cp932", 248: "gb18030", 97: "eucjpms"} {
		s := server.SessionWith(t, sqlfuncs.SessionOptions{Dialect: syntax.MySQL, Collation: id})
		if got := s.Value(t, "SELECT @@character_set_client"); got != charset {
			t.Errorf("collation %d: %s, want %s", id, got, charset)
		}
		if number, state := s.MySQLError(t, split); number != 1300 || state != "HY000" {
			t.Errorf("%s: error %d %s", charset, number, state)
		}
		_, err := s.Prepare("", split, nil)
		sqltest.WantCode(t, charset, err, sqlstate.CharacterNotInRepert)
		s.Must(t, "SET NAMES utf8mb4")
		if got := s.Value(t, "SELECT '中'"); got != "中" {
			t.Errorf("%s, SET NAMES utf8mb4: %q", charset, got)
		}
	}
	for _, id := range []int{8, 33, 45, 63, 7, 999} { // single-byte, UTF-8, unknown
		s := server.SessionWith(t, sqlfuncs.SessionOptions{Dialect: syntax.MySQL, Collation: id})
		s.Must(t, "SELECT '中'")
	}
	for _, encoding := range []string{"SJIS", "BIG5", "GBK", "UHC", "GB18030", "JOHAB", "SHIFT_JIS_2004"} {
		server.Session(t).Fails(t, "SET client_encoding = '"+encoding+"'", sqlstate.InvalidParameterValue)
	}
	s := server.Session(t)
	other := server.Session(t)
	for range 3 { // into the cache of statements
		other.Want(t, "SELECT '中'", "中")
	}
	for _, encoding := range []string{"EUC_JP", "EUC_CN", "EUC_KR", "EUC_TW", "EUC_JIS_2004", "MULE_INTERNAL"} {
		s.Must(t, "SET client_encoding = '"+encoding+"'")
		s.Want(t, "SELECT 'abc'", "abc")
		if e := s.Fails(t, "SELECT '中'", sqlstate.CharacterNotInRepert); !strings.Contains(e.Hint, "UTF8") {
			t.Errorf("%s: hint %q", encoding, e.Hint)
		}
		s.Must(t, "SET client_encoding = 'UTF8'")
		s.Want(t, "SELECT '中'", "中")
	}
	atStart := server.SessionWith(t, sqlfuncs.SessionOptions{Settings: []setting.Own{{Key: "client_encoding", Value: "EUC_JP"}}})
	atStart.Fails(t, "SELECT '中'", sqlstate.CharacterNotInRepert)
	s.Must(t, "BEGIN")
	s.Must(t, "SET LOCAL client_encoding = 'EUC_JP'")
	s.Must(t, "ROLLBACK")
	s.Want(t, "SELECT '中'", "中")
}
