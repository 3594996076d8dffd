package datum

import (
	"strings"
	"sync"
	"time"

	"nextid/sqlfuncs/sqlstate"
)

// zones caches loaded time zones by name; there are a few hundred.
var zones sync.Map

// LoadZone finds a time zone by its IANA name (Europe/Paris), or by POSIX's
// form of a fixed one (GMT-2). Errors: 22023.
func LoadZone(name string) (*time.Location, error) {
	switch strings.ToLower(name) {
	case "utc", "gmt", "ut", "uct", "z", "zulu":
		return time.UTC, nil
	}
	if loc := loadNamedZone(name); loc != nil {
		return loc, nil
	}
	return nil, unknownZone(name)
}

func unknownZone(name string) error {
	return sqlstate.New(sqlstate.InvalidParameterValue, `time zone "%s" not recognized`, clip(name))
}

// loadNamedZone finds a zone by its name, nil if there is none.
func loadNamedZone(name string) *time.Location {
	const longestName = 40
	if name == "" || len(name) > longestName || strings.EqualFold(name, "local") {
		return nil
	}
	if loc, ok := zones.Load(name); ok {
		return loc.(*time.Location)
	}
	if loc, err := time.LoadLocation(name); err == nil {
		zones.Store(name, loc)
		return loc
	}
	return posixZone(name)
}

// posixZone reads a fixed zone as POSIX writes it (8.3, TZ): letters and
// hours west of UTC, UTC+3. Rules for summer time are not read.
func posixZone(name string) *time.Location {
	letters := scan(name, 0, isLetter)
	if letters < 3 || letters == len(name) {
		return nil
	}
	offset := name[letters:]
	if isDigit(offset[0]) {
		offset = "+" + offset
	}
	if offset[0] != '+' && offset[0] != '-' || len(offset) == 1 || !strings.Contains(offset, ":") && len(offset) > 3 {
		return nil
	}
	seconds, ok := parseOffset(offset)
	if !ok {
		return nil
	}
	return time.FixedZone(strings.ToUpper(name[:letters]), -seconds)
}
