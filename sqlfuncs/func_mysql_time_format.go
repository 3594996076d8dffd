package sqlfuncs

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/sqlstate"
)

// dateFormat is DATE_FORMAT.
func dateFormat(t time.Time, format string) string {
	var b strings.Builder
	for i := 0; i < len(format); i++ {
		c := format[i]
		if c != '%' || i+1 == len(format) {
			b.WriteByte(c)
			continue
		}
		i++
		hour12 := (t.Hour()+11)%12 + 1
		switch format[i] {
		case 'a':
			b.WriteString(t.Weekday().String()[:3])
		case 'b':
			b.WriteString(t.Month().String()[:3])
		case 'c':
			b.WriteString(itoa(int(t.Month())))
		case 'D':
			b.WriteString(itoa(t.Day()) + ordinal(t.Day()))
		case 'd':
			fmt.Fprintf(&b, "%02d", t.Day())
		case 'e':
			b.WriteString(itoa(t.Day()))
		case 'f':
			fmt.Fprintf(&b, "%06d", t.Nanosecond()/1000)
		case 'H':
			fmt.Fprintf(&b, "%02d", t.Hour())
		case 'h', 'I':
			fmt.Fprintf(&b, "%02d", hour12)
		case 'i':
			fmt.Fprintf(&b, "%02d", t.Minute())
		case 'j':
			fmt.Fprintf(&b, "%03d", t.YearDay())
		case 'k':
			b.WriteString(itoa(t.Hour()))
		case 'l':
			b.WriteString(itoa(hour12))
		case 'M':
			b.WriteString(t.Month().String())
		case 'm':
			fmt.Fprintf(&b, "%02d", t.Month())
		case 'p':
			b.WriteString(t.Format("PM"))
		case 'r':
			b.WriteString(t.Format("03:04:05 PM"))
		case 'S', 's':
			fmt.Fprintf(&b, "%02d", t.Second())
		case 'T':
			b.WriteString(t.Format("15:04:05"))
		case 'U', 'u', 'V', 'v':
			mode := map[byte]int64{'U': 0, 'u': 1, 'V': 2, 'v': 3}[format[i]]
			_, w := weekMySQL(t, mode)
			fmt.Fprintf(&b, "%02d", w)
		case 'W':
			b.WriteString(t.Weekday().String())
		case 'w':
			b.WriteString(itoa(int(t.Weekday())))
		case 'X', 'x':
			y, _ := weekMySQL(t, map[byte]int64{'X': 2, 'x': 3}[format[i]])
			fmt.Fprintf(&b, "%04d", y)
		case 'Y':
			fmt.Fprintf(&b, "%04d", t.Year())
		case 'y':
			fmt.Fprintf(&b, "%02d", t.Year()%100)
		default:
			b.WriteByte(format[i])
		}
	}
	return b.String()
}

func ordinal(n int) string {
	if n/10 != 1 {
		switch n % 10 {
		case 1:
			return "st"
		case 2:
			return "nd"
		case 3:
			return "rd"
		}
	}
	return "th"
}

// strToDate reads a text by a format; what does not fit is NULL.
func strToDate(x *engine.Exec, a []datum.Value) (datum.Value, error) {
	s := a[0].Str
	year, month, day, hour, minute, second, micros := 0, 1, 1, 0, 0, 0, 0
	pm, twelve, ok := false, false, true
	number := func(most int) int {
		n := 0
		for n < most && n < len(s) && s[n] >= '0' && s[n] <= '9' {
			n++
		}
		v, err := strconv.Atoi(s[:n])
		ok = ok && err == nil
		s = s[n:]
		return v
	}
	word := func(words []string) int {
		for i, w := range words {
			for _, try := range []string{w, w[:3]} {
				if len(s) >= len(try) && strings.EqualFold(s[:len(try)], try) {
					s = s[len(try):]
					return i
				}
			}
		}
		ok = false
		return 0
	}
	format := strings.NewReplacer("%T", "%H:%i:%s", "%r", "%h:%i:%s %p").Replace(a[1].Str)
	for i := 0; i < len(format) && ok; i++ {
		c := format[i]
		if c == ' ' {
			s = strings.TrimLeft(s, " ")
			continue
		}
		if c != '%' || i+1 == len(format) {
			ok = s != "" && s[0] == c
			if ok {
				s = s[1:]
			}
			continue
		}
		i++
		switch format[i] {
		case 'Y':
			year = number(4)
		case 'y':
			year = century(number(2))
		case 'm', 'c':
			month = number(2)
		case 'M', 'b':
			month = word(monthWords) + 1
		case 'd', 'e':
			day = number(2)
		case 'H', 'k':
			hour = number(2)
		case 'h', 'I', 'l':
			hour, twelve = number(2), true
		case 'i':
			minute = number(2)
		case 's', 'S':
			second = number(2)
		case 'f':
			n := len(s)
			micros = number(6)
			for digits := n - len(s); digits < 6; digits++ {
				micros *= 10
			}
		case 'p':
			pm = word([]string{"AM ", "PM "}) == 1
		case 'W', 'a':
			word(weekdayWords)
		default:
			ok = false
		}
	}
	if twelve {
		hour %= 12
		if pm {
			hour += 12
		}
	}
	t := time.Date(year, time.Month(month), day, hour, minute, second, micros*1000, time.UTC)
	if !ok || hour > 23 || minute > 59 || second > 59 || t.Day() != day || int(t.Month()) != month {
		warnMySQL(x, sqlstate.New(sqlstate.InvalidDatetime, "Incorrect datetime value: '%s' for function str_to_date", sqlstate.Cut(a[0].Str, 64)).WithMySQL(1411, "HY000"))
		return datum.Null(datum.Timestamp), nil
	}
	return datetimeOf(t), nil
}

var (
	monthWords   = []string{"January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"}
	weekdayWords = []string{"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"}
)
