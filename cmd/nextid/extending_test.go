package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"nextid/generator"
	"nextid/generator/history"
)

// pluginLines are the lines of docs/extending.md: each adds one plug-in below
// a line that is there.
var pluginLines = []struct{ file, below, line string }{
	{"server/wiring.go", `	"nextid/generator"`, `	"nextid/example"`},
	{"server/wiring.go", `			counter.Dated(store, clock, owner()),`, `			example.Kind(keep, owner()),`},
	{"server/wiring.go", `var sharedStores = []shared.Driver{`, `	example.Driver(),`},
	{"generator/layout/presets.go", `var presets = index([]preset{`, `	{"acme", 1735689600000, time.Millisecond, []Field{{Time, 41}, {Worker, 8}, {Sequence, 14}}, "", "that of Acme"},`},
}

// extended builds a nextid with the lines of docs/extending.md, and nothing
// else changed.
func extended(t *testing.T) (program string) {
	t.Helper()
	root, dir := moduleRoot(t), t.TempDir()
	page, err := os.ReadFile(filepath.Join(root, "docs/extending.md"))
	if err != nil {
		t.Fatal(err)
	}
	sources := map[string]string{}
	for _, p := range pluginLines {
		if !strings.Contains(string(page), strings.TrimSpace(p.line)) {
			t.Errorf("docs/extending.md does not have the line %q", strings.TrimSpace(p.line))
		}
		if sources[p.file] == "" {
			text, err := os.ReadFile(filepath.Join(root, p.file))
			if err != nil {
				t.Fatal(err)
			}
			sources[p.file] = string(text)
		}
		if !strings.Contains(sources[p.file], p.below+"\n") {
			t.Fatalf("%s has no line %q: change this test and docs/extending.md", p.file, p.below)
		}
		sources[p.file] = strings.Replace(sources[p.file], p.below+"\n", p.below+"\n"+p.line+"\n", 1)
	}
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	for file, text := range sources {
		changed := filepath.Join(dir, strings.ReplaceAll(file, "/", "_"))
		if err := os.WriteFile(changed, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		overlay.Replace[filepath.Join(root, file)] = changed
	}
	text, err := json.Marshal(overlay)
	if err != nil {
		t.Fatal(err)
	}
	program = filepath.Join(dir, "nextid")
	build := exec.Command("go", "build", "-trimpath", "-overlay", writeFile(t, "overlay.json", string(text)), "-o", program, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}

// TestPlugins builds an engine, a layout and a store in, and uses them in SQL
// on two servers.
func TestPlugins(t *testing.T) {
	t.Parallel()
	program := extended(t)
	store := "dir://" + filepath.ToSlash(filepath.Join(t.TempDir(), "ids"))
	if out, err := exec.Command(program, "migrate", "store", "up", "--dsn", store).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	serve := func() *process {
		return launch(t, exec.Command(program, "serve", "--pg", "127.0.0.1:0", "--mysql", "off", "--http", "off",
			"--data", t.TempDir(), "--store", store), nil)
	}
	one, two := serve(), serve()
	a, b := one.connect(), two.connect()
	if _, err := a.Exec(t.Context(), `SELECT create_generator('customers', 'checked', '{"step": 5}'), create_generator('orders', 'snowflake', '{"layout": "acme"}')`); err != nil {
		t.Fatal(err)
	}
	var log history.Log
	add := func(client int, name string, id int64) {
		log.Add(history.Event{Name: name, Client: client, Range: generator.Range{First: id, Step: 1, Count: 1}})
	}
	for range 50 {
		for _, name := range []string{"customers", "orders"} {
			add(1, name, draw(t, a, name))
			add(2, name, draw(t, b, name))
		}
	}
	// The numbers go on after a crash and after a restart.
	one.kill9()
	two.signal(15)
	two.wait()
	c := serve().connect()
	for range 20 {
		add(3, "customers", draw(t, c, "customers"))
	}
	if err := log.Check(); err != nil || log.Len() != 220 {
		t.Errorf("%d ids, %v", log.Len(), err)
	}
	var layout, kind string
	if err := c.QueryRow(t.Context(), "SELECT layout, kind FROM parse_id(next_id('orders'), 'orders')").Scan(&layout, &kind); err != nil || layout != "acme" {
		t.Errorf("layout %s, kind %s, %v", layout, kind, err)
	}
	_, err := c.Exec(t.Context(), `SELECT create_generator('more', 'checked', '{"step": 0}')`)
	if err == nil || !strings.Contains(err.Error(), "step is between 1 and 1000000") {
		t.Errorf("a bad option: %v", err)
	}
}
