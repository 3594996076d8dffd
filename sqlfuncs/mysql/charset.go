package mysql

import (
	"strings"

	"nextid/sqlfuncs/setting"
	"nextid/sqlfuncs/sqlstate"
)

// charset is a character set that a client may name. All text is UTF-8. The others
// exist so that a client can read back what it has set.
type charset struct {
	help, collation string // collation is the default
	bytes           int    // of the longest character
}

// charsets maps the names of the character sets.
var charsets = map[string]charset{
	"ascii":   {"US ASCII", "ascii_general_ci", 1},
	"binary":  {"Binary pseudo charset", "binary", 1},
	"latin1":  {"cp1252 West European", "latin1_swedish_ci", 1},
	"utf8mb3": {"UTF-8 Unicode", "utf8mb3_general_ci", 3},
	"utf8mb4": {"UTF-8 Unicode", "utf8mb4_general_ci", 4},
}

// namedCollation is a collation with MariaDB's number.
type namedCollation struct {
	name    string
	charset string
	id      int
}

// collations lists the collations that clients may name.
var collations = []namedCollation{
	{"ascii_bin", "ascii", 65},
	{"ascii_general_ci", "ascii", 11},
	{"binary", "binary", 63},
	{"latin1_bin", "latin1", 47},
	{"latin1_general_ci", "latin1", 48},
	{"latin1_swedish_ci", "latin1", 8},
	{"utf8mb3_bin", "utf8mb3", 83},
	{"utf8mb3_general_ci", "utf8mb3", 33},
	{"utf8mb3_unicode_ci", "utf8mb3", 192},
	{"utf8mb4_bin", "utf8mb4", 46},
	{"utf8mb4_general_ci", "utf8mb4", 45},
	{"utf8mb4_unicode_ci", "utf8mb4", 224},
	{"utf8mb4_unicode_520_ci", "utf8mb4", 246},
	{"utf8mb4_0900_ai_ci", "utf8mb4", 255},
	{"utf8mb4_uca1400_ai_ci", "utf8mb4", 2304},
}

// charsetNamed returns the name of a character set as the server writes it,
// "" when there is none.
func charsetNamed(name string) string {
	name = strings.ToLower(name)
	if name == "utf8" {
		name = "utf8mb3"
	}
	if _, ok := charsets[name]; !ok {
		return ""
	}
	return name
}

// charsetOf returns the character set of a collation, "" when there is none.
func charsetOf(name string) string {
	name = strings.ToLower(name)
	if rest, ok := strings.CutPrefix(name, "utf8_"); ok {
		name = "utf8mb3_" + rest
	}
	for _, c := range collations {
		if c.name == name {
			return c.charset
		}
	}
	return ""
}

func unknownCharset(name string) error {
	return sqlstate.New(sqlstate.InvalidParameterValue, "Unknown character set: '%s'", sqlstate.Cut(name, 64)).WithMySQL(1115, "42000")
}

// wideCollations maps the numbers of collations that a client may name in its
// handshake to their multi-byte character sets.
var wideCollations = map[int]string{
	1: "big5", 84: "big5", 12: "ujis", 91: "ujis", 13: "sjis", 88: "sjis", 19: "euckr", 85: "euckr", 24: "gb2312", 86: "gb2312",
	28: "gbk", 87: "gbk", 95: "cp932", 96: "cp932", 97: "eucjpms", 98: "eucjpms", 248: "gb18030", 249: "gb18030", 250: "gb18030",
}

// noPad is the difference between MariaDB's numbers of a NO PAD collation and of
// its padding twin.
const noPad = 1024

// SettingsOf returns the settings that follow from the collation number in a
// client's handshake. A collation of UTF-8 sets the character sets and
// collation_connection. A multi-byte character set other than UTF-8 sets
// character_set_client, so that the session accepts only ASCII. Since all texts are
// UTF-8, single-byte character sets and unknown numbers change nothing.
func SettingsOf(id int) (own []setting.Own) {
	if charset, wide := wideCollations[id%noPad]; wide {
		return []setting.Own{{Key: "character_set_client", Value: charset}}
	}
	for _, c := range collations {
		if c.id != id || !strings.HasPrefix(c.charset, "utf8") {
			continue
		}
		for _, key := range []string{"character_set_client", "character_set_connection", "character_set_results"} {
			own = append(own, setting.Own{Key: key, Value: c.charset})
		}
		own = append(own, setting.Own{Key: "collation_connection", Value: c.name})
	}
	return own
}
