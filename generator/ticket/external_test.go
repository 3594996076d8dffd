package ticket

import (
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"postgres://u@h/d": "", "mysql://u:secret@h:1/d?tls=true": "", "redis://h": "", "rediss://:secret@h:1/2": "",
		"postgres://h":                 "names no database",
		"mysql:///d":                   "names no host",
		"postgres://a,b/d":             "more than one host",
		"oracle://u:secret@h/d":        "begins with none of postgres://",
		"postgres://u:secret@h:port/d": "not a URL",
		"":                             "begins with",
	} {
		l, err := ParseLocation(text)
		if err != nil {
			if got := err.Error(); want == "" || !strings.Contains(got, want) || strings.Contains(got, "secret") {
				t.Errorf("%s: %s, want %q", text, got, want)
			}
			continue
		}
		if want != "" || strings.Contains(l.String(), "secret") || l.HasPassword() != strings.Contains(text, "secret") {
			t.Errorf("%s: %s, %v, want %q", text, l, l.HasPassword(), want)
		}
	}
}

func TestPasswordFile(t *testing.T) {
	t.Parallel()
	file := Passwords(func() ([]byte, error) {
		return []byte("# comment\nh:5432:d:u:one\nh:3306:*:*:two\n*:*:*:*:three\n"), nil
	})
	for text, want := range map[string]string{
		"postgres://u@h/d": "one", "mysql://x@h/y": "two", "redis://other:1/0": "three", "postgres://u:own@h/d": "own",
	} {
		l, err := ParseLocation(text)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := l.password(file); got != want || err != nil {
			t.Errorf("%s: %q, %v, want %q", text, got, err, want)
		}
	}
}

func TestQuoteName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"Tickets64": "`Tickets64`", "shop.tickets": "`shop`.`tickets`", "a`b": "", "a.b.c": "", "": "", "a.": "", strings.Repeat("x", 64): "",
	} {
		if got, err := MySQL.QuoteName(name); got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %s, %v", name, got, err)
		}
	}
	if got, _ := Postgres.QuoteName("a.b"); got != `"a"."b"` {
		t.Error(got)
	}
}
