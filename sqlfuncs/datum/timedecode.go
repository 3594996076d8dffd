package datum

import (
	"math"
	"strconv"
	"strings"
	"time"

	"nextid/sqlfuncs/sqlstate"
)

// dateParts says which parts of a date and time are known.
type dateParts byte

const (
	partYear dateParts = 1 << iota
	partMonth
	partDay
	partYearDay
	partTime
	partZone
	partEra
	partWeekday

	wholeDate = partYear | partMonth | partDay
)

// timeFault is what can be wrong with a date or interval text.
type timeFault byte

const (
	noFault timeFault = iota
	badFormat
	fieldOverflow
	dateFieldOverflow // a month or day out of range: maybe another DateStyle
	zoneOverflow
	intervalOverflow
	badZone
)

// err returns a fault in a text for type t as PostgreSQL reports it, nil for
// noFault.
func (f timeFault) err(t OID, s string) error {
	switch f {
	case noFault:
		return nil
	case fieldOverflow, dateFieldOverflow:
		e := sqlstate.New(sqlstate.DatetimeOverflow, `date/time field value out of range: "%s"`, clip(s))
		if f == dateFieldOverflow {
			e = e.WithHint(`Perhaps you need a different "datestyle" setting.`)
		}
		return e
	case zoneOverflow:
		return sqlstate.New(codeZoneDisplacement, `time zone displacement out of range: "%s"`, clip(s))
	case intervalOverflow:
		return sqlstate.New(codeIntervalOverflow, `interval field value out of range: "%s"`, clip(s))
	default:
		name := display(t)
		if t == Timestamp || t == Time {
			name = lookup(t).Name // as PostgreSQL's input functions say it
		}
		return sqlstate.New(sqlstate.InvalidDatetime, `invalid input syntax for type %s: "%s"`, name, clip(s))
	}
}

// err is timeFault.err for a fault that decoding found.
func (d *timeDecoder) err(f timeFault, t OID, s string) error {
	if f == badZone {
		return unknownZone(d.zoneName)
	}
	return f.err(t, s)
}

// timeDecoder collects the parts of a date and time from its fields. It
// accepts what PostgreSQL's DecodeDateTime accepts, with DateStyle's order MDY.
type timeDecoder struct {
	env       *Env
	clockOnly bool // a time is wanted: T may come without a date
	has       dateParts
	next      wordKind // timeMarker or julianDay: what the next number is

	year, month, day, yearDay int
	shortYear, bc             bool
	hour, minute, second      int
	micros                    int
	meridiem                  int // -1 none, 0 am, 12 pm

	zone   *time.Location // nil: the session's
	offset int            // seconds east of UTC, when fixed
	fixed  bool

	special  int // the reserved word that is the value, if whole
	whole    bool
	inWords  bool   // the month came as a word
	zoneName string // of a zone that is unknown
}

// put records that parts are known now; known twice is a fault.
func (d *timeDecoder) put(parts dateParts) timeFault {
	if d.has&parts != 0 {
		return badFormat
	}
	d.has |= parts
	return noFault
}

// decode takes all fields.
func (d *timeDecoder) decode(fields []field) timeFault {
	d.meridiem = -1
	for _, f := range fields {
		if fault := d.decodeField(f); fault != noFault {
			return fault
		}
	}
	if d.next != 0 {
		return badFormat
	}
	return d.validate()
}

func (d *timeDecoder) decodeField(f field) timeFault {
	switch f.kind {
	case dateField:
		return d.decodeDateField(f.text)
	case timeField:
		if d.next == julianDay {
			return badFormat
		}
		d.next = 0
		return d.decodeTime(f.text)
	case zoneField:
		return d.decodeOffset(f.text)
	case numberField:
		return d.decodeNumberWord(f.text)
	default:
		return d.decodeWord(f.text)
	}
}

// decodeDateField takes a date with separators. After the date, it is a time
// with its zone (101500-08) or a zone's name (America/New_York).
func (d *timeDecoder) decodeDateField(s string) timeFault {
	if d.next == 0 && d.has&(partMonth|partDay) != partMonth|partDay {
		return d.decodeDate(s)
	}
	if !isDigit(s[0]) && d.next == 0 {
		return d.decodeZoneName(s)
	}
	minus := strings.IndexByte(s, '-')
	if minus < 0 {
		return badFormat
	}
	d.next = 0
	if fault := d.decodeOffset(s[minus:]); fault != noFault {
		return fault
	}
	return d.decodeRun(s[:minus])
}

// decodeDate takes 2026-11-21, 11/21/2026, 21-nov-2026 and the like.
func (d *timeDecoder) decodeDate(s string) timeFault {
	parts, textMonth, fault := splitDate(s)
	if fault != noFault {
		return fault
	}
	if textMonth != 0 {
		if fault := d.put(partMonth); fault != noFault {
			return fault
		}
		d.month = textMonth
	}
	for _, p := range parts {
		if fault := d.decodeNumber(p, textMonth != 0); fault != noFault {
			return fault
		}
	}
	if d.has&^(partYearDay|partZone) != wholeDate {
		return badFormat // incomplete, or not before time and weekday
	}
	return noFault
}

// splitDate cuts a date at everything that is no letter or digit, and takes
// the name of a month out.
func splitDate(s string) (numbers []string, month int, fault timeFault) {
	for i := 0; i < len(s); {
		switch {
		case isDigit(s[i]):
			start := i
			i = scan(s, i, isDigit)
			numbers = append(numbers, s[start:i])
		case isLetter(s[i]):
			start := i
			i = scan(s, i, isLetter)
			word, ok := timeWords[shortWord(s[start:i])]
			switch {
			case ok && word.kind == ignoredWord:
			case !ok || word.kind != monthWord || month != 0:
				return nil, 0, badFormat
			default:
				month = word.value
			}
		default:
			i++
		}
	}
	return numbers, month, noFault
}

// decodeNumberWord takes a field of digits: part of a date, or a date or
// time without separators.
func (d *timeDecoder) decodeNumberWord(s string) timeFault {
	if next := d.next; next != 0 {
		d.next = 0
		if next == julianDay {
			return d.decodeJulian(s)
		}
		return d.decodeTimeRun(s)
	}
	point := strings.IndexByte(s, '.')
	switch {
	case point >= 0 && d.has&wholeDate == 0:
		return d.decodeDate(s)
	case point > 2:
		return d.decodeTimeRun(s)
	case len(s) >= 6 && (d.has&wholeDate == 0 || d.has&partTime == 0):
		return d.decodeRun(s)
	}
	return d.decodeNumber(s, d.inWords)
}

// decodeJulian takes the day number of astronomers; the fraction is the time.
func (d *timeDecoder) decodeJulian(s string) timeFault {
	whole, fraction, _ := strings.Cut(s, ".")
	n, err := strconv.Atoi(whole)
	if err != nil || n > math.MaxInt32 {
		return fieldOverflow
	}
	c := civilFromDays(int64(n) + minDays)
	d.year, d.month, d.day = c.year, c.month, c.day
	fault := d.put(wholeDate | partEra)
	if c.year <= 0 {
		d.bc, d.year = true, 1-c.year
	}
	if fraction == "" || fault != noFault {
		return fault
	}
	part, err := strconv.ParseFloat("0."+fraction, 64)
	if err != nil {
		return badFormat
	}
	d.setClock(int64(part * microsPerDay))
	return d.put(partTime)
}

// setClock sets the time of day.
func (d *timeDecoder) setClock(micros int64) {
	d.hour = int(micros / microsPerHour)
	d.minute = int(micros / microsPerMinute % 60)
	d.second = int(micros / microsPerSecond % 60)
	d.micros = int(micros % microsPerSecond)
}

// decodeNumber takes one number of a date. What it means depends on what is
// known already; the order is MDY.
func (d *timeDecoder) decodeNumber(s string, textMonth bool) timeFault {
	if point := strings.IndexByte(s, '.'); point >= 0 {
		if point > 2 {
			return d.decodeTimeRun(s)
		}
		return badFormat
	}
	n, err := strconv.ParseInt(s, 10, 32)
	if err != nil {
		return fieldOverflow
	}
	value, long := int(n), len(s) >= 3
	switch known := d.has & wholeDate; {
	case len(s) == 3 && known == partYear && value >= 1 && value <= 366:
		d.yearDay = value
		return d.put(partYearDay | partMonth | partDay)
	case known == 0 && long, known == partMonth && textMonth && long, known == partMonth|partDay:
		return d.putYear(value, len(s))
	case known == 0, known == partYear, known == partDay:
		d.month = value
		return d.put(partMonth)
	case known == partYear|partMonth && textMonth && long && d.shortYear: // what looked like the year was the day
		d.day, d.year, d.shortYear = d.year, value, false
		return d.put(partDay)
	case known == partMonth, known == partYear|partMonth:
		d.day = value
		return d.put(partDay)
	case known == wholeDate:
		return d.decodeTimeRun(s)
	}
	return badFormat
}

func (d *timeDecoder) putYear(year, digits int) timeFault {
	d.year, d.shortYear = year, digits <= 2
	return d.put(partYear)
}

// decodeRun takes digits without separators: YYYYMMDD or YYMMDD when no date
// is known, else HHMMSS or HHMM.
func (d *timeDecoder) decodeRun(s string) timeFault {
	if strings.Contains(s, ".") || d.has&wholeDate == wholeDate || len(s) < 6 {
		return d.decodeTimeRun(s)
	}
	n := len(s)
	day, err1 := strconv.Atoi(s[n-2:])
	month, err2 := strconv.Atoi(s[n-4 : n-2])
	year, err3 := strconv.ParseInt(s[:n-4], 10, 32)
	if err1 != nil || err2 != nil {
		return badFormat
	}
	if err3 != nil {
		return fieldOverflow
	}
	d.year, d.month, d.day = int(year), month, day
	d.shortYear = n-4 <= 2
	return d.put(wholeDate)
}

// decodeTimeRun takes HHMMSS[.fraction] or HHMM.
func (d *timeDecoder) decodeTimeRun(s string) timeFault {
	digits, fraction, _ := strings.Cut(s, ".")
	if !onlyDigits(digits) || d.has&partTime != 0 {
		return badFormat
	}
	if len(digits) != 6 && (len(digits) != 4) {
		return badFormat
	}
	n, _ := strconv.Atoi(digits)
	if len(digits) == 4 {
		n *= 100
	}
	d.hour, d.minute, d.second = n/10_000, n/100%100, n%100
	return d.finishTime(fraction)
}

// decodeTime takes H:M, H:M:S, H:M:S.fraction and M:S.fraction.
func (d *timeDecoder) decodeTime(s string) timeFault {
	clock, fraction, hasFraction := strings.Cut(s, ".")
	parts := strings.Split(clock, ":")
	if len(parts) < 2 || len(parts) > 3 {
		return badFormat
	}
	if len(parts) == 2 && hasFraction {
		parts = append([]string{"0"}, parts...)
	}
	values := [3]int{}
	for i, p := range parts {
		n, err := strconv.ParseInt(p, 10, 32)
		if !onlyDigits(p) {
			return badFormat
		}
		if err != nil && p != "" {
			return fieldOverflow
		}
		values[i] = int(n)
	}
	d.hour, d.minute, d.second = values[0], values[1], values[2]
	return d.finishTime(fraction)
}

// finishTime adds the fraction of a second and checks the clock.
func (d *timeDecoder) finishTime(fraction string) timeFault {
	if fraction != "" {
		if !onlyDigits(fraction) {
			return badFormat
		}
		f, err := strconv.ParseFloat("0."+fraction, 64)
		if err != nil {
			return badFormat
		}
		d.micros = int(math.RoundToEven(f * microsPerSecond))
	}
	if d.minute > 59 || d.second > 60 || d.hour > 24 || d.hour == 24 && (d.minute > 0 || d.second > 0 || d.micros > 0) {
		return fieldOverflow
	}
	return d.put(partTime)
}
