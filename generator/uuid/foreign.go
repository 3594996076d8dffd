package uuid

import (
	"encoding/hex"
	"strings"
	"time"

	"nextid/generator"
)

// Ids of other systems, which nextid reads but does not make.

// explainObjectID explains MongoDB's ObjectId: 24 hexadecimal digits of seconds (4
// bytes), a random number of the process (5) and a counter (3).
func explainObjectID(code string) (p generator.Parts, ok bool) {
	b, err := hex.DecodeString(code)
	if err != nil || len(b) != 12 {
		return p, false
	}
	return generator.Parts{
		Time: new(time.Unix(bigEndian(b[:4]), 0).UTC()), Worker: new(bigEndian(b[4:9])), Sequence: new(bigEndian(b[9:])),
	}, true
}

// bigEndian returns the number of at most eight bytes.
func bigEndian(bytes []byte) (n int64) {
	for _, b := range bytes {
		n = n<<8 | int64(b)
	}
	return n
}

// tidDigits are the digits of Bluesky's TIDs. They are in ASCII order, so that TIDs
// sort as texts.
const tidDigits = "234567abcdefghijklmnopqrstuvwxyz"

// explainTID explains a timestamp identifier of the AT Protocol: 13 digits of base
// 32 for a zero bit, 53 bits of Unix microseconds and 10 bits of a clock id. Words
// of 13 letters would be TIDs, too, for example of the year 2140. So only the years
// 2022 (when the protocol began) to 2099 are accepted.
func explainTID(code string) (p generator.Parts, ok bool) {
	if len(code) != 13 {
		return p, false
	}
	var n int64
	for i := range len(code) {
		d := strings.IndexByte(tidDigits, code[i])
		if d < 0 || i == 0 && d > 15 {
			return p, false
		}
		n = n<<5 | int64(d)
	}
	at, clock := time.UnixMicro(n>>10).UTC(), n&1023
	if at.Year() < 2022 || at.Year() > 2099 {
		return p, false
	}
	p.Time, p.Worker = &at, &clock
	return p, true
}

// explainCUID2 recognizes a CUID2 of the default length: a letter, and 23 letters
// and digits. A CUID2 contains no information.
func explainCUID2(code string) (p generator.Parts, ok bool) {
	p, ok = cuidOptions{Size: cuidSize}.explain(code)
	return p, ok && strings.ContainsAny(code, "0123456789") && strings.ContainsAny(code[1:], cuidFirst)
}
