package code

import (
	"encoding/json"
	"fmt"
	"slices"
)

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
