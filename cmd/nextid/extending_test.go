package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"nextid/generator"
	"nextid/generator/history"
)

// extended copies the module in example/ out of the tree, tests and builds it
// there.
func extended(t *testing.T) (program string) {
	t.Helper()
	root, dir := moduleRoot(t), t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(root, "example"))); err != nil {
		t.Fatal(err)
	}
	mod := filepath.Join(dir, "go.mod")
	text, err := os.ReadFile(mod)
	if err != nil {
		t.Fatal(err)
	}
	const here = "replace nextid => ../\n"
	if !strings.Contains(string(text), here) {
		t.Fatalf("example/go.mod has no line %q", here)
	}
	if err := os.WriteFile(mod, []byte(strings.Replace(string(text), here, "replace nextid => "+root+"\n", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	program = filepath.Join(dir, "ids")
	for _, step := range []struct {
		work string
		args []string
	}{
		{"off", []string{"list", "-deps", "-test", "./..."}}, // go.mod names all that is needed
		// In a workspace, nextid is compiled as in its own tree, which has been done.
		{"", []string{"work", "init", ".", root}},
		{"", []string{"vet", "-trimpath", "./..."}},
		{"", []string{"test", "-trimpath", "-vet=off", "./..."}},
		{"", []string{"build", "-trimpath", "-o", program, "."}},
	} {
		cmd := exec.Command("go", step.args...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "CGO_ENABLED=0", "GOWORK="+step.work)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("go %s: %v (after a change of go.mod run go mod tidy in example)\n%s", step.args[0], err, out)
		}
	}
	return program
}

// TestExtendingPageHasTheExample: docs/extending.md quotes example/main.go.
func TestExtendingPageHasTheExample(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join(moduleRoot(t), "docs", "extending.md"))
	if err != nil {
		t.Fatal(err)
	}
	main, err := os.ReadFile(filepath.Join(moduleRoot(t), "example", "main.go"))
	if err != nil {
		t.Fatal(err)
	}
	_, code, _ := strings.Cut(string(main), "func main() {")
	if !strings.Contains(string(page), "func main() {"+code) {
		t.Error("docs/extending.md does not have the main of example/main.go")
	}
}

// TestPlugins uses a kind, a layout, a store and a function of another module in
// SQL on two servers.
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
	if err == nil || !strings.Contains(err.Error(), "step must be between 1 and 1000000") {
		t.Errorf("a bad option: %v", err)
	}
	var right, wrong bool
	if err := c.QueryRow(t.Context(), "SELECT is_checked(next_id('customers')), nextid.is_checked(19)").Scan(&right, &wrong); err != nil || !right || wrong {
		t.Errorf("is_checked: %t, %t, %v", right, wrong, err)
	}
}
