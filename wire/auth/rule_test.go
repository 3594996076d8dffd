package auth

import (
	"net/netip"
	"strings"
	"testing"

	"nextid/wire"
)

func TestRules(t *testing.T) {
	_, err := ParseRules(`
# TYPE     USER        ADDRESS          METHOD
local      root        peer
local      ops         peer name=root,deploy
local      all         scram
hostssl    app         10.0.0.0/8       cert name=app.example.com
hostnossl  all         10.1.0.0/16      reject
host       app,"b c"   10.0.0.0/8       scram      # the quotes are around a part: no
host       all         2001:db8::/32    scram
host       all         127.0.0.1        trust
hostssl    all         all              scram
`)
	if err == nil {
		t.Fatal("quotes inside a field are accepted")
	}
	rules, err := ParseRules(`
local      root        peer
local      all         scram
hostssl    app         10.0.0.0/8       cert name=app.example.com
hostnossl  all         10.1.0.0/16      reject
host       "app,b c"   10.0.0.0/8       scram
host       all         2001:db8::/32    scram
host       all         127.0.0.1        trust
hostssl    all         all              scram
`)
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		user, from string
		secure     bool
		want       Method
	}{
		{"root", "", false, Peer},
		{"app", "", false, Password},
		{"app", "10.2.3.4", true, Cert},
		{"app", "10.2.3.4", false, Password},
		{"b c", "10.2.3.4", true, Password},
		{"app", "10.1.3.4", false, Reject},
		{"app", "10.1.3.4", true, Cert},
		{"other", "10.2.3.4", false, ""},
		{"other", "10.2.3.4", true, Password},
		{"other", "2001:db8::5", false, Password},
		{"other", "2001:db9::5", false, ""},
		{"other", "127.0.0.1", false, Trust},
		{"other", "127.0.0.2", false, ""},
		{"ROOT", "", false, Password},
	} {
		o := origin(tc.from, tc.secure)
		got := Method("")
		if r := match(rules, o, tc.user); r != nil {
			got = r.Method
		}
		if got != tc.want {
			t.Errorf("%s from %q, TLS %v: %q, want %q", tc.user, tc.from, tc.secure, got, tc.want)
		}
	}
}

// However an address is written, a rule for it holds: rules that reject must not
// fail open.
func TestRulesHoldForEveryFormOfAnAddress(t *testing.T) {
	for _, tc := range []struct{ address, from string }{
		{"fe80::1", "fe80::1%eth0"},
		{"fe80::/10", "fe80::1%eth0"},
		{"::/0", "fe80::1%eth0"},
		{"10.0.0.0/8", "::ffff:10.1.2.3"},
		{"10.0.0.0/8", "::ffff:10.1.2.3%eth0"},
		{"0.0.0.0/0", "::ffff:10.1.2.3"},
		{"::ffff:10.0.0.0/104", "10.1.2.3"},
		{"::ffff:10.0.0.0/104", "::ffff:10.1.2.3"},
		{"::ffff:10.1.2.3", "10.1.2.3"},
		{"::ffff:0.0.0.0/96", "192.0.2.1"},
	} {
		rules, err := ParseRules("host all " + tc.address + " reject\nhost all all trust\n")
		if err != nil {
			t.Errorf("%s: %v", tc.address, err)
			continue
		}
		if r := match(rules, origin(tc.from, false), "app"); r.Method != Reject {
			t.Errorf("a rule for %s does not reject %s", tc.address, tc.from)
		}
	}
}

func TestWrongRules(t *testing.T) {
	for line, want := range map[string]string{
		"":                                  "no rule",
		"# nothing":                         "no rule",
		"hostgss all all scram":             "type",
		"local":                             "the user is missing",
		"local all":                         "the method is missing",
		"host all":                          "the address is missing",
		"host all all":                      "the method is missing",
		"host all 10.0.0.0/33 scram":        "address",
		"host all 10.0.0.1/8 scram":         "10.0.0.0/8 is meant",
		"host all example.com scram":        "address",
		"host all fe80::1%eth0 scram":       "address",
		"host all fe80::%eth0/64 scram":     "address",
		"host all ::ffff:0.0.0.0/90 scram":  "address",
		"host all ::ffff:0:0/80 scram":      "address",
		"host all all md5":                  "method",
		"host all all password":             "method",
		"host all all peer":                 "for type local",
		"host all all cert":                 "for type hostssl",
		"hostnossl all all cert":            "for type hostssl",
		"local all cert":                    "for type hostssl",
		"local all scram name=x":            "takes no names",
		"local all peer map=x":              "option",
		"local all peer name=":              "option",
		"local all peer name=a name=b":      "option",
		"local all 127.0.0.1 peer":          "method",
		"host all 10.0.0.0 255.0.0.0 scram": "method",
	} {
		if _, err := ParseRules(line + "\n"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", line, err, want)
		}
	}
}

func TestDefaultRules(t *testing.T) {
	for _, tc := range []struct {
		from              string
		secure, plaintext bool
		want              bool
	}{
		{"", false, false, true},
		{"127.0.0.1", false, false, true},
		{"127.0.0.1", true, false, true},
		{"::1", false, false, true},
		{"192.0.2.1", false, false, false},
		{"192.0.2.1", true, false, true},
		{"192.0.2.1", false, true, true},
		{"2001:db8::1", false, false, false},
		{"2001:db8::1", true, false, true},
	} {
		o := origin(tc.from, tc.secure)
		if r := match(DefaultRules(tc.plaintext), o, "anybody"); (r != nil) != tc.want || r != nil && r.Method != Password {
			t.Errorf("%+v: %+v", tc, r)
		}
	}
}

// origin is a connection from an address, over a Unix socket for "".
func origin(ip string, secure bool) *wire.Conn {
	c := &wire.Conn{Local: ip == ""}
	if !c.Local {
		c.IP = netip.MustParseAddr(ip)
	}
	if secure {
		c.TLS = &wire.Secured{}
	}
	return c
}
