package wiretest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Case is one case of a transcript, a text of cases:
//
//	case NAME [FLAG ...]
//	> …        the client's message
//	< …        the expected answer
//
// The form of a line depends on the protocol. Empty lines, and lines that begin with
// #, are ignored.
type Case struct {
	Name  string
	Flags []string
	Lines []string
}

// Has reports whether the case has a flag.
func (c Case) Has(flag string) bool { return slices.Contains(c.Flags, flag) }

// Transcripts runs a test for each case in testdata/transcripts.
func Transcripts(t *testing.T, run func(t *testing.T, c Case)) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "transcripts", "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	for _, file := range files {
		for _, c := range readTranscript(t, file) {
			t.Run(strings.TrimSuffix(filepath.Base(file), ".txt")+"/"+c.Name, func(t *testing.T) { run(t, c) })
		}
	}
}

// readTranscript reads the cases of a file. Every line behind a case line is of that
// case.
func readTranscript(t *testing.T, file string) []Case {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var cases []Case
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, " \n")
		words := strings.Fields(line)
		switch {
		case line == "" || line[0] == '#':
		case words[0] == "case":
			cases = append(cases, Case{Name: words[1], Flags: words[2:]})
		default:
			c := &cases[len(cases)-1]
			c.Lines = append(c.Lines, line)
		}
	}
	return cases
}

// SameLines fails the test if the lines got are not those that a case wants.
func SameLines(t *testing.T, want, got []string) {
	t.Helper()
	if w, g := strings.Join(want, "\n"), strings.Join(got, "\n"); w != g {
		t.Errorf("got\n%s\n\nwant\n%s", g, w)
	}
}
