package datum

import "strconv"

// appendPadded appends n with at least width digits.
func appendPadded[T int | uint64](dst []byte, n T, width int) []byte {
	if width == 2 && n < 100 {
		return append(dst, byte('0'+n/10), byte('0'+n%10))
	}
	limit := T(10)
	for i := 1; i < width; i++ {
		if n < limit {
			dst = append(dst, '0')
		}
		limit *= 10
	}
	return strconv.AppendInt(dst, int64(n), 10)
}

// appendCivil prints a date.
func appendCivil(dst []byte, c civil) []byte {
	dst = append(appendPadded(dst, c.year, 4), '-')
	dst = append(appendPadded(dst, c.month, 2), '-')
	return appendPadded(dst, c.day, 2)
}

// appendClock prints HH:MM:SS, of any number of hours, and the fraction
// without needless zeros.
func appendClock(dst []byte, micros uint64) []byte {
	dst = append(appendPadded(dst, micros/microsPerHour, 2), ':')
	dst = append(appendPadded(dst, int(micros/microsPerMinute%60), 2), ':')
	return appendSeconds(dst, micros%microsPerMinute)
}

// appendSeconds prints SS[.ffffff].
func appendSeconds(dst []byte, micros uint64) []byte {
	dst = appendPadded(dst, int(micros/microsPerSecond), 2)
	fraction := int(micros % microsPerSecond)
	if fraction == 0 {
		return dst
	}
	dst = appendPadded(append(dst, '.'), fraction, 6)
	for dst[len(dst)-1] == '0' {
		dst = dst[:len(dst)-1]
	}
	return dst
}

func appendDate(dst []byte, v Value) []byte { return appendCivil(dst, civilFromDays(v.Int)) }

// appendTimestamp prints a timestamp or timestamptz.
func appendTimestamp(dst []byte, v Value, env *Env) []byte {
	local, offset := v.Int, 0
	if v.Type == TimestampTZ {
		offset = offsetAt(v.Int, env.location())
		local += int64(offset) * microsPerSecond
	}
	days, micros := splitTimestamp(local)
	dst = appendClock(append(appendCivil(dst, civilFromDays(days)), ' '), uint64(micros))
	if v.Type == TimestampTZ {
		dst = appendOffset(dst, offset)
	}
	return dst
}

// appendOffset prints +HH[:MM[:SS]].
func appendOffset(dst []byte, seconds int) []byte {
	sign := byte('+')
	if seconds < 0 {
		sign, seconds = '-', -seconds
	}
	dst = appendPadded(append(dst, sign), seconds/3600, 2)
	if seconds%3600 != 0 {
		dst = appendPadded(append(dst, ':'), seconds/60%60, 2)
	}
	if seconds%60 != 0 {
		dst = appendPadded(append(dst, ':'), seconds%60, 2)
	}
	return dst
}
