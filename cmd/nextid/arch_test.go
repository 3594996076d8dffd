package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// arrows is who may import whom inside the module: one package (or with
// /... a tree of them) a line, and after the colon what its production code
// may import. A package that is missing here fails the test, so that every
// new one is given its place on purpose.
//
//	generator ──► sqlfuncs ──► wire ──► server ──► cmd/nextid
const arrows = `
dsn:
generator:
generator/layout:          generator
generator/worker:          generator
generator/snowflake:       generator generator/layout generator/worker
generator/ring:            generator generator/layout generator/worker
generator/segment:         generator generator/layout
generator/counter:         generator
generator/node:            generator generator/worker
generator/ticket:          generator generator/counter dsn
generator/uuid:            generator
generator/code:            generator
generator/store/memory:    generator
generator/store/sqlite:    generator migrations/...
generator/store/shared:    generator
generator/store/postgres:  generator/store/shared migrations
generator/store/mysql:     generator generator/store/shared dsn migrations
generator/store/redis:     generator generator/store/shared dsn
generator/store/etcd:      generator/store/shared dsn
generator/store/zookeeper: generator generator/store/shared dsn

generator/generatortest:   generator generator/history
generator/simulation:      generator generator/layout generator/segment generator/snowflake generator/worker generator/store/memory generator/store/shared
generator/history:         generator

migrations/...:            dsn
dbtest:                    generator generator/generatortest generator/store/shared
example:                   generator generator/store/shared dsn

sqlfuncs/sqlstate:
sqlfuncs/datum:            sqlfuncs/sqlstate
sqlfuncs/account:          sqlfuncs/sqlstate
sqlfuncs/audit:
sqlfuncs/quota:            sqlfuncs/sqlstate
sqlfuncs/syntax:           sqlfuncs/sqlstate
sqlfuncs/setting:          sqlfuncs/sqlstate sqlfuncs/datum
sqlfuncs/engine:           generator sqlfuncs/account sqlfuncs/sqlstate sqlfuncs/datum sqlfuncs/setting sqlfuncs/syntax
sqlfuncs/pgfunc:           sqlfuncs/sqlstate sqlfuncs/datum sqlfuncs/syntax sqlfuncs/engine
sqlfuncs/ids:              generator generator/layout generator/uuid sqlfuncs/account sqlfuncs/audit sqlfuncs/quota sqlfuncs/sqlstate sqlfuncs/datum sqlfuncs/syntax sqlfuncs/engine
sqlfuncs/mysql:            sqlfuncs/sqlstate sqlfuncs/datum sqlfuncs/setting sqlfuncs/syntax sqlfuncs/engine sqlfuncs/ids generator
sqlfuncs/pgcatalog:        generator generator/layout sqlfuncs/sqlstate sqlfuncs/datum sqlfuncs/setting sqlfuncs/syntax sqlfuncs/engine sqlfuncs/ids
sqlfuncs:                  generator generator/layout generator/uuid sqlfuncs/account sqlfuncs/quota sqlfuncs/sqlstate sqlfuncs/datum sqlfuncs/syntax sqlfuncs/engine sqlfuncs/setting sqlfuncs/pgfunc sqlfuncs/ids sqlfuncs/mysql sqlfuncs/pgcatalog

sqlfuncs/sqltest:          generator/... sqlfuncs sqlfuncs/account sqlfuncs/sqlstate sqlfuncs/datum sqlfuncs/ids sqlfuncs/syntax

wire:                      sqlfuncs/account sqlfuncs/sqlstate
wire/auth:                 sqlfuncs sqlfuncs/sqlstate wire wire/pgwire wire/mysqlwire
wire/httpstatus:           wire
wire/web:                  sqlfuncs sqlfuncs/datum sqlfuncs/sqlstate wire
wire/clienttest:
wire/wiretest:             generator generator/segment generator/snowflake generator/store/memory generator/worker sqlfuncs
wire/pgwire:               generator sqlfuncs sqlfuncs/account sqlfuncs/sqlstate sqlfuncs/datum sqlfuncs/syntax wire
wire/mysqlwire:            generator sqlfuncs sqlfuncs/account sqlfuncs/sqlstate sqlfuncs/datum sqlfuncs/syntax wire

benchmarks/...:            benchmarks/... dbtest generator generator/history dsn
server:                    dsn generator/... sqlfuncs/... wire/...
cmd/nextid:                generator/... sqlfuncs wire/auth migrations/... server
cmd/nextid-bench:          benchmarks/...
`

// testOnly are the packages that exist for tests; they may use testing and
// nothing that is linked into the binary may import them.
var testOnly = []string{"generator/generatortest", "generator/simulation", "dbtest", "example", "sqlfuncs/sqltest", "wire/wiretest", "wire/clienttest"}

// layers are the top folders from the bottom up. Test files may reach
// sideways and down (a wire test runs on real engines), never up.
var layers = []string{"generator", "sqlfuncs", "wire", "server", "cmd"}

const module = "nextid"

type listedPackage struct {
	ImportPath   string
	Standard     bool
	Module       *struct{ Path string }
	Imports      []string
	TestImports  []string
	XTestImports []string
}

// goList runs go list for the platform of the release: the static Linux
// binary. It also stats all sources, which is how go test learns that its
// cached result depends on them.
func goList(t *testing.T, args ...string) []listedPackage {
	t.Helper()
	root := moduleRoot(t)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".go") {
			_, err = os.Stat(path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", append([]string{
		"list", "-e",
		"-json=ImportPath,Standard,Module,Imports,TestImports,XTestImports",
	}, args...)...)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH=amd64")
	out, err := cmd.Output()
	if err != nil {
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			t.Fatalf("go list: %s", exit.Stderr)
		}
		t.Fatal(err)
	}
	var packages []listedPackage
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listedPackage
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return packages
		} else if err != nil {
			t.Fatal(err)
		}
		packages = append(packages, p)
	}
}

func moduleRoot(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// own returns the path of a package inside the module.
func own(importPath string) (string, bool) { return strings.CutPrefix(importPath, module+"/") }

// covers reports whether a pattern of arrows stands for a package.
func covers(pattern, path string) bool {
	if tree, ok := strings.CutSuffix(pattern, "/..."); ok {
		return path == tree || strings.HasPrefix(path, tree+"/")
	}
	return path == pattern
}

type arrow struct {
	from string
	to   []string
}

func parseArrows(text string) []arrow {
	var parsed []arrow
	for line := range strings.Lines(text) {
		if from, to, ok := strings.Cut(line, ":"); ok {
			parsed = append(parsed, arrow{from, strings.Fields(to)})
		}
	}
	return parsed
}

// arrowViolation says what is wrong with the imports of one package.
func arrowViolation(rules []arrow, path string, imports []string) string {
	i := slices.IndexFunc(rules, func(a arrow) bool { return covers(a.from, path) })
	if i < 0 {
		return fmt.Sprintf("package %s has no place in the picture: add it to arrows in arch_test.go", path)
	}
	for _, imported := range imports {
		target, ok := own(imported)
		if ok && !slices.ContainsFunc(rules[i].to, func(p string) bool { return covers(p, target) }) {
			return fmt.Sprintf("package %s imports %s, which the arrows do not allow", path, target)
		}
	}
	return ""
}

// upwardTestImport names the first import of test files into a higher layer.
func upwardTestImport(path string, imports []string) string {
	layer := func(path string) int {
		top, _, _ := strings.Cut(path, "/")
		return slices.Index(layers, top)
	}
	from := layer(path)
	for _, imported := range imports {
		if target, ok := own(imported); ok && from >= 0 && layer(target) > from {
			return target
		}
	}
	return ""
}

func TestImportsFollowTheArrows(t *testing.T) {
	t.Parallel()
	rules := parseArrows(arrows)
	for _, p := range goList(t, "./...") {
		path, ok := own(p.ImportPath)
		if !ok {
			continue
		}
		if v := arrowViolation(rules, path, p.Imports); v != "" {
			t.Error(v)
		}
		if up := upwardTestImport(path, slices.Concat(p.TestImports, p.XTestImports)); up != "" {
			t.Errorf("a test of %s imports %s, which lies above it", path, up)
		}
	}
}

func TestArrowCheckFindsViolations(t *testing.T) {
	t.Parallel()
	rules := parseArrows("a:\nb: a c/...\n")
	for _, tc := range []struct {
		path    string
		imports []string
		bad     bool
	}{
		{"a", []string{"fmt", "example.com/x"}, false},
		{"a", []string{"nextid/b"}, true},
		{"b", []string{"nextid/a", "nextid/c/d"}, false},
		{"b", []string{"nextid/cd"}, true},
		{"unlisted", nil, true},
	} {
		if v := arrowViolation(rules, tc.path, tc.imports); (v != "") != tc.bad {
			t.Errorf("%s importing %v: %q", tc.path, tc.imports, v)
		}
	}
	if upwardTestImport("generator/x", []string{"nextid/sqlfuncs"}) == "" {
		t.Error("a generator test that imports sqlfuncs was not found")
	}
	if up := upwardTestImport("wire/pgwire", []string{"nextid/generator/segment"}); up != "" {
		t.Errorf("a wire test may import %s", up)
	}
}

// TestBinaryHoldsNoTestCode keeps test libraries out of what users run.
func TestBinaryHoldsNoTestCode(t *testing.T) {
	t.Parallel()
	libraries := []string{"testing", "pgregory.net/rapid", "github.com/stretchr/testify", "net/http/httptest"}
	for _, p := range goList(t, "-deps", "./cmd/nextid") {
		for _, imported := range p.Imports {
			if path, ok := own(imported); ok && slices.Contains(testOnly, path) {
				t.Errorf("%s imports the test package %s", p.ImportPath, path)
			}
			if slices.ContainsFunc(libraries, func(l string) bool { return covers(l+"/...", imported) }) {
				t.Errorf("%s imports the test library %s", p.ImportPath, imported)
			}
		}
	}
}

// TestLinkedModules compares the modules in the binary with modules.txt, so
// that no dependency comes in without somebody writing down why.
func TestLinkedModules(t *testing.T) {
	t.Parallel()
	listed := readReasons(t, "modules.txt")
	linked := map[string]bool{}
	for _, p := range goList(t, "-deps", "./cmd/nextid") {
		if p.Module != nil && p.Module.Path != module {
			linked[p.Module.Path] = true
		}
	}
	for _, path := range slices.Sorted(maps.Keys(linked)) {
		switch reason, ok := listed[path]; {
		case !ok:
			t.Errorf("%s is linked into the binary: add it to modules.txt with its reason, or do without", path)
		case reason == "":
			t.Errorf("modules.txt gives no reason for %s", path)
		}
	}
	for _, path := range slices.Sorted(maps.Keys(listed)) {
		if !linked[path] {
			t.Errorf("modules.txt lists %s, which is no longer linked", path)
		}
	}
}

// TestReplaceOfLibc keeps the version of modernc.org/libc that is linked the one
// which SQLite was translated against, and go.mod's replace no longer than
// another module asks for a later one.
func TestReplaceOfLibc(t *testing.T) {
	t.Parallel()
	goCommand := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("go", args...)
		cmd.Dir = moduleRoot(t)
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("go %s: %v", strings.Join(args, " "), err)
		}
		return strings.TrimSpace(string(out))
	}
	const libc = "modernc.org/libc"
	sqlite := "modernc.org/sqlite@" + goCommand("list", "-m", "-f", "{{.Version}}", "modernc.org/sqlite")
	wanted, others := "", map[string]string{}
	for line := range strings.Lines(goCommand("mod", "graph")) {
		from, to, _ := strings.Cut(strings.TrimSpace(line), " ")
		version, ok := strings.CutPrefix(to, libc+"@")
		switch {
		case !ok || from == module: // go.mod repeats the latest of them
		case from == sqlite:
			wanted = version
		default:
			others[from] = version
		}
	}
	linked := goCommand("list", "-m", "-f", "{{with .Replace}}{{.Version}}{{else}}{{.Version}}{{end}}", libc)
	if linked != wanted {
		t.Errorf("%s %s is linked, but %s was translated against %s: change the replace in go.mod", libc, linked, sqlite, wanted)
	}
	for _, version := range others {
		if version != wanted {
			return
		}
	}
	t.Errorf("nobody asks for another %s than %s does: take the replace out of go.mod", libc, sqlite)
}

// readReasons reads lines of "module reason…"; # begins a comment.
func readReasons(t *testing.T, file string) map[string]string {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	reasons := map[string]string{}
	for line := range strings.Lines(string(content)) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		path, reason, _ := strings.Cut(line, " ")
		reasons[path] = strings.TrimSpace(reason)
	}
	return reasons
}

// TestWhatRaceFalsifiesRunsWithoutIt: tests that ask for less under the race
// detector are in the pass of make test that goes without it.
func TestWhatRaceFalsifiesRunsWithoutIt(t *testing.T) {
	root := moduleRoot(t)
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`(?m)^WITHOUT_RACE = "(.*)\$\$"$`).FindSubmatch(makefile)
	if line == nil {
		t.Fatal("the Makefile has no WITHOUT_RACE")
	}
	listed := regexp.MustCompile(string(line[1]) + "$")
	found := 0
	err = filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") || strings.HasSuffix(filepath.Dir(path), "simulation") { // which builds itself again
			return err
		}
		text, err := os.ReadFile(path)
		for _, test := range strings.Split(string(text), "\nfunc ")[1:] {
			name, _, _ := strings.Cut(test, "(")
			if strings.HasPrefix(name, "Test") && name != "TestWhatRaceFalsifiesRunsWithoutIt" && strings.Contains(test, "raceEnabled") {
				found++
				if !listed.MatchString(name) {
					t.Errorf("%s of %s is not in the Makefile's WITHOUT_RACE", name, path)
				}
			}
		}
		return err
	})
	if err != nil || found == 0 {
		t.Fatal(found, err)
	}
}
