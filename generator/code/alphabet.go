package code

import (
	"cmp"
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

// checksum returns the value of the check digit for the digits of a number, the last
// one first.
//
// For Crockford's base 32 it is the number modulo 37, with five more signs than the
// base has digits. It detects each single wrong digit and all exchanges of two digits.
// For the others, whose base is even, it is that of Luhn's algorithm ("mod N"; in base
// 10 that of payment cards). It detects each single wrong digit. It detects exchanged
// neighbors, except for the first and the last digit of the base.
func (a *alphabet) checksum(digits []byte) byte {
	sum, n := 0, a.base()
	if modulus := len(a.check); modulus > n {
		for _, d := range slices.Backward(digits) {
			sum = (sum*n + int(d)) % modulus
		}
		return byte(sum)
	}
	for i, d := range digits {
		v := int(d)
		if i%2 == 0 { // doubled; a result of two digits counts as their sum
			v *= 2
			v = v/n + v%n
		}
		sum += v
	}
	return byte((n - sum%n) % n)
}
