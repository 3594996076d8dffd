package datum

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// intervalUnit is a unit of an interval's text.
type intervalUnit byte

const (
	noUnit intervalUnit = iota
	unitMicrosecond
	unitMillisecond
	unitSecond
	unitMinute
	unitHour
	unitDay
	unitWeek
	unitMonth
	unitYear
	unitDecade
	unitCentury
	unitMillennium
	unitAgo
)

// intervalUnits are the spellings, cut to the letters that count.
var intervalUnits = func() map[string]intervalUnit {
	m := map[string]intervalUnit{}
	for unit, words := range map[intervalUnit]string{
		unitMicrosecond: "us usec usecs usecond useconds microsecon", unitMillisecond: "ms msec msecs msecond mseconds millisecon",
		unitSecond: "s sec secs second seconds", unitMinute: "m min mins minute minutes", unitHour: "h hr hrs hour hours",
		unitDay: "d day days", unitWeek: "w week weeks", unitMonth: "mon mons month months", unitYear: "y yr yrs year years",
		unitDecade: "dec decs decade decades", unitCentury: "c cent century centuries",
		unitMillennium: "mil mils millennia millennium", unitAgo: "ago",
	} {
		for word := range strings.FieldsSeq(words) {
			m[word] = unit
		}
	}
	return m
}()

// intervalDecoder adds up the parts of an interval. An overflow sticks.
type intervalDecoder struct {
	years, months, days int32
	micros              int64
	overflow            bool
	has                 uint32 // bit per unit
}

// parseInterval reads an interval in any of PostgreSQL's forms: '1 day 02:00',
// '1 year 2 mons', '1-2', 'P1DT2H'.
func parseInterval(s string) (Value, error) {
	var d intervalDecoder
	fields, ok := splitTime(s)
	fault := badFormat
	if ok {
		fault = d.decode(fields)
	}
	if fault == badFormat {
		d = intervalDecoder{}
		fault = d.decodeISO(s)
	}
	if fault == noFault && d.overflow || fault == fieldOverflow {
		fault = intervalOverflow
	}
	if fault != noFault {
		return Value{}, fault.err(Interval, s)
	}
	months := int64(d.years)*monthsPerYear + int64(d.months)
	if months != int64(int32(months)) {
		return Value{}, intervalOutOfRange()
	}
	return MakeInterval(int32(months), d.days, d.micros), nil
}

// decode takes the fields from the last to the first, since a unit follows
// its number.
func (d *intervalDecoder) decode(fields []field) timeFault {
	unit, ago := noUnit, false
	for _, f := range slices.Backward(fields) {
		var fault timeFault
		switch {
		case f.kind == stringField || f.kind == specialField:
			word, ok := intervalUnits[shortWord(f.text)]
			if !ok {
				return badFormat
			}
			if word == unitAgo {
				ago = true
			}
			unit = word
		case strings.Contains(f.text, ":"):
			fault = d.decodeTime(f.text)
			unit = unitDay
		default:
			if unit == noUnit {
				unit = unitSecond
			}
			fault = d.decodeNumber(f.text, unit)
			if strings.LastIndexByte(f.text, '-') > 0 { // years-months
				unit = unitMonth
			}
		}
		if fault != noFault {
			return fault
		}
	}
	if d.has == 0 {
		return badFormat
	}
	if ago {
		if d.years == math.MinInt32 || d.months == math.MinInt32 || d.days == math.MinInt32 || d.micros == math.MinInt64 {
			return fieldOverflow
		}
		d.years, d.months, d.days, d.micros = -d.years, -d.months, -d.days, -d.micros
	}
	return noFault
}

func (d *intervalDecoder) put(units ...intervalUnit) timeFault {
	for _, unit := range units {
		if d.has&(1<<unit) != 0 {
			return badFormat
		}
		d.has |= 1 << unit
	}
	return noFault
}

// cutSign takes the sign off a number.
func cutSign(s string) (rest string, negative bool) {
	if s != "" && (s[0] == '-' || s[0] == '+') {
		return s[1:], s[0] == '-'
	}
	return s, false
}

// decodeTime takes [±]H:M[:S[.fraction]].
func (d *intervalDecoder) decodeTime(s string) timeFault {
	s, negative := cutSign(s)
	clock, fraction, hasFraction := strings.Cut(s, ".")
	parts := strings.Split(clock, ":")
	if len(parts) > 3 {
		return badFormat
	}
	if len(parts) == 2 && hasFraction {
		parts = append([]string{"0"}, parts...)
	}
	var values [3]int64
	for i, p := range parts {
		if p == "" && i > 0 {
			continue // 1: and 1:02:
		}
		if p == "" || !onlyDigits(p) {
			return badFormat
		}
		n, err := strconv.ParseInt(p, 10, 64)
		if err != nil {
			return fieldOverflow
		}
		values[i] = n
	}
	micros, ok := parseFraction(fraction)
	if !ok {
		return badFormat
	}
	if values[1] > 59 || values[2] > 60 {
		return fieldOverflow
	}
	sign := int64(1)
	if negative {
		sign = -1
	}
	d.addMicros(sign*values[0], microsPerHour)
	d.addMicros(sign*values[1], microsPerMinute)
	d.addMicros(sign*values[2], microsPerSecond)
	d.addMicros(sign*int64(math.RoundToEven(micros*microsPerSecond)), 1)
	return d.put(unitHour, unitMinute, unitSecond)
}

// parseFraction reads the digits after a point, "" as zero.
func parseFraction(digits string) (float64, bool) {
	if digits == "" {
		return 0, true
	}
	if !onlyDigits(digits) {
		return 0, false
	}
	f, err := strconv.ParseFloat("0."+digits, 64)
	return f, err == nil
}

// decodeNumber takes a number of a unit, or years-months.
func (d *intervalDecoder) decodeNumber(s string, unit intervalUnit) timeFault {
	digits, negative := cutSign(s)
	if years, months, ok := strings.Cut(digits, "-"); ok {
		return d.decodeYearsMonths(years, months, negative)
	}
	whole, fractionDigits, _ := strings.Cut(digits, ".")
	fraction, ok := parseFraction(fractionDigits)
	if !ok || !onlyDigits(whole) || whole == "" && fractionDigits == "" {
		return badFormat
	}
	n := int64(0)
	if whole != "" {
		var err error
		if n, err = strconv.ParseInt(whole, 10, 64); err != nil {
			return fieldOverflow
		}
	}
	if negative {
		n, fraction = -n, -fraction
	}
	d.add(n, fraction, unit)
	if unit == unitSecond && fraction != 0 {
		return d.put(unitSecond, unitMillisecond, unitMicrosecond)
	}
	if unit == unitAgo {
		return badFormat
	}
	return d.put(unit)
}

// decodeYearsMonths takes SQL's year-month literal, 1-2.
func (d *intervalDecoder) decodeYearsMonths(years, months string, negative bool) timeFault {
	if !onlyDigits(years) || !onlyDigits(months) || years == "" {
		return badFormat
	}
	y, err := strconv.ParseInt(years, 10, 64)
	if err != nil {
		return fieldOverflow
	}
	m := int64(0)
	if months != "" {
		if m, err = strconv.ParseInt(months, 10, 64); err != nil || m >= monthsPerYear {
			return fieldOverflow
		}
	}
	if negative {
		y, m = -y, -m
	}
	d.addTo(&d.years, y, 1)
	d.addTo(&d.months, m, 1)
	return d.put(unitMonth)
}

// add adds a whole number and a fraction of a unit. Fractions go down to the
// smaller parts: half a month is 15 days.
func (d *intervalDecoder) add(n int64, fraction float64, unit intervalUnit) {
	switch unit {
	case unitMicrosecond, unitMillisecond, unitSecond, unitMinute, unitHour:
		scale := [...]int64{
			unitMicrosecond: 1, unitMillisecond: 1000, unitSecond: microsPerSecond,
			unitMinute: microsPerMinute, unitHour: microsPerHour,
		}[unit]
		d.addMicros(n, scale)
		d.addFractionMicros(fraction, float64(scale))
	case unitDay:
		d.addTo(&d.days, n, 1)
		d.addFractionMicros(fraction, microsPerDay)
	case unitWeek:
		d.addTo(&d.days, n, 7)
		d.addFractionDays(fraction * 7)
	case unitMonth:
		d.addTo(&d.months, n, 1)
		d.addFractionDays(fraction * daysPerMonth)
	case unitYear, unitDecade, unitCentury, unitMillennium:
		years := [...]int64{unitYear: 1, unitDecade: 10, unitCentury: 100, unitMillennium: 1000}[unit]
		d.addTo(&d.years, n, years)
		d.addTo(&d.months, int64(math.RoundToEven(fraction*float64(years*monthsPerYear))), 1)
	case noUnit, unitAgo:
	}
}

func (d *intervalDecoder) addMicros(n, scale int64) {
	product, overflow := multiply(n, scale)
	sum := d.micros + product
	if overflow || (product > 0) != (sum > d.micros) && product != 0 {
		d.overflow = true
		return
	}
	d.micros = sum
}

func (d *intervalDecoder) addFractionMicros(fraction, scale float64) {
	fraction *= scale
	whole := int64(fraction)
	switch rest := fraction - float64(whole); {
	case rest > 0.5:
		whole++
	case rest < -0.5:
		whole--
	}
	d.addMicros(whole, 1)
}

func (d *intervalDecoder) addTo(part *int32, n, scale int64) {
	product, overflow := multiply(n, scale)
	sum := int64(*part) + product
	if overflow || magnitude(product) > math.MaxUint32 || sum != int64(int32(sum)) {
		d.overflow = true
		return
	}
	*part = int32(sum)
}

func (d *intervalDecoder) addFractionDays(days float64) {
	whole := int64(days)
	d.addTo(&d.days, whole, 1)
	d.addFractionMicros(days-float64(whole), microsPerDay)
}

// decodeISO takes ISO 8601's form with designators: P1Y2M3W4DT5H6M7.8S.
func (d *intervalDecoder) decodeISO(s string) timeFault {
	if len(s) < 2 || s[0] != 'P' || len(s) > maxTimeText {
		return badFormat
	}
	dateUnits := map[byte]intervalUnit{'Y': unitYear, 'M': unitMonth, 'W': unitWeek, 'D': unitDay}
	timeUnits := map[byte]intervalUnit{'H': unitHour, 'M': unitMinute, 'S': unitSecond}
	units, inTime := dateUnits, false
	for s = s[1:]; s != ""; {
		if s[0] == 'T' && !inTime {
			units, inTime, s = timeUnits, true, s[1:]
			continue
		}
		n := scan(s, 0, func(c byte) bool { return isDigit(c) || c == '.' || c == '-' || c == '+' })
		if n == 0 || n == len(s) {
			return badFormat
		}
		unit, ok := units[s[n]]
		digits, negative := cutSign(s[:n])
		whole, fractionDigits, _ := strings.Cut(digits, ".")
		fraction, fractionOK := parseFraction(fractionDigits)
		if !ok || !fractionOK || !onlyDigits(whole) || digits == "" {
			return badFormat
		}
		value, err := strconv.ParseInt("0"+whole, 10, 64)
		if err != nil {
			return fieldOverflow
		}
		if negative {
			value, fraction = -value, -fraction
		}
		d.add(value, fraction, unit)
		s = s[n+1:]
	}
	return noFault
}
