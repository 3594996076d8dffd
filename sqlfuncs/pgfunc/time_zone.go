package pgfunc

import (
	"strconv"
	"strings"
	"time"
	"unicode"

	"nextid/sqlfuncs/datum"
)

// zoneOf finds a time zone as AT TIME ZONE names it: an abbreviation, a name
// of the tz database, or a POSIX offset, which counts west of Greenwich.
func zoneOf(name string) (*time.Location, error) {
	zone, err := datum.LoadZone(name)
	if err != nil {
		if seconds, ok := posixOffset(name); ok {
			return time.FixedZone(name, -seconds), nil
		}
	}
	return zone, err
}

// maxPosixHours is the largest offset that POSIX allows (RFC 8536, 3.3.1).
const maxPosixHours = 167

// posixOffset reads [name]±hh[:mm[:ss]], seconds west of Greenwich.
func posixOffset(s string) (seconds int, ok bool) {
	if strings.HasPrefix(s, "<") {
		_, s, ok = strings.Cut(s, ">")
		if !ok {
			return 0, false
		}
	} else {
		s = strings.TrimLeftFunc(s, unicode.IsLetter)
	}
	sign := 1
	if strings.HasPrefix(s, "-") {
		sign = -1
	}
	s = strings.TrimLeft(s, "+-")
	for i, unit := range []int{3600, 60, 1} {
		part, rest, more := strings.Cut(s, ":")
		n, err := strconv.ParseUint(part, 10, 8)
		if err != nil || (i == 0 && n > maxPosixHours) || (i > 0 && n > 59) {
			return 0, false
		}
		seconds += int(n) * unit
		if s = rest; !more {
			return sign * seconds, true
		}
	}
	return 0, false
}
