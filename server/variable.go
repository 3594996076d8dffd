package server

import (
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// mysqlVariables returns MySQL's system variables that depend on the configuration,
// so that SHOW VARIABLES is true of this server.
func mysqlVariables(c *Config, endpoints endpoints) map[string]string {
	seconds := func(d time.Duration) string { return strconv.FormatInt(int64(d/time.Second), 10) }
	idle := c.Wire.Idle
	if idle <= 0 {
		idle = 365 * 24 * time.Hour // the greatest wait_timeout, which stands for no limit
	}
	v := map[string]string{
		"connect_timeout": seconds(c.Wire.Login), "net_read_timeout": seconds(c.Wire.Message), "net_write_timeout": seconds(c.Wire.Write),
		"interactive_timeout": seconds(idle), "wait_timeout": seconds(idle),
		"max_connections": strconv.Itoa(c.Wire.Connections), "max_allowed_packet": strconv.Itoa(c.Wire.Statement),
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
	switch a := endpoints.addr("mysql").(type) {
	case *net.TCPAddr:
		v["bind_address"], v["port"] = a.IP.String(), strconv.Itoa(a.Port)
	case *net.UnixAddr:
		v["socket"], v["port"], v["skip_networking"] = a.Name, "0", "ON"
	}
	return v
}

// postgresParameters returns PostgreSQL's settings that depend on the
// configuration, so that SHOW is true of this server.
func postgresParameters(c *Config, endpoints endpoints) map[string]string {
	p := map[string]string{
		"max_connections":                strconv.Itoa(c.Wire.Connections),
		"superuser_reserved_connections": "0",
		"authentication_timeout":         postgresTime(c.Wire.Login),
		"idle_session_timeout":           postgresTime(c.Wire.Idle),
		"ssl":                            map[bool]string{true: "on", false: "off"}[c.TLSCert != ""],
	}
	if dir, err := filepath.Abs(c.Data); err == nil {
		p["data_directory"] = dir
	}
	if a, ok := endpoints.addr("pg").(*net.TCPAddr); ok {
		p["port"] = strconv.Itoa(a.Port)
	}
	return p
}

// postgresTime returns d as SHOW prints it.
func postgresTime(d time.Duration) string {
	return inLargest(max(d.Milliseconds(), 0), []unit{{"d", 86_400_000}, {"h", 3_600_000}, {"min", 60_000}, {"s", 1000}, {"ms", 1}})
}

// mysqlCounters returns the values of SHOW STATUS that MySQL's connections count.
func mysqlCounters(endpoints endpoints) map[string]string {
	p := endpoints.of("mysql")
	if p == nil {
		return nil
	}
	t, refused := p.server.Recent(), int64(0)
	for _, n := range t.Refused {
		refused += n
	}
	text := func(n int64) string { return strconv.FormatInt(n, 10) }
	return map[string]string{
		"Bytes_received": text(t.Received), "Bytes_sent": text(t.Sent), "Connections": text(t.Accepted), "Aborted_connects": text(refused),
		"Queries": text(t.Commands), "Questions": text(t.Commands),
	}
}
