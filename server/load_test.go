package server

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"nextid/generator"
)

func writeFile(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func flagTexts(t *testing.T, pairs ...string) []givenFlag {
	t.Helper()
	var given []givenFlag
	for i := 0; i < len(pairs); i += 2 {
		s := new(Config).setting(pairs[i])
		if s == nil {
			t.Fatalf("no setting %q", pairs[i])
		}
		given = append(given, givenFlag{s, pairs[i+1]})
	}
	return given
}

func TestLaterSourcesWin(t *testing.T) {
	t.Parallel()
	const file = "pg: 127.0.0.1:1\n"
	env := []string{"NEXTID_PG=127.0.0.1:2"}
	flags := flagTexts(t, "pg", "127.0.0.1:3")
	for _, tc := range []struct {
		name  string
		file  string
		env   []string
		flags []givenFlag
		want  string
	}{
		{"defaults", "", nil, nil, "127.0.0.1:5433"},
		{"file over defaults", file, nil, nil, "127.0.0.1:1"},
		{"environment over file", file, env, nil, "127.0.0.1:2"},
		{"flag over environment", file, env, flags, "127.0.0.1:3"},
		{"flag over file", file, nil, flags, "127.0.0.1:3"},
		{"last flag of several", "", nil, append(flags, flagTexts(t, "pg", "127.0.0.1:4")...), "127.0.0.1:4"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			path := ""
			if tc.file != "" {
				path = writeFile(t, "nextid.yaml", tc.file)
			}
			c, err := testBuild.load(path, tc.env, tc.flags)
			if err != nil {
				t.Fatal(err)
			}
			if c.PG.String() != tc.want {
				t.Errorf("pg is %s, want %s", c.PG, tc.want)
			}
		})
	}
}

func TestAllMistakesAreReportedAtOnceWithTheirPlaces(t *testing.T) {
	t.Parallel()
	path := writeFile(t, "bad.yaml", `pgx: 127.0.0.1:5433
limits:
  portals: many
  foo: 1
log-level: loud
generators:
  orders: {kind: segmnt}
  a b: {kind: segment}
  x:
    kind: segment
    stp: 1
  y: 5
  z: {}
layout: nonesuch
store: oracle://user:secret@db/ids
`)
	_, err := testBuild.load(path,
		[]string{"NEXTID_DATABASE=x", "NEXTID_AUTO_CREATE=rows", "PATH=/bin", "NEXTID_CONFIG=ignored"},
		flagTexts(t, "worker_id", "-3", "pg", "10.1.2.3:5433", "mysql", "nowhere"))
	var mistakes Mistakes
	if !errors.As(err, &mistakes) {
		t.Fatalf("%v", err)
	}
	want := []string{
		`bad.yaml:1: pgx: unknown key; did you mean pg?`,
		`bad.yaml:3: limits.portals: "many" is not a whole number from 1 to 1000000`,
		`bad.yaml:4: limits.foo: unknown key`,
		`bad.yaml:5: log_level: "loud" is not one of debug, info, warn, error`,
		`bad.yaml:7: generators.orders: unknown kind "segmnt"`,
		`bad.yaml:8: generators.a b: invalid generator name "a b"`,
		`bad.yaml:9: generators.x: `,
		`bad.yaml:12: generators.y: expected kind and options`,
		`bad.yaml:13: generators.z: kind is missing`,
		`bad.yaml:14: layout: `,
		`bad.yaml:15: store: this version of nextid knows the stores sqlite:FILE, memory: and ` +
			strings.Join(testBuild.Schemes(), ", ") + `, not "oracle"`,
		`NEXTID_AUTO_CREATE: "rows" is not one of snowflake, segment, off`,
		`NEXTID_DATABASE: is not a variable of nextid`,
		`--worker-id: "-3" is none of auto, a number`,
		`--mysql: "nowhere" is not an address`,
		`--pg: 10.1.2.3:5433 can be reached from other machines`,
	}
	for i, m := range mistakes {
		got := strings.TrimPrefix(m.String(), filepath.Dir(path)+string(filepath.Separator))
		if i >= len(want) || !strings.HasPrefix(got, want[i]) {
			t.Errorf("mistake %d: %s", i, got)
		}
		if strings.Contains(got, "secret") {
			t.Error("a message repeats a password")
		}
	}
	if len(mistakes) != len(want) {
		t.Errorf("%d mistakes, want %d", len(mistakes), len(want))
	}
}

func TestFilesThatAreNotAConfiguration(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ content, want string }{
		"broken YAML":         {"pg: [1,\n", "f.yaml:1: "},
		"a list":              {"- pg\n", "f.yaml:1: expected keys and values"},
		"a word":              {"hello\n", "f.yaml:1: expected keys and values"},
		"two documents":       {"pg: off\n---\npg: off\n", "a second document begins here"},
		"the same key twice":  {"data: a\ndata: b\n", "f.yaml:2: "},
		"two spellings":       {"log_level: info\nlog-level: info\n", "f.yaml:2: log_level: is given twice"},
		"a map for a value":   {"pg: {a: b}\n", "f.yaml:1: pg: expected one value"},
		"a list for a value":  {"pg: [a]\n", "f.yaml:1: pg: expected one value"},
		"nothing for a value": {"pg:\n", "f.yaml:1: pg: expected one value"},
		"null for a value":    {"pg: null\n", "f.yaml:1: pg: expected one value"},
		"an empty text":       {"data: ''\n", "f.yaml:1: data: must not be empty"},
		"limits as a value":   {"limits: 5\n", "f.yaml:1: limits: expected keys and values"},
		"an unknown open":     {"generators: {a: {kind: segment, open: never}}\n", "f.yaml:1: generators.a: open must be start"},
		"a list of names":     {"generators: [orders]\n", "f.yaml:1: generators: expected names"},
		"an anchor":           {"data: &a x\n", "f.yaml:1: anchors, aliases, merge keys and tags"},
		"an alias":            {"data: &a x\npg: *a\n", "anchors, aliases, merge keys and tags"},
		"a merge key":         {"limits:\n  <<: {portals: 1}\n", "anchors, aliases, merge keys and tags"},
		"a tag":               {"data: !!str 5\n", "f.yaml:1: anchors, aliases, merge keys and tags"},
		"config in itself":    {"config: other.yaml\n", "f.yaml:1: config: unknown key"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLoader(testBuild)
			l.document("f.yaml", []byte(tc.content))
			if len(l.mistakes) != 1 || !strings.Contains(l.mistakes[0].String(), tc.want) {
				t.Errorf("got %q, want %q", l.mistakes, tc.want)
			}
		})
	}
}

func TestFilesWithoutSettings(t *testing.T) {
	t.Parallel()
	for _, content := range []string{"", "\n\n", "# only a comment\n", "---\n", "generators: {}\n", "limits: {}\n"} {
		l := newLoader(testBuild)
		l.document("f.yaml", []byte(content))
		if len(l.mistakes) > 0 || !reflect.DeepEqual(l.config, testBuild.Config()) {
			t.Errorf("%q: %v, %+v", content, l.mistakes, l.config)
		}
	}
}

func TestConfigFileThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		filepath.Join(t.TempDir(), "missing.yaml"): "no such file or directory",
		t.TempDir(): "is a directory",
	} {
		_, err := testBuild.load(path, nil, nil)
		var f *Error
		if !errors.As(err, &f) || !strings.Contains(f.What, want) || f.Hint == "" {
			t.Errorf("%s: %v, want %q and a hint", path, err, want)
		}
	}
}

func TestDeclaredGeneratorsKeepTheirOptions(t *testing.T) {
	t.Parallel()
	l := newLoader(testBuild)
	l.document("f.yaml", []byte(`generators:
  orders:
    kind: segment
    step: 9007199254740993
    strict: true
    open: start
  users: {open: use, kind: snowflake, epoch: "2024-01-01T00:00:00Z"}
`))
	want := []generator.Definition{
		{Name: "orders", Kind: "segment", Options: json.RawMessage(`{"step":9007199254740993,"strict":true}`)},
		{Name: "users", Kind: "snowflake", Options: json.RawMessage(`{"epoch":"2024-01-01T00:00:00Z"}`)},
	}
	if len(l.mistakes) > 0 || !reflect.DeepEqual(l.config.Generators, want) {
		t.Errorf("%v, %+v", l.mistakes, l.config.Generators)
	}
	if !slices.Equal(l.config.OpenAtStart, []string{"orders"}) {
		t.Errorf("open at the start: %v", l.config.OpenAtStart)
	}
}

func TestVariablesOfKubernetesServicesAreLeftAlone(t *testing.T) {
	t.Parallel()
	l := newLoader(testBuild)
	l.environment([]string{
		"NEXTID_SERVICE_HOST=10.0.0.1", "NEXTID_SERVICE_PORT=5433", "NEXTID_SERVICE_PORT_POSTGRES=5433",
		"NEXTID_PORT=tcp://10.0.0.1:5433", "NEXTID_PORT_5433_TCP=tcp://10.0.0.1:5433",
		"NEXTID_PORT_5433_TCP_PROTO=tcp", "NEXTID_PORT_5433_TCP_PORT=5433", "NEXTID_PORT_5433_TCP_ADDR=10.0.0.1",
		"NEXTID_PG_SERVICE_HOST=10.0.0.1", "NEXTID_PG_PORT=tcp://10.0.0.1:5433",
	})
	if len(l.mistakes) > 0 || !reflect.DeepEqual(l.config, testBuild.Config()) {
		t.Errorf("%v", l.mistakes)
	}
	l.environment([]string{"NEXTID_PORTAL=1"})
	if len(l.mistakes) != 1 {
		t.Errorf("NEXTID_PORTAL: %v", l.mistakes)
	}
}

func TestOnlyAddressesOfThisMachineWithoutUsers(t *testing.T) {
	t.Parallel()
	for address, refused := range map[string]bool{
		"127.0.0.1:5433": false, "127.8.8.8:1": false, "[::1]:5433": false, "localhost:5433": false,
		"LocalHost:5433": false, "[::ffff:127.0.0.1]:1": false, "/run/nextid/sock": false, "./sock": false,
		"0.0.0.0:5433": true, ":5433": true, "[::]:5433": true, "192.168.1.1:5433": true,
		"db.example:5433": true, "localhost.example:5433": true, "[fe80::1%eth0]:5433": true,
	} {
		_, err := testBuild.load("", nil, flagTexts(t, "pg", address))
		if (err != nil) != refused {
			t.Errorf("%s: %v", address, err)
		}
		if refused && !strings.Contains(err.Error(), "--allow-plaintext") {
			t.Errorf("%s: the message does not say what to add: %v", address, err)
		}
		if _, err := testBuild.load("", nil, flagTexts(t, "pg", address, "allow_plaintext", "true")); err != nil {
			t.Errorf("%s with --allow-plaintext: %v", address, err)
		}
	}
}

func TestNothingToServeIsAMistake(t *testing.T) {
	t.Parallel()
	_, err := testBuild.load("", nil, flagTexts(t, "pg", "off", "mysql", "off"))
	if err == nil || !strings.Contains(err.Error(), "--pg: off leaves nothing to serve") {
		t.Errorf("%v", err)
	}
}

func FuzzConfigFile(f *testing.F) {
	f.Add([]byte("pg: 127.0.0.1:1\nlimits:\n  portals: 5\ngenerators:\n  a: {kind: segment, step: 5}\n"))
	f.Add([]byte("data: &a x\npg: *a\n<<: {b: c}\n"))
	f.Add([]byte("a: [1, {b: 'c'}]\n? x\n: |\n  y\n--- \n- z\n"))
	f.Add([]byte("log-level: \"\\u00e9\"\nepoch: 1e400\nlayout: .nan\nstore: 0x10\n"))
	f.Fuzz(func(t *testing.T, content []byte) {
		l := newLoader(testBuild)
		l.document("f.yaml", content)
		lines := strings.Count(strings.ReplaceAll(string(content), "\r", "\n"), "\n") + 1
		for _, m := range l.mistakes {
			if m.Place.line < 0 || m.Place.line > lines || strings.ContainsAny(m.Text, "\r\n") {
				t.Errorf("mistake %q in a file of %d lines", m, lines)
			}
		}
		if len(l.mistakes) == 0 {
			l.config.Validate()
		}
	})
}

// The variables of other commands may be set where serve runs.
func TestPasswordsOfOtherCommandsAreNoMistake(t *testing.T) {
	l := newLoader(testBuild)
	l.environment([]string{"NEXTID_FOREIGN_PASSWORD=a", "NEXTID_SHARDS_PASSWORD=b", "NEXTID_STORE_PASSWORD=c", "NEXTID_NONSENSE=d"})
	if len(l.mistakes) != 1 || l.mistakes[0].Place.source != "NEXTID_NONSENSE" {
		t.Errorf("mistakes %v", l.mistakes)
	}
	if l.config.SharedStore.Password != "c" {
		t.Error("the password of the store was not taken")
	}
}
