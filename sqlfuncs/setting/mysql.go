package setting

import (
	_ "embed"
	"strconv"
	"strings"
	"time"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
)

// mysqlTable lists MariaDB's system variables that a client may show or set: name,
// default, type, context, an empty column, min, max, allowed values. The context is
// "user" if each session has its own value, "global" if only the server has one,
// "internal" if the variable cannot be set.
//
//go:embed mysql.tsv
var mysqlTable string

// MySQL maps the name of a system variable to its Definition.
var MySQL = definitions(mysqlTable)

// settingAliases maps names of variables in the parser's trees, and in other
// releases, to those of mysqlTable.
var settingAliases = map[string]string{
	"transaction_isolation":         "tx_isolation",
	"default_transaction_isolation": "tx_isolation",
	"transaction_read_only":         "tx_read_only",
	"default_transaction_read_only": "tx_read_only",
	"storage_engine":                "default_storage_engine",
}

// LookupMySQL returns a system variable. An unknown name is an error (MySQL's 1193).
func LookupMySQL(name string) (*Definition, error) {
	key := strings.ToLower(name)
	if alias, ok := settingAliases[key]; ok {
		key = alias
	}
	if s := MySQL[key]; s != nil {
		return s, nil
	}
	return nil, sqlstate.New(sqlstate.UndefinedObject, "Unknown system variable '%s'", sqlstate.Cut(name, 64)).WithMySQL(1193, "HY000")
}

// ColumnType returns the type of SELECT @@name.
func (s *Definition) ColumnType() datum.OID {
	switch s.Type {
	case "bool", "integer":
		return datum.Int8
	case "real":
		return datum.Float8
	}
	return datum.Text
}

// MySQLZone reads a time zone: SYSTEM, +hh:mm east of Greenwich, or a name.
func MySQLZone(value string) (*time.Location, error) {
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
