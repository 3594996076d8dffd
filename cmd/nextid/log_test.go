package main

import (
	"bufio"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"nextid/dbtest"
)

// levelMethods maps the methods of slog.Logger that write a line to its level.
var levelMethods = map[string]string{"Debug": "debug", "Info": "info", "Warn": "warn", "Error": "error"}

// loggedIn finds the messages of a source file, and their levels. A logger is a
// variable or field named log or Logger. Its messages are constants, except where a
// function named note passes them on.
func loggedIn(t *testing.T, file string, found map[string]string) {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		method, ok := call.Fun.(*ast.SelectorExpr)
		if !ok || len(call.Args) == 0 {
			return true
		}
		level, message := levelMethods[method.Sel.Name], call.Args[0]
		switch {
		case method.Sel.Name == "note" && len(call.Args) == 4:
			level, message = "error", call.Args[1]
		case level == "" || !isLogger(method.X):
			return true
		}
		if text, ok := constant(message); ok {
			found[text] = level
		} else if base := filepath.Base(file); base != "panic.go" && base != "serve.go" {
			t.Errorf("%s: the message of a log line is not constant", file)
		}
		return true
	})
}

func isLogger(e ast.Expr) bool {
	name := ""
	switch e := e.(type) {
	case *ast.Ident:
		name = e.Name
	case *ast.SelectorExpr:
		name = e.Sel.Name
	case *ast.CallExpr:
		return isLogger(e.Fun)
	}
	return slices.Contains([]string{"log", "Logger", "logger"}, name)
}

// constant returns the text of a string literal, or of several joined by +.
func constant(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, err == nil
	case *ast.BinaryExpr:
		a, ok := constant(e.X)
		b, also := constant(e.Y)
		return a + b, ok && also
	}
	return "", false
}

// TestEveryLogLineIsInTheRunbook compares the table in docs/runbook.md with the
// code.
func TestEveryLogLineIsInTheRunbook(t *testing.T) {
	t.Parallel()
	found := map[string]string{"nextid ready: …": "info"} // its message has the addresses
	for _, root := range []string{"generator", "sqlfuncs", "wire", "server", "cmd", "migrations"} {
		err := filepath.WalkDir(filepath.Join("../..", root), func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			for _, p := range testOnly {
				if d.IsDir() && strings.HasSuffix(filepath.ToSlash(path), strings.TrimPrefix(p, module)) {
					return filepath.SkipDir
				}
			}
			if strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") {
				loggedIn(t, path, found)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	page, err := os.ReadFile("../../docs/runbook.md")
	if err != nil {
		t.Fatal(err)
	}
	table := part(t, string(page), "<!-- The log lines of a server. A test compares them with the code. -->", "<!-- end of the log lines -->")
	listed := map[string]bool{}
	for line := range strings.Lines(table) {
		cells := strings.SplitN(line, "|", 4)
		if len(cells) < 4 {
			continue
		}
		for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cells[2], -1) {
			switch level, known := found[m[1]]; {
			case !known:
				t.Errorf("no line of the code says %q", m[1])
			case level != strings.TrimSpace(cells[1]):
				t.Errorf("%q is logged as %s", m[1], level)
			}
			listed[m[1]] = true
		}
	}
	for text, level := range found {
		if !listed[text] {
			t.Errorf("docs/runbook.md has no line for %s %q", level, text)
		}
	}
	if len(found) < 50 {
		t.Errorf("only %d messages were found", len(found))
	}
}

// TestServerOutlivesTheReaderOfItsLog: a log line that nobody reads does not end the
// server, nor its drain.
func TestServerOutlivesTheReaderOfItsLog(t *testing.T) {
	t.Parallel()
	s := &process{t: t, cmd: dbtest.Supervised(serveCommand("--data", t.TempDir()).Args...)}
	pipe, err := s.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = s.cmd.Process.Kill() // it has ended, unless the test failed
		_ = s.cmd.Wait()
		dbtest.Ended(s.cmd.Process.Pid)
	}()
	for lines := bufio.NewScanner(pipe); s.address == "" && lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "nextid ready:") {
			s.isReady(lines.Text())
		}
	}
	pipe.Close()
	conn := s.connect()
	s.signal(syscall.SIGHUP) // it logs
	draw(t, conn, "orders")
	s.signal(syscall.SIGTERM)
	if err := s.cmd.Wait(); err != nil {
		t.Errorf("the server ended with: %v", err)
	}
}

// Every line of a server that logs JSON is JSON, from the first to the last,
// however it ends.
func TestJSONLogsAreJSONToTheLastLine(t *testing.T) {
	t.Parallel()
	check := func(what, text string) {
		t.Helper()
		lines := strings.SplitSeq(strings.TrimSpace(text), "\n")
		for line := range lines {
			var fields map[string]any
			if err := json.Unmarshal([]byte(line), &fields); err != nil || fields["level"] == nil || fields["msg"] == nil || fields["time"] == nil {
				t.Errorf("%s: %q: %v", what, line, err)
			}
		}
	}
	file := writeFile(t, "json.yaml", "log_format: json\nfoo: 1\nbar: 2\n")
	taken := startServer(t, nil)
	for what, c := range map[string]struct {
		environ []string
		args    []string
	}{
		"a flag that does not exist":      {nil, []string{"--log-format", "json", "--nonsense"}},
		"an argument":                     {nil, []string{"--log-format=json", "nonsense"}},
		"a bad value":                     {[]string{"NEXTID_LOG_FORMAT=json"}, []string{"--pg", "nowhere"}},
		"mistakes in the file":            {nil, []string{"--config", file}},
		"no file":                         {[]string{"NEXTID_LOG_FORMAT=JSON"}, []string{"--config", "/nowhere.yaml"}},
		"an address that is taken":        {[]string{"NEXTID_LOG_FORMAT=json"}, []string{"--pg", taken.address, "--mysql", "off", "--http", "off"}},
		"a store that cannot be used":     {[]string{"NEXTID_LOG_FORMAT=json"}, []string{"--data", "/dev/null/x", "--pg", "127.0.0.1:0", "--mysql", "off", "--http", "off"}},
		"users that cannot be understood": {[]string{"NEXTID_LOG_FORMAT=json"}, []string{"--users", file, "--pg", "127.0.0.1:0", "--mysql", "off", "--http", "off"}},
	} {
		r := runProgram(t, c.environ, append([]string{"serve"}, c.args...)...)
		if r.code == exitOK || r.stderr == "" {
			t.Errorf("%s: exit code %d, %q", what, r.code, r.stderr)
		}
		check(what, r.stderr)
	}
	s := spawn(t, serveCommand("--log-format", "json", "--http", "127.0.0.1:0"), nil)
	s.waitLine("nextid ready:")
	s.signal(syscall.SIGHUP)
	s.waitLine("reload")
	s.signal(syscall.SIGTERM)
	if code := s.wait(); code != exitOK {
		t.Errorf("exit code %d", code)
	}
	check("a whole run", strings.Join(s.lines, "\n"))
	if r := runProgram(t, nil, "serve", "--nonsense"); strings.HasPrefix(r.stderr, "{") {
		t.Errorf("without JSON: %s", r.stderr)
	}
}
