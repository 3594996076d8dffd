package auth

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"
)

// FuzzUsersFile reads any text. The file is refused, or its users are written as
// they were read.
func FuzzUsersFile(f *testing.F) {
	f.Add(someMock + "\nalice " + somePencil + " admin\n\"b \"\"c\" $A$005$" + strings.Repeat("x", 63) + "\n")
	f.Add("# only a comment\n")
	f.Add("@users 1\nalice *6BB4837EB74329105EE4568DDA7DC67ED2CA2AD9 0x24\n")
	f.Fuzz(func(t *testing.T, text string) {
		users, err := ParseUsers(text)
		if err != nil {
			return
		}
		for _, name := range users.Names() {
			line := users.Lookup(name).Line()
			again, err := ParseUsers(line + "\n")
			if err != nil || again.Len() != 1 || again.Lookup(name) == nil || again.Lookup(name).Line() != line {
				t.Fatalf("%q is written as %q: %v", name, line, err)
			}
		}
		edited, _, err := Edit(text, "somebody else", &User{Name: "somebody else"})
		if err != nil {
			t.Fatal(err)
		}
		if more, err := ParseUsers(edited); err != nil || more.Lookup("somebody else") == nil {
			t.Fatalf("after an edit: %v\n%q", err, edited)
		}
	})
}

func FuzzRules(f *testing.F) {
	f.Add("local all peer name=a,b\nhostssl x 10.0.0.0/8 cert # c\nhost all ::1 scram\n")
	f.Fuzz(func(t *testing.T, text string) {
		rules, err := ParseRules(text)
		if err == nil && len(rules) == 0 {
			t.Fatal("no rule and no error")
		}
		for _, r := range rules {
			if err == nil && r.check() != nil {
				t.Fatalf("%+v is accepted", r)
			}
		}
	})
}

// FuzzSCRAM: no dialogue of a preLogin ends in success.
func FuzzSCRAM(f *testing.F) {
	f.Add("SCRAM-SHA-256\x00\x00\x00\x00\x0en,,n=,r=client", "c=biws,r=clientN,p=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")
	f.Add("SCRAM-SHA-256-PLUS\x00\x00\x00\x00\x23p=tls-server-end-point,,n=,r=client", "c=,r=,p=")
	verifier := NewSCRAM("a password that nobody guesses")
	users := NewUsers([]*User{{Name: "alice", SCRAM: verifier}}, nil)
	f.Fuzz(func(t *testing.T, first, final string) {
		for _, bound := range []bool{false, true} {
			s := &conversation{verifier: verifier, known: true, nonce: "N"}
			if bound {
				s.endPoint = []byte("end point")
			}
			l := &postgresLogin{login: &login{tables: &tables{users: users}, name: "alice"}, scram: s}
			request, err := l.chosen([]byte(first))
			if err != nil {
				continue
			}
			if c, ok := request.(*pgproto3.AuthenticationSASLContinue); !ok || len(c.Data) == 0 {
				t.Fatalf("request %v", request)
			}
			if _, done, err := l.proven([]byte(final)); done || err == nil {
				t.Fatalf("%q and %q are a proof", first, final)
			}
		}
	})
}

func FuzzVerifiers(f *testing.F) {
	f.Add(somePencil)
	f.Add(NewSHA2("pencil").String())
	f.Add("0x24412430303524")
	f.Fuzz(func(t *testing.T, text string) {
		if v, err := ParseSCRAM(text); err == nil {
			if again, err := ParseSCRAM(v.String()); err != nil || again.String() != v.String() {
				t.Fatalf("%q: %v", v, err)
			}
		}
		if v, err := ParseSHA2(text); err == nil {
			if again, err := ParseSHA2(v.String()); err != nil || *again != *v {
				t.Fatalf("%q: %v", v, err)
			}
		}
	})
}
