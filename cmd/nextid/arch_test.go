package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// never lists what production code of a folder may not import, besides the layers
// above it.
var never = map[string][]string{
	"dsn":        layers,
	"migrations": slices.Concat(layers[1:], []string{"generator/store", "generator/snowflake", "generator/segment"}),
	"sqlfuncs":   {"generator/store", "generator/snowflake", "generator/segment"}, // the registry imports them
	"wire":       {"generator/store", "generator/snowflake", "generator/segment"}, // package sqlfuncs imports them
}

// layers lists the top folders from the bottom up. Test files may import sideways
// and down (a wire test runs on real engines), never up.
var layers = []string{"generator", "sqlfuncs", "wire", "server", "cmd"}

// testOnly lists the packages and libraries for tests and benchmarks. The binary
// links none of them.
var testOnly = []string{
	module + "/generator/generatortest", module + "/dbtest", module + "/server/servertest", module + "/sqlfuncs/sqltest",
	module + "/wire/wiretest", module + "/wire/clienttest", module + "/benchmarks",
	"testing", "pgregory.net/rapid", "github.com/stretchr/testify", "net/http/httptest", "github.com/bwmarrin", "github.com/sony", "gonum.org",
}

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

// within reports whether a package is in one of the folders.
func within(path string, folders []string) bool {
	return slices.ContainsFunc(folders, func(folder string) bool { return path == folder || strings.HasPrefix(path, folder+"/") })
}

// TestImportsGoDown: a layer imports only layers below it.
func TestImportsGoDown(t *testing.T) {
	t.Parallel()
	for _, p := range goList(t, "./...") {
		path := strings.TrimPrefix(p.ImportPath, module+"/")
		folder, _, _ := strings.Cut(path, "/")
		var above []string
		if layer := slices.Index(layers, folder); layer >= 0 {
			above = layers[layer+1:]
		}
		forbidden := slices.Concat(above, never[folder])
		for _, imported := range p.Imports {
			if within(strings.TrimPrefix(imported, module+"/"), forbidden) && !within(p.ImportPath, testOnly) {
				t.Errorf("%s imports %s", path, imported)
			}
		}
		for _, imported := range slices.Concat(p.TestImports, p.XTestImports) {
			if within(strings.TrimPrefix(imported, module+"/"), above) {
				t.Errorf("a test of %s imports %s", path, imported)
			}
		}
	}
}

// TestBinaryHoldsNoTestCode keeps the libraries of tests and benchmarks out of the
// binary.
func TestBinaryHoldsNoTestCode(t *testing.T) {
	t.Parallel()
	for _, p := range goList(t, "-deps", "./cmd/nextid") {
		for _, imported := range p.Imports {
			if within(imported, testOnly) {
				t.Errorf("%s imports %s", p.ImportPath, imported)
			}
		}
	}
}

// TestLinkedModules compares the modules in the binary with modules.txt, which
// gives a reason for each.
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

// TestReplaceOfLibc: the linked modernc.org/libc is the version for which SQLite
// was translated. go.mod replaces it only while another module asks for a later
// one.
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
	t.Errorf("no module requires another %s than %s does: take the replace out of go.mod", libc, sqlite)
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
