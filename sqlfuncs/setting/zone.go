package setting

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
)

// normalizeTimeZone checks a value of TimeZone.
func normalizeTimeZone(s *Definition, value string) (string, error) {
	switch strings.ToLower(value) {
	case "default", "local":
		return s.Default, nil
	case "utc", "gmt", "z", "zulu":
		return strings.ToUpper(value), nil
	}
	location, err := LoadLocation(value)
	if err != nil {
		return "", invalidSetting(s, sqlstate.Cut(value, 64))
	}
	return location.String(), nil
}

// LoadLocation reads a time zone: a name of the tz database, or an offset as
// SET TIME ZONE takes it (hours east of Greenwich, "+02:00", "-7.5").
func LoadLocation(value string) (*time.Location, error) {
	if east, ok := parseOffset(value); ok {
		return time.FixedZone(value, east), nil
	}
	return datum.LoadZone(value)
}

// posixZone matches a POSIX time zone without daylight saving: a name, which has no
// meaning, and an offset west of Greenwich ("GMT-02:00", "<+02>-02", "+02:00").
var posixZone = regexp.MustCompile(`^(<[^<>]+>|[A-Za-z]{3,8})?([+-]?)(\d{1,2})(?::(\d{2})(?::(\d{2}))?)?$`)

// parseOffset returns the seconds east of Greenwich of a zone that is given by an
// offset. A plain number means hours east; other forms are POSIX zones. ok is false
// if value is no offset.
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

// maxZoneHours limits an offset, as PostgreSQL does.
const maxZoneHours = 167
