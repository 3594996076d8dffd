package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

func TestEveryCommandHasHelp(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"check-config", "demo", "migrate", "parse", "passwd", "repair", "serve", "version"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := runProgram(t, nil, name, "-h")
			if r.code != exitOK || r.stderr != "" || !strings.Contains(r.stdout, "Usage:\n  nextid "+name) {
				t.Errorf("exit code %d\n%s%s", r.code, r.stdout, r.stderr)
			}
		})
	}
	for _, args := range [][]string{nil, {"-h"}, {"--help"}, {"help"}} {
		r := runProgram(t, nil, args...)
		if r.code != exitOK || !strings.Contains(r.stdout, "nextid serve") {
			t.Errorf("nextid %v: exit code %d\n%s", args, r.code, r.stdout)
		}
	}
}

func TestHelpCompletionAndVersion(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"help serve":                 "Usage:\n  nextid serve [flags]",
		"help migrate store":         "nextid migrate store",
		"completion bash":            "# bash completion V2 for nextid",
		"completion zsh":             "#compdef nextid",
		"__complete migrate sh":      "shards",
		"--version":                  "nextid ",
		"version":                    "nextid ",
		"__complete serve --auto-cr": "--auto-create",
	} {
		if r := runProgram(t, nil, strings.Fields(line)...); r.code != exitOK || !strings.Contains(r.stdout, want) {
			t.Errorf("nextid %s: exit code %d, want %q:\n%s%s", line, r.code, want, r.stdout, r.stderr)
		}
	}
}

func TestCommandLinesThatAreNotUnderstood(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"server":                          `unknown command "server"; did you mean serve?`,
		"frobnicate":                      `unknown command "frobnicate"`,
		"serve now":                       `unexpected argument "now"`,
		"serve --dat x":                   "unknown flag: --dat; did you mean --data?",
		"serve --data":                    "flag needs an argument: --data",
		"version -x":                      "unknown shorthand flag: 'x'",
		"check-config":                    "--config FILE is missing",
		"parse":                           "ID is missing",
		"parse 1 2":                       `unexpected argument "2"`,
		"parse 1 --layout a --name b":     "--layout and --name exclude each other",
		"--nonsense":                      "unknown flag: --nonsense",
		"migrate shop":                    `unknown command "shop"`,
		"migrate store up":                "--dsn URL is missing",
		"migrate store up --dsn x:y":      "knows the stores",
		"migrate store up --dsn sqlite:x": "prepares the embedded store by itself",
		"migrate foreign up":              "--dsn URL of the application's database is missing",
		"migrate foreign print":           "--dsn URL of the application's database is missing",
		"migrate foreign sideways":        `unknown command "sideways"`,
		"passwd":                          "give one USER",
		"passwd a b":                      "give one USER",
		"passwd a --admin --no-admin":     "exclude each other",
		"passwd a --delete --admin":       "exclude each other",
		"passwd a --only a,,b":            "such as orders,invoice_*",
		"passwd @mock":                    "cannot begin with @",
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			r := runProgram(t, nil, strings.Fields(line)...)
			if r.code != exitUsage || r.stdout != "" || !isOneClearFailure(r.stderr) || !strings.Contains(r.stderr, want) {
				t.Errorf("exit code %d, want %q:\n%s", r.code, want, r.stderr)
			}
		})
	}
}

// TestDatabasesThatAreNotThere checks that each command says what it could not reach in
// one line, without the names that drivers give to their steps.
func TestDatabasesThatAreNotThere(t *testing.T) {
	t.Parallel()
	const refused, none = "127.0.0.1:1: connect: connection refused", "--dsn: a database is given as a mysql:// or postgres:// URL"
	for line, want := range map[string]string{
		"migrate shards status --dsn postgres://u@127.0.0.1:1/d":                                                            "127.0.0.1:1/d: no connection: dial tcp " + refused,
		"migrate shards status --dsn mysql://u@127.0.0.1:1/d":                                                               "127.0.0.1:1/d: no connection: dial tcp " + refused,
		"migrate shards status --dsn nonsense":                                                                              none,
		"migrate foreign status --dsn postgres://u@127.0.0.1:1/d":                                                           "127.0.0.1:1/d: no connection: dial tcp " + refused,
		"migrate feed status --column a.b --name n --dsn postgres://u@127.0.0.1:1/d":                                        "127.0.0.1:1/d: a.b: no connection: dial tcp " + refused,
		"migrate feed once --column a.b --name n --dsn postgres://u@127.0.0.1:1/d --server postgres://u@127.0.0.1:1/nextid": "no connection: dial tcp " + refused,
		"migrate store status --dsn postgres://u@127.0.0.1:1/d":                                                             "cannot reach postgres://u@127.0.0.1:1/d: dial tcp " + refused,
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			r := runProgram(t, nil, strings.Fields(line)...)
			if r.code != exitFailed || !isOneClearFailure(r.stderr) || !strings.Contains(r.stderr, want) || strings.Count(r.stderr, "refused") > 1 {
				t.Errorf("exit code %d, want %q:\n%s", r.code, want, r.stderr)
			}
		})
	}
}

func TestServeRefusesABadConfiguration(t *testing.T) {
	t.Parallel()
	file := writeFile(t, "f.yaml", "limits:\n  portals: 0\n")
	r := runProgram(t, []string{"NEXTID_LAYOUT=nonesuch"}, "serve", "--config", file, "--pg", "0.0.0.0:5433", "--worker-id", "x")
	lines := strings.Split(strings.TrimSpace(r.stderr), "\n")
	if r.code != exitFailed || len(lines) != 4 {
		t.Fatalf("exit code %d, %d lines, want 4:\n%s", r.code, len(lines), r.stderr)
	}
	for i, want := range []string{file + ":2: limits.portals: ", "--worker-id: ", "--pg: ", "NEXTID_LAYOUT: "} {
		if !strings.HasPrefix(lines[i], "nextid: "+want) {
			t.Errorf("line %d is %q, want %q", i, lines[i], want)
		}
	}
	r = runProgram(t, nil, "serve", "--config", file+".missing")
	if r.code != exitFailed || !isOneClearFailure(r.stderr) {
		t.Errorf("missing file: exit code %d\n%s", r.code, r.stderr)
	}
}

func TestCheckConfig(t *testing.T) {
	t.Parallel()
	good := writeFile(t, "good.yaml", "data: /var/lib/nextid\ngenerators:\n  orders: {kind: segment, step: 100}\n")
	// The environment is not the server's, and not read.
	r := runProgram(t, []string{"NEXTID_PG=nonsense"}, "check-config", "--config", good)
	if r.code != exitOK || r.stdout != "ok\n" || r.stderr != "" {
		t.Errorf("exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	bad := writeFile(t, "bad.yaml", "data: ''\npg: nowhere\nfoo: 1\n")
	r = runProgram(t, nil, "check-config", "--config", bad)
	want := []string{"nextid: " + bad + ":1: data: ", "nextid: " + bad + ":2: pg: ", "nextid: " + bad + ":3: foo: "}
	lines := strings.Split(strings.TrimSpace(r.stderr), "\n")
	if r.code != exitFailed || r.stdout != "" || len(lines) != len(want) {
		t.Fatalf("exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	for i := range want {
		if !strings.HasPrefix(lines[i], want[i]) {
			t.Errorf("line %d is %q, want %q", i, lines[i], want[i])
		}
	}
}

// check-config finds what would keep serve from starting, also in the files that
// the configuration names.
func TestCheckConfigReadsTheFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	users, open := filepath.Join(dir, "users"), filepath.Join(dir, "open")
	for file, mode := range map[string]os.FileMode{users: 0o600, open: 0o644} {
		if err := os.WriteFile(file, []byte("alice nonsense\n"), mode); err != nil {
			t.Fatal(err)
		}
	}
	bad := writeFile(t, "bad.yaml", fmt.Sprintf("users: %s\ntls_cert: /nowhere/server.crt\ndatabase_passwords: %s\n"+
		"audit: {file: /nowhere/audit}\nworker_id: 1024\nnonesuch: 1\nhost_rules: /nowhere/rules\ntls_key: %[2]s\ntls_client_ca: %[1]s\n", users, open))
	r := runProgram(t, nil, "check-config", "--config", bad)
	for _, want := range []string{
		bad + ":1: users: " + users + ":1: field 2 of user \"alice\"", bad + ":2: tls_cert: the certificate /nowhere/server.crt",
		bad + ":3: database_passwords: the file of passwords " + open + " can be read or changed by others", bad + ":4: audit.file: the directory /nowhere",
		bad + ":5: worker_id: 1024 is not from 0 to 1023", bad + ":6: nonesuch", bad + ":7: host_rules: the host rules file /nowhere/rules",
		bad + ":8: tls_key: the private key " + open, bad + ":9: tls_client_ca: the client CA " + users + " has no certificate in PEM form",
	} {
		if !strings.Contains(r.stderr, "nextid: "+want) {
			t.Errorf("no %q in\n%s", want, r.stderr)
		}
	}
	if r.code != exitFailed || r.stdout != "" {
		t.Errorf("exit code %d, %s", r.code, r.stdout)
	}
	dirs := writeFile(t, "dirs.yaml", "audit: {file: "+dir+"}\n")
	if r := runProgram(t, nil, "check-config", "--config", dirs); r.code != exitFailed || !strings.Contains(r.stderr, "audit.file: the audit file "+dir+": is a directory") {
		t.Errorf("an audit file that is a directory: %d %s", r.code, r.stderr)
	}
	for _, text := range []string{"limits: {connections: 5}", "limits: {memory: 1MiB, memory_per_user: 2MiB}", "limits: {memory_per_user: 1MiB, memory_per_session: 2MiB}"} {
		if r := runProgram(t, nil, "check-config", "--config", writeFile(t, "limits.yaml", text)); r.code != exitFailed || !strings.Contains(r.stderr, "limits.") {
			t.Errorf("%s: %d %s", text, r.code, r.stderr)
		}
	}
}

func TestVersionNamesBuildAndGo(t *testing.T) {
	t.Parallel()
	r := runProgram(t, nil, "version")
	if r.code != exitOK || !regexp.MustCompile(`^nextid \S+ \(go1\.\S+, \w+/\w+, commit \S+\)\n$`).MatchString(r.stdout) {
		t.Errorf("exit code %d: %q", r.code, r.stdout)
	}
}

func TestParseTakesIDsApart(t *testing.T) {
	t.Parallel()
	// 1541815603606036480 is the example of Twitter's snowflake on Wikipedia:
	// 2022-06-28T16:07:40.105Z, machine 378 (datacenter 11, worker 26), sequence 0.
	const id = "1541815603606036480"
	r := runProgram(t, nil, "parse", id)
	for _, want := range []string{"2022-06-28T16:07:40.105Z", "twitter", "11", "26"} {
		if r.code != exitOK || !strings.Contains(r.stdout, want) {
			t.Errorf("exit code %d, no %s:\n%s%s", r.code, want, r.stdout, r.stderr)
		}
	}
	r = runProgram(t, nil, "parse", id, "--json", "--layout", "twitter")
	var parts struct {
		Datacenter, Worker, Sequence int64
		Kind, Layout, Time           string
	}
	if err := json.Unmarshal([]byte(r.stdout), &parts); err != nil {
		t.Fatalf("%v: %s", err, r.stdout)
	}
	if parts.Time != "2022-06-28T16:07:40.105Z" || parts.Layout != "twitter" ||
		parts.Datacenter != 11 || parts.Worker != 26 || parts.Sequence != 0 || parts.Kind != "snowflake" {
		t.Errorf("%+v", parts)
	}
	r = runProgram(t, nil, "parse", "--json", "--layout", "baidu", "--", "-7050965758787919863")
	if !strings.Contains(r.stdout, `"workerId": "7", "timestamp": "2026-11-22 08:00:00"`) { // as in parse_id
		t.Errorf("%s%s", r.stdout, r.stderr)
	}
}

func TestParseTakesTextsApart(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{
		"01ARZ3NDEKTSV4RRFFQ69G5FAV":           "2016-07-30T23:54:10.259Z",
		"017f22e2-79b0-7cc3-98c4-dc0c0c07398f": "2022-02-22T19:22:22.000Z",
		"prefix_01h455vb4pex5vsknk084sn02q":    "2023-06-30T03:34:18.518Z",
	} {
		r := runProgram(t, nil, "parse", id)
		if r.code != exitOK || !strings.Contains(r.stdout, want) || !strings.Contains(r.stdout, id) {
			t.Errorf("%s: exit code %d:\n%s%s", id, r.code, r.stdout, r.stderr)
		}
	}
}

// Codes and scattered ids mean the same after a restart, and none is repeated.
// nextid parse decodes them without the server.
func TestCodesOutliveTheServer(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	seen := map[string]bool{}
	names := []string{"ord", "shy", "u", "r"}
	codes := map[string]string{}
	for run := range 2 {
		s := startServer(t, nil, "--data", data)
		conn := s.connect()
		if run == 0 {
			for _, create := range []string{
				`('ord', 'segment', '{"text":"base32","prefix":"ORD-","check":true,"scatter":{"bits":40}}')`,
				`('shy', 'snowflake', '{"text":"base62","scatter":true}')`, `('u', 'uuid')`, `('r', 'ring', '{"text":"base32"}')`,
			} {
				if _, err := conn.Exec(t.Context(), "SELECT create_generator"+create); err != nil {
					t.Fatal(err)
				}
			}
		}
		for _, name := range names {
			if code := codes[name]; code != "" {
				var kind string
				if err := conn.QueryRow(t.Context(), "SELECT parse_id($1::text, $2)->>'kind'", code, name).Scan(&kind); err != nil || kind == "" {
					t.Errorf("%s: after the restart %s is of kind %q, %v", name, code, kind, err)
				}
			}
			for range 200 {
				var code string
				if err := conn.QueryRow(t.Context(), "SELECT next_code($1)", name).Scan(&code); err != nil {
					t.Fatal(err)
				}
				if seen[code] {
					t.Fatalf("%s: %s twice", name, code)
				}
				seen[code], codes[name] = true, code
			}
		}
		s.signal(15)
		s.wait()
	}
	for name, want := range map[string]string{"ord": "segment", "shy": time.Now().UTC().Format("2006-01-02T"), "u": "uuidv7", "r": "ring\nlayout"} {
		r := runProgram(t, nil, "parse", codes[name], "--name", name, "--data", data)
		if r.code != exitOK || !strings.Contains(r.stdout, want) {
			t.Errorf("%s %s: exit code %d:\n%s%s", name, codes[name], r.code, r.stdout, r.stderr)
		}
	}
	wrong := []byte(codes["ord"])
	wrong[5] = wrong[5]%8 + '1'
	r := runProgram(t, nil, "parse", string(wrong), "--name", "ord", "--data", data)
	if r.code != exitFailed || !strings.Contains(r.stderr, "check digit") {
		t.Errorf("%s instead of %s: exit code %d:\n%s%s", wrong, codes["ord"], r.code, r.stdout, r.stderr)
	}
}

func TestParseRefusesWhatIsNoID(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"parse", "12x"},
		{"parse", "9223372036854775808"},
		{"parse", "1", "--layout", "nonesuch"},
		{"parse", "1", "--name", "orders", "--data", "/nonexistent"},
	} {
		r := runProgram(t, nil, args...)
		if r.code != exitFailed || r.stdout != "" || !isOneClearFailure(r.stderr) {
			t.Errorf("nextid %v: exit code %d:\n%s%s", args, r.code, r.stdout, r.stderr)
		}
	}
}

func TestParseFindsTheLayoutOfAName(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	s := startServer(t, nil, "--data", data)
	conn := s.connect()
	if _, err := conn.Exec(t.Context(), `SELECT create_generator('old', 'snowflake', '{"layout":"baidu","epoch":"2024-01-01"}')`); err != nil {
		t.Fatal(err)
	}
	ids := map[string]string{}
	for name, create := range map[string]string{
		"uid": "'ring'", "bills": "'dated'", "tables": "'auto_random', start => 7", "plain": "'segment'",
	} {
		var id string
		if _, err := conn.Exec(t.Context(), fmt.Sprintf("SELECT create_generator('%s', %s)", name, create)); err != nil {
			t.Fatal(err)
		}
		if err := conn.QueryRow(t.Context(), "SELECT next_code($1)", name).Scan(&id); err != nil {
			t.Fatal(err)
		}
		ids[name] = id
	}
	s.signal(15)
	s.wait()
	r := runProgram(t, nil, "parse", "1", "--name", "old", "--data", data)
	if r.code != exitOK || !strings.Contains(r.stdout, "baidu") {
		t.Errorf("exit code %d:\n%s%s", r.code, r.stdout, r.stderr)
	}
	for name, want := range map[string][]string{
		"uid": {"ring", time.Now().UTC().Format("2006-01-02")}, "bills": {"dated", time.Now().UTC().Format("2006-01-02")},
		"tables": {"auto_random", "7"}, "plain": {"segment", "1"},
	} {
		r = runProgram(t, nil, "parse", ids[name], "--name", name, "--data", data)
		for _, part := range want {
			if r.code != exitOK || !strings.Contains(r.stdout, part) {
				t.Errorf("%s %s: exit code %d, no %s\n%s%s", name, ids[name], r.code, part, r.stdout, r.stderr)
			}
		}
	}
	r = runProgram(t, nil, "parse", "1", "--name", "nobody", "--data", data)
	if r.code != exitFailed || !strings.Contains(r.stderr, `"nobody"`) {
		t.Errorf("unknown name: exit code %d:\n%s", r.code, r.stderr)
	}
}
