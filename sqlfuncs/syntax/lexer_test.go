package syntax

import (
	"slices"
	"strings"
	"testing"
)

// lex returns the tokens of a text, each as its kind's letter and its text.
func lex(src string, d Dialect) (tokens []string, err string) {
	letters := map[tokenKind]string{
		tokWord: "w", tokIdent: "i", tokString: "s", tokBytes: "x", tokInteger: "n",
		tokNumeric: "f", tokParam: "p", tokVariable: "v", tokOp: "o", tokPunct: "",
	}
	l := lexer{src: src, dialect: d}
	for {
		t := l.next()
		switch t.kind {
		case tokEOF:
			return tokens, ""
		case tokError:
			return tokens, l.err.Message
		}
		tokens = append(tokens, letters[t.kind]+":"+t.text)
	}
}

type lexCase struct {
	name, src string
	want      string // tokens with | between them
}

func testLex(t *testing.T, d Dialect, cases []lexCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			tokens, err := lex(c.src, d)
			if err != "" {
				t.Fatal(err)
			}
			if got := strings.Join(tokens, "|"); got != c.want {
				t.Errorf("%q lexes as\n%s, want\n%s", c.src, got, c.want)
			}
		})
	}
}

func TestPostgreSQLTokens(t *testing.T) {
	testLex(t, PostgreSQL, []lexCase{
		{"nothing", " \t\r\n\f", ""},
		{"words fold", `SELECT Fo$o_1 ÄÖü`, "w:select|w:fo$o_1|w:ÄÖü"},
		{"quoted identifiers keep case", `"Fo""o" "select"`, `i:Fo"o|i:select`},
		{
			"long identifiers are cut between characters", strings.Repeat("a", 62) + "éé " + `"` + strings.Repeat("b", 80) + `"`,
			"w:" + strings.Repeat("a", 62) + "|i:" + strings.Repeat("b", 63),
		},
		{"line comment", "a -- b\nc --", "w:a|w:c"},
		{"nested comment", "a /* b /* c */ d */ e", "w:a|w:e"},
		{"comment ends an operator", "a +/* x */ b --+", "w:a|o:+|w:b"},
		{"integers", "1 0 007", "n:1|n:0|n:007"},
		{"numerics", "1.5 .5 1. 1e10 1.5E-3 1e+5", "f:1.5|f:.5|f:1.|f:1e10|f:1.5E-3|f:1e+5"},
		{"a range is no numeric", "1..10", "n:1|:..|n:10"},
		{"parameters", "$1 $23+$4", "p:1|p:23|o:+|p:4"},
		{"punctuation", "( ) [ ] , ; . : :: := =>", ":(|:)|:[|:]|:,|:;|:.|::|:::|::=|:=>"},
		{"operators", "<= >= <> != -> ->> @> || ~~* !~* #>> |/", "o:<=|o:>=|o:<>|o:<>|o:->|o:->>|o:@>|o:|||o:~~*|o:!~*|o:#>>|o:|/"},
		{"a trailing sign is an operator of its own", "a=-1 a<+1 a*-b", "w:a|o:=|o:-|n:1|w:a|o:<|o:+|n:1|w:a|o:*|o:-|w:b"},
		{"unless the run has a special character", "a@-b a~+ ->-", "w:a|o:@-|w:b|w:a|o:~+|o:->|o:-"},
		{"characters of no token", `a \ {`, `w:a|:\|:{`},
	})
}

func TestPostgreSQLStrings(t *testing.T) {
	testLex(t, PostgreSQL, []lexCase{
		{"plain", `'' 'a''b' 'back\slash'`, `s:|s:a'b|s:back\slash`},
		{"not joined", "'a' 'b'\n'c'", "s:a|s:b|s:c"},
		{"escapes", `E'\b\f\n\r\t\\\'\q' e'a''b'`, "s:\b\f\n\r\t\\'q|s:a'b"},
		{"dollar quotes", "$$a'b$$ $x$a$$b$y$c$x$ $é$z$é$", "s:a'b|s:a$$b$y$c|s:z"},
		{"an unfinished dollar tag", "$a b", ":$|w:a|w:b"},
		{"words before quotes", `EX'a' "E"'b'`, "w:ex|s:a|i:E|s:b"},
	})
}

func TestPostgreSQLLexicalErrors(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"a 'b", `unterminated quoted string at or near "'b"`},
		{"E'b\\'", `unterminated quoted string at or near "E'b\'"`},
		{`"b`, `unterminated quoted identifier at or near ""b"`},
		{`""`, `zero-length delimited identifier at or near """"`},
		{"/* /* */", `unterminated /* comment at or near "/* /* */"`},
		{"$a$ $b$", `unterminated dollar-quoted string at or near "$a$ $b$"`},
		{"X'1'", "strings with X are not supported"},
		{"n'a'", "strings with n are not supported"},
		{"123abc", `trailing junk after numeric literal at or near "123abc"`},
		{"1.5e", `trailing junk after numeric literal at or near "1.5e"`},
		{"1__0", `trailing junk after numeric literal at or near "1__0"`},
		{"$1a", `trailing junk after parameter at or near "$1a"`},
		{"0x1F", `trailing junk after numeric literal at or near "0x1F"`},
		{strings.Repeat("@", 64), `operator too long at or near "` + strings.Repeat("@", 64) + `"`},
		{`E'\u00e9'`, `the escape \u in strings is not supported`},
		{`E'a\U0001F600'`, `the escape \U in strings is not supported`},
		{`E'\xff'`, `the escape \x in strings is not supported`},
		{`E'\000'`, `the escape \0 in strings is not supported`},
		{`U&'a'`, `strings and identifiers with U& are not supported`},
	} {
		if _, err := lex(c.src, PostgreSQL); err != c.want {
			t.Errorf("%.80q: error %q, want %q", c.src, err, c.want)
		}
	}
}

func TestMySQLTokens(t *testing.T) {
	testLex(t, MySQL, []lexCase{
		{"words fold", "SELECT Name $a 1a 2fa_x", "w:select|w:name|w:$a|w:1a|w:2fa_x"},
		{"back quotes", "`a``b` `Sel ect`", "i:a`b|i:Sel ect"},
		{"both quotes make strings", `'a''b' "c""d" "e'f"`, `s:a'b|s:c"d|s:e'f`},
		{"escapes", `'\0\b\n\r\t\Z\\\'\"\%\_\q'`, "s:\x00\b\n\r\t\x1a\\'\"\\%\\_q"},
		{"character sets are passed over", `_utf8mb4'a' _BINARY'b' _latin1 c _other'd'`, "s:a|x:b|w:_latin1|w:c|w:_other|s:d"},
		{"binary strings", "x'4142' X''", "x:AB|x:"},
		{"numbers", "1 1.5 .5 1e3 1.e2 0X1", "n:1|f:1.5|f:.5|f:1e3|f:1.e2|w:0x1"},
		{"parameters", "?,? ?3", "p:|:,|p:|p:3"},
		{"variables", "@a @`b c` @'d' @\"e\" @@f @@global.g @A.b$", "v:a|v:b c|v:d|v:e|v:@f|v:@global.g|v:a.b$"},
		{"operators", "<=> != && || := -> ->> << >> ^ ! ~ a=-1", "o:<=>|o:<>|o:&&|o:||" + "|::=|o:->|o:->>|o:<<|o:>>|o:^|o:!|o:~|w:a|o:=|o:-|n:1"},
		{"hash comment", "a # b\nc", "w:a|w:c"},
		{"dashes need a blank", "a --b\n-- c\n--", "w:a|o:-|o:-|w:b"},
		{"comments do not nest", "a /* b /* c */ d", "w:a|w:d"},
		{"version comments are read", "a /*!50002 b */ /*! c */ /*!99999 d */ /*M!100 e */ f", "w:a|w:b|w:c|w:e|w:f"},
		{"a star outside them is a star", "a */ b", "w:a|o:*|o:/|w:b"},
	})
}

func TestMySQLLexicalErrors(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{`'a\'`, `unterminated quoted string at or near "'a\'"`},
		{"`a", "unterminated quoted identifier at or near \"`a\""},
		{"/* a", `unterminated /* comment at or near "/* a"`},
		{"x'123'", `syntax error at or near "x'123'"`},
		{"0x1F + 1", "0x… is not supported; write x'…'"},
		{"N'a'", "strings with N are not supported"},
		{"@@a.", `syntax error at or near "@@a."`},
		{"@@", `syntax error at or near "@@"`},
		{"@'@a'", `syntax error at or near "@'@a'"`},
	} {
		if _, err := lex(c.src, MySQL); err != c.want {
			t.Errorf("%q: error %q, want %q", c.src, err, c.want)
		}
	}
}

func TestKeywordClassesAreThoseOfPostgreSQL(t *testing.T) {
	for word, want := range map[string]keyword{
		"select": {reserved, false}, "from": {reserved, true}, "left": {typeFunc, false}, "isnull": {typeFunc, true},
		"values": {colName, false}, "char": {colName, true}, "year": {unreserved, true}, "name": {}, "kind": {},
	} {
		if got := keywords[PostgreSQL][word]; got != want {
			t.Errorf("%s: %v, want %v", word, got, want)
		}
	}
	reservedWords := 0
	for _, k := range keywords[PostgreSQL] {
		if k.class == reserved {
			reservedWords++
		}
	}
	if reservedWords != 77 { // select count(*) from pg_get_keywords() where catcode = 'R'
		t.Errorf("%d reserved words", reservedWords)
	}
	if !slices.Contains(strings.Fields(mysqlReserved), "select") || !keywords[MySQL]["select"].needsAs {
		t.Error("MySQL's reserved words are labels")
	}
}
