package sqlfuncs

import (
	"time"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
)

func toTimestamp(x *exec, a []datum.Value) (datum.Value, error) {
	r := newTimeReader(a[0].Str, a[1].Str)
	t, err := r.time()
	if err != nil {
		return a[0], err
	}
	if sign, ok := r.values["zonesign"]; ok {
		offset := sign * (r.values["zonehour"]*3600 + r.values["zoneminute"]*60)
		v, err := timestampOf(t.Add(time.Duration(-offset) * time.Second))
		v.Type = datum.TimestampTZ
		return v, err
	}
	local, err := timestampOf(t)
	if err != nil {
		return local, err
	}
	return datum.AtTimeZone(local, location(x))
}

func toDate(_ *exec, a []datum.Value) (datum.Value, error) {
	t, err := newTimeReader(a[0].Str, a[1].Str).time()
	if err != nil {
		return a[0], err
	}
	days, _ := floorDiv(t.Unix()-unixToPostgres, secondsPerDay)
	if days < firstDate || days > lastDate {
		return a[0], sqlstate.New(sqlstate.DatetimeOverflow, "date out of range: \"%s\"", cut(a[0].Str, 64))
	}
	return datum.Value{Type: datum.Date, Valid: true, Int: days}, nil
}

// time reads the text and puts its fields together; fields that are missing
// take their least value.
func (r *timeReader) time() (time.Time, error) {
	if err := r.read(); err != nil {
		return time.Time{}, err
	}
	if err := r.clock(); err != nil {
		return time.Time{}, err
	}
	day, err := r.date()
	if err != nil {
		return day, err
	}
	v := r.values
	micros := v["millis"]*1000 + v["micros"]
	if v["hour"] < 0 || v["hour"] > 23 || v["minute"] < 0 || v["minute"] > 59 || v["second"] < 0 || v["second"] > 59 ||
		micros < 0 || micros >= microsPerSecond {
		return day, r.outOfRange()
	}
	clock := v["hour"]*microsPerHour + v["minute"]*microsPerMinute + v["second"]*microsPerSecond + micros
	return day.Add(time.Duration(clock) * time.Microsecond), nil
}

func (r *timeReader) outOfRange() error {
	return sqlstate.New(sqlstate.DatetimeOverflow, "date/time field value out of range: \"%s\"", cut(r.source, 128))
}

// clock resolves seconds since midnight and the 12-hour clock.
func (r *timeReader) clock() error {
	v := r.values
	if n, ok := v["seconds"]; ok {
		v["hour"], v["minute"], v["second"] = n/3600, n/60%60, n%60
	}
	if r.half == "" {
		return nil
	}
	hour := v["hour"]
	if hour < 1 || hour > 12 {
		return badField("hour \"%d\" is invalid for the 12-hour clock", hour).
			WithHint("Use the 24-hour clock, or give an hour between 1 and 12.")
	}
	if v["hour"] = hour % 12; r.half == "PM" {
		v["hour"] += 12
	}
	return nil
}

// date resolves the fields of the day.
func (r *timeReader) date() (time.Time, error) {
	v := r.values
	if n, ok := v["julian"]; ok && n != 0 {
		return time.Unix((n-julianOf2000)*secondsPerDay+unixToPostgres, 0).UTC(), nil
	}
	year := r.fullYear()
	if week := v["isoweek"]; week != 0 {
		return isoDay(v["isoyear"], week, max(v["isodow"], 1)), nil
	}
	if n, ok := v["isoyear"]; ok && v["year"] == 0 {
		return isoDay(n, 1, max(v["isodow"], 1)), nil
	}
	month, day := max(v["month"], 1), max(v["day"], 1)
	if n := v["monthweek"]; n != 0 {
		day = (n-1)*7 + 1
	}
	doy := v["doy"]
	if n := v["week"]; n != 0 {
		doy = (n-1)*7 + 1
	}
	if doy != 0 && (month <= 1 || day <= 1) {
		if v["year"] == 0 && !r.bc {
			return time.Time{}, badField("cannot calculate day of year without year information")
		}
		t := time.Date(int(year), 1, int(doy), 0, 0, 0, 0, time.UTC)
		if doy < 1 || doy > 366 || t.Year() != int(year) {
			return t, r.outOfRange()
		}
		return t, nil
	}
	if v["month"] < 0 || v["day"] < 0 || month > 12 || day > 31 {
		return time.Time{}, r.outOfRange()
	}
	t := time.Date(int(year), time.Month(month), int(day), 0, 0, 0, 0, time.UTC)
	if t.Day() != int(day) {
		return t, r.outOfRange()
	}
	return t, nil
}

// fullYear is the year, 0 being 1 BC, with the century where that stands
// apart.
func (r *timeReader) fullYear() int64 {
	year, century := r.values["year"], r.values["century"]
	switch {
	case century != 0 && year == 0:
		year = (century-1)*100 + 1
	case century != 0 && r.yearDigits <= 2:
		if year %= 100; year != 0 {
			year += (century - 1) * 100
		} else {
			year = century * 100
		}
	}
	if r.bc {
		year = -year
	}
	if year < 0 {
		year++
	}
	return year
}

// isoDay is a day of an ISO 8601 week; 4 January lies in the first one.
func isoDay(year, week, day int64) time.Time {
	fourth := time.Date(int(year), time.January, 4, 0, 0, 0, 0, time.UTC)
	monday := -int(fourth.Weekday()+6) % 7
	return fourth.AddDate(0, 0, monday+int(week-1)*7+int(day-1))
}
