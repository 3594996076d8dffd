package server

import (
	"net"
	"testing"
)

func TestVariablesOfTLSAndSockets(t *testing.T) {
	c := &Config{TLSCert: "server.crt", TLSKey: "server.key", RequireTLS: true}
	l, err := net.Listen("unix", t.TempDir()+"/s")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	got := mysqlVariables(c, endpoints{{protocol: &protocols[1], listener: l}})
	for name, want := range map[string]string{
		"have_ssl": "YES", "ssl_cert": "server.crt", "ssl_key": "server.key", "require_secure_transport": "ON",
		"socket": l.Addr().String(), "skip_networking": "ON", "port": "0",
	} {
		if got[name] != want {
			t.Errorf("%s: got %q, want %q", name, got[name], want)
		}
	}
}
