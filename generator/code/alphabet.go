package code

import "strings"

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
	check  string // the digits, then signs that only a check digit can be
	fold   bool   // upper and lower case letters are equal
	upper  bool   // letters are upper case by default

	values, checkValues [256]int8 // value of each byte, -1 if it is no digit
}

func (a *alphabet) base() int { return len(a.digits) }

const decimalDigits = "0123456789"

var alphabets = map[string]*alphabet{
	decimal: {digits: decimalDigits},
	base16:  {digits: "0123456789abcdef", fold: true},
	base32:  {digits: crockford, check: crockford + "*~$=U", fold: true, upper: true},
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

// withCase returns the alphabet with its letters in one case, and with the tables
// for parsing.
func (a *alphabet) withCase(to func(string) string) *alphabet {
	b := *a
	if b.check == "" {
		b.check = b.digits
	}
	if a.fold {
		b.digits, b.check = to(b.digits), to(b.check)
	}
	b.values, b.checkValues = b.table(b.digits), b.table(b.check)
	return &b
}

// table returns the value of each byte for a list of digits.
func (a *alphabet) table(digits string) (values [256]int8) {
	for i := range values {
		values[i] = -1
	}
	put := func(s string, v int) {
		for i := range len(s) {
			values[s[i]] = int8(v)
		}
	}
	for i := range len(digits) {
		c := digits[i : i+1]
		put(c, i)
		if a.fold {
			put(strings.ToUpper(c)+strings.ToLower(c), i)
		}
	}
	if strings.EqualFold(digits[:min(len(crockford), len(digits))], crockford) { // letters that are easily mistaken for digits
		put("oO", 0)
		put("iIlL", 1)
	}
	return values
}
