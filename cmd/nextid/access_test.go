package main

import (
	"context"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"nextid/dbtest"
)

// passwd runs nextid passwd with a password on standard input.
func passwd(t *testing.T, password string, args ...string) result {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), binary, append([]string{"passwd"}, args...)...)
	cmd.Dir = t.TempDir()
	cmd.Env = []string{"PATH=" + os.Getenv("PATH")}
	cmd.Stdin = strings.NewReader(password + "\n")
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return result{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// addUser makes a user or fails.
func addUser(t *testing.T, password string, args ...string) {
	t.Helper()
	if r := passwd(t, password, args...); r.code != exitOK {
		t.Fatalf("passwd %v: exit code %d\n%s", args, r.code, r.stderr)
	}
}

// writeUsers makes a users file with alice, an administrator.
func writeUsers(t *testing.T, password string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "users")
	addUser(t, password, "--users", file, "--admin", "alice")
	return file
}

// TestPasswdBesideOthers adds users at the same time: none is lost.
func TestPasswdBesideOthers(t *testing.T) {
	t.Parallel()
	users := filepath.Join(t.TempDir(), "users")
	var adding sync.WaitGroup
	for i := range 20 {
		adding.Go(func() {
			if r := passwd(t, "pencil", fmt.Sprintf("user%d", i), "--users", users); r.code != exitOK {
				t.Errorf("exit code %d\n%s", r.code, r.stderr)
			}
		})
	}
	adding.Wait()
	text, err := os.ReadFile(users)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		if !strings.Contains(string(text), fmt.Sprintf("\nuser%d ", i)) && !strings.HasPrefix(string(text), fmt.Sprintf("user%d ", i)) {
			t.Errorf("user%d is lost", i)
		}
	}
}

// loginError returns what a login ends with.
func loginError(t *testing.T, dsn string) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	conn, err := pgx.Connect(ctx, dsn)
	if err == nil {
		_ = conn.Close(ctx) // only the error matters
	}
	return err
}

// sqlState returns the SQLSTATE of an error, "" for success.
func sqlState(t *testing.T, err error) string {
	t.Helper()
	var answer *pgconn.PgError
	if err != nil && !errors.As(err, &answer) {
		t.Fatalf("no answer of the server: %v", err)
	}
	if err == nil {
		return ""
	}
	return answer.Code
}

func TestPasswdAddsChangesAndRemoves(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "new", "data")
	file := filepath.Join(data, "users")
	for _, step := range []struct {
		password string
		args     []string
		said     string
	}{
		{"first", []string{"alice", "--admin"}, `added administrator "alice" in ` + file},
		{"second", []string{"bob"}, `added user "bob" in ` + file},
		{"third", []string{"alice"}, `changed administrator "alice" in ` + file},
		{"fourth", []string{"alice", "--no-admin"}, `changed user "alice" in ` + file},
		{"", []string{"carol", "--no-password", "--admin"}, `added administrator without a password "carol" in ` + file},
		{"fifth", []string{"bob", "--only", "orders"}, `changed user "bob" in ` + file},
		{"", []string{"bob", "--delete"}, `removed user "bob" in ` + file},
	} {
		r := passwd(t, step.password, append(step.args, "--data", data)...)
		if r.code != exitOK || r.stdout != step.said+"\n" || r.stderr != "" {
			t.Errorf("%v: exit code %d, %q, want %q\n%s", step.args, r.code, r.stdout, step.said, r.stderr)
		}
	}
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, password := range []string{"first", "second", "third", "fourth"} {
		if strings.Contains(string(content), password) {
			t.Errorf("the file has the password %q in it", password)
		}
	}
	left, err := os.ReadDir(data)
	if err != nil || len(left) != 1 {
		t.Errorf("files left behind: %v, %v", left, err)
	}
	for name, r := range map[string]result{
		"no password":      passwd(t, "", "dora", "--data", data),
		"a long password":  passwd(t, strings.Repeat("x", 300), "dora", "--data", data),
		"nobody to delete": passwd(t, "", "dora", "--delete", "--data", data),
		"the last user":    passwd(t, "", "alice", "--delete", "--users", writeUsers(t, "pencil")),
	} {
		if r.code != exitFailed || !isOneClearFailure(r.stderr) {
			t.Errorf("%s: exit code %d\n%s", name, r.code, r.stderr)
		}
	}
	if after, err := os.ReadFile(file); err != nil || string(after) != string(content) {
		t.Errorf("a failed run changed the file, %v", err)
	}
}

func TestUsersOfTheDataDirectoryAreUsed(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	addUser(t, "pencil", "alice", "--data", data)
	addUser(t, "ruler", "root", "--admin", "--data", data)
	addUser(t, "eraser", "some", "--only", "orders,invoice_*", "--data", data)
	s := startServer(t, nil, "--data", data)
	dsn := func(user, password string) string {
		return "postgres://" + user + ":" + password + "@" + s.address + "/nextid?sslmode=disable"
	}
	conn := connect(t, dsn("alice", "pencil"))
	draw(t, conn, "orders")
	if _, err := conn.Exec(t.Context(), "CREATE SEQUENCE mine"); sqlState(t, err) != "42501" {
		t.Errorf("a user who is no administrator creates a sequence: %v", err)
	}
	if _, err := connect(t, dsn("root", "ruler")).Exec(t.Context(), "CREATE SEQUENCE mine"); err != nil {
		t.Errorf("an administrator: %v", err)
	}
	some := connect(t, dsn("some", "eraser"))
	draw(t, some, "orders")
	draw(t, some, "invoice_eu")
	if _, err := some.Exec(t.Context(), "SELECT next_id('secret')"); sqlState(t, err) != "42501" {
		t.Errorf("a user of other generators: %v", err)
	}
	for name, dsn := range map[string]string{
		"wrong password": dsn("alice", "pencils"), "unknown user": dsn("mallory", "pencil"),
		"another's": dsn("root", "pencil"), "case": dsn("ALICE", "pencil"),
	} {
		err := loginError(t, dsn)
		if sqlState(t, err) != "28P01" || !strings.Contains(err.Error(), "password authentication failed for user") {
			t.Errorf("%s: %v", name, err)
		}
	}
	s.waitLine("login failed")
}

func TestUsersFileThatOthersMayRead(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "users")
	addUser(t, "pencil", "alice", "--users", file)
	for _, mode := range []os.FileMode{0o644, 0o660, 0o604, 0o622} {
		if err := os.Chmod(file, mode); err != nil {
			t.Fatal(err)
		}
		r := runProgram(t, nil, "serve", "--pg", "127.0.0.1:0", "--users", file)
		if r.code != exitFailed || !isOneClearFailure(r.stderr) || !strings.Contains(r.stderr, "hint: Run: chmod 600 "+file) {
			t.Errorf("mode %v: exit code %d\n%s", mode, r.code, r.stderr)
		}
		if r := passwd(t, "x", "bob", "--users", file); r.code != exitFailed || !strings.Contains(r.stderr, "chmod 600") {
			t.Errorf("mode %v: passwd: exit code %d\n%s", mode, r.code, r.stderr)
		}
	}
}

// TestFilesThatOthersMayReplace: a users file is refused if all users may write to
// a directory above it, or above the target of a link. Host rules that all may
// change are refused, too, as are authorities of client certificates.
func TestFilesThatOthersMayReplace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	open, sticky := filepath.Join(dir, "open"), filepath.Join(dir, "sticky")
	users, linked, kept := filepath.Join(open, "data", "users"), filepath.Join(dir, "link"), filepath.Join(sticky, "users")
	addUser(t, "pencil", "alice", "--users", users)
	addUser(t, "pencil", "alice", "--users", kept)
	rules, authority := writeFile(t, "rules", "host all all scram\n"), dbtest.NewAuthority(t)
	cert, key := authority.Server().Write(t, dir, "server")
	ca := writeFile(t, "ca.crt", string(authority.PEM))
	err := errors.Join(os.Symlink(users, linked), os.Chmod(open, 0o777), os.Chmod(sticky, 0o777|os.ModeSticky),
		os.Chmod(rules, 0o646|os.ModeSticky), os.Chmod(ca, 0o646))
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		at   string
		args []string
	}{
		{open, []string{"--users", users}},
		{open, []string{"--users", linked}},
		{rules, []string{"--users", kept, "--host-rules", rules}},
		{ca, []string{"--tls-cert", cert, "--tls-key", key, "--tls-client-ca", ca}},
	} {
		r := runProgram(t, nil, append([]string{"serve", "--pg", "127.0.0.1:0"}, tc.args...)...)
		if r.code != exitFailed || !isOneClearFailure(r.stderr) || !strings.Contains(r.stderr, "hint: Run: chmod o-w "+tc.at+"\n") {
			t.Errorf("%v: exit code %d\n%s", tc.args, r.code, r.stderr)
		}
	}
	for _, file := range []string{users, filepath.Join(open, "new")} {
		if r := passwd(t, "x", "bob", "--users", file); r.code != exitFailed || !strings.Contains(r.stderr, "chmod o-w "+open) {
			t.Errorf("passwd: exit code %d\n%s", r.code, r.stderr)
		}
	}
	startServer(t, nil, "--users", kept)
}

// TestUsersFileIsGone: a server whose users file got lost accepts no login.
func TestUsersFileIsGone(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	file := filepath.Join(data, "users")
	startServer(t, nil, "--data", data).kill9() // never had users
	addUser(t, "pencil", "alice", "--data", data)
	startServer(t, nil, "--data", data).kill9()
	if err := os.Rename(file, file+".bak"); err != nil {
		t.Fatal(err)
	}
	r := runProgram(t, nil, "serve", "--pg", "127.0.0.1:0", "--mysql", "off", "--http", "off", "--data", data)
	if r.code != exitFailed || !strings.Contains(r.stderr, "had users, and the file "+file+" is gone") {
		t.Errorf("exit code %d\n%s", r.code, r.stderr)
	}
	startServer(t, nil, "--data", data, "--users", "off").kill9()
	if err := os.Rename(file+".bak", file); err != nil {
		t.Fatal(err)
	}
	startServer(t, nil, "--data", data).kill9()
	if os.Geteuid() == 0 {
		if err := os.Chown(file, 12345, 0); err != nil {
			t.Fatal(err)
		}
		r := runProgram(t, nil, "serve", "--pg", "127.0.0.1:0", "--mysql", "off", "--http", "off", "--data", data)
		if r.code != exitFailed || !strings.Contains(r.stderr, "belongs to another user") {
			t.Errorf("exit code %d\n%s", r.code, r.stderr)
		}
	}
}

func TestAccessThatCannotBeUnderstood(t *testing.T) {
	t.Parallel()
	authority := dbtest.NewAuthority(t)
	cert, key := authority.Server().Write(t, t.TempDir(), "server")
	_, otherKey := authority.Server().Write(t, t.TempDir(), "server")
	users := writeFile(t, "users", "alice admin\n")
	rest := writeFile(t, "users", "@users 2\nalice admin\n")
	if err := os.Chmod(rest, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(users, 0o600); err != nil {
		t.Fatal(err)
	}
	plain := writeFile(t, "users", "alice\nbob hunter2\n")
	if err := os.Chmod(plain, 0o600); err != nil {
		t.Fatal(err)
	}
	rules := writeFile(t, "rules", "local all scram\nhost all all md5\n")
	open := writeFile(t, "open.key", "not a key")
	if err := os.Chmod(open, 0o644); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"half users":     {[]string{"--users", rest}, rest + ": @users is 2, and the file has 1"},
		"half a rule":    {[]string{"--users", users, "--host-rules", writeFile(t, "rules", "local all scram\nhost all all scram")}, ":2: the last line has no end"},
		"plain password": {[]string{"--users", plain}, plain + ":2: field 2 of user \"bob\""},
		"rules":          {[]string{"--users", users, "--host-rules", rules}, rules + ":2: method \"md5\""},
		"missing rules":  {[]string{"--users", users, "--host-rules", rules + "x"}, "no such file"},
		"missing users":  {[]string{"--users", users + "x"}, "no such file"},
		"missing cert":   {[]string{"--tls-cert", cert + "x"}, "no such file"},
		"key and cert":   {[]string{"--tls-cert", cert, "--tls-key", otherKey}, "does not match"},
		"open key":       {[]string{"--tls-cert", cert, "--tls-key", open}, "chmod 600"},
		"no key":         {[]string{"--tls-cert", cert}, "with tls_key"},
		"CA without PEM": {[]string{"--tls-cert", cert, "--tls-key", key, "--tls-client-ca", rules}, "no certificate in PEM form"},
		"missing CA":     {[]string{"--tls-cert", cert, "--tls-key", key, "--tls-client-ca", cert + "x"}, "no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := runProgram(t, nil, append([]string{"serve", "--pg", "127.0.0.1:0"}, tc.args...)...)
			if r.code != exitFailed || !isOneClearFailure(r.stderr) || !strings.Contains(r.stderr, tc.want) {
				t.Errorf("exit code %d, want %q:\n%s", r.code, tc.want, r.stderr)
			}
			if strings.Contains(r.stderr, "hunter2") {
				t.Errorf("the message repeats a password:\n%s", r.stderr)
			}
		})
	}
}

// TestDirectoryThatIsClosed starts a server as a user who may not enter the data
// directory.
func TestDirectoryThatIsClosed(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	if err := os.Mkdir(data, 0); err != nil {
		t.Fatal(err)
	}
	program, err := os.Open(binary)
	if err != nil {
		t.Fatal(err)
	}
	defer program.Close()
	cmd := exec.CommandContext(t.Context(), "/proc/self/fd/3", "serve", "--pg", "127.0.0.1:0", "--mysql", "off", "--http", "off", "--data", data)
	cmd.ExtraFiles = []*os.File{program} // its directory may be closed to that user, too
	if os.Getuid() == 0 {                // who may enter any directory
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	out, err := cmd.CombinedOutput()
	if err == nil || !isOneClearFailure(string(out)) || !strings.Contains(string(out), "the directory of the users file "+data) {
		t.Errorf("%v\n%s", err, out)
	}
}

// An address that other machines can reach needs users and TLS, or allow_plaintext.
func TestDefaultDeny(t *testing.T) {
	t.Parallel()
	cert, key := dbtest.NewAuthority(t).Server().Write(t, t.TempDir(), "server")
	users := filepath.Join(t.TempDir(), "users")
	addUser(t, "pencil", "alice", "--users", users)
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"nothing": {nil, "neither users (nextid passwd USER) nor a TLS certificate"},
		"users":   {[]string{"--users", users}, "has no TLS certificate"},
		"TLS":     {[]string{"--tls-cert", cert, "--tls-key", key}, "has no users"},
		"rules":   {[]string{"--tls-cert", cert, "--host-rules", "x"}, "host_rules: needs users"},
	} {
		r := runProgram(t, nil, append([]string{"serve", "--pg", "0.0.0.0:0"}, tc.args...)...)
		if r.code != exitFailed || !strings.Contains(r.stderr, tc.want) && !strings.Contains(strings.ReplaceAll(r.stderr, "--host-rules: ", "host_rules: "), tc.want) {
			t.Errorf("%s: exit code %d, want %q:\n%s", name, r.code, tc.want, r.stderr)
		}
	}
	s := startServer(t, nil, "--pg", "0.0.0.0:0", "--users", users, "--tls-cert", cert, "--tls-key", key)
	for _, line := range s.lines {
		if strings.Contains(line, "other machines") {
			t.Errorf("a warning without a reason: %s", line)
		}
	}
	s = startServer(t, nil, "--pg", "0.0.0.0:0", "--allow-plaintext")
	if !slices.ContainsFunc(s.lines, func(line string) bool { return strings.Contains(line, "neither users") }) {
		t.Error("no warning")
	}
}

func TestReload(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first, second := dbtest.NewAuthority(t), dbtest.NewAuthority(t)
	cert, key := first.Server().Write(t, dir, "server")
	firstCA, secondCA := writeFile(t, "first.crt", string(first.PEM)), writeFile(t, "second.crt", string(second.PEM))
	users := filepath.Join(dir, "users")
	addUser(t, "pencil", "alice", "--users", users)
	s := startServer(t, nil, "--users", users, "--tls-cert", cert, "--tls-key", key)
	dsn := func(user, password, ca string) string {
		_, port, _ := strings.Cut(s.address, ":")
		return "postgres://" + user + ":" + password + "@localhost:" + port + "/nextid?sslmode=verify-full&sslrootcert=" + ca
	}
	logged := connect(t, dsn("alice", "pencil", firstCA))

	// A key that cannot be read changes nothing.
	if err := os.WriteFile(key, []byte("half a ke"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(users, 0o644); err != nil {
		t.Fatal(err)
	}
	s.signal(syscall.SIGHUP)
	s.waitLine("reload: the users and rules stay as they were")
	s.waitLine("reload: the certificate stays as it was")
	connect(t, dsn("alice", "pencil", firstCA))

	if err := os.Chmod(users, 0o600); err != nil {
		t.Fatal(err)
	}
	second.Server().Write(t, dir, "server")
	addUser(t, "ruler", "bob", "--users", users)
	addUser(t, "", "alice", "--users", users, "--delete")
	s.signal(syscall.SIGHUP)
	s.waitLine("reload: certificate read")
	connect(t, dsn("bob", "ruler", secondCA))
	if err := loginError(t, dsn("bob", "ruler", firstCA)); err == nil {
		t.Error("the old certificate is still in use")
	}
	if err := loginError(t, dsn("alice", "pencil", secondCA)); sqlState(t, err) != "28P01" {
		t.Errorf("a removed user: %v", err)
	}
	if _, err := logged.Exec(t.Context(), "SELECT 1"); sqlState(t, err) != "57P01" {
		t.Errorf("the session of a removed user: %v", err)
	}

	if err := os.Remove(users); err != nil {
		t.Fatal(err)
	}
	s.signal(syscall.SIGHUP)
	s.waitLine("reload: the users and rules stay as they were")
	if err := loginError(t, dsn("mallory", "x", secondCA)); sqlState(t, err) != "28P01" {
		t.Errorf("without the file anyone can log in: %v", err)
	}
}

// TestPartsOfAUsersFile lets a running server read the first bytes of a new users
// file, as if it read while the file is written in place. No session ends, and no
// user gets rights that the whole file does not give. A file that begins with its
// number of users is refused in every part, also at the start of a server.
func TestPartsOfAUsersFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	made := filepath.Join(dir, "made")
	addUser(t, "pencil", "shop", "--users", made, "--only", "orders,order_lines")
	addUser(t, "pencil", "ann", "--users", made)
	addUser(t, "pencil", "bob", "--users", made)
	whole, err := os.ReadFile(made)
	if err != nil {
		t.Fatal(err)
	}
	var byHand strings.Builder
	for line := range strings.Lines(string(whole)) {
		if !strings.HasPrefix(line, "@") && !strings.HasPrefix(line, "#") {
			byHand.WriteString(line)
		}
	}
	for name, content := range map[string]string{"made": string(whole), "by hand": byHand.String()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			users := filepath.Join(t.TempDir(), "users")
			put := func(text string) {
				t.Helper()
				if err := os.WriteFile(users, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			put(content)
			s := startServer(t, nil, "--users", users)
			login := func(user string) *pgx.Conn {
				return connect(t, "postgres://"+user+":pencil@"+s.address+"/nextid?sslmode=disable")
			}
			open := []*pgx.Conn{login("shop"), login("ann"), login("bob")}
			for n := range len(content) {
				put(content[:n])
				s.signal(syscall.SIGHUP)
				line := s.waitLine("reload:")
				if !strings.Contains(line, "the users and rules stay as they were") {
					t.Errorf("the first %d bytes are read: %s", n, line)
				}
				for _, conn := range open {
					if err := conn.Ping(t.Context()); err != nil {
						t.Fatalf("the first %d bytes end a session: %v", n, err)
					}
				}
				for _, may := range []string{"SELECT next_id('secret')", "CREATE SEQUENCE mine"} {
					if _, err := open[0].Exec(t.Context(), may); sqlState(t, err) != "42501" {
						t.Fatalf("with the first %d bytes shop may %s: %v", n, may, err)
					}
				}
			}
			put(content)
			s.signal(syscall.SIGHUP)
			s.waitLine("reload: users and rules read")
			for n := 0; n < len(content); n += 1 + n/4 {
				put(content[:n])
				if content[:n] != "" && name == "by hand" && strings.HasSuffix(content[:n], "\n") {
					continue // no number shows that the file is incomplete
				}
				r := runProgram(t, nil, "serve", "--pg", "127.0.0.1:0", "--users", users)
				if r.code != exitFailed || !isOneClearFailure(r.stderr) {
					t.Errorf("a server starts with the first %d bytes: %d, %s", n, r.code, r.stderr)
				}
			}
		})
	}
}

// TestChangedUsers: changed rights reach the next statement of open sessions.
// Another password ends them; the same password again does not. The sessions are
// those of PostgreSQL's protocol, MySQL's and the page.
func TestChangedUsers(t *testing.T) {
	t.Parallel()
	users := filepath.Join(t.TempDir(), "users")
	addUser(t, "pencil", "shop", "--users", users, "--admin")
	addUser(t, "pencil", "root", "--users", users, "--admin")
	s := startServer(t, nil, "--users", users, "--mysql", "127.0.0.1:0", "--http", "127.0.0.1:0")
	pg := connect(t, "postgres://shop:pencil@"+s.address+"/nextid?sslmode=disable")
	db, err := sql.Open("mysql", "shop:pencil@tcp("+s.mysql+")/nextid?allowCleartextPasswords=true&tls=false")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	my, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer my.Close()
	ask := func(method, path, authorization string) (int, string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, "http://"+s.http+path, strings.NewReader(`{"kind": "segment"}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", authorization)
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		body, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return answer.StatusCode, string(body)
	}
	var login struct{ Token string }
	_, body := ask("POST", "/api/v1/login", "Basic "+base64.StdEncoding.EncodeToString([]byte("shop:pencil")))
	if err := json.Unmarshal([]byte(body), &login); err != nil {
		t.Fatal(err, body)
	}
	prepared, err := my.PrepareContext(t.Context(), "SELECT setval('counter', 5)")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := pg.Prepare(t.Context(), "setval", "SELECT setval('counter', 5)"); err != nil {
		t.Fatal(err)
	}
	// check tries three calls in every open session: a draw from orders, a draw from
	// others, and a call that needs an administrator.
	check := func(when string, orders, others, admin bool) {
		t.Helper()
		for name, want := range map[string]bool{"orders": orders, "others": others} {
			_, err := pg.Exec(t.Context(), "SELECT next_id($1)", name)
			if sqlState(t, err) == "42501" == want {
				t.Errorf("%s: a draw from %s: %v", when, name, err)
			}
			var id int64
			if err := my.QueryRowContext(t.Context(), "SELECT next_id('"+name+"')").Scan(&id); err == nil != want {
				t.Errorf("%s: MySQL: a draw from %s: %v", when, name, err)
			}
			if status, body := ask("POST", "/api/v1/generators/"+name+"/ids", "Bearer "+login.Token); status == http.StatusOK != want {
				t.Errorf("%s: HTTP: a draw from %s: %d %s", when, name, status, body)
			}
		}
		if _, err := pg.Exec(t.Context(), "setval"); sqlState(t, err) == "42501" == admin {
			t.Errorf("%s: setval: %v", when, err)
		}
		var set int64
		if err := prepared.QueryRowContext(t.Context()).Scan(&set); err == nil != admin {
			t.Errorf("%s: MySQL: setval: %v", when, err)
		}
		if status, body := ask("PUT", "/api/v1/generators/more"+when, "Bearer "+login.Token); status == http.StatusForbidden == admin {
			t.Errorf("%s: HTTP: create: %d %s", when, status, body)
		}
	}
	reload := func() {
		t.Helper()
		s.signal(syscall.SIGHUP)
		s.waitLine("reload: users and rules read")
	}
	check("begin", true, true, true)
	addUser(t, "pencil", "shop", "--users", users, "--no-admin", "--only", "orders")
	reload()
	check("narrowed", true, false, false)
	addUser(t, "pencil", "shop", "--users", users, "--admin", "--only", "all")
	reload()
	check("widened", true, true, true)

	addUser(t, "eraser", "shop", "--users", users)
	reload()
	if _, err := pg.Exec(t.Context(), "SELECT 1"); sqlState(t, err) != "57P01" {
		t.Errorf("a session of another password: %v", err)
	}
	var one int // a ping may still be answered while the server ends its sessions
	if err := my.QueryRowContext(t.Context(), "SELECT 1").Scan(&one); err == nil {
		t.Error("MySQL: a session of another password goes on")
	}
	if status, body := ask("GET", "/api/v1/status", "Bearer "+login.Token); status != http.StatusUnauthorized {
		t.Errorf("a login of another password: %d %s", status, body)
	}
	s.waitLine("sessions ended whose users were removed or have another password")
}

// Over both protocols, administrators end connections and statements of other
// users. Other users end their own.
func TestAdministratorsEndConnections(t *testing.T) {
	t.Parallel()
	users := filepath.Join(t.TempDir(), "users")
	for _, user := range []string{"ann", "bob"} {
		addUser(t, "pencil", user, "--users", users)
	}
	addUser(t, "pencil", "root", "--users", users, "--admin")
	s := startServer(t, nil, "--users", users)
	login := func(user string) *pgx.Conn {
		return connect(t, "postgres://"+user+":pencil@"+s.address+"/nextid?sslmode=disable")
	}
	ann, bob, root := login("ann"), login("bob"), login("root")
	end := func(by *pgx.Conn, how string, victim *pgx.Conn) (found bool) {
		t.Helper()
		if err := by.QueryRow(t.Context(), "SELECT "+how+"($1)", int32(victim.PgConn().PID())).Scan(&found); err != nil {
			t.Fatal(err)
		}
		return found
	}
	if end(bob, "pg_terminate_backend", ann) || end(bob, "pg_cancel_backend", root) {
		t.Error("bob ends connections of others")
	}
	slept := make(chan error, 1)
	go func() {
		_, err := ann.Exec(t.Context(), "SELECT pg_sleep(20)")
		slept <- err
	}()
	for canceled := false; !canceled; {
		select {
		case err := <-slept:
			if canceled = true; sqlState(t, err) != "57014" {
				t.Errorf("a cancelled statement: %v", err)
			}
		case <-time.After(20 * time.Millisecond):
			end(root, "pg_cancel_backend", ann)
		}
	}
	if !end(root, "pg_terminate_backend", ann) {
		t.Error("root cannot end a connection")
	}
	// As in PostgreSQL, the function sends a signal and does not wait: a
	// statement that comes before it is still answered.
	var err error
	for deadline := time.Now().Add(patience); err == nil && time.Now().Before(deadline); {
		_, err = ann.Exec(t.Context(), "SELECT 1")
	}
	if sqlState(t, err) != "57P01" {
		t.Errorf("a connection that was ended: %v", err)
	}
	if !end(bob, "pg_terminate_backend", login("bob")) {
		t.Error("bob cannot end his own connection")
	}
}

// A running server checks logins after a reload that finds a first user. It goes on
// checking them when the file is lost, and no server starts without the file.
func TestReloadFindsTheFirstUser(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	s := startServer(t, nil, "--data", data)
	draw(t, s.connect(), "orders")
	addUser(t, "pencil", "alice", "--data", data)
	s.signal(syscall.SIGHUP)
	s.waitLine("reload: users and rules read")
	if err := loginError(t, "postgres://anybody@"+s.address+"/nextid?sslmode=disable"); sqlState(t, err) != "28P01" {
		t.Errorf("anybody: %v", err)
	}
	if err := os.Remove(filepath.Join(data, "users")); err != nil {
		t.Fatal(err)
	}
	s.signal(syscall.SIGHUP)
	if line := s.waitLine("the users file is gone"); !strings.Contains(line, "restart with --users off") { // no start without the file
		t.Error(line)
	}
	if err := loginError(t, "postgres://anybody@"+s.address+"/nextid?sslmode=disable"); sqlState(t, err) != "28P01" {
		t.Errorf("anybody, after the file was lost: %v", err)
	}
	s.kill9()
	serve := []string{"serve", "--pg", "127.0.0.1:0", "--mysql", "off", "--http", "off", "--data", data}
	if r := runProgram(t, nil, serve...); r.code != exitFailed || !strings.Contains(r.stderr, "had users, and the file "+filepath.Join(data, "users")+" is gone") {
		t.Errorf("a restart without the file: exit code %d\n%s", r.code, r.stderr)
	}
	fresh := filepath.Join(t.TempDir(), "data")
	if err := errors.Join(os.Mkdir(fresh, 0o700), os.Symlink(filepath.Join(data, "nowhere"), filepath.Join(fresh, "users"))); err != nil {
		t.Fatal(err)
	}
	serve[len(serve)-1] = fresh
	if r := runProgram(t, nil, serve...); r.code != exitFailed || !strings.Contains(r.stderr, "no such file") {
		t.Errorf("users is a link to nothing: exit code %d\n%s", r.code, r.stderr)
	}
}

func TestRequireTLS(t *testing.T) {
	t.Parallel()
	cert, key := dbtest.NewAuthority(t).Server().Write(t, t.TempDir(), "server")
	data := t.TempDir()
	addUser(t, "pencil", "alice", "--data", data)
	s := startServer(t, nil, "--data", data, "--tls-cert", cert, "--tls-key", key, "--require-tls")
	dsn := "postgres://alice:pencil@" + s.address + "/nextid?sslmode="
	if err := loginError(t, dsn+"disable"); sqlState(t, err) != "28000" || !strings.Contains(err.Error(), "requires TLS") {
		t.Errorf("plaintext: %v", err)
	}
	draw(t, connect(t, dsn+"require"), "orders")
}
