package code

import (
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"nextid/generator"
)

func mustText(t testing.TB, options string) *Text {
	t.Helper()
	o, err := parse(json.RawMessage(options), maxBits)
	if err != nil {
		t.Fatalf("%s: %v", options, err)
	}
	if o.Text == nil {
		t.Fatalf("%s: no text form", options)
	}
	return o.Text
}

// Published examples: Damm 572 → 4 (his thesis), Luhn 7992739871 → 3 (ISO/IEC
// 7812-1, annex B has the method), Crockford 1234 → 16J with the check sign D.
func TestAppendCode(t *testing.T) {
	for _, c := range []struct {
		options string
		id      int64
		want    string
	}{
		{`{"text":"decimal"}`, 0, "0"},
		{`{"text":"decimal"}`, math.MaxInt64, "9223372036854775807"},
		{`{"text":"hex"}`, math.MaxInt64, "7fffffffffffffff"},
		{`{"text":"hex","case":"upper"}`, 255, "FF"},
		{`{"text":"base32"}`, 1234, "16J"},
		{`{"text":"base32","check":true}`, 1234, "16JD"},
		{`{"text":"base32","check":true,"case":"lower"}`, 1234, "16jd"},
		{`{"text":"base32","check":true}`, 36, "14U"},
		{`{"text":"base32"}`, math.MaxInt64, "7ZZZZZZZZZZZZ"},
		{`{"text":"base36"}`, math.MaxInt64, strconv.FormatInt(math.MaxInt64, 36)},
		{`{"text":"base58"}`, math.MaxInt64, "NQm6nKp8qFC"}, // bytes 7fff… in Bitcoin's encoding
		{`{"text":"base58","pad":3}`, 57, "11z"},
		{`{"text":"base62"}`, math.MaxInt64, "AzL8n0Y58m7"},
		{`{"text":"base62","pad":11}`, 61, "0000000000z"},
		{`{"text":"decimal","check":true}`, 572, "5724"},
		{`{"text":"decimal","check":"damm"}`, 0, "00"},
		{`{"text":"decimal","check":"luhn"}`, 7992739871, "79927398713"},
		{`{"prefix":"ORD-","pad":8}`, 42, "ORD-00000042"},
		{`{"text":"base32","prefix":"K","pad":12,"group":4}`, 123456789, "K0000-003N-QK8N"},
		{`{"text":"decimal","pad":7,"group":3,"separator":" ","check":"luhn"}`, 1234567, "12 345 674"},
		{`{"text":{"base":"hex","pad":4,"prefix":"x"}}`, 255, "x00ff"},
		{`{"prefix":"Größe/"}`, 1, "Größe/1"},
		{`{"text":"base64url"}`, math.MaxInt64, "f_________8"}, // bytes 7fff…
		{`{"text":"base64url","prefix":"v="}`, 1, "v=AAAAAAAAAAE"},
		{`{"text":"hashids","salt":"this is my salt"}`, 12345, "NkK9"}, // the example of hashids.org
		{`{"text":"hashids","salt":"this is my salt","pad":8}`, 1, "gB0NV05e"},
		{`{"text":"sqids"}`, 0, "bM"}, // of the tests of sqids.org
		{`{"text":"sqids"}`, 1, "Uk"},
	} {
		form := mustText(t, c.options)
		got, err := form.AppendCode(nil, c.id)
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %d is %q, %v; want %q", c.options, c.id, got, err, c.want)
		}
		back, err := form.ParseCode(c.want)
		if err != nil || back != c.id {
			t.Errorf("%s: %q is %d, %v; want %d", c.options, c.want, back, err, c.id)
		}
	}
	if _, err := mustText(t, `{"text":"hex"}`).AppendCode(nil, -1); !errors.Is(err, generator.ErrOption) {
		t.Errorf("a negative id: %v", err)
	}
}

// Luhn's method in base 6: the example of "Luhn mod N algorithm", abcdef → e.
func TestLuhnInAnotherBase(t *testing.T) {
	if got := luhnSum([]byte{5, 4, 3, 2, 1, 0}, 6); got != 4 {
		t.Errorf("check digit %d, want 4", got)
	}
}

func TestParseCodeIgnoresCaseAndSeparators(t *testing.T) {
	for _, c := range []struct {
		options, code string
		want          int64
	}{
		{`{"text":"base32","check":true,"prefix":"ord_"}`, "ORD_16jd", 1234},
		{`{"text":"base32","check":true}`, "16-J-D", 1234},
		{`{"text":"base32","check":true}`, "i6jd", 1234},
		{`{"text":"base32","check":true}`, "000L6JD", 1234},
		{`{"text":"base32"}`, "Oo1", 1},
		{`{"text":"hex"}`, "FF", 255},
		{`{"text":"base36"}`, "zZ", 35*36 + 35},
		{`{"text":"decimal","group":3,"separator":"."}`, "1234.567", 1234567},
		{`{"text":"decimal","group":3,"separator":"."}`, "1234567", 1234567},
	} {
		if got, err := mustText(t, c.options).ParseCode(c.code); err != nil || got != c.want {
			t.Errorf("%s: %q is %d, %v; want %d", c.options, c.code, got, err, c.want)
		}
	}
}

func TestParseCodeRefuses(t *testing.T) {
	for _, c := range []struct{ options, code, want string }{
		{`{"text":"decimal"}`, "", "no digits"},
		{`{"text":"decimal"}`, "12a", "no digit of decimal"},
		{`{"text":"decimal"}`, "-1", "no digit"},
		{`{"text":"decimal"}`, "9223372036854775808", "greater than any id"},
		{`{"text":"hex"}`, "8000000000000000", "greater than any id"},
		{`{"text":"hex"}`, "fg", "no digit of hex"},
		{`{"text":"base62"}`, strings.Repeat("z", 300), "too long"},
		{`{"text":"base62","prefix":"a"}`, "A1", "does not begin"},
		{`{"text":"decimal","check":true}`, "5", "no digits"},
		{`{"text":"decimal","check":true}`, "5742", "check digit"},
		{`{"text":"base32","check":true}`, "16DJ", "check digit"},
		{`{"text":"base32","check":true}`, "1*6J", "no digit"},
		{`{"text":"base32"}`, "16U", "no digit"},
		{`{"text":"decimal","group":3,"separator":"."}`, "...", "no digits"},
		{`{"text":"base64url"}`, "gAAAAAAAAAA", "no code"}, // greater than any id
		{`{"text":"base64url"}`, "AAAAAAAAAAF", "no code"},
		{`{"text":"hashids","salt":"this is my salt"}`, "NkK8", "no code"},
		{`{"text":"hashids"}`, "", "no code"},
		{`{"text":"hashids"}`, "o2fXhV", "no code"}, // 1, 2 and 3
		{`{"text":"sqids"}`, "86Rf07", "no code"},   // also several numbers
		{`{"text":"sqids"}`, "", "no code"},
		{`{"text":"sqids"}`, "bMMMMMMMMMMMMM", "no code"},
	} {
		_, err := mustText(t, c.options).ParseCode(c.code)
		var e *generator.Error
		if !errors.As(err, &e) || !errors.Is(err, generator.ErrOption) || !strings.Contains(e.Message, c.want) || e.Hint == "" {
			t.Errorf("%s: %q: %v, want %q", c.options, c.code, err, c.want)
		}
	}
}

func TestOptionsOfCodesAreChecked(t *testing.T) {
	for options, want := range map[string]string{
		`{"text":"base63"}`:                                "text must be one of",
		`{"text":"base62","case":"upper"}`:                 "case does not go with base62",
		`{"text":"hex","case":"middle"}`:                   "case must be lower or upper",
		`{"text":"hex","pad":65}`:                          "pad and group must be between",
		`{"text":"hex","pad":-1}`:                          "pad and group must be between",
		`{"text":"hex","pad":"x"}`:                         "option pad must be a whole number",
		`{"text":"hex","check":"damm"}`:                    "does not go with hex",
		`{"text":"base62","check":"mod37"}`:                "does not go with base62",
		`{"text":"hex","check":"sum"}`:                     "check must be true, luhn, damm or mod37",
		`{"text":"hex","check":5}`:                         "check must be true, false or the name",
		`{"text":"hex","separator":"-"}`:                   "separator needs group",
		`{"text":"hex","group":4,"separator":"0"}`:         "separator must be one of",
		`{"text":"hex","group":4,"separator":"--"}`:        "separator must be one of",
		`{"text":"hex","prefix":"a\nb"}`:                   "without control characters",
		`{"prefix":"` + strings.Repeat("x", 65) + `"}`:     "prefix must be",
		`{"text":{"base":"hex","text":"hex"}}`:             `unknown option "text"`,
		`{"text":{"bass":"hex"}}`:                          "unknown option",
		`{"text":5}`:                                       "must be a JSON object",
		`{"text":"sqids","salt":"very secret text"}`:       "salt goes with hashids",
		`{"text":"base62","alphabet":"abc"}`:               "alphabet goes with sqids",
		`{"text":"sqids","alphabet":"aa1"}`:                "unique",
		`{"text":"hashids","alphabet":"abc"}`:              "at least 16",
		`{"text":"hashids","alphabet":"äöü"}`:              "ASCII",
		`{"text":"sqids","check":true}`:                    "no check digit",
		`{"text":"hashids","group":4}`:                     "no groups",
		`{"text":"hashids","case":"upper"}`:                "case does not go",
		`{"text":"sqids","pad":65}`:                        "pad and group must be between",
		`{"text":"base64url","pad":11}`:                    "have 11 characters",
		`{"scatter":"short"}`:                              "at least 16 characters",
		`{"scatter":""}`:                                   "at least 16 characters",
		`{"scatter":{"bits":8}}`:                           "16 to 63 bits",
		`{"scatter":{"bits":64}}`:                          "16 to 63 bits",
		`{"scatter":{"bits":40,"kee":"very secret text"}}`: "scatter must be true, bit_reverse, a key, or an object",
		`{"scatter":5}`:                                    "scatter must be true, bit_reverse, a key, or an object",
	} {
		_, err := parse(json.RawMessage(options), maxBits)
		if !errors.Is(err, generator.ErrOption) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", options, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: the message shows the key: %v", options, err)
		}
	}
}

// forms draws a random text form.
func forms(t *rapid.T) *Text {
	form := &Text{
		Base: rapid.SampledFrom([]string{decimal, base16, base32, base36, base58, base62, base64url, sqidsText, hashidsText}).Draw(t, "base"),
		textOptions: textOptions{
			Prefix: rapid.SampledFrom([]string{"", "ORD-", "a", "9", "0x", "ü "}).Draw(t, "prefix"),
			Pad:    rapid.IntRange(0, maxPad).Draw(t, "pad"),
		},
	}
	if alphabets[form.Base].base() == 0 {
		if form.Base == base64url {
			form.Pad = 0
		} else {
			form.Alphabet = string(rapid.Permutation([]byte("abcdefgHIJKLMNOPQ0123456789-_~!")).Draw(t, "alphabet")[:rapid.IntRange(16, 31).Draw(t, "length")])
		}
		if form.Base == hashidsText {
			form.Salt = rapid.String().Draw(t, "salt")
			form.Salt = form.Salt[:min(len(form.Salt), maxSalt)]
		}
		if err := form.check(); err != nil && utf8.ValidString(form.Salt) {
			t.Fatal(err)
		} else if err != nil {
			t.Skip("half a character")
		}
		return form
	}
	form.Group = rapid.IntRange(0, 9).Draw(t, "group")
	if form.Group > 0 {
		form.Separator = string(separators[rapid.IntRange(0, len(separators)-1).Draw(t, "separator")])
	}
	if alphabets[form.Base].fold {
		form.Case = rapid.SampledFrom([]string{"", lower, upper}).Draw(t, "case")
	}
	form.Check = rapid.SampledFrom([]checkMethod{"", luhn, usualCheck(form.Base)}).Draw(t, "check")
	if err := form.check(); err != nil {
		t.Fatal(err)
	}
	return form
}

func TestCodesReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		form := forms(t)
		id := rapid.Int64Range(0, math.MaxInt64).Draw(t, "id")
		code, err := form.AppendCode(nil, id)
		if err != nil {
			t.Fatal(err)
		}
		if len(code) > maxCode {
			t.Fatalf("%q has %d bytes", code, len(code))
		}
		if got, err := form.ParseCode(string(code)); err != nil || got != id {
			t.Fatalf("%d became %q and %d, %v", id, code, got, err)
		}
	})
}

// Each method detects one wrong digit. damm and mod37 detect all exchanged
// neighbors, luhn all but the first and the last digit of the base.
func TestCheckDigitsNoticeMistakes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		form := forms(t)
		if form.Check == "" {
			t.Skip("no check digit")
		}
		form.Prefix, form.Group, form.Separator, form.Pad = "", 0, "", min(form.Pad, 10)
		id := rapid.Int64Range(0, 1<<48).Draw(t, "id")
		code, _ := form.AppendCode(nil, id)
		at := rapid.IntRange(0, len(code)-2).Draw(t, "at")
		wrong := []byte(string(code))
		if rapid.Bool().Draw(t, "exchange") {
			a, b := form.alphabet.value(wrong[at], form.alphabet.check), form.alphabet.value(wrong[at+1], form.alphabet.check)
			last := form.alphabet.base() - 1
			if a == b || form.Check == luhn && min(a, b) == 0 && max(a, b) == last {
				t.Skip("no mistake, or the one that Luhn's method does not notice")
			}
			wrong[at], wrong[at+1] = wrong[at+1], wrong[at]
		} else {
			wrong[at] = form.alphabet.digits[rapid.IntRange(0, form.alphabet.base()-1).Draw(t, "digit")]
			if wrong[at] == code[at] {
				t.Skip("no mistake")
			}
		}
		if got, err := form.ParseCode(string(wrong)); err == nil {
			t.Fatalf("%s: %s was read as %d for %s", form.Check, wrong, got, code)
		}
	})
}

func TestPaddedBase62SortsAsItsNumbers(t *testing.T) {
	form := mustText(t, `{"text":"base62","pad":11}`)
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.Int64Min(0).Draw(t, "a"), rapid.Int64Min(0).Draw(t, "b")
		x, _ := form.AppendCode(nil, a)
		y, _ := form.AppendCode(nil, b)
		if (a < b) != (string(x) < string(y)) {
			t.Fatalf("%d %s, %d %s", a, x, b, y)
		}
	})
}

func TestCodesAllocateNothing(t *testing.T) {
	form := mustText(t, `{"text":"base32","prefix":"ORD-","check":true,"pad":13,"group":4}`)
	buf := make([]byte, 0, maxCode)
	if n := testing.AllocsPerRun(100, func() { buf, _ = form.AppendCode(buf[:0], 123456789012) }); n != 0 {
		t.Errorf("AppendCode allocates %v times", n)
	}
	text := string(buf)
	if n := testing.AllocsPerRun(100, func() {
		if _, err := form.ParseCode(text); err != nil {
			t.Error(err)
		}
	}); n != 0 {
		t.Errorf("ParseCode allocates %v times", n)
	}
}

func FuzzParseCode(f *testing.F) {
	f.Add(`{"text":"base32","check":true,"group":4}`, "16J-D")
	f.Add(`{"text":"base62","prefix":"a"}`, "aAzL8n0Y58m7")
	f.Add(`{"text":"sqids","pad":10}`, "UkLWZg9DAJ")
	f.Add(`{"text":"hashids","salt":"s","alphabet":"cfhistuCFHISTU01"}`, "hc")
	f.Fuzz(func(t *testing.T, options, code string) {
		o, err := parse(json.RawMessage(options), maxBits)
		if err != nil || o.Text == nil {
			return
		}
		id, err := o.Text.ParseCode(code)
		if err != nil {
			return
		}
		b, err := o.Text.AppendCode(nil, id)
		if err != nil {
			t.Fatal(err)
		}
		if back, err := o.Text.ParseCode(string(b)); err != nil || back != id {
			t.Fatalf("%q is %d, which is written %q", code, id, b)
		}
	})
}
