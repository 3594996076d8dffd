package syntax

import "testing"

func TestScriptReadsEachStatementInItsOwnMode(t *testing.T) {
	const text = `; SELECT 'a\'b' /* ; */ ;; SELECT 'c\'; -- the end
		SELECT "d" /*!40101 ; SELECT 1 */ ; SELECT 'e`
	script, err := NewScript(text)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{`SELECT 'a\'b'`, `SELECT 'c\'`, `SELECT "d"`, `SELECT 1`} {
		if !script.More() {
			t.Fatalf("no statement %d", i)
		}
		p, found, err := script.Next(Mode{NoBackslashEscapes: i == 1, ANSIQuotes: i == 2}, nil)
		if err != nil || !found || text[p.Start:p.End] != want {
			t.Fatalf("statement %d: %q, %v, %v, want %q", i, text[p.Start:p.End], found, err, want)
		}
	}
	if !script.More() {
		t.Fatal("the last statement is not there")
	}
	if p, found, err := script.Next(Mode{}, nil); err == nil {
		t.Fatalf("an open string: %v, %v", p, found)
	}
	if script.More() {
		t.Error("more after an error")
	}
	if _, err := NewScript("SELECT '\xe4'"); err == nil {
		t.Error("a text that is not UTF-8 passes")
	}
	for _, empty := range []string{"", " ; ;", "/* x */;"} {
		script, _ := NewScript(empty) // UTF-8
		if _, found, err := script.Next(Mode{}, nil); found || err != nil || script.More() {
			t.Errorf("%q: %v, %v", empty, found, err)
		}
	}
}
