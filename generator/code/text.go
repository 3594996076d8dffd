package code

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"nextid/generator"
)

// Text is a text form of numbers from 0 up. Its JSON is the stored form of the
// options. check must be called before use.
type Text struct {
	Base string `json:"base"`
	textOptions

	alphabet *alphabet
	foreign  foreign // nil if the code is digits of a base
}

// textOptions are the options beside the base.
type textOptions struct {
	Case      string      `json:"case,omitempty"` // of letters, if the base permits both
	Prefix    string      `json:"prefix,omitempty"`
	Pad       int         `json:"pad,omitempty"`       // least number of digits
	Check     checkMethod `json:"check,omitempty"`     // of the check digit
	Group     int         `json:"group,omitempty"`     // digits between separators, counted from the end
	Separator string      `json:"separator,omitempty"` // between groups
	Alphabet  string      `json:"alphabet,omitempty"`  // for sqids and hashids
	Salt      string      `json:"salt,omitempty"`      // for hashids
}

// Limits of text forms. A code that uses all of them is shorter than maxCode bytes.
const (
	maxPad    = 64
	maxPrefix = 64
	maxSalt   = 256
	maxCode   = 256
)

// separators are the characters permitted between groups. No base contains them.
const separators = "-._ /:"

// check refuses invalid combinations of options, and prepares t for use.
func (t *Text) check() error {
	a, ok := alphabets[t.Base]
	if !ok {
		return optionError("text must be one of %s, not %q", baseNames, t.Base)
	}
	if err := t.checkForeign(a); err != nil {
		return err
	}
	switch {
	case t.Case != "" && !a.fold:
		return optionError("case does not go with %s", t.Base)
	case t.Case == upper || t.Case == "" && a.upper:
		t.alphabet = a.withCase(strings.ToUpper)
	case t.Case == lower || t.Case == "":
		t.alphabet = a.withCase(strings.ToLower)
	default:
		return optionError("case must be %s or %s, not %q", lower, upper, t.Case)
	}
	switch {
	case min(t.Pad, t.Group) < 0 || max(t.Pad, t.Group) > maxPad:
		return optionError("pad and group must be between 0 and %d", maxPad)
	case t.Group == 0 && t.Separator != "":
		return optionError("separator needs group, the number of digits between two separators")
	case t.Group > 0 && (len(t.Separator) != 1 || !strings.Contains(separators, t.Separator)):
		return optionError("separator must be one of %q, not %q", separators, t.Separator)
	case len(t.Prefix) > maxPrefix || !utf8.ValidString(t.Prefix) || strings.ContainsFunc(t.Prefix, unicode.IsControl):
		return optionError("prefix must be a text of at most %d bytes without control characters", maxPrefix)
	}
	switch {
	case t.Check != "" && t.Check != luhn && t.Check != damm && t.Check != mod37:
		return optionError("check must be true, %s, %s or %s, not %q", luhn, damm, mod37, t.Check)
	case t.Check == damm && t.Base != decimal, t.Check == mod37 && t.Base != base32:
		return optionError("check %s does not go with %s", t.Check, t.Base)
	}
	return nil
}

// checkForeign is the part of check for the forms of other libraries. It sets
// foreign.
func (t *Text) checkForeign(a *alphabet) (err error) {
	switch {
	case t.Alphabet != "" && t.Base != sqidsText && t.Base != hashidsText:
		return optionError("alphabet goes with %s and %s only", sqidsText, hashidsText)
	case t.Salt != "" && t.Base != hashidsText:
		return optionError("salt goes with %s only", hashidsText)
	case len(t.Salt) > maxSalt || !utf8.ValidString(t.Salt):
		return optionError("salt must be a text of at most %d bytes", maxSalt)
	case a.base() > 0:
		return nil
	case t.Check != "" || t.Group != 0:
		return optionError("%s has no check digit and no groups", t.Base)
	case t.Pad != 0 && t.Base == base64url:
		return optionError("pad does not go with %s, whose codes have 11 characters", t.Base)
	case t.Pad < 0 || t.Pad > maxPad:
		return nil // check returns the error
	}
	t.foreign, err = newForeign(t)
	return err
}

// AppendCode implements generator.Coder.
func (t *Text) AppendCode(b []byte, id int64) ([]byte, error) {
	if id < 0 {
		return b, optionError("%d is negative and has no text form", id)
	}
	if t.foreign != nil {
		code, err := t.foreign.encode(id)
		return append(append(b, t.Prefix...), code...), err
	}
	// Digit values, the last one first: at most 63 (base 2) or maxPad, and the check
	// digit.
	var digits [maxPad + 1]byte
	n, base := 1, uint64(t.alphabet.base())
	for v := uint64(id); v > 0 || n == 1; v /= base {
		digits[n] = byte(v % base)
		n++
	}
	n = max(n, t.Pad+1)
	first := 1
	if t.Check != "" {
		digits[0] = checksum(t.Check, digits[1:n], byte(base))
		first = 0
	}
	b = append(b, t.Prefix...)
	for i := n - 1; i >= first; i-- {
		if i == 0 {
			b = append(b, t.alphabet.check[digits[0]])
		} else {
			b = append(b, t.alphabet.digits[digits[i]])
		}
		if t.Group > 0 && i > first && (i-first)%t.Group == 0 {
			b = append(b, t.Separator...)
		}
	}
	return b, nil
}

// ParseCode implements generator.Coder. Separators and leading zeros may be
// missing. Letters may be of either case if the base does not distinguish them.
func (t *Text) ParseCode(code string) (int64, error) {
	if len(code) > maxCode {
		return 0, t.wrong(code, "is too long")
	}
	rest, ok := t.cutPrefix(code)
	if !ok {
		return 0, t.wrong(code, fmt.Sprintf("does not begin with %q", t.Prefix))
	}
	if t.foreign != nil {
		id, ok := t.foreign.decode(rest)
		if !ok {
			return 0, t.wrong(code, "is no code of "+t.Base)
		}
		return id, nil
	}
	var digits [maxCode]byte
	n := 0
	for i := len(rest) - 1; i >= 0; i-- {
		if t.Group > 0 && rest[i] == t.Separator[0] || t.Base == base32 && rest[i] == '-' {
			continue
		}
		values := t.alphabet.digits
		if t.Check != "" && n == 0 {
			values = t.alphabet.check
		}
		v := t.alphabet.value(rest[i], values)
		if v < 0 {
			return 0, t.wrong(code, fmt.Sprintf("holds %q, which is no digit of %s", rest[i], t.Base))
		}
		digits[n] = byte(v)
		n++
	}
	number := digits[:n]
	if t.Check != "" && n > 0 {
		number = digits[1:n]
	}
	if len(number) == 0 {
		return 0, t.wrong(code, "has no digits")
	}
	base := t.alphabet.base()
	if t.Check != "" && checksum(t.Check, number, byte(base)) != digits[0] {
		return 0, t.wrong(code, "has a wrong check digit: a digit was mistaken, or two were exchanged")
	}
	var id int64
	for _, digit := range slices.Backward(number) {
		d := int64(digit)
		if id > (math.MaxInt64-d)/int64(base) {
			return 0, t.wrong(code, "is greater than any id")
		}
		id = id*int64(base) + d
	}
	return id, nil
}

// unlikeNumbers reports whether no code can be a decimal number.
func (t *Text) unlikeNumbers() bool {
	return t.Prefix != "" && !strings.Contains(decimalDigits+"-", t.Prefix[:1])
}

// cutPrefix removes the prefix. It ignores case if the base does.
func (t *Text) cutPrefix(code string) (string, bool) {
	if t.alphabet.fold && len(code) >= len(t.Prefix) && strings.EqualFold(code[:len(t.Prefix)], t.Prefix) {
		return code[len(t.Prefix):], true
	}
	return strings.CutPrefix(code, t.Prefix)
}

// wrong returns the error for a bad code, with an example of a good one.
func (t *Text) wrong(code, why string) error {
	const most = 64
	if len(code) > most {
		code = code[:most] + "…"
	}
	example, _ := t.AppendCode(nil, 1234567) // cannot fail: the number is not negative
	return generator.OptionError(fmt.Sprintf("A code of this generator looks like %s.", example), "%q %s", code, why)
}
