package datum

import (
	"strconv"
	"time"
)

// maxOffsetHours is MAX_TZDISP_HOUR.
const maxOffsetHours = 15

// decodeOffset takes ±HH, ±HHMM, ±HH:MM and ±HH:MM:SS.
func (d *timeDecoder) decodeOffset(s string) timeFault {
	seconds, fault := parseOffset(s)
	if fault != noFault {
		return fault
	}
	d.offset, d.fixed = seconds, true
	return d.put(partZone)
}

// parseOffset returns an offset in seconds east of UTC.
func parseOffset(s string) (seconds int, fault timeFault) {
	var values [3]int
	rest, parts := s, 0
	for parts < 3 && rest != "" && (parts == 0 || rest[0] == ':') {
		rest = rest[1:]
		n := scan(rest, 0, isDigit)
		value, err := strconv.ParseInt("0"+rest[:n], 10, 32)
		if err != nil {
			return 0, zoneOverflow
		}
		values[parts], rest = int(value), rest[n:]
		parts++
	}
	if parts == 1 && rest == "" && len(s) > 3 {
		values[0], values[1] = values[0]/100, values[0]%100
	}
	if values[0] > maxOffsetHours || values[1] > 59 || values[2] > 59 {
		return 0, zoneOverflow
	}
	if rest != "" || len(s) == 1 {
		return 0, badFormat
	}
	seconds = values[0]*3600 + values[1]*60 + values[2]
	if s[0] == '-' {
		seconds = -seconds
	}
	return seconds, noFault
}

// decodeZoneName takes the name of a time zone.
func (d *timeDecoder) decodeZoneName(s string) timeFault {
	loc := loadNamedZone(s)
	if loc == nil {
		d.zoneName = s
		return badZone
	}
	d.zone = loc
	return d.put(partZone)
}

// decodeWord takes a word: a month, a marker, a reserved word or a zone.
func (d *timeDecoder) decodeWord(s string) timeFault {
	if minutes, ok := zoneAbbreviations[s]; ok {
		d.offset, d.fixed = minutes*60, true
		return d.put(partZone)
	}
	word, ok := timeWords[shortWord(s)]
	if !ok {
		if loc := loadNamedZone(s); loc != nil {
			d.zone = loc
			return d.put(partZone)
		}
		return badFormat
	}
	if d.clockOnly && (word.kind == monthWord || word.kind == weekdayWord) {
		return badFormat
	}
	switch word.kind {
	case monthWord:
		return d.decodeMonth(word.value)
	case weekdayWord:
		return d.put(partWeekday)
	case meridiem:
		d.meridiem = word.value
	case eraWord:
		d.bc = word.value == 1
		return d.put(partEra)
	case reserved:
		return d.decodeReserved(word.value)
	case timeMarker:
		if d.has&wholeDate != wholeDate && !d.clockOnly {
			return badFormat
		}
		d.next = timeMarker
	case julianDay:
		d.next = julianDay
	case unitWord:
		return badFormat
	case ignoredWord:
	}
	return noFault
}

// decodeMonth takes a month's name. A number before it that was taken for
// the month was the day: 21 Nov 2026.
func (d *timeDecoder) decodeMonth(month int) timeFault {
	d.inWords = true
	if d.has&partMonth != 0 && d.has&partDay == 0 && d.month >= 1 && d.month <= 31 {
		d.has |= partDay
		d.day = d.month
		d.month = month
		return noFault
	}
	d.month = month
	return d.put(partMonth)
}

// decodeReserved takes now, today, infinity and the like.
func (d *timeDecoder) decodeReserved(word int) timeFault {
	local := d.env.now().In(d.env.location())
	switch word {
	case wordEpoch, wordInfinity, wordMinusInfinity:
		d.special, d.whole = word, true
		return noFault
	case wordNow:
		d.special, d.whole = word, true
		d.setDate(local)
		d.setClock(timeOfDay(local))
		return d.put(wholeDate | partTime | partZone)
	case wordMidnightUTC:
		d.offset, d.fixed = 0, true
		return d.put(partTime | partZone)
	case wordTomorrow:
		local = local.AddDate(0, 0, 1)
	case wordYesterday:
		local = local.AddDate(0, 0, -1)
	}
	d.setDate(local)
	return d.put(wholeDate)
}

func (d *timeDecoder) setDate(t time.Time) {
	d.year, d.month, d.day = t.Year(), int(t.Month()), t.Day()
}

// timeOfDay is what the clock shows, in microseconds.
func timeOfDay(t time.Time) int64 {
	return int64(t.Hour())*microsPerHour + int64(t.Minute())*microsPerMinute +
		int64(t.Second())*microsPerSecond + int64(t.Nanosecond()/1000)
}

// validate checks the whole and resolves years, days of the year and am/pm.
func (d *timeDecoder) validate() timeFault {
	if d.has&partYear != 0 {
		switch {
		case d.year <= 0:
			return fieldOverflow
		case d.bc:
			d.year = 1 - d.year
		case d.shortYear && d.year < 70:
			d.year += 2000
		case d.shortYear && d.year < 100:
			d.year += 1900
		}
	}
	if d.has&partYearDay != 0 {
		c := civilFromDays(civil{d.year, 1, 1}.days() + int64(d.yearDay) - 1)
		d.year, d.month, d.day = c.year, c.month, c.day
	}
	if d.has&partMonth != 0 && (d.month < 1 || d.month > 12) {
		return dateFieldOverflow
	}
	if d.has&partDay != 0 && (d.day < 1 || d.day > 31) {
		return dateFieldOverflow
	}
	if d.has&wholeDate == wholeDate && d.day > daysInMonth(d.year, d.month) {
		return fieldOverflow
	}
	if d.meridiem >= 0 {
		if d.hour > 12 {
			return fieldOverflow
		}
		d.hour = d.hour%12 + d.meridiem
	}
	return noFault
}

// clock is the time of day in microseconds.
func (d *timeDecoder) clock() int64 {
	return int64(d.hour)*microsPerHour + int64(d.minute)*microsPerMinute + int64(d.second)*microsPerSecond + int64(d.micros)
}

// local is the date and time as written, without zone.
func (d *timeDecoder) local() (int64, error) {
	return joinLocal(civil{d.year, d.month, d.day}.days(), d.clock())
}
