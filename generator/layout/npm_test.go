package layout_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"nextid/generator"
	"nextid/generator/code"
	"nextid/generator/layout"
	"nextid/generator/segment"
)

// ids.mjs prints ids of the libraries in npm/package.json.
func TestIDsOfTheLibrariesOfNpm(t *testing.T) {
	if testing.Short() {
		t.Skip("installs packages of npm")
	}
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(program + " is not here")
		}
	}
	dir := t.TempDir()
	for _, file := range []string{"package.json", "ids.mjs"} {
		b, err := os.ReadFile("testdata/npm/" + file)
		if err == nil {
			err = os.WriteFile(dir+"/"+file, b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	run := func(name string, args ...string) []byte {
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Dir = dir
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s %v: %v", name, args, err)
		}
		return out
	}
	run("npm", "install", "--no-audit", "--no-fund", "--ignore-scripts")
	counts := map[string]int{}
	for lines := bufio.NewScanner(bytes.NewReader(run("node", "ids.mjs", strconv.Itoa(each)))); lines.Scan(); {
		f := strings.Split(lines.Text(), "\t")
		if len(f) != 5 {
			t.Fatalf("line %q", lines.Text())
		}
		want := parts{at: instant(t, f[2]), worker: number(t, f[3]), sequence: number(t, f[4])}
		got := explained(t, f[0], f[1])
		if why := want.differs(got); why != "" {
			t.Fatalf("%s %s: %s", f[0], f[1], why)
		}
		counts[f[0]]++
	}
	for name, n := range counts {
		if n != each {
			t.Errorf("%d ids of %s", n, name)
		}
	}
	if len(counts) != 16 {
		t.Errorf("ids of %v", counts)
	}
}

// textForms are the text forms in which ids.mjs writes numbers.
var textForms = map[string]generator.Coder{
	"sqids":     textForm(`{"text": "sqids"}`),
	"sqids-own": textForm(`{"text": "sqids", "alphabet": "k3G7QAe51FCsPW92uEOyq4Bg6Sp8YzVTmnU0liwDdHXLajZrfxNhobJIRcMvKt", "pad": 12}`),
	"hashids":   textForm(`{"text": "hashids", "salt": "this is my salt", "pad": 8}`),
	"base64url": textForm(`{"text": "base64url"}`),
}

func textForm(options string) generator.Coder {
	kind := code.Wrap(segment.Kind(nil, generator.SystemClock{}, ""), nil)
	stored, err := kind.Normalize(json.RawMessage(options))
	var c generator.Coder
	if err == nil {
		c, err = kind.(generator.CoderKind).Coder(stored)
	}
	if err != nil {
		panic(err)
	}
	return c
}

// instant parses Unix milliseconds, or microseconds with the suffix us.
func instant(t *testing.T, s string) time.Time {
	if micros, ok := strings.CutSuffix(s, "us"); ok {
		return time.UnixMicro(number(t, micros))
	}
	if s == "-" {
		return time.Time{}
	}
	return time.UnixMilli(number(t, s))
}

func number(t *testing.T, s string) int64 {
	if s == "-" {
		return -1
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// explained explains an id, a number by the layout with its system's name.
// Datacenter and worker are one number.
func explained(t *testing.T, name, id string) generator.Parts {
	if form, ok := textForms[name]; ok {
		n, err := form.ParseCode(id)
		if err != nil {
			t.Fatal(err)
		}
		return generator.Parts{Sequence: &n}
	}
	l, err := layout.Preset(name)
	if _, text := strconv.ParseInt(id, 10, 64); err != nil || text != nil {
		p, kind := explain(id)
		if kind != name && kind != "typeid" && p.Kind != "typeid" {
			t.Fatalf("%s %s is taken for %q", name, id, kind)
		}
		return p
	}
	n := number(t, id)
	p, err := l.Explain(n)
	if err != nil {
		t.Fatal(err)
	}
	_, worker, _, _ := l.Unpack(n)
	p.Worker = &worker
	return p
}
