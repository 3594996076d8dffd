package mysql

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/setting"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

// wrongValue returns the error for a value that a variable does not take.
func wrongValue(s *setting.Definition, value string) error {
	return sqlstate.New(sqlstate.InvalidParameterValue, "Variable '%s' can't be set to the value of '%s'", s.Name, sqlstate.Cut(value, 64)).
		WithMySQL(1231, "42000")
}

// wrongType returns the error for a value of a type that a variable does not take.
func wrongType(s *setting.Definition) error {
	return sqlstate.New(sqlstate.InvalidParameterValue, "Incorrect argument type to variable '%s'", s.Name).WithMySQL(1232, "42000")
}

// localePattern matches names of locales, such as de_DE. Messages are English in all
// of them.
var localePattern = regexp.MustCompile(`^[A-Za-z]{2}_[A-Za-z]{2}$`)

// normalize checks a value of SET and returns the form that SHOW VARIABLES prints. A
// number out of bounds becomes the bound, with a warning.
func normalize(x *engine.Exec, s *setting.Definition, v datum.Value) (string, error) {
	text := TextOf(x, v)
	if !v.Valid && s.Name != "character_set_results" {
		return "", wrongValue(s, "NULL")
	}
	if len(text) > setting.MaxSettingBytes {
		return "", wrongValue(s, text)
	}
	switch s.Name {
	case "time_zone":
		return normalizeZone(s, text)
	case "sql_mode":
		return normalizeSQLMode(s, v, text)
	case "sql_auto_is_null":
		if text != "0" && !strings.EqualFold(text, "off") && !strings.EqualFold(text, "false") {
			return "", sqlstate.New(sqlstate.FeatureNotSupported, "This version of nextid doesn't yet support 'sql_auto_is_null'").
				WithHint("Use LAST_INSERT_ID().")
		}
	case "tx_isolation":
		text = strings.ReplaceAll(text, " ", "-")
	case "character_set_client", "character_set_connection", "character_set_results",
		"character_set_database", "character_set_server", "character_set_filesystem":
		if cs := charsetNamed(text); cs != "" {
			return cs, nil
		}
		if !v.Valid {
			return "", nil
		}
		return "", unknownCharset(text)
	case "lc_messages", "lc_time_names":
		if !localePattern.MatchString(text) || s.Name == "lc_time_names" && !strings.EqualFold(text, "en_US") {
			return "", sqlstate.New(sqlstate.InvalidParameterValue, "Unknown locale: '%s'", sqlstate.Cut(text, 64)).
				WithHint("nextid's names of days and months are English.").WithMySQL(1649, "HY000")
		}
		return text, nil
	case "collation_connection", "collation_database", "collation_server":
		if charsetOf(text) == "" {
			return "", sqlstate.New(sqlstate.InvalidParameterValue, "Unknown collation: '%s'", sqlstate.Cut(text, 64)).WithMySQL(1273, "HY000")
		}
		return strings.ToLower(text), nil
	}
	switch s.Type {
	case "bool":
		switch strings.ToUpper(text) {
		case "ON", "1", "TRUE", "YES":
			return "ON", nil
		case "OFF", "0", "FALSE", "NO":
			return "OFF", nil
		}
		return "", wrongValue(s, text)
	case "enum":
		for _, a := range s.Allowed {
			if strings.EqualFold(a, text) {
				return a, nil
			}
		}
		if n, err := strconv.Atoi(text); err == nil && n >= 0 && n < len(s.Allowed) {
			return s.Allowed[n], nil
		}
		return "", wrongValue(s, text)
	case "set":
		return text, nil
	case "integer":
		return normalizeInteger(x, s, v, text)
	case "real":
		if !isNumber(v.Type) {
			return "", wrongType(s)
		}
		return strconv.FormatFloat(min(max(floatOf(x, v), s.Min), s.Max), 'f', 6, 64), nil
	}
	return text, nil
}

// normalizeInteger checks a value of an integer variable.
func normalizeInteger(x *engine.Exec, s *setting.Definition, v datum.Value, text string) (string, error) {
	if v.Type != datum.Bool && !engine.IsInteger(v.Type) && v.Type != datum.Numeric || strings.Contains(text, ".") {
		return "", wrongType(s)
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return "", wrongType(s)
	}
	if n < s.Min || n > s.Max || n < 0 {
		x.Host.Warn(truncated(s.Name, text))
		return strconv.FormatFloat(max(min(n, s.Max), s.Min, 0), 'f', -1, 64), nil
	}
	return text, nil
}

// sqlModes maps the modes that set other modes to these, as MariaDB does.
var sqlModes = map[string][]string{
	"ANSI": {"REAL_AS_FLOAT", "PIPES_AS_CONCAT", "ANSI_QUOTES", "IGNORE_SPACE"},
	"TRADITIONAL": {
		"STRICT_TRANS_TABLES", "STRICT_ALL_TABLES", "NO_ZERO_IN_DATE", "NO_ZERO_DATE", "ERROR_FOR_DIVISION_BY_ZERO",
		"NO_AUTO_CREATE_USER", "NO_ENGINE_SUBSTITUTION",
	},
}

// refusedModes lists the modes that would change the parsing or the meaning of
// texts, and that nextid does not support.
var refusedModes = []string{"ORACLE", "DB2", "MAXDB", "MSSQL", "POSTGRESQL", "MYSQL323", "MYSQL40", "HIGH_NOT_PRECEDENCE", "EMPTY_STRING_IS_NULL"}

// normalizeSQLMode checks a list of modes and returns it in the server's order. Of
// MySQL's own modes it ignores TIME_TRUNCATE_FRACTIONAL.
func normalizeSQLMode(s *setting.Definition, v datum.Value, text string) (string, error) {
	var names []string
	if engine.IsInteger(v.Type) {
		for i, a := range s.Allowed {
			if i < 63 && v.Int>>i&1 == 1 {
				names = append(names, a)
			}
		}
	} else {
		for name := range strings.SplitSeq(text, ",") {
			if name = strings.ToUpper(strings.TrimSpace(name)); name != "" {
				names = append(names, name)
			}
		}
	}
	for _, name := range names {
		switch {
		case slices.Contains(refusedModes, name):
			return "", sqlstate.New(sqlstate.FeatureNotSupported, "This version of nextid doesn't yet support 'sql_mode %s'", name).
				WithHint("It changes how a statement is read. nextid follows ANSI_QUOTES, PIPES_AS_CONCAT and NO_BACKSLASH_ESCAPES.")
		case !slices.Contains(s.Allowed, name) && name != "TIME_TRUNCATE_FRACTIONAL":
			return "", wrongValue(s, name)
		}
		names = append(names, sqlModes[name]...)
	}
	var out []string
	for _, a := range s.Allowed {
		if slices.Contains(names, a) {
			out = append(out, a)
		}
	}
	return strings.Join(out, ","), nil
}

// normalizeZone checks a value of time_zone.
func normalizeZone(s *setting.Definition, value string) (string, error) {
	location, err := setting.MySQLZone(value)
	switch {
	case err != nil:
		return "", sqlstate.New(sqlstate.InvalidParameterValue, "Unknown or incorrect time zone: '%s'", sqlstate.Cut(value, 64)).WithMySQL(1298, "HY000")
	case strings.EqualFold(value, "system"):
		return "SYSTEM", nil
	}
	return location.String(), nil
}

// systemVariable returns the value of a system variable. Some values come from the
// state of the session.
func systemVariable(x *engine.Exec, def *setting.Definition) string {
	switch def.Name {
	case "in_transaction":
		return map[bool]string{false: "0", true: "1"}[sessionOf(x).InTransaction()]
	case "warning_count", "error_count":
		rows, _ := showWarnings(x, &syntax.ShowMySQL{What: map[string]string{"error_count": "ERRORS"}[def.Name]})
		return strconv.Itoa(len(rows))
	case "last_insert_id", "identity":
		return strconv.FormatUint(uint64(sessionOf(x).Drawn().Inserted), 10)
	case "pseudo_thread_id":
		return strconv.Itoa(int(x.Host.Client().PID))
	case "timestamp":
		return strconv.FormatFloat(float64(x.Host.Now().UnixMicro())/1e6, 'f', 6, 64)
	}
	v, _ := x.Host.Settings().Get(def.Name)
	return v
}
