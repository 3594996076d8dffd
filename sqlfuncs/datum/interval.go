package datum

import (
	"encoding/binary"
	"math"
	"math/big"
	"strconv"

	"nextid/sqlfuncs/sqlstate"
)

// interval is a span of time: months, days and microseconds stay apart,
// since their lengths differ.
type interval struct {
	micros       int64
	days, months int32
}

// intervalBytes is the size of an interval's binary form.
const intervalBytes = 16

// MakeInterval returns an interval of months, days and microseconds.
func MakeInterval(months, days int32, micros int64) Value {
	return interval{micros, days, months}.value()
}

func (i interval) value() Value {
	var b [intervalBytes]byte
	binary.BigEndian.PutUint64(b[:], uint64(i.micros))
	binary.BigEndian.PutUint32(b[8:], uint32(i.days))
	binary.BigEndian.PutUint32(b[12:], uint32(i.months))
	return MakeString(Interval, string(b[:]))
}

// parseIntervalValue unpacks an interval value.
func parseIntervalValue(v Value) interval {
	var b [intervalBytes]byte
	copy(b[:], v.Str)
	return interval{
		micros: int64(binary.BigEndian.Uint64(b[:])),
		days:   int32(binary.BigEndian.Uint32(b[8:])),
		months: int32(binary.BigEndian.Uint32(b[12:])),
	}
}

// Span returns the months, days and microseconds of an interval; zeros for
// NULL and other types.
func (v Value) Span() (months, days int32, micros int64) {
	if v.Type != Interval || !v.Valid {
		return 0, 0, 0
	}
	i := parseIntervalValue(v)
	return i.months, i.days, i.micros
}

func intervalOutOfRange() error {
	return sqlstate.New(sqlstate.DatetimeOverflow, "interval out of range")
}

// fitInterval narrows computed parts.
func fitInterval(months, days, micros *big.Int) (interval, error) {
	if !fitsInt32(months) || !fitsInt32(days) || !micros.IsInt64() {
		return interval{}, intervalOutOfRange()
	}
	return interval{micros.Int64(), int32(days.Int64()), int32(months.Int64())}, nil
}

func fitsInt32(n *big.Int) bool {
	return n.IsInt64() && n.Int64() == int64(int32(n.Int64()))
}

func (i interval) negate() (interval, error) {
	if i.micros == math.MinInt64 || i.days == math.MinInt32 || i.months == math.MinInt32 {
		return interval{}, intervalOutOfRange()
	}
	return interval{-i.micros, -i.days, -i.months}, nil
}

// combine adds or subtracts part by part.
func (i interval) combine(op operator, j interval) (interval, error) {
	part := func(a, b int64) *big.Int {
		if op == opSub {
			return new(big.Int).Sub(big.NewInt(a), big.NewInt(b))
		}
		return new(big.Int).Add(big.NewInt(a), big.NewInt(b))
	}
	return fitInterval(part(int64(i.months), int64(j.months)), part(int64(i.days), int64(j.days)), part(i.micros, j.micros))
}

// scale multiplies by a factor. Fractions of months become days of 1/30
// month, fractions of days become time, as interval_mul does.
func (i interval) scale(factor float64) (interval, error) {
	return i.scaleBy(func(x float64) float64 { return x * factor })
}

// divide divides as interval_div does: dividing is not multiplying by the
// rounded reciprocal.
func (i interval) divide(divisor float64) (interval, error) {
	return i.scaleBy(func(x float64) float64 { return x / divisor })
}

func (i interval) scaleBy(f func(float64) float64) (interval, error) {
	months, days, micros := f(float64(i.months)), f(float64(i.days)), f(float64(i.micros))
	if !inInt32(months) || !inInt32(days) {
		return interval{}, intervalOutOfRange()
	}
	out := interval{months: int32(months), days: int32(days)}
	fromMonths := roundSixDigits((months - float64(out.months)) * daysPerMonth)
	seconds := roundSixDigits((days - float64(out.days) + fromMonths - math.Trunc(fromMonths)) * secondsPerDay)
	if math.Abs(seconds) >= secondsPerDay { // rounding made a whole day
		extra := math.Trunc(seconds / secondsPerDay)
		out.days += int32(extra)
		seconds -= extra * secondsPerDay
	}
	out.days += int32(fromMonths)
	total := math.RoundToEven(micros + seconds*microsPerSecond)
	if math.IsNaN(total) || math.Abs(total) >= math.MaxInt64 {
		return interval{}, intervalOutOfRange()
	}
	out.micros = int64(total)
	return out, nil
}

func inInt32(f float64) bool { return f >= math.MinInt32 && f <= math.MaxInt32 }

// roundSixDigits is TSROUND: to microseconds.
func roundSixDigits(f float64) float64 { return math.RoundToEven(f*microsPerSecond) / microsPerSecond }

// Lengths that interval comparison and fractions assume.
const (
	daysPerMonth  = 30
	monthsPerYear = 12
)

// compareIntervals takes a month as 30 days and a day as 24 hours.
func compareIntervals(a, b interval) int { return a.linear().Cmp(b.linear()) }

// linear is the length in microseconds under that assumption.
func (i interval) linear() *big.Int {
	days := int64(i.months)*daysPerMonth + int64(i.days)
	n := new(big.Int).Mul(big.NewInt(days), big.NewInt(microsPerDay))
	return n.Add(n, big.NewInt(i.micros))
}

// appendInterval prints an interval in IntervalStyle postgres:
// 1 year 2 mons 3 days 04:05:06.7.
func appendInterval(dst []byte, i interval) []byte {
	start := len(dst)
	negative := false // the sign of the part before
	part := func(n int32, unit string) {
		if n == 0 {
			return
		}
		if len(dst) > start {
			dst = append(dst, ' ')
			if negative && n > 0 {
				dst = append(dst, '+')
			}
		}
		negative = n < 0
		dst = append(strconv.AppendInt(dst, int64(n), 10), unit...)
		if n != 1 {
			dst = append(dst, 's')
		}
	}
	part(i.months/monthsPerYear, " year")
	part(i.months%monthsPerYear, " mon")
	part(i.days, " day")
	if i.micros == 0 && len(dst) > start {
		return dst
	}
	if len(dst) > start {
		dst = append(dst, ' ')
	}
	micros := i.micros
	if micros < 0 {
		dst = append(dst, '-')
	} else if negative {
		dst = append(dst, '+')
	}
	return appendClock(dst, magnitude(micros))
}

// restrict drops the parts below the fields of an interval type, e.g. what
// is less than a day of interval day. fields are bits as in intervalFields.
func (i interval) restrict(fields int32) interval {
	const year, month, day, hour, minute, second = 1 << 2, 1 << 1, 1 << 3, 1 << 10, 1 << 11, 1 << 12
	const all = 0x7fff
	var unit int64
	switch {
	case fields == 0 || fields == all || fields&second != 0:
		return i
	case fields == year:
		return interval{months: i.months / monthsPerYear * monthsPerYear}
	case fields&month != 0:
		return interval{months: i.months}
	case fields == day:
		return interval{months: i.months, days: i.days}
	case fields&minute != 0:
		unit = microsPerMinute
	case fields&hour != 0:
		unit = microsPerHour
	default:
		return i
	}
	i.micros = i.micros / unit * unit
	return i
}
