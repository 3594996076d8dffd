package sqlfuncs

import (
	"strings"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/decimal"
	"nextid/sqlfuncs/sqlstate"
)

// numberPicture is a format for numbers, read.
type numberPicture struct {
	items     []pictureItem
	pre, post int // digits before and after the decimal point
	zeroStart int // digits before the first 0, plus one
	zeroEnd   int // digits up to the last 0
	multi     int // digits behind V

	fill, zero, decimalPoint, shift bool
	plus, minus, bracket            bool
	roman, exponent                 bool
	sign                            signPlace // of S
	digitsBeforeSign                int

	draw numberDrawing
}

// signPlace is where the pattern S stands.
type signPlace uint8

const (
	noSign signPlace = iota
	signBefore
	signAfter
)

func newNumberPicture(format string) (*numberPicture, error) {
	f := &numberPicture{items: parsePicture(format, numberPatterns, false)}
	for i := range f.items {
		if p := f.items[i].pattern; p != "" {
			if f.exponent {
				return nil, pictureError(`"EEEE" must be the last pattern used`)
			}
			if err := f.take(strings.ToUpper(p)); err != nil {
				return nil, err
			}
		}
	}
	if f.roman {
		f.pre, f.post, f.sign, f.plus, f.minus, f.bracket, f.zero = 0, 0, noSign, false, false, false, false
	}
	return f, nil
}

// take counts one pattern; what does not go together is an error.
func (f *numberPicture) take(p string) error {
	switch p {
	case "9", "0":
		return f.takeDigit(p)
	case "D", ".":
		switch {
		case f.decimalPoint:
			return pictureError("multiple decimal points")
		case f.shift:
			return pictureError(`cannot use "V" and decimal point together`)
		}
		f.decimalPoint = true
	case "V":
		if f.decimalPoint {
			return pictureError(`cannot use "V" and decimal point together`)
		}
		f.shift = true
	case "FM":
		f.fill = true
	case "RN":
		f.roman = true
	case "EEEE":
		if f.fill || f.sign != noSign || f.bracket || f.minus || f.plus || f.roman || f.shift {
			return sqlstate.New(sqlstate.SyntaxError, `"EEEE" is incompatible with other formats`).
				WithDetail(`"EEEE" may only be used together with digit and decimal point patterns.`)
		}
		f.exponent = true
	case "S", "MI", "PL", "SG", "PR":
		return f.takeSign(p)
	}
	return nil
}

func (f *numberPicture) takeDigit(p string) error {
	switch {
	case f.bracket:
		return pictureError(`"%s" must be ahead of "PR"`, p)
	case p == "9" && f.shift:
		f.multi++
		return nil
	case f.decimalPoint:
		f.post++
	default:
		if p == "0" && !f.zero {
			f.zero, f.zeroStart = true, f.pre+1
		}
		f.pre++
	}
	if p == "0" {
		f.zeroEnd = f.pre + f.post
	}
	return nil
}

func (f *numberPicture) takeSign(p string) error {
	switch {
	case p == "S" && f.sign != noSign:
		return pictureError(`cannot use "S" twice`)
	case p == "S" && (f.plus || f.minus || f.bracket):
		return pictureError(`cannot use "S" and "PL"/"MI"/"SG"/"PR" together`)
	case p == "PR" && (f.sign != noSign || f.plus || f.minus):
		return pictureError(`cannot use "PR" and "S"/"PL"/"MI"/"SG" together`)
	case p != "S" && f.sign != noSign:
		return pictureError(`cannot use "S" and "%s" together`, p)
	}
	switch p {
	case "S":
		f.sign, f.digitsBeforeSign = signBefore, f.pre
		if f.decimalPoint {
			f.sign = signAfter
		}
	case "MI":
		f.minus = true
	case "PL":
		f.plus = true
	case "SG":
		f.plus, f.minus = true, true
	case "PR":
		f.bracket = true
	}
	return nil
}

// decimal prints an exact number.
func (f *numberPicture) decimal(d decimal.Number) (datum.Value, error) {
	switch {
	case f.roman:
		n, ok := d.Round(0).Int64()
		if !ok || n != int64(int32(n)) {
			return datum.Value{}, errIntegerRange
		}
		return f.number(romanNumeral(n), false)
	case f.exponent:
		return f.scientific(d.Scientific(f.post))
	}
	d = d.Shift(f.multi).Round(f.post)
	return f.number(strings.TrimPrefix(d.String(), "-"), d.Sign() < 0)
}

// scientific prints a number that is already in scientific notation.
func (f *numberPicture) scientific(text string) (datum.Value, error) {
	if text[0] != '-' {
		text = " " + text
	}
	return boundedText(text)
}

// special prints NaN and the infinities.
func (f *numberPicture) special(text string) (datum.Value, error) {
	text = strings.TrimPrefix(text, "+")
	negative := strings.HasPrefix(text, "-")
	if text = strings.TrimPrefix(text, "-"); text != "NaN" {
		text = "Infinity"
	}
	if f.exponent {
		return boundedText(" " + strings.Repeat("#", f.pre) + "." + strings.Repeat("#", f.post+4))
	}
	return f.number(text, negative)
}

// numberDrawing is the state of printing one number. The names follow
// table 9.29: a picture has places, a number has digits, and places before
// the first digit are blank or zero.
type numberDrawing struct {
	out      strings.Builder
	digits   string // of the number, with its decimal point
	next     int    // of digits
	last     int    // last relevant digit under FM, -1: all are
	negative bool
	blanks   int // places before the first digit
	place    int
	places   int // the last one, counting the sign
	signed   bool
	inNumber bool // a digit was written at the last place
	ended    bool // the number had fewer digits than the picture
}

// number prints digits (with a decimal point, without sign).
func (f *numberPicture) number(digits string, negative bool) (datum.Value, error) {
	pre := f.pre + f.multi
	whole, _, _ := strings.Cut(digits, ".")
	f.draw = numberDrawing{digits: digits, last: -1, negative: negative}
	d := &f.draw
	switch {
	case f.roman:
	case len(whole) < pre:
		d.blanks = pre - len(whole)
	case len(whole) > pre:
		d.digits = strings.Repeat("#", pre) + "." + strings.Repeat("#", f.post)
	}
	f.prepare(pre)
	for _, it := range f.items {
		if d.ended {
			break
		}
		if it.pattern == "" {
			d.out.WriteString(it.text)
			continue
		}
		if err := f.write(it.pattern); err != nil {
			return datum.Value{}, err
		}
	}
	return boundedText(d.out.String())
}

// prepare decides on the sign and on the digits that FM leaves out.
func (f *numberPicture) prepare(pre int) {
	d := &f.draw
	switch {
	case f.plus || f.minus:
		d.signed = f.minus
	default:
		if f.fill && !d.negative {
			f.bracket = false
		}
		d.signed = !d.negative && f.fill && f.sign == noSign
		if f.sign == signBefore && pre == f.digitsBeforeSign {
			f.sign = signAfter
		}
	}
	d.places = f.post + pre - 1
	if !d.signed && d.blanks == 0 {
		d.places++
	}
	if !f.fill || !f.decimalPoint {
		return
	}
	point := strings.IndexByte(d.digits, '.')
	if d.last = point; point < 0 {
		return
	}
	for i := point; i < len(d.digits); i++ {
		if d.digits[i] != '0' {
			d.last = i
		}
	}
	if f.zeroEnd > d.blanks {
		d.last = max(d.last, min(len(d.digits)-1, f.zeroEnd-d.blanks))
	}
}

// write prints what a pattern stands for.
func (f *numberPicture) write(pattern string) error {
	d := &f.draw
	switch p := strings.ToUpper(pattern); p {
	case "9", "0", "D", ".":
		if !f.roman {
			f.writePlace(p)
		}
	case ",", "G":
		f.writeOr(d.inNumber, ",")
	case "L":
		d.out.WriteByte(' ')
	case "RN":
		f.writeRoman(pattern)
	case "TH":
		if f.roman || d.digits[0] == '#' || d.negative || f.decimalPoint {
			return nil
		}
		if c := d.digits[len(d.digits)-1]; c < '0' || c > '9' {
			return sqlstate.New(sqlstate.InvalidText, "\"%s\" is not a number", d.digits)
		}
		d.out.WriteString(ordinalSuffix(d.digits, pattern))
	case "MI":
		f.writeOr(d.negative, "-")
	case "PL":
		f.writeOr(!d.negative, "+")
	case "SG":
		d.out.WriteString(signText(d.negative, "+"))
	}
	return nil
}

// writeOr prints text, or its blank.
func (f *numberPicture) writeOr(yes bool, text string) {
	switch {
	case yes:
		f.draw.out.WriteString(text)
	case !f.fill:
		f.draw.out.WriteByte(' ')
	}
}

func signText(negative bool, positive string) string {
	if negative {
		return "-"
	}
	return positive
}

func (f *numberPicture) writeRoman(pattern string) {
	text := f.draw.digits
	if pattern == "rn" {
		text = strings.ToLower(text)
	}
	if !f.fill {
		text = strings.Repeat(" ", max(romanWidth-len(text), 0)) + text
	}
	f.draw.out.WriteString(text)
}

// writePlace prints the place of a digit or of the decimal point.
func (f *numberPicture) writePlace(p string) {
	d := &f.draw
	d.inNumber = false
	f.writeSign()
	zeroHere := f.zero && f.zeroStart-1 <= d.place
	switch {
	case d.place < d.blanks && !zeroHere:
		f.writeOr(false, "")
	case d.place < d.blanks:
		d.out.WriteByte('0')
		d.inNumber = true
	default:
		if f.writeDigit(p); d.ended {
			return
		}
	}
	end := d.places
	if d.blanks > 0 {
		end++
	}
	if f.decimalPoint {
		end++
	}
	if d.last >= 0 && d.last == d.next {
		end = d.place
	}
	if d.place+1 == end {
		switch {
		case d.signed && f.bracket:
			d.out.WriteString(map[bool]string{true: ">", false: " "}[d.negative])
		case f.sign == signAfter:
			d.out.WriteString(signText(d.negative, "+"))
		}
	}
	d.place++
}

// blankUnit reports whether the number is 0.x and its 0 may be left out.
func (f *numberPicture) blankUnit() bool {
	d := &f.draw
	return !f.zero && d.next == 0 && strings.HasPrefix(d.digits, "0") && f.post != 0
}

// pointLast reports whether FM keeps nothing behind the decimal point.
func (d *numberDrawing) pointLast() bool { return d.last >= 0 && d.digits[d.last] == '.' }

// writeSign prints the sign before the first place that shows something.
func (f *numberPicture) writeSign() {
	d := &f.draw
	shows := d.place >= d.blanks || (f.zero && f.zeroStart-1 == d.place)
	if d.signed || !shows || (f.blankUnit() && !d.pointLast()) {
		return
	}
	switch {
	case f.sign == signAfter:
		return
	case f.sign == signBefore:
		d.out.WriteString(signText(d.negative, "+"))
	case f.bracket:
		d.out.WriteString(map[bool]string{true: "<", false: " "}[d.negative])
	case d.negative:
		d.out.WriteByte('-')
	case !f.fill:
		d.out.WriteByte(' ')
	}
	d.signed = true
}

func (f *numberPicture) writeDigit(p string) {
	d := &f.draw
	left := d.next < len(d.digits)
	switch {
	case left && d.digits[d.next] == '.':
		d.out.WriteByte('.')
	case d.last >= 0 && d.next > d.last && p != "0":
	case !left:
		d.ended = true
	case f.blankUnit():
		f.writeOr(f.fill && d.pointLast(), "0")
	default:
		d.out.WriteByte(d.digits[d.next])
		d.inNumber = true
	}
	if left {
		d.next++
	}
}
