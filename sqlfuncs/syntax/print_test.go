package syntax

import (
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
)

// AppendExpr appends an expression in the syntax of the dialect that it was parsed
// in. Parsing it gives an equal tree, except positions and source texts.
func AppendExpr(dst []byte, x Expr, d Dialect) []byte {
	p := printer{out: dst, dialect: d, mysql: d == MySQL}
	p.expr(x)
	return p.out
}

type printer struct {
	out     []byte
	dialect Dialect
	mysql   bool
}

// put appends the parts as they are.
func (p *printer) put(parts ...string) {
	for _, s := range parts {
		p.out = append(p.out, s...)
	}
}

// putIf appends s if on.
func (p *printer) putIf(on bool, s string) {
	if on {
		p.put(s)
	}
}

func (p *printer) int(n int64) { p.out = strconv.AppendInt(p.out, n, 10) }

// quotedWords holds words that are not in the table of keywords and are quoted all
// the same: where a name may be, they begin other syntax.
var quotedWords = map[string]bool{
	"next": true, "operator": true, "over": true, "filter": true, "within": true, "rollup": true, "cube": true,
	"partition": true, "rows": true, "range": true, "groups": true, "nulls": true, "at": true, "double": true,
	"separator": true, "sql_cache": true, "sql_no_cache": true, "sql_buffer_result": true, "lateral": true,
	"grouping": true, "row": true, "offset": true, "global": true, "session": true, "local": true, "prepare": true,
	"savepoint": true, "format": true, "extended": true, "partitions": true, "binary": true, "all": true,
}

// isPlainWord reports whether s is a word that folding leaves as it is.
func isPlainWord(s string) bool {
	for i := range len(s) {
		c := s[i]
		if c >= 0x80 || 'A' <= c && c <= 'Z' || !isIdentPart(c) || i == 0 && !isIdentStart(c) {
			return false
		}
	}
	return s != ""
}

// ident appends an identifier, in quotes where it needs them.
func (p *printer) ident(s string) {
	k := keywords[p.dialect][s]
	if isPlainWord(s) && k.class == unreserved && !quotedWords[s] && !(p.mysql && slices.Contains(introducers, s)) {
		p.put(s)
		return
	}
	quote := `"`
	if p.mysql {
		quote = "`"
	}
	p.put(quote, strings.ReplaceAll(s, quote, quote+quote), quote)
}

func (p *printer) name(n Name) {
	for i, part := range n {
		if i == 0 {
			p.ident(part)
			continue
		}
		p.put(".")
		p.label(part) // after a dot every word is a name
	}
}

func (p *printer) idents(list []string) {
	for i, s := range list {
		p.putIf(i > 0, ", ")
		p.ident(s)
	}
}

// columns appends (name, …) if there are any.
func (p *printer) columns(list []string) {
	if list != nil {
		p.put("(")
		p.idents(list)
		p.put(")")
	}
}

// str appends a string constant.
func (p *printer) str(s string) {
	if p.mysql {
		s = mysqlEscapes.Replace(s)
	} else {
		s = strings.ReplaceAll(s, "'", "''")
	}
	p.put("'", s, "'")
}

var mysqlEscapes = strings.NewReplacer(`\`, `\\`, "'", "''", "\x00", `\0`)

func (p *printer) literal(x *Literal) {
	switch x.Kind {
	case NullLiteral:
		p.put("NULL")
	case StringLiteral:
		p.str(x.Text)
	case BytesLiteral:
		p.put("x'", hex.EncodeToString([]byte(x.Text)), "'")
	default:
		p.put(x.Text)
	}
}

// typeWords maps the types that are written as keywords to whether they take
// modifiers.
var typeWords = map[string]bool{
	"int": false, "integer": false, "smallint": false, "bigint": false, "real": false, "boolean": false,
	"double precision": false, "float": true, "decimal": true, "dec": true, "numeric": true, "varchar": true,
	"bit": true, "bit varying": true, "character": true, "character varying": true,
	"timestamp": true, "time": true, "timestamp with time zone": true, "time with time zone": true,
	"interval": true, "interval year": false, "interval month": false, "interval day": false,
	"interval hour": false, "interval minute": false, "interval second": true, "interval year to month": false,
	"interval day to hour": false, "interval day to minute": false, "interval day to second": true,
	"interval hour to minute": false, "interval hour to second": true, "interval minute to second": true,
}

func (p *printer) typeName(t TypeName) {
	if p.mysql {
		p.typeNameMySQL(t)
		return
	}
	words := t.Name[0]
	mods, known := typeWords[words]
	switch {
	case len(t.Name) > 1 || !known || t.Mods != nil && !mods:
		p.name(t.Name)
		p.mods(t.Mods)
	case strings.HasSuffix(words, " with time zone"):
		p.put(strings.TrimSuffix(words, " with time zone"))
		p.mods(t.Mods)
		p.put(" with time zone")
	default:
		p.put(words)
		p.mods(t.Mods)
	}
	p.put(strings.Repeat("[]", t.Array))
}

func (p *printer) typeNameMySQL(t TypeName) {
	switch name := t.Name[0]; name {
	case "varchar":
		p.put("char")
	case "bigint":
		p.put("signed")
	default:
		p.label(name)
	}
	p.mods(t.Mods)
}

// label appends an identifier where every word may stand unquoted.
func (p *printer) label(s string) {
	if isPlainWord(s) {
		p.put(s)
		return
	}
	p.ident(s)
}

func (p *printer) mods(list []int64) {
	for i, n := range list {
		if i == 0 {
			p.put("(")
		} else {
			p.put(", ")
		}
		p.int(n)
	}
	p.putIf(list != nil, ")")
}
