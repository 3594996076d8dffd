package sqlfuncs

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
)

// timePatterns are the patterns for dates and times (table 9.27).
var timePatterns = append(withLowerCase("A.D.", "A.M.", "AD", "AM", "B.C.", "BC", "CC", "DAY", "DDD", "DD", "DY", "D",
	"FF1", "FF2", "FF3", "FF4", "FF5", "FF6", "FX", "HH24", "HH12", "HH", "IDDD", "ID", "IW", "IYYY", "IYY", "IY", "I", "J",
	"MI", "MM", "MONTH", "MON", "MS", "OF", "P.M.", "PM", "Q", "RM", "SSSSS", "SSSS", "SS", "TZH", "TZM", "TZ", "US",
	"WW", "W", "Y,YYY", "YYYY", "YYY", "YY", "Y"), "Day", "Dy", "Month", "Mon")

// timeFields is a date and time, or an interval, taken apart.
type timeFields struct {
	year, month, day          int64 // year 0 is 1 BC
	hour, minute, second, sub int64 // sub: microseconds
	yearDay                   int64
	date                      time.Time
	isInterval                bool
	zone                      string
	offset                    int64 // seconds east of Greenwich
}

func timestampToChar(x *exec, a []datum.Value) (datum.Value, error) {
	if a[1].Str == "" || infiniteTime(a[0]) != 0 {
		return datum.Null(datum.Text), nil
	}
	t, offset, err := localTime(x, a[0])
	if err != nil {
		return a[0], err
	}
	h, m, s := t.Clock()
	f := timeFields{
		year: int64(t.Year()), month: int64(t.Month()), day: int64(t.Day()), hour: int64(h), minute: int64(m),
		second: int64(s), sub: int64(t.Nanosecond() / 1000), yearDay: int64(t.YearDay()), date: t, offset: offset,
	}
	if a[0].Type == datum.TimestampTZ {
		f.zone, _ = t.Add(time.Duration(-offset) * time.Second).In(location(x)).Zone()
	}
	return f.format(a[1].Str)
}

func intervalToChar(_ *exec, a []datum.Value) (datum.Value, error) {
	if a[1].Str == "" {
		return datum.Null(datum.Text), nil
	}
	i := intervalOf(a[0])
	return timeFields{
		year: i.months / monthsPerYear, month: i.months % monthsPerYear, day: i.days,
		hour: i.micros / microsPerHour, minute: i.micros % microsPerHour / microsPerMinute,
		second: i.micros % microsPerMinute / microsPerSecond, sub: i.micros % microsPerSecond,
		yearDay: i.months*daysPerMonth + i.days, isInterval: true,
	}.format(a[1].Str)
}

func (f timeFields) format(format string) (datum.Value, error) {
	var out strings.Builder
	for _, it := range parsePicture(format, timePatterns, true) {
		text := it.text
		if it.pattern != "" {
			var ok bool
			if text, ok = f.field(it); !ok {
				return datum.Value{}, sqlstate.New(sqlstate.InvalidDatetime, "invalid format specification for an interval value").
					WithHint("Intervals are not tied to specific calendar dates.")
			}
		}
		out.WriteString(text)
		if out.Len() > maxTextBytes {
			return datum.Value{}, errTextTooLong
		}
	}
	return datum.MakeText(out.String()), nil
}

// pad prints a number with at least width digits, or as many as it needs
// under FM. The sign of a negative number comes on top.
func (it pictureItem) pad(n int64, width int) string {
	if it.fill {
		width = 0
	}
	digits := strconv.FormatInt(n, 10)
	if n < 0 {
		return "-" + strings.Repeat("0", max(width-len(digits)+1, 0)) + digits[1:]
	}
	return strings.Repeat("0", max(width-len(digits), 0)) + digits
}

// zeros fills a number up with zeros to a width that counts its sign.
func (it pictureItem) zeros(n int64, width int) string {
	if it.fill {
		width = 0
	}
	return fmt.Sprintf("%0*d", width, n)
}

// field prints one field; ok is false where intervals have none.
func (f timeFields) field(it pictureItem) (text string, ok bool) {
	upper := strings.ToUpper(it.pattern)
	text, numeric := f.clock(it, upper)
	if !numeric {
		text, numeric = f.calendar(it, upper)
	}
	if numeric {
		if it.ordinal != "" {
			text += ordinalSuffix(text, it.ordinal)
		}
		return text, true
	}
	if text, ok := f.meridian(it.pattern); ok {
		return text, true
	}
	return f.named(it, upper)
}

// meridian prints am or pm in the style of the pattern.
func (f timeFields) meridian(pattern string) (string, bool) {
	style := pattern
	switch strings.ToUpper(pattern) {
	case "AM", "PM", "A.M.", "P.M.":
	default:
		return "", false
	}
	half := "a"
	if ((f.hour%24)+24)%24 >= 12 {
		half = "p"
	}
	if style[0] < 'a' {
		half = strings.ToUpper(half)
	}
	return half + style[1:], true
}

// clock prints the fields of the time of day.
func (f timeFields) clock(it pictureItem, upper string) (string, bool) {
	switch upper {
	case "HH", "HH12":
		n := f.hour % 12
		if n == 0 {
			n = 12
		}
		return it.pad(n, 2), true
	case "HH24":
		return it.pad(f.hour, 2), true
	case "MI":
		return it.pad(f.minute, 2), true
	case "SS":
		return it.pad(f.second, 2), true
	case "MS":
		return fmt.Sprintf("%03d", f.sub/1000), true
	case "US":
		return fmt.Sprintf("%06d", f.sub), true
	case "FF1", "FF2", "FF3", "FF4", "FF5", "FF6":
		return fmt.Sprintf("%06d", f.sub)[:upper[2]-'0'], true
	case "SSSS", "SSSSS":
		return strconv.FormatInt(f.hour*3600+f.minute*60+f.second, 10), true
	}
	return "", false
}

// shown is the year that people write: 44 for 44 BC.
func (f timeFields) shown(year int64) int64 {
	if year <= 0 && !f.isInterval {
		return 1 - year
	}
	return year
}

// calendar prints the fields of the day that are numbers.
func (f timeFields) calendar(it pictureItem, upper string) (string, bool) {
	year := f.shown(f.year)
	if iso := strings.TrimPrefix(upper, "I"); strings.HasPrefix(iso, "Y") || upper == "I" {
		if upper != iso {
			if f.isInterval {
				return "", false
			}
			y, _ := f.date.ISOWeek()
			year = f.shown(int64(y))
		}
		return f.yearDigits(it, year, len(upper)), true
	}
	switch upper {
	case "MM":
		return it.pad(f.month, 2), true
	case "DD":
		return it.zeros(f.day, 2), true
	case "DDD":
		return it.zeros(f.yearDay, 3), true
	case "WW":
		return it.zeros((f.yearDay-1)/7+1, 2), true
	case "W":
		return strconv.FormatInt((f.day-1)/7+1, 10), true
	case "CC":
		return f.century(it), true
	case "Q":
		if f.month == 0 {
			return "", true
		}
		return strconv.FormatInt((f.month-1)/3+1, 10), true
	}
	if f.isInterval {
		return "", false
	}
	_, week := f.date.ISOWeek()
	weekday := int64(f.date.Weekday())
	iso := (weekday+6)%7 + 1
	switch upper {
	case "D":
		return strconv.FormatInt(weekday+1, 10), true
	case "ID":
		return strconv.FormatInt(iso, 10), true
	case "IW":
		return it.zeros(int64(week), 2), true
	case "IDDD":
		return it.zeros(int64(week-1)*7+iso, 3), true
	case "J":
		days, _ := floorDiv(f.date.Unix()-unixToPostgres, secondsPerDay)
		return strconv.FormatInt(days+julianOf2000, 10), true
	}
	return "", false
}

// yearDigits prints the last n digits of a year; four or more mean all.
func (f timeFields) yearDigits(it pictureItem, year int64, n int) string {
	switch n {
	case len("Y,YYY"):
		return fmt.Sprintf("%d,%03d", year/1000, year%1000)
	case 4:
		return it.pad(year, 4)
	case 3:
		return it.pad(year%1000, 3)
	case 2:
		return it.pad(year%100, 2)
	}
	return it.pad(year%10, 1)
}

func (f timeFields) century(it pictureItem) string {
	switch {
	case f.isInterval:
		return it.pad(f.year/100, 2)
	case f.year > 0:
		return it.pad((f.year-1)/100+1, 2)
	}
	return it.pad(f.year/100-1, 2)
}

// named prints the fields that are words, and those of the time zone.
func (f timeFields) named(it pictureItem, upper string) (string, bool) {
	switch upper {
	case "FX":
		return "", true
	case "RM":
		return f.romanMonth(it), true
	}
	if f.isInterval {
		return "", false
	}
	minutes := f.offset / 60 % 60
	switch upper {
	case "AD", "BC", "A.D.", "B.C.":
		return f.era(it.pattern), true
	case "MONTH":
		return it.word(f.date.Month().String(), 9), true
	case "MON":
		return it.word(f.date.Month().String()[:3], 3), true
	case "DAY":
		return it.word(f.date.Weekday().String(), 9), true
	case "DY":
		return it.word(f.date.Weekday().String()[:3], 3), true
	case "TZ":
		if it.pattern == "tz" {
			return strings.ToLower(f.zone), true
		}
		return f.zone, true
	case "TZH":
		return f.offsetHours(2), true
	case "TZM":
		return fmt.Sprintf("%02d", max(minutes, -minutes)), true
	case "OF":
		width := 2
		if it.fill {
			width = 0
		}
		if minutes == 0 {
			return f.offsetHours(width), true
		}
		return f.offsetHours(width) + fmt.Sprintf(":%02d", max(minutes, -minutes)), true
	}
	return "", false
}

func (f timeFields) offsetHours(width int) string {
	sign, hours := "+", f.offset/3600
	if f.offset < 0 {
		sign, hours = "-", -hours
	}
	return fmt.Sprintf("%s%0*d", sign, width, hours)
}

// era is AD or BC in the style of the pattern.
func (f timeFields) era(pattern string) string {
	text := "AD"
	if f.year <= 0 {
		text = "BC"
	}
	if len(pattern) == len("A.D.") {
		text = text[:1] + "." + text[1:] + "."
	}
	if pattern[0] >= 'a' {
		return strings.ToLower(text)
	}
	return text
}

// word prints a name in the case of the pattern, filled up to a width.
func (it pictureItem) word(name string, width int) string {
	switch {
	case it.pattern == strings.ToUpper(it.pattern):
		name = strings.ToUpper(name)
	case it.pattern == strings.ToLower(it.pattern):
		name = strings.ToLower(name)
	}
	if it.fill || it.local {
		return name
	}
	return fmt.Sprintf("%-*s", width, name)
}

func (f timeFields) romanMonth(it pictureItem) string {
	month := f.month
	if f.isInterval && month == 0 && f.year == 0 {
		return ""
	}
	switch { // intervals have months that are no months: what PostgreSQL shows then
	case month < 0:
		month += monthsPerYear + 1
	case month == 0 && f.year < 0:
		month = 1
	case month == 0:
		month = monthsPerYear
	}
	name := romanNumeral(month)
	if it.pattern == "rm" {
		name = strings.ToLower(name)
	}
	if it.fill {
		return name
	}
	return fmt.Sprintf("%-4s", name)
}
