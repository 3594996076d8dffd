package mysql_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"nextid/sqlfuncs/sqltest"

	"nextid/sqlfuncs"
	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

// testdata/corpus.jsonl holds the statements that the MySQL clients of
// docs/clients.md sent to a MariaDB 10.11, connection by connection, and the shape
// of its answers. corpus_differences.tsv lists the statements whose answer differs
// here: the statement, the difference and the reason.

// sent is one line of the corpus.
type sent struct {
	Client  string
	Conn    int
	SQL     string
	Message string // "" for a query, "prepare", "execute"
	Params  []string
	Reply   []reply
}

// reply is the shape of one result.
type reply struct {
	OK      bool
	Error   uint16
	Params  int
	Columns [][2]string // name and kind; unknown for executions whose client knew them
	More    bool        // the recorder cut the list of columns
	Rows    int         // -1: read later, with a cursor
}

func (r reply) String() string {
	switch {
	case r.Error != 0:
		return fmt.Sprintf("error %d", r.Error)
	case r.OK:
		return "OK"
	}
	return fmt.Sprintf("%d rows of %v", r.Rows, r.Columns)
}

func readCorpus(t testing.TB) []sent {
	t.Helper()
	text, err := os.ReadFile("testdata/corpus.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var all []sent
	for dec := json.NewDecoder(bytes.NewReader(text)); ; {
		var s sent
		if err := dec.Decode(&s); err == io.EOF {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
}

// knownDifference is a line of corpus_differences.tsv.
type knownDifference struct {
	what string
	used bool
}

func readDifferences(t *testing.T) map[string]*knownDifference {
	t.Helper()
	text, err := os.ReadFile("testdata/corpus_differences.tsv")
	if err != nil {
		t.Fatal(err)
	}
	m := map[string]*knownDifference{}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(f) != 3 {
			t.Fatalf("corpus_differences.tsv: %q has not three columns", line)
		}
		m[f[0]] = &knownDifference{what: f[1]}
	}
	return m
}

// replyOf returns the shape of a portal's answer.
func replyOf(t *testing.T, s *sqltest.Session, p *sqlfuncs.Portal) reply {
	var r reply
	for {
		_, err := p.Next(t.Context())
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return errorReply(t, err)
		}
		r.Rows++
	}
	for _, c := range p.Columns() {
		r.Columns = append(r.Columns, [2]string{c.Name, sqltest.DatumKind(c.Type)})
	}
	r.OK = p.Columns() == nil
	return r
}

func errorReply(t *testing.T, err error) reply {
	t.Helper()
	var e *sqlstate.Error
	if !errors.As(err, &e) {
		t.Errorf("an error without SQLSTATE: %v", err)
		return reply{Error: 1}
	}
	if e.Code == sqlstate.Internal {
		t.Errorf("internal error: %v", e.Cause)
	}
	return reply{Error: e.MySQL().Number}
}

// replay sends one line of the corpus and returns the answers.
func replay(t *testing.T, s *sqltest.Session, c sent) []reply {
	if c.Message == "" {
		b, err := s.Simple([]byte(c.SQL))
		if err != nil {
			return []reply{errorReply(t, err)}
		}
		defer s.EndBatch()
		var out []reply
		for {
			st, err := b.Next()
			if err != nil {
				return append(out, errorReply(t, err))
			}
			if st == nil {
				return out
			}
			out = append(out, replyOf(t, s, s.Run(st)))
			if out[len(out)-1].Error != 0 {
				return out
			}
		}
	}
	st, err := s.Prepare("", c.SQL, nil)
	if err != nil {
		return []reply{errorReply(t, err)}
	}
	if c.Message == "prepare" {
		r := []reply{{Params: len(st.Params)}}
		if st.Columns != nil {
			shape := reply{}
			for _, col := range st.Columns {
				shape.Columns = append(shape.Columns, [2]string{col.Name, sqltest.DatumKind(col.Type)})
			}
			r = append(r, shape)
		}
		return r
	}
	args := make([]sqlfuncs.Arg, len(c.Params))
	for i, p := range c.Params {
		args[i] = sqlfuncs.Arg{Type: datum.Text, Data: []byte(p)}
	}
	p, err := s.Open(st, args)
	if err != nil {
		return []reply{errorReply(t, err)}
	}
	defer p.Close()
	return []reply{replyOf(t, s, p)}
}

// recordedName marks where the recorder cut the names of columns.
const recordedName = 200

// differs returns a word for the difference between answers, "" for none.
func differs(got, want []reply) string {
	if len(got) != len(want) {
		return "results"
	}
	for i, g := range got {
		w := want[i]
		switch {
		case g.Error != w.Error:
			return "error"
		case g.Error != 0:
		case g.OK != w.OK || g.Params != w.Params:
			return "results"
		case w.Columns != nil && (len(g.Columns) < len(w.Columns) || len(g.Columns) > len(w.Columns) && !w.More):
			return "columns"
		case g.Rows != w.Rows && w.Rows >= 0:
			return "rows"
		}
		for j, c := range w.Columns {
			switch {
			case g.Columns[j][0] != c[0] && len(c[0]) < recordedName:
				return "names"
			case g.Columns[j][1] == "null" && c[1] == "text": // the recording has no other type for NULL
			case g.Columns[j][1] != c[1]:
				return "types"
			}
		}
	}
	return ""
}

func TestMySQLClientStatementsAreAnsweredAsByMariaDB(t *testing.T) {
	corpus, known := readCorpus(t), readDifferences(t)
	server := sqltest.NewServer(t)
	warm := server.Session(t)
	for _, name := range []string{"orders", "orders_seq"} {
		if _, err := warm.Query(t, "SELECT next_id('"+name+"')"); err != nil {
			t.Fatal(err)
		}
	}
	var s *sqltest.Session
	at := ""
	for _, c := range corpus {
		if conn := fmt.Sprint(c.Client, c.Conn); conn != at {
			at = conn
			s = server.SessionWith(t, sqlfuncs.SessionOptions{Dialect: syntax.MySQL, User: "corpus", Database: "corpus", PID: 42, RemoteAddr: "127.0.0.1:1"})
		}
		got := replay(t, s, c)
		key := strings.Join(strings.Fields(c.SQL), " ")
		d := known[key]
		what := differs(got, c.Reply)
		switch {
		case d != nil && what != "":
			d.used = true
			if d.what != what {
				t.Errorf("%s: %s\ndiffers in %s, known is %s\ngot  %v\nwant %v", c.Client, key, what, d.what, got, c.Reply)
			}
		case d == nil && what != "":
			t.Errorf("%s: %s\ndiffers in %s\ngot  %v\nwant %v", c.Client, key, what, got, c.Reply)
		}
	}
	for sql, d := range known {
		if !d.used {
			t.Errorf("corpus_differences.tsv: no answer differs for %s", sql)
		}
	}
}
