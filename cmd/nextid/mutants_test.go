package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

var tryMutants = flag.Bool("mutants", false, "run TestMutants: minutes")

// mutants lists deliberate mistakes, and the tests that must find each. Mistakes in
// generators are in generator/simulation's TestMutants.
var mutants = []struct{ name, file, old, new, pkg, run string }{
	// stores
	{
		"no high-water mark shows that a store went back", "generator/store/shared/highwater.go",
		"known && !declared && (lo < m.hi || s.seq <= m.seq)", "known && !declared && lo < 0", "generator/store/shared", "TestARestore|TestARow",
	},
	{
		"the embedded store does not wait for the disk", "generator/store/sqlite/session.go",
		`{"PRAGMA synchronous = EXTRA", "PRAGMA synchronous", "3"}`, `{"PRAGMA synchronous = OFF", "PRAGMA synchronous", "0"}`, "generator/store/sqlite", "TestEveryReservationIsSynced",
	},
	{
		"a copy of the embedded store starts", "generator/store/sqlite/fingerprint.go",
		"if why := stored.misplaced(here); why != \"\" {", "if why := stored.misplaced(here); why == \"?\" {", "generator/store/sqlite", "TestCopied",
	},
	{
		"PostgreSQL's fsync may be off", "generator/store/postgres/postgres.go",
		"for _, s := range []struct{ name, value string }{{\"fsync\", fsync}, {\"full_page_writes\", fullPageWrites}} {",
		"for _, s := range []struct{ name, value string }{{\"full_page_writes\", fullPageWrites}, {\"fsync\", \"on\"}} {", "generator/store/postgres", "TestSettings",
	},
	// engine
	{
		"a statement that was stopped goes on", "sqlfuncs/engine/exec.go",
		"	if err := x.Ctx.Err(); err != nil {\n", "	if err := x.Ctx.Err(); err != nil && n < 0 {\n", "sqlfuncs", "TestCanceled|TestStatementTimeout",
	},
	{
		"rows that are held are not counted", "sqlfuncs/engine/exec_memory.go",
		"return x.Hold(SizeOfRow(row)) }", "return x.Hold(0) }", "sqlfuncs", "TestMemoryIsBounded",
	},
	{
		"whoever logs in calls what administrators may", "sqlfuncs/engine/function.go",
		"if c := x.Host.Client(); !c.Admin {", "if c := x.Host.Client(); c == nil {", "sqlfuncs", "Rights",
	},
	{
		"DISTINCT forgets what it has seen", "sqlfuncs/engine/plan_setop.go",
		"	(*s)[string(key)] = struct{}{}\n", "", "sqlfuncs/engine", "TestStatementFiles$",
	},
	{
		"a limit on a text is off by one", "sqlfuncs/engine/plan_operator.go",
		"if len(a.Str)+len(b.Str) > MaxTextBytes {", "if len(a.Str)+len(b.Str) > MaxTextBytes+1 {", "sqlfuncs/pgfunc", "TestFunctions",
	},
	// wire
	{
		"a message may have any length", "wire/pgwire/conn.go",
		"if length < 4 || length > maxMessage {", "if length > maxMessage {", "wire/pgwire", "TestLengths|TestEveryMessage|Fuzz",
	},
	{
		"a message that is too long is read", "wire/pgwire/conn.go",
		"	if h.size > limit {\n", "	if h.size > limit+1<<30 {\n", "wire/pgwire", "TestLengths|TestLong",
	},
	{
		"the bitmap of NULLs is read from its other end", "wire/mysqlwire/statement.go",
		"case nulls[i/8]&(1<<(i%8)) != 0:", "case nulls[i/8]&(0x80>>(i%8)) != 0:", "wire/mysqlwire", "TestAnyParameters|TestParameters",
	},
	{
		"long data has no bound", "wire/mysqlwire/statement.go",
		"	case total > c.protocol.Limits.Statement:\n", "	case total < 0:\n", "wire/mysqlwire", "TestLongData",
	},
	{
		"an overheard answer lets in by COM_CHANGE_USER", "wire/mysqlwire/auth.go",
		"	c.nonce = newNonce()\n	c.state, c.login.step = identifying, wantAnswer\n", "	c.state, c.login.step = identifying, wantAnswer\n", "wire/mysqlwire", "TestChangeUser|TestLogin",
	},
	{
		"who says nothing keeps its place", "wire/conn.go",
		"c.waitUntil(c.accepted + limits.Login)", "c.waitUntil(c.accepted + 1000*limits.Login)", "wire", "TestSilent|TestLoginTime",
	},
	// auth
	{
		"any proof of SCRAM fits", "wire/auth/scram.go",
		"fits = subtle.ConstantTimeCompare(stored[:], s.verifier.StoredKey[:]) == 1 && s.known", "fits = len(stored) == len(s.verifier.StoredKey) && s.known", "wire/auth", "TestSCRAM|TestPostgreSQLLogins",
	},
	{
		"a guess costs nothing", "wire/auth/failures.go",
		"return max(failureDelay, until.Sub(now))", "return min(0, until.Sub(now))", "wire/auth", "TestFailures|TestGuesses|TestFlood",
	},
	{
		"an empty password goes on to the check", "wire/auth/mysql.go",
		"	case len(answer) == 0:\n		return l.fail(ctx, errors.New(\"no password\"))\n", "", "wire/auth", "TestMySQLLogins",
	},
	{
		"a users file that others may read is used", "server/private.go",
		"return modeless || mode&0o077 == 0 || mode&0o037 == 0 && ownedBy(info, 0)", "return modeless || mode&0o007 == 0 || mode&0o077 != 0 || ownedBy(info, 0)", "cmd/nextid", "TestUsersFileThatOthersMayRead",
	},
	// accounts
	{
		"the sessions of a user are not added up", "sqlfuncs/account/account.go",
		"if s.user.used.Add(n) > limits.User {", "if n > limits.User {", "sqlfuncs/account", ".",
	},
	{
		"a session that ends keeps what it drew", "sqlfuncs/account/account.go",
		"	s.used = 0\n	s.giveBack(s.drawn)\n", "	s.used = 0\n", "sqlfuncs/account", ".",
	},
	{
		"what is refused stays counted", "sqlfuncs/account/account.go",
		"		s.server.used.Add(-n)\n		s.user.used.Add(-n)\n		return refused(\"all", "		return refused(\"all", "sqlfuncs/account", ".",
	},
}

// TestMutantsAreOfTheCode: the code that a mistake changes exists, and so does each of
// the tests that must find it.
func TestMutantsAreOfTheCode(t *testing.T) {
	t.Parallel()
	for _, m := range mutants {
		names := testsIn(t, filepath.Join(moduleRoot(t), filepath.FromSlash(m.pkg)))
		for run := range strings.SplitSeq(m.run, "|") {
			if !slices.ContainsFunc(names, regexp.MustCompile(run).MatchString) {
				t.Errorf("%s: %s has no test %s", m.name, m.pkg, run)
			}
		}
		text, err := os.ReadFile(filepath.Join(moduleRoot(t), filepath.FromSlash(m.file)))
		if err != nil {
			t.Error(err)
		} else if n := strings.Count(string(text), m.old); n != 1 {
			t.Errorf("%s: %s has %d times\n%s", m.name, m.file, n, m.old)
		}
	}
}

// testsIn returns the names of the tests in a directory.
func testsIn(t *testing.T, dir string) (names []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w*)\(`).FindAllSubmatch(text, -1) {
			names = append(names, string(found[1]))
		}
	}
	return names
}

// TestMutants builds the named tests with each mistake, and expects them to fail.
func TestMutants(t *testing.T) {
	if !*tryMutants {
		t.Skip("minutes: make mutants")
	}
	root := moduleRoot(t)
	for _, m := range mutants {
		t.Run(strings.ReplaceAll(m.name, " ", "_"), func(t *testing.T) {
			file := filepath.Join(root, filepath.FromSlash(m.file))
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			mutant, overlay := filepath.Join(dir, "mutant.go"), filepath.Join(dir, "overlay.json")
			replace, err := json.Marshal(map[string]any{"Replace": map[string]string{file: mutant}})
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(os.WriteFile(mutant, []byte(strings.Replace(string(text), m.old, m.new, 1)), 0o600), os.WriteFile(overlay, replace, 0o600)); err != nil {
				t.Fatal(err)
			}
			program := filepath.Join(dir, "test")
			build := exec.CommandContext(t.Context(), "go", "test", "-c", "-vet=off", "-overlay", overlay, "-o", program, "./"+m.pkg)
			build.Dir = root
			if out, err := build.CombinedOutput(); err != nil {
				t.Fatalf("build the mutant: %v\n%s", err, out)
			}
			began := time.Now()
			short := !strings.HasPrefix(m.pkg, "generator/store/") // in short mode they start no databases
			run := exec.CommandContext(t.Context(), program, fmt.Sprintf("-test.short=%t", short), "-test.run", m.run, "-test.timeout", "60s")
			run.Dir = filepath.Join(root, filepath.FromSlash(m.pkg))
			run.Env = append(os.Environ(), "GOFLAGS=-overlay="+overlay) // for tests that build the program
			out, err := run.CombinedOutput()
			if err == nil {
				t.Fatalf("no test found it:\n%s", out)
			}
			found := "?"
			for line := range strings.Lines(string(out)) {
				if strings.Contains(line, "--- FAIL") || strings.Contains(line, "panic:") || strings.Contains(line, "fatal error:") {
					found = strings.TrimSpace(line)
					break
				}
			}
			if found == "?" {
				t.Fatalf("the tests ended without a failure of one:\n%s", out)
			}
			t.Logf("found in %v: %s", time.Since(began).Round(time.Millisecond), found)
		})
	}
}
