package uuid

import (
	"crypto/rand"
	"errors"
	"math/big"
	"slices"
	"strings"
	"testing"

	"nextid/generator"
	"nextid/generator/code"
)

// big.Int computes the digits of the bases.
func TestFormsOfUUIDs(t *testing.T) {
	t.Parallel()
	random := func() (u UUID) {
		_, _ = rand.Read(u[:]) // does not fail
		return u
	}
	all := []UUID{Nil, Max, DNS, {15: 1}, {8: 1}}
	for range 500 {
		all = append(all, random())
	}
	slices.SortFunc(all, func(a, b UUID) int { return strings.Compare(string(a[:]), string(b[:])) })
	forms := []Form{{name: formTypeID, prefix: "user_"}}
	for name := range strings.SplitSeq(FormNames, ", ") {
		f, ok := FormOf(name)
		if !ok {
			t.Fatalf("no form %s", name)
		}
		forms = append(forms, f)
	}
	for _, f := range forms {
		last := ""
		for _, u := range all {
			text := f.Code(u)
			if back, err := f.UUID(text); err != nil || back != u {
				t.Fatalf("%s: %s is %s, which is read as %s, %v", f.name, u, text, back, err)
			}
			if text <= last && last != "" || last != "" && len(text) != len(last) {
				t.Fatalf("%s: %s comes after %s", f.name, text, last)
			}
			last = text
			if f.name != formBase58 && f.name != formBase62 {
				continue
			}
			want, n, digits := "", new(big.Int).SetBytes(u[:]), code.Digits(f.name)
			for n.Sign() > 0 {
				var digit big.Int
				n.DivMod(n, big.NewInt(int64(len(digits))), &digit)
				want = digits[digit.Int64():digit.Int64()+1] + want
			}
			if strings.TrimLeft(text, digits[:1]) != want {
				t.Fatalf("%s in %s is %s, want %s", u, f.name, text, want)
			}
			if short, err := f.UUID(want); len(want) >= leastDigits && (err != nil || short != u) {
				t.Fatalf("%s: %s is read as %s, %v", f.name, want, short, err)
			}
		}
	}
	for name, bad := range map[string][]string{
		formBase58: {"", "x", "I000000000000000000", "zzzzzzzzzzzzzzzzzzzzzz", "11111111111111111111111"},
		formBase62: {"", "-", "zzzzzzzzzzzzzzzzzzzzzz", "7n42DGM5Tflk9n8mt7Fhc8"}, // 2^128
		formULID:   {"", "01ARZ3NDEKTSV4RRFFQ69G5FA", "81ARZ3NDEKTSV4RRFFQ69G5FAV"},
	} {
		f, _ := FormOf(name)
		for _, text := range bad {
			if u, err := f.UUID(text); !errors.Is(err, generator.ErrOption) {
				t.Errorf("%s: %q is read as %s, %v", name, text, u, err)
			}
		}
	}
}

// The specification of TypeID has this pair.
func TestTextsThatShowTheirForm(t *testing.T) {
	t.Parallel()
	want := parse(t, "01890a5d-ac96-774b-bcce-b302099a8057")
	for _, text := range []string{
		"prefix_01h455vb4pex5vsknk084sn02q", "01H455VB4PEX5VSKNK084SN02Q", "01h455vb4pex5vsknk084sn02q",
		want.String(), "01890A5DAC96774BBCCEB302099A8057",
	} {
		if u, err := ParseText(text); err != nil || u != want {
			t.Errorf("%s is %s, %v", text, u, err)
		}
	}
	for _, text := range []string{"", "x", "_01h455vb4pex5vsknk084sn02q", "prefix_01H455VB4PEX5VSKNK084SN02Q", "1BoatSLRHtKNngkdXEeobR"} {
		if u, err := ParseText(text); !errors.Is(err, generator.ErrOption) {
			t.Errorf("%q is %s, %v", text, u, err)
		}
	}
}

func TestPublicUUIDs(t *testing.T) {
	t.Parallel()
	a, b := NewCipher("correct horse battery staple"), NewCipher("another key of this test")
	source := NewSource(generator.SystemClock{})
	seen := map[UUID]bool{}
	for range 10_000 {
		u := source.V7()
		p, err := a.Public(u)
		if err != nil || !p.Standard() || p.Version() != 4 || seen[p] {
			t.Fatalf("%s is public as %s, %v", u, p, err)
		}
		seen[p] = true
		if back, err := a.Private(p); err != nil || back != u {
			t.Fatalf("%s comes back as %s, %v", u, back, err)
		}
		if other, _ := b.Public(u); other == p {
			t.Fatal("both keys make the same of", u)
		}
	}
	// Each version 4 is the public form of one version 7: the map is a bijection.
	for range 10_000 {
		u := source.V4()
		p, err := a.Private(u)
		if back, _ := a.Public(p); err != nil || back != u || p.Version() != 7 {
			t.Fatalf("%s is private as %s, which is public as %s, %v", u, p, back, err)
		}
	}
	// Stored public UUIDs depend on these values.
	for private, public := range map[string]string{
		"01890a5d-ac96-774b-bcce-b302099a8057": "1ccb67d5-2d0d-4da0-a1b8-d1aa93aed718",
		"00000000-0000-7000-8000-000000000000": "e053d4fb-b412-441e-9680-febb7ad001d9",
		"ffffffff-ffff-7fff-bfff-ffffffffffff": "2f35d28f-34f3-46b2-9f97-3aaffa484f14",
	} {
		if got, err := a.Public(parse(t, private)); err != nil || got.String() != public {
			t.Errorf("%s is public as %s, %v, want %s", private, got, err, public)
		}
	}
	for _, u := range []UUID{Nil, Max, source.V4(), source.V6()} {
		if _, err := a.Public(u); !errors.Is(err, generator.ErrOption) {
			t.Errorf("public %s: %v", u, err)
		}
	}
	if _, err := a.Private(source.V7()); !errors.Is(err, generator.ErrOption) {
		t.Errorf("private of a UUID of version 7: %v", err)
	}
}
