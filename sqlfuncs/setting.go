package sqlfuncs

import (
	_ "embed"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
)

// settingsTable lists PostgreSQL 15's parameters that a client may ask for:
// name, default, vartype, context, unit, min, max, allowed values.
//
//go:embed settings.tsv
var settingsTable string

// setting describes one parameter.
type setting struct {
	name    string // as PostgreSQL spells it
	value   string // default, as SHOW prints it
	vartype string // bool, integer, real, enum, string
	context string // "internal" and "postmaster" ones cannot be set
	unit    string
	min     float64
	max     float64
	allowed []string
}

// settings maps the lower-case name to its description.
var settings = parseSettings(settingsTable)

// reported are the parameters a client is told of, in PostgreSQL's order.
var reported = []string{
	"in_hot_standby", "integer_datetimes", "TimeZone", "IntervalStyle", "is_superuser",
	"application_name", "default_transaction_read_only", "DateStyle", "standard_conforming_strings",
	"session_authorization", "client_encoding", "server_version", "server_encoding",
}

func parseSettings(table string) map[string]*setting {
	m := map[string]*setting{}
	for line := range strings.Lines(table) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		s := &setting{name: f[0], value: f[1], vartype: f[2], context: f[3], unit: f[4], min: math.Inf(-1), max: math.Inf(1)}
		if f[5] != "" {
			s.min, _ = strconv.ParseFloat(f[5], 64)
			s.max, _ = strconv.ParseFloat(f[6], 64)
		}
		if f[7] != "" {
			s.allowed = strings.Split(f[7], ",")
		}
		m[strings.ToLower(s.name)] = s
	}
	return m
}

// modeDefaults names the setting that gives the next transactions a mode.
var modeDefaults = map[string]string{
	"transaction_isolation":  "default_transaction_isolation",
	"transaction_read_only":  "default_transaction_read_only",
	"transaction_deferrable": "default_transaction_deferrable",
}

// variables are the settings of one session: what differs from the defaults,
// and what ROLLBACK and the end of the transaction must restore.
type variables struct {
	defs    map[string]*setting
	base    map[string]string // defaults of this session: start-up parameters, version
	set     map[string]string // SET in this session
	local   map[string]string // SET LOCAL in this transaction
	changed []string          // reported settings changed since the client was told, lower case

	undo    savedVariables // how it was when the implicit transaction began
	touched bool           // there was a change since, so that undo is valid
}

// savedVariables is the state to go back to.
type savedVariables struct{ set, local map[string]string }

func (v *variables) save() savedVariables {
	return savedVariables{maps.Clone(v.set), maps.Clone(v.local)}
}

// touch must come before every change: what is set outside a transaction
// block is undone when the implicit transaction fails, too.
func (v *variables) touch() {
	if !v.touched {
		v.undo, v.touched = v.save(), true
	}
}

func (v *variables) restore(s savedVariables) {
	v.touched = false
	before := v.reportedValues()
	v.set, v.local = maps.Clone(s.set), maps.Clone(s.local)
	v.noteChanges(before)
}

// endTransaction drops what SET LOCAL changed.
func (v *variables) endTransaction() {
	if len(v.local) == 0 {
		return
	}
	before := v.reportedValues()
	v.local = nil
	v.noteChanges(before)
}

func (v *variables) reportedValues() []string {
	values := make([]string, len(reported))
	for i, name := range reported {
		values[i], _ = v.get(strings.ToLower(name))
	}
	return values
}

func (v *variables) noteChanges(before []string) {
	for i, name := range reported {
		key := strings.ToLower(name)
		if now, _ := v.get(key); now != before[i] {
			v.noteChange(key)
		}
	}
}

func (v *variables) noteChange(key string) {
	isReported := slices.ContainsFunc(reported, func(r string) bool { return strings.EqualFold(r, key) })
	if isReported && !slices.Contains(v.changed, key) {
		v.changed = append(v.changed, key)
	}
}

// get returns the value of a setting by its lower-case name. A mode of the
// current transaction that nothing has set is the session's default for it.
func (v *variables) get(key string) (string, bool) {
	if value, ok := v.local[key]; ok {
		return value, true
	}
	if def, ok := modeDefaults[key]; ok {
		return v.get(def)
	}
	for _, m := range []map[string]string{v.set, v.base} {
		if value, ok := m[key]; ok {
			return value, true
		}
	}
	if s := v.defs[key]; s != nil {
		return s.value, true
	}
	return "", false
}

// assign sets a setting. value has passed normalizeSetting.
func (v *variables) assign(key, value string, local bool) {
	v.touch()
	old, known := v.get(key)
	if local {
		if v.local == nil {
			v.local = map[string]string{}
		}
		v.local[key] = value
	} else {
		if v.set == nil {
			v.set = map[string]string{}
		}
		v.set[key] = value
		delete(v.local, key)
	}
	if !known || old != value {
		v.noteChange(key)
	}
}

// reset returns a setting to the session's default.
func (v *variables) reset(key string, local bool) {
	def, ok := v.base[key]
	if !ok {
		if s := v.defs[key]; s != nil {
			def = s.value
		}
	}
	v.assign(key, def, local)
}

// resetAll is RESET ALL; role and authorization stay.
func (v *variables) resetAll() {
	v.touch()
	before := v.reportedValues()
	v.set, v.local = nil, nil
	v.noteChanges(before)
}

// lookupSetting finds a parameter; custom ones need a dot in the name.
func lookupSetting(name string) (*setting, error) {
	key := strings.ToLower(name)
	if s := settings[key]; s != nil {
		return s, nil
	}
	if strings.Contains(key, ".") && len(key) <= 128 {
		return &setting{name: key, vartype: "string", context: "user", min: math.Inf(-1), max: math.Inf(1)}, nil
	}
	return nil, sqlstate.New(sqlstate.UndefinedObject, "unrecognized configuration parameter %q", sqlstate.Cut(name, 64))
}

// normalizeSetting checks a value for a setting and returns the form that
// SHOW prints.
func normalizeSetting(s *setting, value string) (string, error) {
	switch s.context {
	case "internal":
		return "", sqlstate.New(sqlstate.CannotChangeNow, "parameter %q cannot be changed", s.name)
	case "postmaster", "sighup":
		return "", sqlstate.New(sqlstate.CannotChangeNow, "parameter %q cannot be changed now", s.name)
	}
	if len(value) > maxSettingBytes {
		return "", invalidSetting(s, sqlstate.Cut(value, 64))
	}
	switch s.name {
	case "TimeZone":
		return normalizeTimeZone(s, value)
	case "client_encoding":
		return normalizeEncoding(s, value)
	case "DateStyle":
		return normalizeDateStyle(s, value)
	}
	if only := onlyReading[s.name]; only != nil {
		return normalizeReading(s, value, only)
	}
	return normalizeByType(s, value)
}

// onlyReading are the values of settings that change how a text is read, as
// far as nextid reads it so.
var onlyReading = map[string][]string{
	"standard_conforming_strings": {"on"},
	"backslash_quote":             {"safe_encoding", "on"},
	"transform_null_equals":       {"off"},
	"array_nulls":                 {"on"},
}

// normalizeReading refuses a value that nextid does not obey.
func normalizeReading(s *setting, value string, only []string) (string, error) {
	v, err := normalizeByType(s, value)
	if err == nil && !slices.Contains(only, v) {
		err = sqlstate.New(sqlstate.FeatureNotSupported, "%s = %s is not supported by nextid", s.name, v).
			WithHint("It would change how statements are read. Use %s.", strings.Join(only, " or "))
	}
	return v, err
}

func normalizeByType(s *setting, value string) (string, error) {
	switch s.vartype {
	case "bool":
		b, err := datum.ParseText(datum.Bool, value, nil)
		if err != nil {
			return "", sqlstate.New(sqlstate.InvalidParameterValue, "parameter %q requires a Boolean value", s.name)
		}
		return map[int64]string{0: "off", 1: "on"}[b.Int], nil
	case "enum":
		return normalizeEnum(s, value)
	case "integer", "real":
		return normalizeNumber(s, value)
	}
	return value, nil
}

// maxSettingBytes bounds what a session keeps for one setting.
const maxSettingBytes = 4096

func invalidSetting(s *setting, value string) *sqlstate.Error {
	return sqlstate.New(sqlstate.InvalidParameterValue, "invalid value for parameter %q: %q", s.name, value)
}

func normalizeEnum(s *setting, value string) (string, error) {
	for _, a := range s.allowed {
		if strings.EqualFold(a, value) {
			return a, nil
		}
	}
	if slices.Contains(s.allowed, "on") { // enums that also take the boolean spellings
		if b, err := datum.ParseText(datum.Bool, value, nil); err == nil {
			return map[int64]string{0: "off", 1: "on"}[b.Int], nil
		}
	}
	return "", invalidSetting(s, sqlstate.Cut(value, 64)).WithHint("Available values: %s.", strings.Join(s.allowed, ", "))
}

// timeUnits and memoryUnits are the suffixes of numeric settings, in
// milliseconds and bytes; 8kB is the unit of settings that count pages.
var (
	timeUnits   = map[string]float64{"us": 0.001, "ms": 1, "s": 1000, "min": 60_000, "h": 3_600_000, "d": 86_400_000}
	memoryUnits = map[string]float64{"B": 1, "kB": 1 << 10, "8kB": 8 << 10, "MB": 1 << 20, "GB": 1 << 30, "TB": 1 << 40}
)

func normalizeNumber(s *setting, value string) (string, error) {
	text := strings.TrimSpace(value)
	end := len(text)
	for end > 0 && (text[end-1] < '0' || text[end-1] > '9') && text[end-1] != '.' {
		end--
	}
	number, err := strconv.ParseFloat(strings.TrimSpace(text[:end]), 64)
	if err != nil || math.IsNaN(number) {
		return "", invalidSetting(s, sqlstate.Cut(value, 64))
	}
	if suffix := strings.TrimSpace(text[end:]); suffix != "" {
		units := timeUnits
		base := timeUnits[s.unit]
		if base == 0 {
			units, base = memoryUnits, memoryUnits[s.unit]
		}
		factor, ok := units[suffix]
		if !ok || base == 0 {
			return "", invalidSetting(s, sqlstate.Cut(value, 64))
		}
		number = number * factor / base
	}
	if number < s.min || number > s.max {
		return "", sqlstate.New(sqlstate.InvalidParameterValue, "%s is outside the valid range for parameter %q (%s .. %s)",
			sqlstate.Cut(value, 64), s.name, formatFloat(s.min), formatFloat(s.max))
	}
	if s.vartype == "integer" {
		return showWithUnit(s, int64(math.Round(number))), nil
	}
	return formatFloat(number), nil
}

// showWithUnit prints an integer with the largest unit that divides it, as
// SHOW does.
func showWithUnit(s *setting, n int64) string {
	sizes, names := timeUnits, []string{"d", "h", "min", "s", "ms"}
	if memoryUnits[s.unit] > 0 {
		sizes, names = memoryUnits, []string{"TB", "GB", "MB", "kB", "B"}
	}
	if n <= 0 || sizes[s.unit] == 0 {
		return strconv.FormatInt(n, 10)
	}
	n *= int64(sizes[s.unit])
	for _, name := range names {
		if size := int64(sizes[name]); n%size == 0 {
			return strconv.FormatInt(n/size, 10) + name
		}
	}
	return strconv.FormatInt(n, 10)
}

func formatFloat(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

// duration reads a time setting as normalizeSetting left it.
func (v *variables) duration(key string) time.Duration {
	value, _ := v.get(key)
	end := len(value)
	for end > 0 && (value[end-1] < '0' || value[end-1] > '9') {
		end--
	}
	n, err := strconv.ParseInt(value[:end], 10, 64)
	if err != nil || n <= 0 {
		return 0
	}
	unit := 1.0
	if value[end:] != "" {
		unit = timeUnits[value[end:]]
	}
	return time.Duration(float64(n) * unit * float64(time.Millisecond))
}

func normalizeTimeZone(s *setting, value string) (string, error) {
	switch strings.ToLower(value) {
	case "default", "local":
		return s.value, nil
	case "utc", "gmt", "z", "zulu":
		return strings.ToUpper(value), nil
	}
	if _, err := loadLocation(value); err != nil {
		return "", invalidSetting(s, sqlstate.Cut(value, 64))
	}
	return value, nil
}

// loadLocation reads a time zone: a name of the tz database, or an offset as
// SET TIME ZONE takes it (hours east of Greenwich, "+02:00", "-7.5").
func loadLocation(value string) (*time.Location, error) {
	if east, ok := parseOffset(value); ok {
		return time.FixedZone(value, east), nil
	}
	return time.LoadLocation(value)
}

// posixZone is a POSIX time zone without daylight saving: a name that says
// nothing, and an offset that counts west of Greenwich ("GMT-02:00",
// "<+02>-02", "+02:00").
var posixZone = regexp.MustCompile(`^(<[^<>]+>|[A-Za-z]{3,8})?([+-]?)(\d{1,2})(?::(\d{2})(?::(\d{2}))?)?$`)

// parseOffset returns the seconds east of Greenwich of a zone that is given
// by an offset: a plain number is hours east, anything else is POSIX.
func parseOffset(value string) (seconds int, ok bool) {
	if hours, err := strconv.ParseFloat(value, 64); err == nil {
		return int(hours * 3600), math.Abs(hours) <= maxZoneHours
	}
	m := posixZone.FindStringSubmatch(value)
	if m == nil {
		return 0, false
	}
	number := func(s string) int { n, _ := strconv.Atoi(s); return n } // digits only, see posixZone
	west := number(m[3])*3600 + number(m[4])*60 + number(m[5])
	if m[2] == "-" {
		west = -west
	}
	return -west, number(m[3]) <= maxZoneHours && number(m[4]) < 60 && number(m[5]) < 60
}

// maxZoneHours bounds an offset, as PostgreSQL does.
const maxZoneHours = 167

// eastZone writes an interval east of Greenwich, as SET TIME ZONE INTERVAL
// gives it, as a POSIX zone: 02:00:00 becomes <+02>-02.
func eastZone(interval string) string {
	sign, back := "+", "-"
	if strings.HasPrefix(interval, "-") {
		sign, back = "-", "+"
	}
	offset := strings.TrimSuffix(strings.TrimSuffix(strings.TrimLeft(interval, "+-"), ":00"), ":00")
	return "<" + sign + offset + ">" + back + offset
}

// encodings are the client encodings by PostgreSQL's names: those that a
// database can have, since postgres_fdw asks for its database's. All of our
// text is ASCII or what the client sent, and all of them contain ASCII.
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

// encodingKey is a name as PostgreSQL compares it.
func encodingKey(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "").Replace(name))
}

func normalizeEncoding(s *setting, value string) (string, error) {
	key := encodingKey(strings.Trim(value, "'\""))
	if key == "" {
		return "UTF8", nil
	}
	if e, ok := encodings[key]; ok {
		return e, nil
	}
	return "", invalidSetting(s, sqlstate.Cut(value, 64)).WithHint("Use UTF8.")
}

func normalizeDateStyle(s *setting, value string) (string, error) {
	style, order := "ISO", "MDY"
	for part := range strings.FieldsFuncSeq(value, func(r rune) bool { return r == ',' || r == ' ' }) {
		switch strings.ToUpper(part) {
		case "ISO":
			style = "ISO"
		case "SQL":
			style = "SQL"
		case "POSTGRES", "POSTGRESQL":
			style = "Postgres"
		case "GERMAN":
			style, order = "German", "DMY"
		case "MDY", "US", "NONEURO", "NONEUROPEAN":
			order = "MDY"
		case "DMY", "EURO", "EUROPEAN":
			order = "DMY"
		case "YMD":
			order = "YMD"
		case "DEFAULT":
		default:
			return "", invalidSetting(s, sqlstate.Cut(value, 64))
		}
	}
	return style + ", " + order, nil
}

var dateStyles = map[string]datum.DateStyle{
	"ISO": datum.ISO, "SQL": datum.SQLStyle, "Postgres": datum.PostgresStyle, "German": datum.GermanStyle,
}
