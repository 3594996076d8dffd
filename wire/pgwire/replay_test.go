package pgwire_test

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"

	"nextid/generator/segment"
	"nextid/sqlfuncs/sqltest"
	"nextid/wire"
	"nextid/wire/pgwire"
	"nextid/wire/wiretest"
)

// The corpus holds recorded messages of real clients, a file for each, and the
// answers of PostgreSQL 15: one message a line, all connections of the client one
// after the other. The recorded server had the functions next_id, next_ids and
// parse_id, the sequences orders and orders_seq, and the views ids and orders_id.
//
// TestReplay sends the same messages to a machine. It compares types of messages,
// column names, type OIDs, command tags, transaction status and SQLSTATE.
// Differences are in differences.txt with their reasons. -update writes the file
// again. New differences get the reason unexplained, with which the test fails.

var updateDifferences = flag.Bool("update", false, "rewrite testdata/corpus/differences.txt")

// recorded is one message of a client.
type recorded struct {
	Phase         string
	Message       string
	Name          string
	Portal        string
	SQL           string
	ParamTypes    []int `json:"param_types"`
	Formats       []int
	Params        []*string
	ResultFormats []int             `json:"result_formats"`
	MaxRows       int               `json:"max_rows"`
	Parameters    map[string]string // of a StartupMessage
	Reply         []string          // with the message that PostgreSQL sent it after
}

func readCorpus(t *testing.T, file string) []recorded {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var all []recorded
	lines := json.NewDecoder(bytes.NewReader(b))
	lines.DisallowUnknownFields()
	for {
		var r recorded
		switch err := lines.Decode(&r); {
		case errors.Is(err, io.EOF):
			return all
		case err != nil:
			t.Fatalf("%s, message %d: %v", file, len(all)+1, err)
		}
		all = append(all, r)
	}
}

// encode writes the message as the client sent it.
func (r *recorded) encode(t *testing.T) []byte {
	t.Helper()
	switch r.Message {
	case "StartupMessage":
		var params []string
		for k, v := range r.Parameters {
			params = append(params, k, v)
		}
		return startupPacket(3<<16, params...)
	case "Query":
		return queryMsg(r.SQL)
	case "Parse":
		return parseMsg(r.Name, r.SQL, r.ParamTypes...)
	case "Bind":
		b := join(cstr(r.Portal), cstr(r.Name), i16(len(r.Formats)), i16(r.Formats...), i16(len(r.Params)))
		for i, p := range r.Params {
			b = append(b, r.param(t, i, p)...)
		}
		return msg('B', b, i16(len(r.ResultFormats)), i16(r.ResultFormats...))
	case "DescribeStatement":
		return describeMsg('S', r.Name)
	case "DescribePortal":
		return describeMsg('P', r.Name)
	case "CloseStatement":
		return closeMsg('S', r.Name)
	case "ClosePortal":
		return closeMsg('P', r.Name)
	case "Execute":
		return executeMsg(r.Portal, r.MaxRows)
	case "Sync":
		return syncMsg()
	case "Flush":
		return msg('H')
	case "CopyData":
		return msg('d', []byte("PGCOPY\n\xff\r\n\x00"), i32(0, 0), i16(-1))
	case "CopyDone":
		return msg('c')
	case "Terminate":
		return msg('X')
	}
	t.Fatalf("a message of type %q", r.Message)
	return nil
}

func (r *recorded) param(t *testing.T, i int, p *string) []byte {
	if p == nil {
		return i32(-1)
	}
	value := []byte(*p)
	if len(r.Formats) > 0 && r.Formats[min(i, len(r.Formats)-1)] == 1 {
		var err error
		if value, err = hex.DecodeString(strings.TrimPrefix(*p, `\x`)); err != nil {
			t.Fatal(err)
		}
	}
	return append(i32(len(value)), value...)
}

// step holds the messages from one ReadyForQuery to the next.
type step struct {
	in        []byte
	statement string   // the texts, or the first Bind's
	uses      []string // names of prepared statements
	makes     []string
	want      []string
}

// steps divides a connection's messages. Clients pipeline, so that replies
// are counted, not paired: the n-th ReadyForQuery ends the n-th step.
func steps(t *testing.T, messages []recorded) []step {
	t.Helper()
	var all []step
	var now step
	var want [][]string
	texts := map[string]string{}
	reply := []string{}
	for i, m := range messages {
		now.in = append(now.in, m.encode(t)...)
		switch m.Message {
		case "Parse":
			texts[m.Name] = m.SQL
			now.makes = append(now.makes, m.Name)
			now.statement = strings.TrimPrefix(now.statement+"; "+m.SQL, "; ")
		case "Query":
			now.statement = m.SQL
		case "StartupMessage":
			now.statement = "start-up"
		case "Bind", "DescribeStatement":
			now.uses = append(now.uses, m.Name)
			now.statement = cmp.Or(now.statement, texts[m.Name])
		}
		for _, r := range m.Reply {
			if reply = append(reply, r); strings.HasPrefix(r, "Z[") {
				want, reply = append(want, reply), nil
			}
		}
		copying := i+1 < len(messages) && strings.HasPrefix(messages[i+1].Message, "Copy")
		if ends := m.Message == "Query" || m.Message == "Sync" || m.Message == "CopyDone" || m.Message == "StartupMessage"; ends && !copying {
			all, now = append(all, now), step{}
		}
	}
	if len(want) != len(all) {
		t.Fatalf("%d answers to %d steps", len(want), len(all))
	}
	for i := range all {
		all[i].want = want[i]
	}
	return all
}

// connections divides a client's messages by connection.
func connections(messages []recorded) [][]recorded {
	var all [][]recorded
	for _, m := range messages {
		if m.Message == "StartupMessage" {
			all = append(all, nil)
		}
		all[len(all)-1] = append(all[len(all)-1], m)
	}
	return all
}

// received writes messages of the server as the corpus does.
func received(t testing.TB, b []byte) []string {
	f := pgwire.NewDecoder(t, bytes.NewReader(b))
	var lines []string
	for {
		m, err := f.Receive()
		if err != nil {
			return lines
		}
		switch m := m.(type) {
		case *pgproto3.AuthenticationOk:
		case *pgproto3.RowDescription:
			var cols []string
			for _, c := range m.Fields {
				cols = append(cols, fmt.Sprintf("%s:oid%d:len%d:fmt%d", c.Name, c.DataTypeOID, c.DataTypeSize, c.Format))
			}
			lines = append(lines, "T["+strings.Join(cols, " ")+"]")
		case *pgproto3.ParameterDescription:
			lines = append(lines, strings.ReplaceAll(fmt.Sprintf("t%d", m.ParameterOIDs), " ", ","))
		case *pgproto3.DataRow:
			lines = append(lines, "D")
		case *pgproto3.CommandComplete:
			lines = append(lines, "C["+string(m.CommandTag)+"]")
		case *pgproto3.ReadyForQuery:
			lines = append(lines, "Z["+string(m.TxStatus)+"]")
		case *pgproto3.ErrorResponse:
			lines = append(lines, "E["+m.Code+" "+m.Message+"]")
		case *pgproto3.NoticeResponse:
			lines = append(lines, "N["+m.Code+" "+m.Message+"]")
		case *pgproto3.ParameterStatus:
			lines = append(lines, "S["+m.Name+"="+m.Value+"]")
		case *pgproto3.CopyOutResponse:
			lines = append(lines, "H")
		case *pgproto3.CopyInResponse:
			lines = append(lines, "G")
		case *pgproto3.CopyData:
			lines = append(lines, "DataRowCopyData")
		case *pgproto3.CopyDone:
			lines = append(lines, "c")
		default:
			lines = append(lines, strings.TrimPrefix(fmt.Sprintf("%T", m), "*pgproto3."))
		}
	}
}

var (
	repeated  = regexp.MustCompile(`^(D|DataRowCopyData)\*\d+$`)
	detail    = regexp.MustCompile(`^([EN]\[\w{5}) .*\]$`)
	parameter = regexp.MustCompile(`^(S\[[^=]*)=.*\]$`)
	manyRows  = regexp.MustCompile(`^(C\[SELECT) [1-9]\d*\]$`)
	catalog   = regexp.MustCompile(`(?i)pg_catalog|information_schema|\bpg_`)
)

// essence leaves out the values: how many rows the catalogs have, the texts
// of errors, the values of parameters.
func essence(statement string, reply []string) []string {
	var lines []string
	catalog := catalog.MatchString(statement)
	for _, r := range reply {
		if m := repeated.FindStringSubmatch(r); m != nil {
			r = m[1]
		}
		r = detail.ReplaceAllString(r, "$1]")
		r = parameter.ReplaceAllString(r, "$1]")
		if catalog {
			r = manyRows.ReplaceAllString(r, "$1 n]")
		}
		if r[0] == 'S' { // in no fixed order
			at, known := slices.BinarySearch(lines[firstStatus(lines):], r)
			if !known {
				lines = slices.Insert(lines, firstStatus(lines)+at, r)
			}
			continue
		}
		rows := r == "D" || r == "DataRowCopyData"
		if rows && len(lines) > 0 && lines[len(lines)-1] == r {
			continue // the command tag has the number
		}
		lines = append(lines, r)
	}
	return lines
}

// firstStatus returns where the ParameterStatus messages at the end begin.
func firstStatus(lines []string) int {
	i := len(lines)
	for i > 0 && lines[i-1][0] == 'S' {
		i--
	}
	return i
}

// cutShort reports whether g goes on as a RowDescription that was recorded
// up to a place only.
func cutShort(w, g string) bool {
	if head, _, ok := strings.Cut(w, "…"); ok {
		w = head
	} else if strings.HasSuffix(w, "]") {
		return false
	}
	return w[0] == 'T' && strings.HasPrefix(g, w)
}

// difference is the first place where two replies part.
func difference(want, got []string) (string, string) {
	at := func(lines []string, i int) string {
		if i < len(lines) {
			return lines[i]
		}
		return "nothing"
	}
	for i := range max(len(want), len(got)) {
		w, g := at(want, i), at(got, i)
		if w == g || cutShort(w, g) {
			continue
		}
		if ws, gs := strings.Split(w, " "), strings.Split(g, " "); w[0] == 'T' && g[0] == 'T' && len(ws) == len(gs) {
			ws, gs = slices.Clone(ws), slices.Clone(gs) // only the columns that differ
			for j, w := range slices.Backward(ws) {
				if w == gs[j] {
					ws, gs = slices.Delete(ws, j, j+1), slices.Delete(gs, j, j+1)
				}
			}
			w, g = strings.Join(ws, " "), strings.Join(gs, " ")
		}
		return short(w, 120), short(g, 120)
	}
	return "", ""
}

var (
	blanks = regexp.MustCompile(`\s+`)
	digits = regexp.MustCompile(`\d+`)
)

// short is a text in one line, with its length bounded.
func short(s string, most int) string {
	if s = strings.TrimSpace(blanks.ReplaceAllString(s, " ")); len(s) > most {
		s = s[:most] + "…"
	}
	return s
}

// replayServer returns a server with the objects of the recorded server.
func replayServer(t *testing.T) *wire.Server {
	t.Helper()
	sql := sqltest.NewServer(t, sqltest.Config{NoAutoCreate: true})
	for _, name := range []string{"orders", "orders_seq"} {
		if err := sql.Registry.Create(t.Context(), name, segment.KindName, nil); err != nil {
			t.Fatal(err)
		}
	}
	return pgwire.New(pgwire.Config{SQL: wiretest.Ready(sql.Server), Logger: quiet()})
}

// comparison replays one client and notes differences.
type comparison struct {
	t        *testing.T
	server   *wire.Server
	note     func(statement, want, got string)
	compared int
	skipped  int
}

func (c *comparison) connection(id int, messages []recorded) {
	m := c.server.NewMachine(&wire.Conn{ID: int32(id)})
	defer m.Close()
	var sent []byte // before a wait, or for a Flush
	out := wire.NewOut(1<<30, func(b []byte) error {
		sent = append(sent, b...)
		return nil
	})
	astray := false           // our transaction ended otherwise than theirs
	lost := map[string]bool{} // statements that we refused to prepare
	for _, s := range steps(c.t, messages) {
		out.B, sent = out.B[:0], nil
		if n, err := m.Feed(c.t.Context(), s.in, out); err != nil || n != len(s.in) {
			c.t.Fatalf("%s: consumed %d of %d bytes, %v", s.statement, n, len(s.in), err)
		}
		reply := received(c.t, append(sent, out.B...))
		want, got := essence(s.statement, s.want), essence(s.statement, reply)
		if s.statement == "start-up" && !strings.HasPrefix(want[0], "S[") {
			want, got = want[len(want)-1:], got[len(got)-1:] // recorded at the first connection only
		}
		unknown := slices.ContainsFunc(s.uses, func(name string) bool { return lost[name] && !slices.Contains(s.makes, name) })
		if astray || unknown {
			c.skipped++
		} else {
			c.compared++
			w, g := difference(want, got)
			if w != "" {
				c.note(s.statement, w, g)
			}
			for _, name := range s.makes {
				lost[name] = w != ""
			}
		}
		theirs, ours := want[len(want)-1], got[len(got)-1]
		astray = theirs != ours || astray && theirs != "Z[I]"
	}
}

func TestReplay(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "corpus", "*.jsonl"))
	if err != nil || len(files) < 20 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	known := readDifferences(t)
	compared, skipped := 0, 0
	for _, file := range files {
		client := strings.TrimSuffix(filepath.Base(file), ".jsonl")
		t.Run(client, func(t *testing.T) {
			c := comparison{t: t, server: replayServer(t), note: func(statement, want, got string) {
				known.saw(t, difference3{short(digits.ReplaceAllString(statement, "N"), 160), want, got})
			}}
			for i, messages := range connections(readCorpus(t, file)) {
				c.connection(i+1, messages)
			}
			compared, skipped = compared+c.compared, skipped+c.skipped
		})
	}
	t.Logf("%d answers compared, %d not, since they follow one that differs", compared, skipped)
	known.finish(t)
}

// difference3 is a statement, PostgreSQL's answer, and ours.
type difference3 [3]string

// differences holds the content of differences.txt, in the order of the file.
type differences struct {
	reasons []string
	entries map[string][]difference3 // by reason
	seen    map[difference3]bool
}

// unexplained is the reason that -update writes for a new difference.
const unexplained = "?"

func differencesFile() string { return filepath.Join("testdata", "corpus", "differences.txt") }

func readDifferences(t *testing.T) *differences {
	t.Helper()
	b, err := os.ReadFile(differencesFile())
	if err != nil && !*updateDifferences {
		t.Fatal(err)
	}
	d := &differences{entries: map[string][]difference3{}, seen: map[difference3]bool{}}
	reason := unexplained
	for n, line := range strings.Split(string(b), "\n") {
		switch parts := strings.Split(line, "\t"); {
		case line == "" || line[0] == '#':
		case strings.HasPrefix(line, "why: "):
			reason = strings.TrimPrefix(line, "why: ")
			d.reasons = append(d.reasons, reason)
		case len(parts) == 3:
			d.entries[reason] = append(d.entries[reason], difference3(parts))
			d.seen[difference3(parts)] = false
		default:
			t.Fatalf("%s:%d: want a statement, PostgreSQL's answer and ours, divided by tabs", differencesFile(), n+1)
		}
	}
	return d
}

func (d *differences) saw(t *testing.T, x difference3) {
	t.Helper()
	if _, known := d.seen[x]; !known {
		d.entries[unexplained] = append(d.entries[unexplained], x)
		if !slices.Contains(d.reasons, unexplained) {
			d.reasons = append(d.reasons, unexplained)
		}
	}
	d.seen[x] = true
	if slices.Contains(d.entries[unexplained], x) {
		t.Errorf("%s\n\tPostgreSQL: %s\n\tours:       %s", x[0], x[1], x[2])
	}
}

const differencesHead = `# Where our answers to the recorded clients differ from PostgreSQL's. A line
# "why:" is the reason of the lines under it: statement, PostgreSQL's first
# message that differs, ours. Numbers are written N. Read by TestReplay: an
# entry that is not used fails it, and so does a difference that is not here.
`

func (d *differences) finish(t *testing.T) {
	t.Helper()
	var b strings.Builder
	b.WriteString(differencesHead)
	for _, reason := range d.reasons {
		var lines []string
		for _, x := range d.entries[reason] {
			if d.seen[x] {
				lines = append(lines, strings.Join(x[:], "\t"))
			} else if !*updateDifferences {
				t.Errorf("no longer differs, so take it out of %s: %s", differencesFile(), strings.Join(x[:], " | "))
			}
		}
		if len(lines) > 0 {
			fmt.Fprintf(&b, "\nwhy: %s\n%s\n", reason, strings.Join(lines, "\n"))
		}
	}
	if !*updateDifferences {
		return
	}
	if err := os.WriteFile(differencesFile(), []byte(b.String()), 0o644); err != nil {
		t.Error(err)
	}
}
