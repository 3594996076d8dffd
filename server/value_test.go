package server

import (
	"strings"
	"testing"
	"time"
)

func TestValuesReadTheirTexts(t *testing.T) {
	t.Parallel()
	var (
		c    = testBuild.Config()
		size int
		n    int
		big  int64
		d    time.Duration
	)
	for _, tc := range []struct {
		name  string
		value value
		texts map[string]string // text to what String prints; "" for refused
	}{
		{"text", text(&c.Data), map[string]string{"x y": "x y", "": ""}},
		{"choice", choice(&c.LogFormat, "text", "json"), map[string]string{"JSON": "json", "text": "text", "xml": "", "": ""}},
		{"bool", boolean(&c.AllowPlaintext), map[string]string{
			"true": "true", "on": "true", "YES": "true", "1": "true", "off": "false", "0": "false", "No": "false", "maybe": "", "": "",
		}},
		{"int", count(&n, 1, 100), map[string]string{"1": "1", "100": "100", "101": "", "0": "", "1e1": "", "0x1": "", " 1": ""}},
		{"int64", count(&big, 1, 1<<62), map[string]string{"4611686018427387904": "4611686018427387904", "9223372036854775808": ""}},
		{"bytes", bytesOf(&size, 10, 1<<30), map[string]string{
			"10": "10", "1024": "1KiB", "1 KiB": "1KiB", "1000B": "1000", "2MiB": "2MiB", "1GiB": "1GiB",
			"2GiB": "", "9": "", "9999999999GiB": "", "1kb": "", "KiB": "", "-1": "", "99999999999999999999": "",
		}},
		{"duration", duration(&d, time.Millisecond, time.Hour), map[string]string{
			"5s": "5s", "90s": "1m30s", "60s": "1m", "1h": "1h", "61m": "", "10": "", "-1s": "", "": "",
		}},
		{"level", level(&c.LogLevel), map[string]string{"WARN": "warn", "debug": "debug", "trace": "", "": ""}},
		{"worker id", workerSource(&c.WorkerID), map[string]string{
			"auto": "auto", "AUTO": "auto", "0": "0", "1023": "1023", "-1": "", "2147483648": "", "x": "",
			"ordinal": "ordinal", "env:POD": "env:POD", "env:": "", "3/7": "3/7", "ordinal/env:POD": "ordinal/env:POD", "3/": "", "3/7/1": "",
			"mac": "mac", "ip": "", "disposable": "disposable", "redis://u:p@h:1/2?key=k": "redis://u:xxxxx@h:1/2?key=k", "redis:": "",
			"leaf:zookeeper://a,b:1/snowflake/x": "leaf:zookeeper://a,b:1/snowflake/x", "leaf:": "", "leaf:zookeeper://a": "",
		}},
		{"words", words(&c.Audit.Names), map[string]string{"a, b": "a,b", "a,\tb\n": "a,b"}},
		{"address", valueOf(&c.PG, parseAddress, Address.String), map[string]string{
			"off": "off", "127.0.0.1:5433": "127.0.0.1:5433", "[::1]:1": "[::1]:1", ":0": ":0", "/run/x": "/run/x", "./x": "./x", "run/x": "./run/x",
			"5433": "", "127.0.0.1": "", "h:65536": "", "h:-1": "", "h:pg": "", "::1:5433": "", "": "",
		}},
		{"store", valueOf(&c.Store, c.build.StoreURL, StoreURL.String), map[string]string{
			"sqlite:a/b.db": "sqlite:a/b.db", "memory:": "memory:", "memory:x": "", "sqlite:": "", "sqlite": "", "oracle://h": "", "": "",
			"postgres://u:secret@h/d?sslpassword=secret": "postgres://u:xxxxx@h/d?sslpassword=xxxxx", "postgres:h": "",
			"etcd://a:1,b:2/p": "etcd://a:1,b:2/p", "mysql://u@h/d": "mysql://u@h/d", "postgres://u:secret@a:1,b:2/d": "postgres://u:xxxxx@a:1,b:2/d",
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			for in, want := range tc.texts {
				before := tc.value.String()
				err := tc.value.Set(in)
				switch got := tc.value.String(); {
				case (err == nil) != (want != ""):
					t.Errorf("%q: %v", in, err)
				case err == nil && got != want:
					t.Errorf("%q is kept as %q, want %q", in, got, want)
				case err != nil && got != before:
					t.Errorf("%q was refused and still changed %q to %q", in, before, got)
				case err != nil && strings.Contains(err.Error(), "strconv"):
					t.Errorf("%q: message in Go's terms: %v", in, err)
				}
			}
		})
	}
}

func TestStoreInTheDataDirectory(t *testing.T) {
	t.Parallel()
	for data, want := range map[string]string{
		"./nextid-data": "sqlite:./nextid-data/nextid.db",
		"/var/lib/x":    "sqlite:/var/lib/x/nextid.db",
		"data/":         "sqlite:data/nextid.db",
	} {
		if got := (StoreURL{}).In(data).String(); got != want {
			t.Errorf("%s: %s, want %s", data, got, want)
		}
	}
	if u := (StoreURL{Scheme: StoreMemory}).In("x"); u.String() != "memory:" {
		t.Errorf("memory: became %s", u)
	}
}
