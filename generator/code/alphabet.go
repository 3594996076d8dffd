package code

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Names of the bases, in the option text.
const (
	decimal = "decimal"
	base16  = "hex"
	base32  = "base32" // Douglas Crockford's, without I, L, O and U
	base36  = "base36"
	base58  = "base58" // Bitcoin's, without 0, O, I and l; sorts like its numbers
	base62  = "base62" // 0-9 A-Z a-z, like KSUID; sorts like its numbers
)

const baseNames = decimal + ", " + base16 + ", " + base32 + ", " + base36 + ", " + base58 + ", " + base62 +
	", " + base64url + ", " + sqidsText + ", " + hashidsText

// Values of the option case.
const (
	upper = "upper"
	lower = "lower"
)

// alphabet holds the digits of a base.
type alphabet struct {
	digits string
	check  string // the digits, then signs that only a check digit can be; "" for the digits alone
	fold   bool   // upper and lower case letters are equal
	upper  bool   // letters are upper case by default

	confusable bool // O is read as 0, I and L as 1
}

func (a *alphabet) base() int { return len(a.digits) }

const decimalDigits = "0123456789"

var alphabets = map[string]*alphabet{
	decimal: {digits: decimalDigits},
	base16:  {digits: "0123456789abcdef", fold: true},
	base32:  {digits: crockford, check: crockford + "*~$=U", fold: true, upper: true, confusable: true},
	base36:  {digits: "0123456789abcdefghijklmnopqrstuvwxyz", fold: true},
	base58:  {digits: "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"},
	base62:  {digits: "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"},

	base64url: {}, sqidsText: {}, hashidsText: {}, // see foreign
}

// Digits returns the digits of a base, "" for an unknown one.
func Digits(base string) string {
	if a, ok := alphabets[base]; ok {
		return a.digits
	}
	return ""
}

const crockford = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

// withCase returns the alphabet with its letters in one case.
func (a *alphabet) withCase(to func(string) string) *alphabet {
	b := *a
	b.check = cmp.Or(b.check, b.digits)
	if a.fold {
		b.digits, b.check = to(b.digits), to(b.check)
	}
	return &b
}

// value returns the value of a character among digits or check, -1 for another one.
func (a *alphabet) value(c byte, digits string) int {
	switch letter := c | 0x20; { // in lower case
	case a.confusable && letter == 'o':
		c = '0'
	case a.confusable && (letter == 'i' || letter == 'l'):
		c = '1'
	case a.fold && letter >= 'a' && letter <= 'z' && strings.IndexByte(digits, c) < 0:
		c ^= 0x20
	}
	return strings.IndexByte(digits, c)
}

// Methods of check digits, in the option check.
const (
	// luhn is Luhn's algorithm in any even base ("mod N"; in base 10 that of payment
	// cards). It detects each single wrong digit. It detects exchanged neighbors,
	// except for the first and the last digit of the base.
	luhn = "luhn"
	// damm is Damm's quasigroup for decimal numbers. It detects each single wrong
	// digit and all exchanged neighbors.
	damm = "damm"
	// mod37 is the check of Crockford's base 32: the number modulo 37, with five more
	// signs than the base has digits. It detects each single wrong digit and all
	// exchanges of two digits.
	mod37 = "mod37"
)

// checkMethod is the name of a method, "" for none. Users also write true and false.
type checkMethod string

// usual means the method of usualCheck, until the base is known.
const usual checkMethod = "true"

func (m *checkMethod) UnmarshalJSON(b []byte) error {
	var name string
	switch {
	case string(b) == "true":
		*m = usual
	case string(b) == "false":
		*m = ""
	case json.Unmarshal(b, &name) != nil:
		return fmt.Errorf("check must be true, false or the name of a method, not %s", b)
	case string(b) != "null":
		*m = checkMethod(name)
	}
	return nil
}

// checksum returns the value of the check digit for the digits of a number, the
// last one first. method is one of the above.
func checksum(method checkMethod, digits []byte, base byte) byte {
	switch method {
	case damm:
		return dammSum(digits)
	case mod37:
		return mod37Sum(digits, base)
	}
	return luhnSum(digits, base)
}

// usualCheck returns the method for check => true.
func usualCheck(base string) checkMethod {
	switch base {
	case decimal:
		return damm
	case base32:
		return mod37
	}
	return luhn
}

// luhnSum doubles every second digit, beginning with the last. A result of two
// digits counts as their sum.
func luhnSum(digits []byte, base byte) byte {
	sum, n := 0, int(base)
	for i, d := range digits {
		v := int(d)
		if i%2 == 0 {
			v *= 2
			v = v/n + v%n
		}
		sum += v
	}
	return byte((n - sum%n) % n)
}

// dammTable is the quasigroup of order 10 in H. Michael Damm's thesis of 2004. Each
// digit checks itself to 0.
var dammTable = [10]string{
	"0317598642", "7092154863", "4206871359", "1750983426", "6123045978",
	"3674209581", "5869720134", "8945362017", "9438617205", "2581436790",
}

// dammSum walks through the quasigroup from the first digit to the last.
func dammSum(digits []byte) byte {
	var state byte
	for _, d := range slices.Backward(digits) {
		state = dammTable[state][d] - '0'
	}
	return state
}

// mod37Sum returns the number modulo 37.
func mod37Sum(digits []byte, base byte) byte {
	rest := 0
	for _, d := range slices.Backward(digits) {
		rest = (rest*int(base) + int(d)) % 37
	}
	return byte(rest)
}
