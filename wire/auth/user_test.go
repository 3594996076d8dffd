package auth

import (
	"slices"
	"strings"
	"testing"
)

const (
	somePencil = "SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ==$WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=:wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU="
	someMock   = "@mock c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0"
)

func TestVerifierOfTheRFCsPassword(t *testing.T) {
	v, err := ParseSCRAM(somePencil)
	if err != nil || !v.Check("pencil") {
		t.Errorf("%v, %v", v, err)
	}
}

func TestUsersFiles(t *testing.T) {
	sha2 := NewSHA2("pencil").String()
	users, err := ParseUsers(strings.Join([]string{
		"# users", someMock, "",
		"alice " + somePencil + " " + sha2 + " admin # first",
		"\t bob\t" + sha2 + "\r",
		`"carol the ""great""" "` + somePencil + `"`,
		`"dora" ""`,
		"erna admin only=orders,invoice_*",
		"Алиса " + somePencil,
		"",
	}, "\n"))
	if err != nil {
		t.Fatal(err)
	}
	if users.Len() != 6 {
		t.Errorf("%d users: %q", users.Len(), users.Names())
	}
	for name, want := range map[string]struct{ admin, scram, sha2 bool }{
		"alice": {true, true, true}, "bob": {false, false, true}, `carol the "great"`: {false, true, false},
		"dora": {}, "erna": {admin: true}, "Алиса": {scram: true},
	} {
		u := users.Lookup(name)
		if u == nil {
			t.Errorf("%s is missing", name)
		} else if u.Admin != want.admin || (u.SCRAM != nil) != want.scram || (u.SHA2 != nil) != want.sha2 {
			t.Errorf("%s: %+v", name, u)
		}
	}
	if g := users.Lookup("erna").Generators; !slices.Equal(g, []string{"orders", "invoice_*"}) || users.Lookup("dora").Generators != nil {
		t.Errorf("erna's generators: %q", g)
	}
	if users.Lookup("Alice") != nil || users.Lookup("") != nil {
		t.Error("somebody who is not there is found")
	}
}

func TestWrongUsersFiles(t *testing.T) {
	for line, want := range map[string]string{
		"alice secret":                           "passwords are never stored",
		"alice md5a8bfb8e1f1b3d4d5":              "passwords are never stored",
		"alice " + somePencil[:60]:               "field 2 of user \"alice\": ",
		"alice $A$005$xyz":                       "field 2 of user \"alice\": ",
		"alice 0xqq":                             "not hexadecimal",
		"alice " + somePencil + " " + somePencil: "repeats an earlier one",
		"alice only=":                            "names no generator",
		"alice only=a,,b":                        "such as orders,invoice_*",
		"alice only=a*b":                         "such as orders,invoice_*",
		"alice only=a only=b":                    "repeats an earlier one",
		"alice admin admin":                      "repeats an earlier one",
		"bob " + somePencil:                      "in the file twice",
		`"alice`:                                 "has no end",
		`"" admin`:                               "empty",
		"a\x01b admin":                           "control character",
		"\xff admin":                             "not UTF-8",
		strings.Repeat("x", 129) + " admin":      "longer than 128 bytes",
		"@other x":                               "begin with @",
		"@mock short":                            "base64",
		someMock + "\n" + someMock:               "once",
		"@mock":                                  "once",
		"@users":                                 "once",
		"@users 2 2":                             "once",
		"@users -1":                              "once",
		"@users 1\n@users 1":                     "once",
	} {
		_, err := ParseUsers("bob\n" + line + "\n")
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "line ") || strings.HasPrefix(err.Error(), "line 1:") {
			t.Errorf("%q: %v, want %q", line, err, want)
		}
		if err != nil && (strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "md5")) {
			t.Errorf("%q: the message repeats what may be a password: %v", line, err)
		}
	}
}

// No part of a file with @users is read. Of a file without it, a part that ends with
// the line of a user is read.
func TestPartsOfUsersFiles(t *testing.T) {
	lines := "# users\nalice " + somePencil + " admin only=orders,order_lines\n\nbob\n# end\n"
	for _, head := range []string{"", "@users 2\n"} {
		whole := head + lines
		for n := range len(whole) + 1 {
			part := whole[:n]
			_, err := ParseUsers(part)
			users := strings.Contains(part, "orders,order_lines\n")
			if head != "" {
				users = strings.Contains(part, "bob\n")
			}
			if read := users && strings.HasSuffix(part, "\n"); (err == nil) != read {
				t.Errorf("%q: %v", part, err)
			}
		}
	}
	for text, want := range map[string]string{
		"alice\n@users 2\n": "@users is 2, and the file has 1", "@users 1\nalice\nbob\n": "@users is 1, and the file has 2", "@users 0\n": "no user", "": "no user",
	} {
		if _, err := ParseUsers(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestEditing(t *testing.T) {
	user := func(name, password string) *User {
		u := &User{Name: name}
		if err := u.SetPassword(password, false); err != nil {
			t.Fatal(err)
		}
		return u
	}
	text, found, err := Edit("", "alice", user("alice", "one"))
	if err != nil || found {
		t.Fatal(found, err)
	}
	text, _, err = Edit(text+"# kept\r\n", "bob the #2", user("bob the #2", "two"))
	if err != nil {
		t.Fatal(err)
	}
	first, err := ParseUsers(text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	changed, found, err := Edit(text, "alice", user("alice", "three"))
	if err != nil || !found || strings.Count(changed, "\n@mock ") != 1 || !strings.Contains(changed, "\n# kept\n") {
		t.Fatalf("%v, %v\n%s", found, err, changed)
	}
	users, err := ParseUsers(changed)
	if err != nil || !users.counted || !strings.HasPrefix(changed, "@users 2\n") {
		t.Fatalf("%v\n%s", err, changed)
	}
	if a := users.Lookup("alice"); !a.SCRAM.Check("three") || !a.SHA2.Check("three") || a.SCRAM.Check("one") {
		t.Error("alice has not got her new password")
	}
	if b := users.Lookup("bob the #2"); b == nil || !b.SCRAM.Check("two") {
		t.Error("bob is not as before")
	}
	if string(users.mock) != string(first.mock) || len(users.mock) != mockLength {
		t.Error("the secret changed")
	}
	removed, found, err := Edit(changed, "alice", nil)
	if err != nil || !found || strings.Contains(removed, "alice") || !strings.Contains(removed, "bob") {
		t.Errorf("%v, %v\n%s", found, err, removed)
	}
	if same, found, err := Edit(removed, "alice", nil); err != nil || found || same != removed {
		t.Errorf("%v, %v\n%s", found, err, same)
	}
}

func TestDigestsWithUnprintableSaltsAreWrittenInHexadecimal(t *testing.T) {
	v := NewSHA2("pencil")
	copy(v.Salt[:], "\x01 \x7f\"")
	line := (&User{Name: "alice", SHA2: v}).Line() + "\n"
	users, err := ParseUsers(line)
	if err != nil || *users.Lookup("alice").SHA2 != *v {
		t.Errorf("%q: %v", line, err)
	}
}

func TestPasswordsThatAreRefused(t *testing.T) {
	for _, password := range []string{"", strings.Repeat("x", MaxPassword+1), "a\x00b"} {
		if err := (&User{}).SetPassword(password, false); err == nil {
			t.Errorf("%q is accepted", password)
		}
	}
}

// The verifiers of unknown names have the shape of the users' verifiers. They stay
// the same as long as the file's secret stays.
func TestMadeUpVerifiers(t *testing.T) {
	parse := func(text string) *Users {
		users, err := ParseUsers(text)
		if err != nil {
			t.Fatal(err)
		}
		return users
	}
	slow := NewSCRAM("x")
	slow.Iterations, slow.Salt = 10_000, []byte("a salt of twenty-eight bytes")
	text := someMock + "\nalice " + somePencil + "\nbob " + slow.String() + "\n"
	one, two, other := parse(text), parse(text+"carol\n"), parse(strings.ReplaceAll(text, someMock, ""))
	shapes := map[shape]int{}
	for name := range strings.SplitSeq("abcdefghijklmnopqrstuvwxyz", "") {
		v, known := one.scram(name)
		w, _ := two.scram(name)
		if known || v.String() != w.String() {
			t.Errorf("%s: known %v, then %s, now %s", name, known, v, w)
		}
		if u, _ := other.scram(name); u.String() == v.String() {
			t.Errorf("%s has the same salt with another secret", name)
		}
		shapes[shape{v.Iterations, len(v.Salt), false}]++
	}
	if len(shapes) != 2 || shapes[shape{4096, 16, false}] == 0 || shapes[shape{10_000, 28, false}] == 0 {
		t.Errorf("made up verifiers have the forms %v", shapes)
	}
	if v, known := one.scram("bob"); !known || v.Iterations != 10_000 {
		t.Error("bob's verifier is not his")
	}
	if _, known := two.scram("carol"); known {
		t.Error("a user without a verifier can log in")
	}
}
