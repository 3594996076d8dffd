package dsn

import (
	"errors"
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
	if shown := Redacted(u, hosts); shown != "etcds://u:xxxxx@a:1,b,[::1]:2/x?y=z" {
		t.Error(shown)
	}
	if _, _, err := Parse("nothing"); err == nil {
		t.Error("accepted")
	}
}

func TestPlain(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"failed to initialize: failed to connect to `user=u database=d`:\n\t127.0.0.1:1 (h): dial error: dial tcp 127.0.0.1:1: connect: connection refused" +
			"\n\t127.0.0.1:1 (h): dial error: dial tcp 127.0.0.1:1: connect: connection refused": "dial tcp 127.0.0.1:1: connect: connection refused",
		"failed to connect to `user=u database=d`: 10.0.0.1:5432 (a): server error: FATAL: no (SQLSTATE 28P01)":                                                    "FATAL: no (SQLSTATE 28P01)",
		"failed to connect to `user= database=`:\n\t1.1.1.1:1 (a): dial error: a\n\t1.1.1.2:1 (b): dial error: b":                                                  "a; b",
		"failed to connect to `user=u database=d`:\n\t127.0.0.1:5432 (h): tls error: server refused TLS connection\n\t127.0.0.1:5432 (h): server error: FATAL: no": "FATAL: no",
		"failed to connect to `user=u database=d`: h:5432 (h): tls error: server refused TLS connection":                                                           "server refused TLS connection",
		"redis: closed": "redis: closed",
	} {
		if got := Plain(errors.New(text)).Error(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
