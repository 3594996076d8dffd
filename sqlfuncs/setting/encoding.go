package setting

import (
	"strings"

	"nextid/sqlfuncs/sqlstate"
)

// encodings maps names of client encodings to PostgreSQL's names. It has all
// encodings that a database can have, since postgres_fdw sets that of its database.
// All of them contain ASCII, and texts of nextid are ASCII or come from the client.
var encodings = func() map[string]string {
	byKey := map[string]string{
		"unicode": "UTF8", "iso88591": "LATIN1", "iso88592": "LATIN2", "iso885915": "LATIN9",
		"koi8": "KOI8R", "windows1251": "WIN1251", "windows1252": "WIN1252", "alt": "WIN866",
	}
	for name := range strings.FieldsSeq(`UTF8 SQL_ASCII LATIN1 LATIN2 LATIN3 LATIN4 LATIN5 LATIN6 LATIN7 LATIN8 LATIN9 LATIN10
		WIN866 WIN874 WIN1250 WIN1251 WIN1252 WIN1253 WIN1254 WIN1255 WIN1256 WIN1257 WIN1258 KOI8R KOI8U
		ISO_8859_5 ISO_8859_6 ISO_8859_7 ISO_8859_8 EUC_JP EUC_JIS_2004 EUC_CN EUC_KR EUC_TW MULE_INTERNAL`) {
		byKey[encodingKey(name)] = name
	}
	return byKey
}()

// encodingKey returns a name in the form in which PostgreSQL compares names of
// encodings.
func encodingKey(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "").Replace(name))
}

// normalizeEncoding checks a value of client_encoding. An empty value means UTF8.
func normalizeEncoding(s *Definition, value string) (string, error) {
	key := encodingKey(strings.Trim(value, "'\""))
	if key == "" {
		return "UTF8", nil
	}
	if e, ok := encodings[key]; ok {
		return e, nil
	}
	return "", invalidSetting(s, sqlstate.Cut(value, 64)).WithHint("Use UTF8.")
}

// normalizeDateStyle checks a value of DateStyle: a style, which can only be ISO,
// and the order of day, month and year, which has no effect with ISO.
func normalizeDateStyle(s *Definition, value string) (string, error) {
	order := "MDY"
	for part := range strings.FieldsFuncSeq(value, func(r rune) bool { return r == ',' || r == ' ' }) {
		switch strings.ToUpper(part) {
		case "ISO", "DEFAULT":
		case "MDY", "US", "NONEURO", "NONEUROPEAN":
			order = "MDY"
		case "DMY", "EURO", "EUROPEAN":
			order = "DMY"
		case "YMD":
			order = "YMD"
		default:
			return "", invalidSetting(s, sqlstate.Cut(value, 64)).WithHint("Dates are read and shown as ISO 8601 does: use ISO.")
		}
	}
	return "ISO, " + order, nil
}
