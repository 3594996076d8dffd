package sqlfuncs

import (
	_ "embed"
	"maps"
	"math"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"nextid/sqlfuncs/engine"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
)

// mysqlSettingsTable lists MariaDB's system variables that a client may ask
// for or set: name, default, type, context, min, max, allowed values. The
// context is "user" where a session has its own value, "global" where only
// the server has one, "internal" where it cannot be set.
//
//go:embed mysql_settings.tsv
var mysqlSettingsTable string

// mysqlSettings maps the name of a system variable to its description.
var mysqlSettings = parseMySQLSettings(mysqlSettingsTable)

func parseMySQLSettings(table string) map[string]*setting {
	m := map[string]*setting{}
	for line := range strings.Lines(table) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		s := &setting{name: f[0], value: f[1], vartype: f[2], context: f[3], min: math.Inf(-1), max: math.Inf(1)}
		if f[4] != "" {
			s.min, _ = strconv.ParseFloat(f[4], 64)
			s.max, _ = strconv.ParseFloat(f[5], 64)
		}
		if f[6] != "" {
			s.allowed = strings.Split(f[6], ",")
		}
		m[s.name] = s
	}
	return m
}

// settingAliases are the names under which the parser or another release
// knows a variable.
var settingAliases = map[string]string{
	"transaction_isolation":         "tx_isolation",
	"default_transaction_isolation": "tx_isolation",
	"transaction_read_only":         "tx_read_only",
	"default_transaction_read_only": "tx_read_only",
	"storage_engine":                "default_storage_engine",
}

// lookupMySQLSetting finds a system variable.
func lookupMySQLSetting(name string) (*setting, error) {
	key := strings.ToLower(name)
	if alias, ok := settingAliases[key]; ok {
		key = alias
	}
	if s := mysqlSettings[key]; s != nil {
		return s, nil
	}
	return nil, sqlstate.New(sqlstate.UndefinedObject, "Unknown system variable '%s'", sqlstate.Cut(name, 64)).WithMySQL(1193, "HY000")
}

// columnType is the type of SELECT @@name.
func (s *setting) columnType() datum.OID {
	switch s.vartype {
	case "bool", "integer":
		return datum.Int8
	case "real":
		return datum.Float8
	}
	return datum.Text
}

func wrongValue(s *setting, value string) error {
	return sqlstate.New(sqlstate.InvalidParameterValue, "Variable '%s' can't be set to the value of '%s'", s.name, sqlstate.Cut(value, 64)).
		WithMySQL(1231, "42000")
}

func wrongType(s *setting) error {
	return sqlstate.New(sqlstate.InvalidParameterValue, "Incorrect argument type to variable '%s'", s.name).WithMySQL(1232, "42000")
}

// localePattern is what the name of a locale looks like: de_DE. Messages are
// English in every one.
var localePattern = regexp.MustCompile(`^[A-Za-z]{2}_[A-Za-z]{2}$`)

// normalizeMySQL checks the value of SET and returns what SHOW VARIABLES
// prints. A number out of bounds is moved to the bound, with a warning.
func normalizeMySQL(x *engine.Exec, s *setting, v datum.Value) (string, error) {
	text := mysqlText(x, v)
	if !v.Valid && s.name != "character_set_results" {
		return "", wrongValue(s, "NULL")
	}
	if len(text) > maxSettingBytes {
		return "", wrongValue(s, text)
	}
	switch s.name {
	case "time_zone":
		return normalizeMySQLZone(s, text)
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
		return "", sqlstate.New(sqlstate.InvalidParameterValue, "Unknown character set: '%s'", sqlstate.Cut(text, 64)).WithMySQL(1115, "42000")
	case "lc_messages", "lc_time_names":
		if !localePattern.MatchString(text) || s.name == "lc_time_names" && !strings.EqualFold(text, "en_US") {
			return "", sqlstate.New(sqlstate.InvalidParameterValue, "Unknown locale: '%s'", sqlstate.Cut(text, 64)).
				WithHint("nextid's names of days and months are English.").WithMySQL(1649, "HY000")
		}
		return text, nil
	case "collation_connection", "collation_database", "collation_server":
		if charsetOf(text) == "" {
			return "", unknownCollation(text)
		}
		return strings.ToLower(text), nil
	}
	switch s.vartype {
	case "bool":
		switch strings.ToUpper(text) {
		case "ON", "1", "TRUE", "YES":
			return "ON", nil
		case "OFF", "0", "FALSE", "NO":
			return "OFF", nil
		}
		return "", wrongValue(s, text)
	case "enum":
		for _, a := range s.allowed {
			if strings.EqualFold(a, text) {
				return a, nil
			}
		}
		if n, err := strconv.Atoi(text); err == nil && n >= 0 && n < len(s.allowed) {
			return s.allowed[n], nil
		}
		return "", wrongValue(s, text)
	case "set":
		return text, nil
	case "integer":
		return normalizeMySQLInteger(x, s, v, text)
	case "real":
		if !isMySQLNumber(v.Type) {
			return "", wrongType(s)
		}
		return strconv.FormatFloat(min(max(mysqlFloat(x, v), s.min), s.max), 'f', 6, 64), nil
	}
	return text, nil
}

func normalizeMySQLInteger(x *engine.Exec, s *setting, v datum.Value, text string) (string, error) {
	if v.Type != datum.Bool && !engine.IsInteger(v.Type) && v.Type != datum.Numeric || strings.Contains(text, ".") {
		return "", wrongType(s)
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return "", wrongType(s)
	}
	if n < s.min || n > s.max || n < 0 {
		warnMySQL(x, truncated(s.name, text))
		return strconv.FormatFloat(max(min(n, s.max), s.min, 0), 'f', -1, 64), nil
	}
	return text, nil
}

// sqlModes are the modes that set others, as MariaDB expands them.
var sqlModes = map[string][]string{
	"ANSI":       {"REAL_AS_FLOAT", "PIPES_AS_CONCAT", "ANSI_QUOTES", "IGNORE_SPACE"},
	"DB2":        foreignMode,
	"MAXDB":      append([]string{"NO_AUTO_CREATE_USER"}, foreignMode...),
	"MSSQL":      foreignMode,
	"POSTGRESQL": foreignMode,
	"TRADITIONAL": {"STRICT_TRANS_TABLES", "STRICT_ALL_TABLES", "NO_ZERO_IN_DATE", "NO_ZERO_DATE", "ERROR_FOR_DIVISION_BY_ZERO",
		"NO_AUTO_CREATE_USER", "NO_ENGINE_SUBSTITUTION"},
}

var foreignMode = []string{"PIPES_AS_CONCAT", "ANSI_QUOTES", "IGNORE_SPACE", "NO_KEY_OPTIONS", "NO_TABLE_OPTIONS", "NO_FIELD_OPTIONS"}

// refusedModes change how a text is read in ways that nextid does not follow.
var refusedModes = []string{"ORACLE", "MYSQL323", "MYSQL40", "HIGH_NOT_PRECEDENCE", "EMPTY_STRING_IS_NULL"}

// normalizeSQLMode checks a list of modes and puts it into the server's
// order. Modes of other releases are dropped with no word.
func normalizeSQLMode(s *setting, v datum.Value, text string) (string, error) {
	var names []string
	if engine.IsInteger(v.Type) {
		for i, a := range s.allowed {
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
		case !slices.Contains(s.allowed, name) && name != "TIME_TRUNCATE_FRACTIONAL":
			return "", wrongValue(s, name)
		}
		names = append(names, sqlModes[name]...)
	}
	var out []string
	for _, a := range s.allowed {
		if slices.Contains(names, a) {
			out = append(out, a)
		}
	}
	return strings.Join(out, ","), nil
}

func normalizeMySQLZone(s *setting, value string) (string, error) {
	if _, err := mysqlZone(value); err != nil {
		return "", sqlstate.New(sqlstate.InvalidParameterValue, "Unknown or incorrect time zone: '%s'", sqlstate.Cut(value, 64)).WithMySQL(1298, "HY000")
	}
	if strings.EqualFold(value, "system") {
		return "SYSTEM", nil
	}
	return value, nil
}

// mysqlZone reads a time zone: SYSTEM, +hh:mm east of Greenwich, or a name.
func mysqlZone(value string) (*time.Location, error) {
	if strings.EqualFold(value, "system") {
		return time.UTC, nil
	}
	if len(value) >= 5 && (value[0] == '+' || value[0] == '-') {
		h, m, found := strings.Cut(value[1:], ":")
		hours, err1 := strconv.Atoi(h)
		minutes, err2 := strconv.Atoi(m)
		seconds := hours*3600 + minutes*60
		if !found || err1 != nil || err2 != nil || minutes > 59 || seconds > 14*3600 {
			return nil, sqlstate.New(sqlstate.InvalidParameterValue, "no time zone")
		}
		if value[0] == '-' {
			seconds = -seconds
		}
		return time.FixedZone(value, seconds), nil
	}
	return datum.LoadZone(value)
}

// setting returns the value of a system variable by its lower-case name.
// Some follow the session.
func (s *Session) systemVariable(def *setting) string {
	switch def.name {
	case "autocommit":
		return onOff(s.mysql.autocommit)
	case "in_transaction":
		return strconv.Itoa(int(s.tx.state))
	case "warning_count":
		return strconv.Itoa(s.mysql.lastWarnings)
	case "error_count":
		return strconv.Itoa(s.mysql.lastErrors)
	case "last_insert_id", "identity":
		return strconv.FormatUint(s.mysql.lastInsert, 10)
	case "pseudo_thread_id":
		return strconv.Itoa(int(s.options.PID))
	case "timestamp":
		return strconv.FormatFloat(float64(s.server.now().UnixMicro())/1e6, 'f', 6, 64)
	}
	v, _ := s.vars.get(def.name)
	return v
}

func onOff(b bool) string {
	if b {
		return "ON"
	}
	return "OFF"
}

// countWarnings counts the lines of SHOW WARNINGS, or of SHOW ERRORS.
func (s *Session) countWarnings(errors bool) int {
	n := 0
	for _, w := range s.mysql.warnings {
		if !errors || w.level == "Error" {
			n++
		}
	}
	return n
}

// mysqlBase are the values of system variables that the server knows.
func (s *Server) mysqlBase() map[string]string {
	base := map[string]string{
		"version":         s.MySQLVersion(),
		"innodb_version":  mariaDBVersion,
		"max_error_count": strconv.Itoa(maxMySQLWarnings),

		"version_compile_machine": runtime.GOARCH,
		"version_compile_os":      runtime.GOOS,
	}
	maps.Copy(base, s.variables)
	if d := s.limits.StatementTime; d > 0 {
		base["max_statement_time"] = strconv.FormatFloat(d.Seconds(), 'f', 6, 64)
	}
	return base
}
