package datum

import (
	"strings"
	"sync"
	"time"

	"nextid/sqlfuncs/sqlstate"
)

// zoneAbbreviations are offsets east of UTC in minutes, the ones in use of
// PostgreSQL's timezone_abbreviations = 'Default'.
var zoneAbbreviations = map[string]int{
	"acdt": 630, "acst": 570, "adt": -180, "aedt": 660, "aest": 600, "aft": 270, "akdt": -480, "akst": -540,
	"ast": -240, "awst": 480, "bdt": 360, "bot": -240, "brst": -120, "brt": -180, "bst": 60,
	"cct": 480, "cdt": -300, "cest": 120, "cet": 60, "chadt": 825, "chast": 765, "cot": -300, "cst": -360,
	"eat": 180, "edt": -240, "eest": 180, "eet": 120, "est": -300, "fjt": 720, "gmt": 0,
	"hkt": 480, "hst": -600, "ict": 420, "idt": 180, "irt": 210, "ist": 120, "jst": 540, "kst": 540,
	"mdt": -360, "mest": 120, "mesz": 120, "met": 60, "mez": 60, "mst": -420, "myt": 480,
	"ndt": -150, "npt": 345, "nst": -210, "nzdt": 780, "nzst": 720, "nzt": 720,
	"pdt": -420, "pet": -300, "pht": 480, "pkt": 300, "pst": -480, "sast": 120,
	"uct": 0, "ut": 0, "utc": 0, "wat": 60, "wet": 0, "wetdst": 60, "z": 0, "zulu": 0,
}

// zones caches loaded time zones by name; there are a few hundred.
var zones sync.Map

// LoadZone finds a time zone by its IANA name (Europe/Paris), by an abbreviation
// in any case (est), or by POSIX's form of a fixed one (GMT-2). Errors: 22023.
func LoadZone(name string) (*time.Location, error) {
	lower := strings.ToLower(name)
	if minutes, ok := zoneAbbreviations[lower]; ok {
		if minutes == 0 {
			return time.UTC, nil
		}
		return time.FixedZone(strings.ToUpper(name), minutes*60), nil
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
