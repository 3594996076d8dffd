package main

import (
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// mysqlVariables are the system variables of MySQL that say how this server is
// configured: SHOW VARIABLES must not promise what it does not do.
func mysqlVariables(c *Config, endpoints endpoints) map[string]string {
	seconds := func(d time.Duration) string { return strconv.FormatInt(int64(d/time.Second), 10) }
	idle := c.Wire.Idle
	if idle <= 0 {
		idle = neverIdle
	}
	v := map[string]string{
		"connect_timeout": seconds(c.Wire.Login), "net_read_timeout": seconds(c.Wire.Message), "net_write_timeout": seconds(c.Wire.Write),
		"interactive_timeout": seconds(idle), "wait_timeout": seconds(idle),
		"max_connections": strconv.Itoa(c.Wire.Connections),
	}
	if host, err := os.Hostname(); err == nil {
		v["hostname"] = host
	}
	if dir, err := filepath.Abs(c.Data); err == nil {
		v["datadir"] = dir + string(filepath.Separator)
	}
	if c.TLSCert != "" {
		v["have_ssl"], v["have_openssl"] = "YES", "YES"
		v["ssl_cert"], v["ssl_key"], v["ssl_ca"] = c.TLSCert, c.TLSKey, c.TLSClientCA
	}
	if c.RequireTLS {
		v["require_secure_transport"] = "ON"
	}
	for _, e := range endpoints {
		if e.protocol.key != "mysql" {
			continue
		}
		switch a := e.listener.Addr().(type) {
		case *net.TCPAddr:
			v["bind_address"], v["port"] = a.IP.String(), strconv.Itoa(a.Port)
		case *net.UnixAddr:
			v["socket"], v["port"], v["skip_networking"] = a.Name, "0", "ON"
		}
	}
	return v
}

// neverIdle is what MySQL's wait_timeout says of no limit: its greatest value.
const neverIdle = 365 * 24 * time.Hour
