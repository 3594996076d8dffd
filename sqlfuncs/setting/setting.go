package setting

import (
	_ "embed"
	"math"
	"slices"
	"strconv"
	"strings"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
)

// postgresqlTable lists PostgreSQL's parameters that a client may show or set: name,
// default, vartype, context, unit, min, max, allowed values.
//
//go:embed postgresql.tsv
var postgresqlTable string

// Definition describes one setting.
type Definition struct {
	Name    string // in the database's spelling, such as TimeZone
	Default string // as SHOW prints it
	Type    string // bool, integer, real, enum, string
	Context string // internal, postmaster and sighup: sessions cannot set it; MySQL: see mysqlTable
	Unit    string // of a number: a key of timeUnits or memoryUnits, or ""
	Min     float64
	Max     float64
	Allowed []string // values of an enum
}

// PostgreSQL maps the lower-case name of a parameter to its Definition.
var PostgreSQL = definitions(postgresqlTable)

// Reported lists the parameters that ParameterStatus reports (PostgreSQL manual,
// "Asynchronous Operations"), in lower case and PostgreSQL's order.
var Reported = []string{
	"in_hot_standby", "integer_datetimes", "timezone", "intervalstyle", "is_superuser",
	"application_name", "default_transaction_read_only", "datestyle", "standard_conforming_strings",
	"session_authorization", "client_encoding", "server_version", "server_encoding",
}

// definitions reads a table of settings.
func definitions(table string) map[string]*Definition {
	m := map[string]*Definition{}
	for line := range strings.Lines(table) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		s := &Definition{Name: f[0], Default: f[1], Type: f[2], Context: f[3], Unit: f[4], Min: math.Inf(-1), Max: math.Inf(1)}
		if f[5] != "" {
			s.Min, _ = strconv.ParseFloat(f[5], 64)
			s.Max, _ = strconv.ParseFloat(f[6], 64)
		}
		if f[7] != "" {
			s.Allowed = strings.Split(f[7], ",")
		}
		m[strings.ToLower(s.Name)] = s
	}
	return m
}

// Lookup returns a parameter of PostgreSQL. A name with a dot is a custom parameter
// of type string. Other unknown names are an error (42704).
func Lookup(name string) (*Definition, error) {
	key := strings.ToLower(name)
	if s := PostgreSQL[key]; s != nil {
		return s, nil
	}
	if strings.Contains(key, ".") && len(key) <= 128 {
		return &Definition{Name: key, Type: "string", Context: "user", Min: math.Inf(-1), Max: math.Inf(1)}, nil
	}
	return nil, Unknown(name)
}

// Unknown returns the error for a name that no parameter has.
func Unknown(name string) error {
	return sqlstate.New(sqlstate.UndefinedObject, "unrecognized configuration parameter %q", sqlstate.Cut(name, 64))
}

// MayExamine returns an error (42501) if only administrators may read a parameter.
// name is in lower case.
func MayExamine(name string, admin bool) error {
	if admin || name != "data_directory" {
		return nil
	}
	return sqlstate.New(sqlstate.InsufficientPrivilege, "permission denied to examine %q", name).WithHint("Connect as a user with the role admin.")
}

// Normalize checks a value for a parameter of PostgreSQL and returns the form that
// SHOW prints. Errors are 55P02 for a parameter that sessions cannot set, 22023 for
// a bad value, and 0A000 for a value that nextid does not support.
func (s *Definition) Normalize(value string) (string, error) {
	switch s.Context {
	case "internal":
		return "", sqlstate.New(sqlstate.CannotChangeNow, "parameter %q cannot be changed", s.Name)
	case "postmaster", "sighup":
		return "", sqlstate.New(sqlstate.CannotChangeNow, "parameter %q cannot be changed now", s.Name)
	}
	switch {
	case value == s.Default:
		return value, nil
	case len(value) > MaxSettingBytes:
		return "", invalidSetting(s, sqlstate.Cut(value, 64))
	}
	switch s.Name {
	case "TimeZone":
		return normalizeTimeZone(s, value)
	case "client_encoding":
		return normalizeEncoding(s, value)
	case "DateStyle":
		return normalizeDateStyle(s, value)
	}
	v, err := normalizeByType(s, value)
	if only := onlyReading[s.Name]; err == nil && only != nil && !slices.Contains(only, v) {
		err = sqlstate.New(sqlstate.FeatureNotSupported, "%s = %s is not supported by nextid", s.Name, v).
			WithHint("It would change how statements are read. Use %s.", strings.Join(only, " or "))
	}
	return v, err
}

// onlyReading lists the settings that affect the parsing of texts, with the values
// that nextid obeys. See Session.SettingsChanged in package sqlfuncs.
var onlyReading = map[string][]string{
	"standard_conforming_strings": {"on"},
	"backslash_quote":             {"safe_encoding", "on"},
	"transform_null_equals":       {"off"},
	"array_nulls":                 {"on"},
}

// normalizeByType checks a value by the type of its setting.
func normalizeByType(s *Definition, value string) (string, error) {
	switch s.Type {
	case "bool":
		b, err := datum.ParseText(datum.Bool, value, nil)
		if err != nil {
			return "", sqlstate.New(sqlstate.InvalidParameterValue, "parameter %q requires a Boolean value", s.Name)
		}
		return map[int64]string{0: "off", 1: "on"}[b.Int], nil
	case "enum":
		return normalizeEnum(s, value)
	case "integer", "real":
		return normalizeNumber(s, value)
	}
	return value, nil
}

// MaxSettingBytes limits the value of a setting.
const MaxSettingBytes = 4096

// invalidSetting returns the error for a bad value (22023).
func invalidSetting(s *Definition, value string) *sqlstate.Error {
	return sqlstate.New(sqlstate.InvalidParameterValue, "invalid value for parameter %q: %q", s.Name, value)
}

// normalizeEnum returns the allowed value that equals value, whatever its case.
func normalizeEnum(s *Definition, value string) (string, error) {
	for _, a := range s.Allowed {
		if strings.EqualFold(a, value) {
			return a, nil
		}
	}
	if slices.Contains(s.Allowed, "on") { // enums that also take the boolean spellings
		if b, err := datum.ParseText(datum.Bool, value, nil); err == nil {
			return map[int64]string{0: "off", 1: "on"}[b.Int], nil
		}
	}
	return "", invalidSetting(s, sqlstate.Cut(value, 64)).WithHint("Available values: %s.", strings.Join(s.Allowed, ", "))
}

// timeUnits and memoryUnits map the suffixes of numeric settings to milliseconds and
// bytes. 8kB is the unit of settings that count pages.
var (
	timeUnits   = map[string]float64{"us": 0.001, "ms": 1, "s": 1000, "min": 60_000, "h": 3_600_000, "d": 86_400_000}
	memoryUnits = map[string]float64{"B": 1, "kB": 1 << 10, "8kB": 8 << 10, "MB": 1 << 20, "GB": 1 << 30, "TB": 1 << 40}
)

// splitUnit splits a value after its last digit, and trims both parts.
func splitUnit(value string) (number, unit string) {
	end := strings.LastIndexAny(value, "0123456789.") + 1
	return strings.TrimSpace(value[:end]), strings.TrimSpace(value[end:])
}

// number reads a number with an optional suffix, in the setting's unit.
func (s *Definition) number(value string) (n float64, ok bool) {
	digits, suffix := splitUnit(value)
	n, err := strconv.ParseFloat(digits, 64)
	if err != nil || suffix == "" {
		return n, err == nil && !math.IsNaN(n)
	}
	units := timeUnits
	if memoryUnits[s.Unit] > 0 {
		units = memoryUnits
	}
	from, to := units[suffix], units[s.Unit]
	return n * from / to, from != 0 && to != 0
}

// normalizeNumber checks the bounds of a number and prints it in the setting's unit.
func normalizeNumber(s *Definition, value string) (string, error) {
	number, ok := s.number(value)
	if !ok {
		return "", invalidSetting(s, sqlstate.Cut(value, 64))
	}
	if number < s.Min || number > s.Max {
		return "", sqlstate.New(sqlstate.InvalidParameterValue, "%s is outside the valid range for parameter %q (%s .. %s)",
			sqlstate.Cut(value, 64), s.Name, formatFloat(s.Min), formatFloat(s.Max))
	}
	if s.Type == "integer" {
		return showWithUnit(s, int64(math.Round(number))), nil
	}
	return formatFloat(number), nil
}

// showWithUnit prints an integer with the largest unit that divides it, as
// SHOW does.
func showWithUnit(s *Definition, n int64) string {
	sizes, names := timeUnits, []string{"d", "h", "min", "s", "ms"}
	if memoryUnits[s.Unit] > 0 {
		sizes, names = memoryUnits, []string{"TB", "GB", "MB", "kB", "B"}
	}
	if n <= 0 || sizes[s.Unit] == 0 {
		return strconv.FormatInt(n, 10)
	}
	n *= int64(sizes[s.Unit])
	for _, name := range names {
		if size := int64(sizes[name]); n%size == 0 {
			return strconv.FormatInt(n/size, 10) + name
		}
	}
	return strconv.FormatInt(n, 10)
}

func formatFloat(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

// Plain returns a value as pg_settings shows it: the number in the setting's unit,
// without a suffix.
func (s *Definition) Plain(value string) string {
	n, ok := s.number(value)
	if s.Unit == "" || !ok {
		return value
	}
	return strconv.FormatFloat(n, 'f', -1, 64)
}
