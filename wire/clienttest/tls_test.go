package clienttest

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"

	"nextid/dbtest"
)

// secured is a server with users and TLS, and the files for its clients.
//
//	alice      a password
//	certified  a client certificate, no password
//	the user of the system that runs the test: peer
type secured struct {
	t                 *testing.T
	pg, mysql, socket string // ports, and the directory of the Unix socket
	ca, wrongCA       string // files
	cert, key         string // of certified
	foreignCert       string // for certified, of an unknown authority
	foreignKey        string
	users             string
}

const somePassword = "correct horse ☃" // not ASCII, for SASLprep

func startSecured(t *testing.T) *secured {
	t.Helper()
	authority, preLogin := dbtest.NewAuthority(t), dbtest.NewAuthority(t)
	dir := t.TempDir()
	s := &secured{t: t, ca: filepath.Join(dir, "ca.crt"), wrongCA: filepath.Join(dir, "wrong.crt"), users: filepath.Join(dir, "users")}
	for file, pem := range map[string][]byte{s.ca: authority.PEM, s.wrongCA: preLogin.PEM} {
		if err := os.WriteFile(file, pem, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cert, key := authority.Server().Write(t, dir, "server")
	s.cert, s.key = authority.Client("certified").Write(t, dir, "certified")
	s.foreignCert, s.foreignKey = preLogin.Client("certified").Write(t, dir, "preLogin")
	s.passwd("alice")
	s.passwd("certified", "--no-password")
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	s.passwd(me.Username, "--no-password", "--admin")
	rules := filepath.Join(dir, "rules")
	if err := os.WriteFile(rules, []byte(strings.ReplaceAll(`
local    ME         peer
local    alice      scram
hostssl  certified  127.0.0.1  cert
host     all        127.0.0.1  scram
`, "ME", me.Username)), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"--users", s.users, "--host-rules", rules, "--tls-cert", cert, "--tls-key", key, "--tls-client-ca", s.ca}
	served := s.serve(append(args, "--pg", "127.0.0.1:0", "--mysql", "127.0.0.1:0")...)
	s.pg, s.mysql = served[0], served[1]

	// Not t.TempDir: its long path does not fit into a socket's address.
	if s.socket, err = os.MkdirTemp("", "nextid"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(s.socket) })  // best effort
	if err := os.Chmod(s.socket, 0o755); err != nil { // another user tries, too
		t.Fatal(err)
	}
	s.serve(append(args, "--pg", s.socket, "--mysql", s.socket)...)
	return s
}

// passwd adds a user.
func (s *secured) passwd(args ...string) {
	s.t.Helper()
	cmd := exec.Command(binary, append([]string{"passwd", "--users", s.users}, args...)...)
	cmd.Stdin = strings.NewReader(somePassword + "\n")
	if out, err := cmd.CombinedOutput(); err != nil {
		s.t.Fatalf("passwd %v: %v\n%s", args, err, out)
	}
}

// serve starts a server and returns the last parts of its addresses.
func (s *secured) serve(args ...string) []string {
	t := s.t
	t.Helper()
	cmd := exec.Command(binary, append([]string{"serve", "--data", t.TempDir(), "--http", "off"}, args...)...)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil {
			t.Errorf("the server did not stop cleanly: %v", err)
		}
	})
	ready := regexp.MustCompile(`nextid ready: PostgreSQL on \S*[:/](\S+), MySQL on \S*[:/](\S+) `)
	var said []string
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		if m := ready.FindStringSubmatch(lines.Text()); m != nil {
			go func() { _, _ = io.Copy(io.Discard, stderr) }() // ends with the process
			return m[1:]
		}
		said = append(said, lines.Text())
	}
	t.Fatalf("the server ended before it was ready:\n%s", strings.Join(said, "\n"))
	return nil
}

// attempt is one login, and its expected result.
type attempt struct {
	name, user, password string
	tls                  mode
	cert, key            string
	fails                string // part of the client's error; "": the client gets an id
}

// mode describes how a client uses TLS.
type mode int

const (
	plain    mode = iota
	encrypt       // without checking the certificate
	verify        // the certificate and its name
	distrust      // the same, with another authority
)

// attempts returns the logins that every client tries.
func (s *secured) attempts() []attempt {
	return []attempt{
		{name: "plain", user: "alice", password: somePassword},
		{name: "encrypt", user: "alice", password: somePassword, tls: encrypt},
		{name: "verify", user: "alice", password: somePassword, tls: verify},
		{name: "distrust", user: "alice", password: somePassword, tls: distrust, fails: "cert"},
		{name: "wrong password", user: "alice", password: "wrong", tls: verify, fails: "alice"},
		{name: "wrong password, plain", user: "alice", password: "wrong", fails: "alice"},
		{name: "unknown user", user: "mallory", password: "wrong", tls: verify, fails: "mallory"},
		{name: "no password", user: "certified", password: "wrong", fails: "certified"},
		{name: "client certificate", user: "certified", tls: verify, cert: s.cert, key: s.key},
		{name: "no client certificate", user: "certified", tls: verify, fails: "certified"},
		{name: "another's certificate", user: "alice", password: "wrong", tls: verify, cert: s.cert, key: s.key, fails: "alice"},
	}
}

// try runs all attempts with a client.
func (s *secured) try(t *testing.T, login func(a attempt) (said string, err error)) {
	for _, a := range s.attempts() {
		said, err := login(a)
		switch {
		case a.fails == "" && (err != nil || !strings.Contains(said, "id ")):
			t.Errorf("%s: %v\n%s", a.name, err, said)
		case a.fails != "" && err == nil:
			t.Errorf("%s: the client gets in: %s", a.name, said)
		case a.fails != "" && !strings.Contains(said+err.Error(), a.fails):
			t.Errorf("%s: %v, want %q in\n%s", a.name, err, a.fails, said)
		}
	}
}

// tryAtOnce runs all attempts with one run of a program. It reads a line for each
// attempt and answers with a line.
func (s *secured) tryAtOnce(t *testing.T, input func(a attempt) string, command ...string) {
	t.Helper()
	var lines strings.Builder
	for _, a := range s.attempts() {
		lines.WriteString(input(a) + "\n")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Stdin = strings.NewReader(lines.String())
	out, err := cmd.CombinedOutput()
	said := strings.Split(strings.TrimSpace(string(out)), "\n")
	if err != nil || len(said) != len(s.attempts()) {
		t.Fatalf("%v\n%s", err, out)
	}
	s.try(t, func(attempt) (string, error) {
		line := said[0]
		said = said[1:]
		if strings.HasPrefix(line, "id ") {
			return line, nil
		}
		return line, errors.New("no id")
	})
}

// needs skips a test if the command fails: the package is not installed.
func needs(t *testing.T, debian string, command ...string) {
	t.Helper()
	if err := exec.Command(command[0], command[1:]...).Run(); err != nil {
		t.Skip("needs the Debian package(s) " + debian)
	}
}

// runProgram runs a program with variables in its environment.
func runProgram(t *testing.T, env []string, command ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// libpq returns the connection string of libpq for an attempt.
func (s *secured) libpq(a attempt) string {
	dsn := fmt.Sprintf("host=localhost port=%s dbname=nextid user=%s password='%s' ", s.pg, a.user, a.password)
	switch a.tls {
	case plain:
		dsn += "sslmode=disable"
	case encrypt:
		dsn += "sslmode=require channel_binding=require"
	case verify:
		dsn += "sslmode=verify-full sslrootcert=" + s.ca
	case distrust:
		dsn += "sslmode=verify-full sslrootcert=" + s.wrongCA
	}
	if a.cert != "" {
		dsn += " sslcert=" + a.cert + " sslkey=" + a.key
	}
	return dsn
}

func TestTLSAndUsers(t *testing.T) {
	s := startSecured(t)
	for name, test := range map[string]func(t *testing.T, s *secured){
		"psql": testPsql, "psql-sslmodes": testPsqlModes, "libpq-18": testLibpq18, "pgx": testPgx, "psycopg3": testPsycopg, "pgjdbc": testPgjdbc, "node-pg": testNodePg,
		"mariadb": testMariaDB, "go-sql-driver": testGoMySQL, "pymysql": testPyMySQL, "mariadb-jdbc": testMariaDBJdbc,
		"mysql2": testNodeMySQL("mysql2/promise"), "node-mariadb": testNodeMySQL("mariadb"),
		"mariadb status": testMySQLStatus, "peer": testPeer, "old TLS": testOldTLS,
	} {
		t.Run(name, func(t *testing.T) { test(t, s) })
	}
	t.Run("same time", func(t *testing.T) { testSameTime(t, s) })
}

const drawID = "SELECT 'id ' || next_id('orders')"

func testPsql(t *testing.T, s *secured) {
	needs(t, "postgresql-client", "psql", "--version")
	s.try(t, func(a attempt) (string, error) { return runProgram(t, nil, "psql", "-XAtc", drawID, s.libpq(a)) })
}

// testPsqlModes checks settings that only libpq has: modes that try again without
// TLS or with it, and channel_binding.
func testPsqlModes(t *testing.T, s *secured) {
	needs(t, "postgresql-client", "psql", "--version")
	base := fmt.Sprintf("host=localhost hostaddr=127.0.0.1 port=%s dbname=nextid user=alice password='%s' sslrootcert=%s ", s.pg, somePassword, s.ca)
	for settings, want := range map[string]string{
		"sslmode=allow":       "id ",
		"sslmode=prefer":      "id ",
		"sslmode=verify-ca":   "id ",
		"sslmode=verify-full": "id ",
		"sslmode=verify-full channel_binding=require":                          "id ",
		"sslmode=verify-full channel_binding=disable":                          "id ",
		"sslmode=disable channel_binding=require":                              "channel binding required",
		"sslmode=require sslcert=" + s.foreignCert + " sslkey=" + s.foreignKey: "alert",
		"sslmode=require ssl_max_protocol_version=TLSv1.2":                     "id ",
	} {
		if said, _ := runProgram(t, nil, "psql", "-XAtc", drawID, base+settings); !strings.Contains(said, want) {
			t.Errorf("%s: %s", settings, said)
		}
	}
	said, err := runProgram(t, nil, "psql", "-Xc", `\conninfo`, base+"sslmode=verify-full")
	if err != nil || !strings.Contains(said, "TLSv1.3") {
		t.Errorf("%v\n%s", err, said)
	}
}

// testLibpq18 runs the checks of libpq over TLS without SSLRequest.
func testLibpq18(t *testing.T, s *secured) {
	for _, c := range clients {
		if c.name != "libpq-18" {
			continue
		}
		c.skipWithout(t)
		r := runChecks(t, c.name, "HOST=localhost", "PORT="+s.pg, "USER=alice", "PASSWORD="+somePassword, "PGSSLMODE=verify-full", "PGSSLROOTCERT="+s.ca,
			"PGSSLNEGOTIATION=direct", "PGREQUIREAUTH=scram-sha-256", "PGCHANNELBINDING=require")
		if len(r.failed) > 0 || r.core == 0 {
			t.Errorf("%d checks passed\n%s", r.core, r.output)
		}
	}
}

func testPgx(t *testing.T, s *secured) {
	s.try(t, func(a attempt) (string, error) { return pgxLogin(t, s.libpq(a)) })
	var shown string
	config, err := pgx.ParseConfig(s.libpq(attempt{user: "certified", tls: verify, cert: s.cert, key: s.key}))
	if err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.ConnectConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }() // it has served its purpose
	err = conn.QueryRow(t.Context(), "SELECT concat(ssl, ' ', version, ' ', cipher, ' ', bits, ' ', client_dn, ' ', client_serial > 0, ' ', issuer_dn) FROM pg_stat_ssl WHERE pid = pg_backend_pid()").Scan(&shown)
	if err != nil || shown != "t TLSv1.3 TLS_AES_128_GCM_SHA256 128 CN=certified t CN=127.0.0.1" {
		t.Errorf("pg_stat_ssl: %q, %v", shown, err)
	}
	direct := s.libpq(attempt{user: "alice", password: somePassword, tls: verify}) + " sslnegotiation=direct channel_binding=require"
	if said, err := pgxLogin(t, direct); err != nil || !strings.Contains(said, "id ") {
		t.Errorf("TLS without SSLRequest: %v", err)
	}
}

func pgxLogin(t *testing.T, dsn string) (said string, err error) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return "", err
	}
	defer func() { _ = conn.Close(ctx) }() // it has served its purpose
	return said, conn.QueryRow(ctx, drawID).Scan(&said)
}

func testPsycopg(t *testing.T, s *secured) {
	needs(t, "python3-psycopg", "/usr/bin/python3", "-c", "import psycopg")
	s.tryAtOnce(t, s.libpq, "/usr/bin/python3", "tls/psycopg3.py")
}

func testPgjdbc(t *testing.T, s *secured) {
	const jar = "/usr/share/java/postgresql.jar"
	needs(t, "default-jdk-headless libpostgresql-jdbc-java", "sh", "-c", "javac -version && test -f "+jar)
	classes := compileJdbc(t)
	key := filepath.Join(classes, "key.der") // pgjdbc reads keys in DER only
	if out, err := runProgram(t, nil, "openssl", "pkcs8", "-topk8", "-nocrypt", "-in", s.key, "-outform", "DER", "-out", key); err != nil {
		t.Skipf("needs the Debian package openssl: %s", out)
	}
	url := func(a attempt) string {
		url := fmt.Sprintf("jdbc:postgresql://localhost:%s/nextid?user=%s&password=%s", s.pg, a.user, strings.ReplaceAll(a.password, " ", "%20"))
		switch a.tls {
		case plain:
			url += "&sslmode=disable"
		case encrypt:
			url += "&sslmode=require"
		case verify:
			url += "&sslmode=verify-full&sslrootcert=" + s.ca
		case distrust:
			url += "&sslmode=verify-full&sslrootcert=" + s.wrongCA
		}
		if a.cert != "" {
			url += "&sslcert=" + a.cert + "&sslkey=" + key
		}
		return url
	}
	s.tryAtOnce(t, url, "java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Dfile.encoding=UTF-8", "-cp", classes+":"+jar, "Jdbc")
}

func compileJdbc(t *testing.T) (classes string) {
	t.Helper()
	classes = t.TempDir()
	if out, err := runProgram(t, nil, "javac", "-d", classes, "tls/Jdbc.java"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return classes
}

func testNodePg(t *testing.T, s *secured) {
	modules, err := filepath.Abs("scripts/node_modules")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(modules, "pg")); err != nil {
		t.Skip("node-pg is not installed here: npm ci --ignore-scripts in wire/clienttest/scripts")
	}
	s.try(t, func(a attempt) (string, error) {
		ssl := map[string]any{}
		switch a.tls {
		case encrypt:
			ssl["rejectUnauthorized"] = false
		case verify:
			ssl["ca"] = s.ca
		case distrust:
			ssl["ca"] = s.wrongCA
		}
		if a.cert != "" {
			ssl["cert"], ssl["key"] = a.cert, a.key
		}
		config := map[string]any{
			"host": "localhost", "port": s.pg, "user": a.user, "password": a.password, "database": "nextid",
			"enableChannelBinding": true,
		}
		if a.tls != plain {
			config["ssl"] = ssl
		}
		return runProgram(t, []string{"MODULES=" + modules, "CONFIG=" + jsonText(t, config)}, "node", "tls/node-pg.js")
	})
}

func jsonText(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

const drawMySQL = "SELECT CONCAT('id ', next_id('orders'))"

func testMariaDB(t *testing.T, s *secured) {
	needs(t, "mariadb-client", "mariadb", "--version")
	s.try(t, func(a attempt) (string, error) {
		args := []string{"mariadb", "--no-defaults", "-h", "localhost", "--protocol=tcp", "-P", s.mysql, "-u", a.user, "-N", "-e", drawMySQL}
		switch a.tls {
		case plain:
			args = append(args, "--skip-ssl")
		case encrypt:
			args = append(args, "--ssl")
		case verify:
			args = append(args, "--ssl-verify-server-cert", "--ssl-ca="+s.ca)
		case distrust:
			args = append(args, "--ssl-verify-server-cert", "--ssl-ca="+s.wrongCA)
		}
		if a.cert != "" {
			args = append(args, "--ssl-cert="+a.cert, "--ssl-key="+a.key)
		}
		return runProgram(t, []string{"MYSQL_PWD=" + a.password}, args...)
	})
}

func testGoMySQL(t *testing.T, s *secured) {
	s.try(t, func(a attempt) (string, error) {
		config := mysql.NewConfig()
		config.User, config.Passwd, config.Net, config.Addr = a.user, a.password, "tcp", "127.0.0.1:"+s.mysql
		if a.tls != plain {
			config.TLS = s.clientTLS(t, a)
		}
		connector, err := mysql.NewConnector(config)
		if err != nil {
			t.Fatal(err)
		}
		db := sql.OpenDB(connector)
		defer func() { _ = db.Close() }() // it has served its purpose
		var said string
		return said, db.QueryRowContext(t.Context(), "SELECT CONCAT('id ', next_id('orders'))").Scan(&said)
	})
}

// testMySQLStatus runs the statement by which MySQL's clients find out whether they
// are inside TLS.
func testMySQLStatus(t *testing.T, s *secured) {
	needs(t, "mariadb-client", "mariadb", "--version")
	for option, want := range map[string]string{"--ssl": "Ssl_version\tTLSv1.3", "--skip-ssl": "Ssl_version\t\n"} {
		said, err := runProgram(t, []string{"MYSQL_PWD=" + somePassword}, "mariadb", "--no-defaults", "-h", "127.0.0.1", "-P", s.mysql, "-u", "alice",
			option, "-N", "-e", "SHOW STATUS LIKE 'Ssl_version'")
		if err != nil || !strings.Contains(said, want) {
			t.Errorf("%s: %v\n%s", option, err, said)
		}
	}
}

// clientTLS returns a Go client's TLS configuration for an attempt.
func (s *secured) clientTLS(t *testing.T, a attempt) *tls.Config {
	t.Helper()
	config := &tls.Config{ServerName: "localhost", RootCAs: x509.NewCertPool(), InsecureSkipVerify: a.tls == encrypt}
	pem, err := os.ReadFile(map[bool]string{true: s.wrongCA, false: s.ca}[a.tls == distrust])
	if err != nil {
		t.Fatal(err)
	}
	config.RootCAs.AppendCertsFromPEM(pem)
	if a.cert != "" {
		pair, err := tls.LoadX509KeyPair(a.cert, a.key)
		if err != nil {
			t.Fatal(err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config
}

func testPyMySQL(t *testing.T, s *secured) {
	needs(t, "python3-pymysql python3-cryptography", "/usr/bin/python3", "-c", "import pymysql, cryptography")
	s.try(t, func(a attempt) (string, error) {
		config := map[string]any{"host": "localhost", "port": s.mysqlPort(t), "user": a.user, "password": a.password}
		switch a.tls {
		case plain:
			config["ssl_disabled"] = true
		case encrypt:
			config["ssl"] = map[string]any{"check_hostname": false, "verify_mode": "none"}
		case verify:
			config["ssl_ca"], config["ssl_verify_cert"], config["ssl_verify_identity"] = s.ca, true, true
		case distrust:
			config["ssl_ca"], config["ssl_verify_cert"], config["ssl_verify_identity"] = s.wrongCA, true, true
		}
		if a.cert != "" {
			config["ssl_cert"], config["ssl_key"] = a.cert, a.key
		}
		return runProgram(t, []string{"CONFIG=" + jsonText(t, config)}, "/usr/bin/python3", "tls/pymysql.py")
	})
}

func testMariaDBJdbc(t *testing.T, s *secured) {
	const jars = "/usr/share/java/mariadb-java-client.jar:/usr/share/java/slf4j-api.jar:/usr/share/java/slf4j-nop.jar"
	needs(t, "default-jdk-headless libmariadb-java libslf4j-java openssl", "sh", "-c", "javac -version && openssl version && test -f /usr/share/java/mariadb-java-client.jar")
	classes := compileJdbc(t)
	store := filepath.Join(classes, "key.p12")
	if out, err := runProgram(t, nil, "openssl", "pkcs12", "-export", "-in", s.cert, "-inkey", s.key, "-out", store, "-passout", "pass:store"); err != nil {
		t.Fatalf("openssl: %v\n%s", err, out)
	}
	s.tryAtOnce(t, func(a attempt) string {
		url := fmt.Sprintf("jdbc:mariadb://localhost:%s/nextid?allowPublicKeyRetrieval=true&user=%s&password=%s", s.mysql, a.user, a.password)
		switch a.tls {
		case encrypt:
			url += "&useSsl=true&trustServerCertificate=true"
		case verify:
			url += "&useSsl=true&serverSslCert=" + s.ca
		case distrust:
			url += "&useSsl=true&serverSslCert=" + s.wrongCA
		}
		if a.cert != "" {
			url += "&keyStore=" + store + "&keyStorePassword=store&keyStoreType=PKCS12"
		}
		return url
	}, "java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Dfile.encoding=UTF-8", "-cp", classes+":"+jars, "Jdbc")
}

func testNodeMySQL(module string) func(t *testing.T, s *secured) {
	return func(t *testing.T, s *secured) {
		modules, err := filepath.Abs("scripts/node_modules")
		if err != nil {
			t.Fatal(err)
		}
		name, _, _ := strings.Cut(module, "/")
		if _, err := os.Stat(filepath.Join(modules, name)); err != nil {
			t.Skipf("%s is not installed here: npm ci --ignore-scripts in wire/clienttest/scripts", name)
		}
		s.try(t, func(a attempt) (string, error) {
			config := map[string]any{"host": "localhost", "port": s.mysqlPort(t), "user": a.user, "password": a.password, "database": "nextid"}
			if name == "mariadb" {
				config["allowPublicKeyRetrieval"] = true
			}
			ssl := map[string]any{}
			switch a.tls {
			case encrypt:
				ssl["rejectUnauthorized"] = false
			case verify:
				ssl["ca"] = s.ca
			case distrust:
				ssl["ca"] = s.wrongCA
			}
			if a.cert != "" {
				ssl["cert"], ssl["key"] = a.cert, a.key
			}
			if a.tls != plain {
				config["ssl"] = ssl
			}
			return runProgram(t, []string{"MODULES=" + modules, "MODULE=" + module, "CONFIG=" + jsonText(t, config)}, "node", "tls/node-mysql.js")
		})
	}
}

func (s *secured) mysqlPort(t *testing.T) (port int) {
	t.Helper()
	if _, err := fmt.Sscan(s.mysql, &port); err != nil {
		t.Fatal(err)
	}
	return port
}

// testPeer logs in over a Unix socket as the system's user, and not as another one.
func testPeer(t *testing.T, s *secured) {
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	base := "host=" + s.socket + " port=5433 dbname=nextid sslmode=disable "
	if said, err := pgxLogin(t, base+"user="+me.Username); err != nil || !strings.Contains(said, "id ") {
		t.Errorf("as oneself: %v", err)
	}
	if said, err := pgxLogin(t, base+"user=alice password='"+somePassword+"'"); err != nil || !strings.Contains(said, "id ") {
		t.Errorf("with a password: %v", err)
	}
	for _, dsn := range []string{"user=alice password=wrong", "user=certified password=wrong", "user=mallory password=wrong"} {
		if _, err := pgxLogin(t, base+dsn); err == nil || !strings.Contains(err.Error(), "28P01") {
			t.Errorf("%s: %v", dsn, err)
		}
	}
	if os.Getuid() != 0 {
		return
	}
	needs(t, "postgresql-client util-linux", "setpriv", "--version")
	said, err := runProgram(t, nil, "setpriv", "--reuid=65534", "--clear-groups", "psql", "-XAtc", drawID, base+"user="+me.Username)
	if err == nil || !strings.Contains(said, "peer authentication failed") {
		t.Errorf("as another user of the system: %v\n%s", err, said)
	}
}

func testOldTLS(t *testing.T, s *secured) {
	needs(t, "openssl", "openssl", "version")
	for _, version := range []struct {
		option string
		works  bool
	}{{"-tls1", false}, {"-tls1_1", false}, {"-tls1_2", true}, {"-tls1_3", true}} {
		for protocol, port := range map[string]string{"postgres": s.pg, "mysql": s.mysql} {
			said, err := runProgram(t, nil, "sh", "-c", "openssl s_client -starttls "+protocol+" -connect 127.0.0.1:"+port+
				" -cipher DEFAULT@SECLEVEL=0 "+version.option+" </dev/null 2>&1")
			agreed := err == nil && strings.Contains(said, "Cipher is ") && !strings.Contains(said, "Cipher is (NONE)")
			if agreed != version.works {
				t.Errorf("%s on %s: %v\n%s", version.option, protocol, err, said)
			}
		}
	}
}

// testSameTime compares the answers to a wrong password and to an unknown
// user: the same text after the same time.
func testSameTime(t *testing.T, s *secured) {
	logins := map[string]func(user string) error{
		"PostgreSQL": func(user string) error {
			_, err := pgxLogin(t, s.libpq(attempt{user: user, password: "wrong", tls: verify}))
			return err
		},
		"MySQL": func(user string) error {
			config := mysql.NewConfig()
			config.User, config.Passwd, config.Net, config.Addr = user, "wrong", "tcp", "127.0.0.1:"+s.mysql
			config.TLS = s.clientTLS(t, attempt{tls: verify})
			conn, err := mysql.NewConnector(config)
			if err != nil {
				return err
			}
			_, err = conn.Connect(t.Context())
			return err
		},
	}
	for name, login := range logins {
		text := map[string]string{}
		var off float64
		for range 3 { // a loaded machine gets another chance
			took := map[string][]time.Duration{}
			for range 9 {
				for _, user := range []string{"alice", "mallory"} {
					began := time.Now()
					err := login(user)
					took[user] = append(took[user], time.Since(began))
					if err == nil {
						t.Fatalf("%s: %s gets in", name, user)
					}
					said := err.Error()
					if e, ok := errors.AsType[*mysql.MySQLError](err); ok {
						said = e.Message
					}
					text[user] = strings.ReplaceAll(said, user, "USER")
				}
			}
			known, unknown := median(took["alice"]), median(took["mallory"])
			off = max(float64(known), float64(unknown))/min(float64(known), float64(unknown)) - 1
			t.Logf("%s: wrong password %v, unknown user %v: %.1f %% apart", name, known, unknown, 100*off)
			if off < 0.05 {
				break
			}
		}
		if off >= 0.05 {
			t.Errorf("%s: the time tells who exists: %.1f %% apart", name, 100*off)
		}
		if text["alice"] != text["mallory"] {
			t.Errorf("%s: the text tells who exists:\n%s\n%s", name, text["alice"], text["mallory"])
		}
	}
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}
