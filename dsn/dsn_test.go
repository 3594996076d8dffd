package dsn

import (
	"testing"
	"time"
)

func TestMySQL(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ url, want, err string }{
		{"mysql://h/d", "tcp(h:3306)/d?timeout=5s", ""},
		{"mysql://u:p%40s@h:1/d%20e?timeout=2s&tls=true", "u:p@s@tcp(h:1)/d%20e?timeout=2s&tls=true", ""},
		{"mariadb://u@[::1]/", "u@tcp([::1]:3306)/?timeout=5s", ""},
		{"mysql://u@h/d?socket=/run/s", "u@unix(/run/s)/d?timeout=5s", ""},
		{"mysql://h/d?ca=/none/there", "", "open /none/there: no such file or directory"},
		{"mysql://u:secret@h:x/d", "", "not a URL"},
	} {
		c, err := MySQL(tc.url)
		if err != nil {
			if err.Error() != tc.err {
				t.Errorf("%s: %v", tc.url, err)
			}
			continue
		}
		c.Logger = nil
		if got := c.FormatDSN(); got != tc.want || tc.err != "" || c.Timeout < time.Second {
			t.Errorf("%s: %s, want %s", tc.url, got, tc.want)
		}
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	u, hosts, err := Parse("etcds://u:secret@a:1,b,[::1]:2/x?y=z")
	if err != nil || len(hosts) != 3 || hosts[2] != "[::1]:2" || u.Query().Get("y") != "z" {
		t.Errorf("%v %v %v", u, hosts, err)
	}
	if shown := Redacted(u, hosts); shown != "etcds://u:xxxxx@a:1,b,[::1]:2/x" {
		t.Error(shown)
	}
	if _, _, err := Parse("nothing"); err == nil {
		t.Error("accepted")
	}
}
