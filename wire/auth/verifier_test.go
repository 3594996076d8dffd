package auth

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"os/exec"
	"strings"
	"testing"
)

// The example of RFC 7677, section 3.
func TestSCRAMConversationOfTheRFC(t *testing.T) {
	salt, err := base64.StdEncoding.DecodeString("W22ZaJ0SNY7soEsUEjb6gQ==")
	if err != nil {
		t.Fatal(err)
	}
	s := conversation{verifier: deriveSCRAM("pencil", salt, 4096), known: true, nonce: "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"}
	got, err := s.first([]byte("n,,n=user,r=rOprNGfwEbeRWgbNEkqO"))
	if want := "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"; err != nil || string(got) != want {
		t.Fatalf("server-first-message %q, %v; want %q", got, err, want)
	}
	const final = "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p="
	got, fits, err := s.final([]byte(final + "dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="))
	if want := "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="; err != nil || !fits || string(got) != want {
		t.Errorf("server-final-message %q, %v, %v; want %q", got, fits, err, want)
	}
	if _, fits, err := s.final([]byte(final + "eHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=")); fits || err != nil {
		t.Errorf("a wrong proof: %v, %v", fits, err)
	}
	s.known = false
	if _, fits, err := s.final([]byte(final + "dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=")); fits || err != nil {
		t.Errorf("a made up verifier: %v, %v", fits, err)
	}
}

func TestSCRAMFirstMessages(t *testing.T) {
	type offer struct{ plus, bound bool } // the client's choice, and whether binding was offered
	for text, tc := range map[string]struct {
		offer
		err error
	}{
		"n,,n=,r=abc":                           {offer{}, nil},
		"n,,n=ignored,r=abc,x=extension":        {offer{}, nil},
		"y,,n=,r=abc":                           {offer{}, nil},
		"y,,n=,r=bound":                         {offer{bound: true}, errBinding},
		"n,,n=,r=bound":                         {offer{bound: true}, nil}, // the client does not want to
		"p=tls-server-end-point,,n=,r=abc":      {offer{plus: true, bound: true}, nil},
		"p=tls-unique,,n=,r=abc":                {offer{plus: true, bound: true}, errSCRAM},
		"p=tls-server-end-point,,n=,r=not-plus": {offer{bound: true}, errSCRAM},
		"n,,n=,r=plus-without-binding":          {offer{plus: true, bound: true}, errSCRAM},
		"y,,n=,r=plus-without-binding":          {offer{plus: true, bound: true}, errSCRAM},
		"n,a=somebody,n=,r=abc":                 {offer{}, errSCRAM},
		"n,,m=mandatory,n=,r=abc":               {offer{}, errSCRAM},
		"n,,n=,r=":                              {offer{}, errSCRAM},
		"n,,n=,r=a b":                           {offer{}, errSCRAM},
		"n,,n=,r=\x7f":                          {offer{}, errSCRAM},
		"n,,r=abc,n=":                           {offer{}, errSCRAM},
		"n,,n=":                                 {offer{}, errSCRAM},
		"":                                      {offer{}, errSCRAM},
		",,,":                                   {offer{}, errSCRAM},
		"x,,n=,r=abc":                           {offer{}, errSCRAM},
		"n,,n=,r=abc\x00":                       {offer{}, errSCRAM},
		"n,,n=" + strings.Repeat(",", 900) + ",r=abcde": {offer{}, errSCRAM},
	} {
		s := conversation{verifier: NewSCRAM("x"), nonce: "N", plus: tc.plus}
		if tc.bound {
			s.endPoint = []byte("end point")
		}
		if _, err := s.first([]byte(text)); !errors.Is(err, tc.err) {
			t.Errorf("%q: %v, want %v", text, err, tc.err)
		}
	}
}

func TestSCRAMFinalMessages(t *testing.T) {
	proof := base64.StdEncoding.EncodeToString(make([]byte, 32))
	bound := base64.StdEncoding.EncodeToString([]byte("p=tls-server-end-point,,end point"))
	for text, want := range map[string]error{
		"c=" + bound + ",r=CN,p=" + proof:                nil, // well formed; the proof is wrong
		"c=" + bound + ",r=CN,x=extension,p=" + proof:    nil,
		"c=" + bound + ",r=CX,p=" + proof:                errSCRAM,
		"c=" + bound + ",r=C,p=" + proof:                 errSCRAM,
		"c=biws,r=CN,p=" + proof:                         errEndPoint, // n,,
		"c=" + bound[:len(bound)-4] + ",r=CN,p=" + proof: errEndPoint,
		"c=" + bound + ",r=CN":                           errSCRAM,
		"c=" + bound + ",r=CN,p=" + proof[:40]:           errSCRAM,
		"c=" + bound + ",r=CN,p=*":                       errSCRAM,
		"c=" + bound + ",r=CN,p=" + proof + ",x=1":       errSCRAM,
		"r=CN,c=" + bound + ",p=" + proof:                errSCRAM,
		",p=" + proof:                                    errSCRAM,
		"":                                               errSCRAM,
		"c=cD10bHMtc2VydmVyLWVuZC1wb2ludCwsb3RoZXIgcG9pbnQ=,r=CN,p=" + proof: errEndPoint, // another certificate
	} {
		s := conversation{verifier: NewSCRAM("x"), known: true, plus: true, endPoint: []byte("end point"), nonce: "N"}
		if _, err := s.first([]byte("p=tls-server-end-point,,n=,r=C")); err != nil {
			t.Fatal(err)
		}
		if _, fits, err := s.final([]byte(text)); !errors.Is(err, want) || fits {
			t.Errorf("%q: %v, %v, want %v", text, fits, err, want)
		}
	}
}

func TestSCRAMVerifiers(t *testing.T) {
	v := NewSCRAM("pencil")
	back, err := ParseSCRAM(v.String())
	if err != nil || back.String() != v.String() {
		t.Errorf("%s, %v; want %s", back, err, v)
	}
	if !back.Check("pencil") || back.Check("Pencil") || back.Check("") {
		t.Error("Check is wrong")
	}
	if NewSCRAM("pencil").String() == v.String() {
		t.Error("the same salt again")
	}
	for _, bad := range []string{
		"", "pencil", "SCRAM-SHA-256$", "SCRAM-SHA-1" + v.String()[13:], v.String()[:len(v.String())-2],
		strings.Replace(v.String(), "4096", "0", 1), strings.Replace(v.String(), "4096", "1000001", 1),
		strings.Replace(v.String(), "4096", "-1", 1), strings.Replace(v.String(), ":", "", 1),
	} {
		if _, err := ParseSCRAM(bad); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}

// Digests that MySQL 8 made.
func TestSHA2DigestsOfMySQL(t *testing.T) {
	for password, digest := range map[string]string{
		"foobar":          "24412430303524031A69251C34295C4B35167C7F1E5A7B63091349503974624D34504B5A424679354856336868686F52485A736E4A733368786E427575516C73446469496537",
		"testpassword123": "24412430303524393D02673221785B414A4E5F02073711301659116B446B76753345617A4D7530635548526D3678746F6B75564835553334346932572E332F704C4856477131",
	} {
		v, err := ParseSHA2("0x" + digest)
		if err != nil {
			t.Fatal(err)
		}
		if !v.Check(password) || v.Check(password+"x") || v.Check("") {
			t.Errorf("%s: Check is wrong", password)
		}
		if got := strings.ToUpper(hex.EncodeToString([]byte(v.String()))); got != digest {
			t.Errorf("%s: printed as %s", password, got)
		}
	}
}

func TestSHA2Digests(t *testing.T) {
	v := NewSHA2("pencil")
	back, err := ParseSHA2(v.String())
	if err != nil || *back != *v || !back.Check("pencil") {
		t.Errorf("%v, %v; want %v", back, err, v)
	}
	for _, bad := range []string{
		"", "$A$005$", v.String() + ".", v.String()[1:], "0x0", "0xzz", "$A$004$" + v.String()[7:],
		"$A$xyz$" + v.String()[7:], v.String()[:len(v.String())-1] + "$",
	} {
		if _, err := ParseSHA2(bad); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}

// TestSHACryptLikeOpenSSL compares with another implementation, for lengths
// around the sizes of the blocks.
func TestSHACryptLikeOpenSSL(t *testing.T) {
	openssl, err := exec.LookPath("openssl")
	if err != nil {
		t.Skip("needs the Debian package openssl")
	}
	for _, n := range []int{1, 15, 31, 32, 33, 63, 64, 65, 127, 200} {
		password := strings.Repeat("pässwörd", n)[:n]
		out, err := exec.Command(openssl, "passwd", "-5", "-salt", "saltsaltsaltsalt", password).Output()
		if err != nil {
			t.Fatal(err)
		}
		want := strings.TrimSpace(string(out))
		if got := "$5$saltsaltsaltsalt$" + shaCrypt(password, []byte("saltsaltsaltsalt"), 5000); got != want {
			t.Errorf("%d bytes: %s, want %s", n, got, want)
		}
	}
}

// RFC 4013, section 3, and where PostgreSQL takes a password as it is.
func TestPreparedPasswords(t *testing.T) {
	for in, want := range map[string]string{
		"I\u00adX": "IX", "user": "user", "USER": "USER", "\u00aa": "a", "\u2168": "IX",
		"a\u00a0b":         "a b",
		"a\u200bb":         "a b",
		"\u0340a":          "\u0340a",          // forbidden before it is normalized
		"\U0001f21a":       "\U0001f21a",       // newer than Unicode 3.2, and normalized to an older one
		"\x07":             "\x07",             // forbidden
		"\u06271":          "\u06271",          // forbidden by direction
		"caf\xe9":          "caf\xe9",          // not UTF-8
		"\ufb01\U0001f600": "\ufb01\U0001f600", // an emoji is newer than Unicode 3.2
		"\u00ad":           "\u00ad",           // nothing would be left
	} {
		if got := prepare(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
