package pgwire_test

import (
	"encoding/hex"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"nextid/dbtest"
	"nextid/wire"
	"nextid/wire/wiretest"
)

// A transcript is a text of cases:
//
//	case NAME [ours]          ours: a real PostgreSQL answers otherwise
//	> Query SELECT 1          a message of the client, see sendLine
//	< DataRow "1"             the expected answer, see show
//
// All lines of a case after the login; the connection is new for each case.
// A case ends with the messages that its last < line waits for.

// sendLine encodes a > line.
func sendLine(t *testing.T, line string) []byte {
	t.Helper()
	verb, rest, _ := strings.Cut(line, " ")
	arg := strings.Fields(rest)
	number := func(i int) int {
		n, err := strconv.Atoi(arg[i])
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		return n
	}
	name := func(i int) string { return strings.Trim(arg[i], `"`) }
	switch verb {
	case "Query":
		return queryMsg(strings.ReplaceAll(rest, `\n`, "\n"))
	case "Parse": // name types… : sql
		head, sql, _ := strings.Cut(rest, ":")
		words := strings.Fields(head)
		var types []int
		for _, w := range words[1:] {
			n, err := strconv.Atoi(w)
			if err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			types = append(types, n)
		}
		return parseMsg(strings.Trim(words[0], `"`), strings.TrimPrefix(sql, " "), types...)
	case "Bind": // portal statement format values…
		return bindMsg(name(0), name(1), number(2), arg[3:]...)
	case "Describe":
		return describeMsg(arg[0][0], name(1))
	case "Close":
		return closeMsg(arg[0][0], name(1))
	case "Execute":
		return executeMsg(name(0), number(1))
	case "Sync":
		return syncMsg()
	case "Flush":
		return msg('H')
	case "Terminate":
		return msg('X')
	case "Startup": // version name value …
		version, err := strconv.ParseInt(arg[0], 0, 64)
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		return startupPacket(int(version), arg[1:]...)
	case "message": // type body
		body, err := hex.DecodeString(strings.Join(arg[1:], ""))
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		return msg(arg[0][0], body)
	case "hex":
		b, err := hex.DecodeString(strings.ReplaceAll(rest, " ", ""))
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		return b
	}
	t.Fatalf("unknown verb in %q", line)
	return nil
}

// play runs a case and returns the answers in the places of the < lines.
func play(t *testing.T, c wiretest.Case, address string, drip bool) []string {
	t.Helper()
	var conn *client
	if c.Has("raw") {
		conn = dial(t, address)
	} else {
		conn = login(t, address)
	}
	var got []string
	var out []byte
	flush := func() {
		if drip {
			for i := range out {
				conn.write(out[i : i+1])
			}
		} else if len(out) > 0 {
			conn.write(out)
		}
		out = nil
	}
	for _, line := range c.Lines {
		if sent, ok := strings.CutPrefix(line, "> "); ok {
			out = append(out, sendLine(t, sent)...)
			got = append(got, line)
			continue
		}
		flush()
		if want := strings.TrimPrefix(line, "< "); want == "byte N" { // the answer to an encryption request has no frame
			var b [1]byte
			if _, err := conn.conn.Read(b[:]); err != nil {
				t.Fatal(err)
			}
			got = append(got, "< byte "+string(b[:]))
			continue
		}
		text := show(conn.next())
		for strings.HasPrefix(text, "ParameterStatus") && !strings.Contains(line, "ParameterStatus") {
			text = show(conn.next()) // compared in a test of its own
		}
		got = append(got, "< "+text)
	}
	return got
}

func TestTranscripts(t *testing.T) {
	address, _ := startServer(t, wire.Limits{})
	wiretest.Transcripts(t, func(t *testing.T, c wiretest.Case) { wiretest.SameLines(t, c.Lines, play(t, c, address, false)) })
}

// TestTranscriptsByteByByte sends every message one byte at a time: where a
// read ends must not matter.
func TestTranscriptsByteByByte(t *testing.T) {
	address, _ := startServer(t, wire.Limits{})
	wiretest.Transcripts(t, func(t *testing.T, c wiretest.Case) { wiretest.SameLines(t, c.Lines, play(t, c, address, true)) })
}

// TestTranscriptsAgainstPostgreSQL holds the transcripts to the real thing.
func TestTranscriptsAgainstPostgreSQL(t *testing.T) {
	dsn, err := url.Parse(dbtest.QuickPostgres(t))
	if err != nil {
		t.Fatal(err)
	}
	setup := login(t, dsn.Host)
	setup.write(queryMsg(`CREATE SEQUENCE s START 1000000000000000001;
		CREATE FUNCTION next_id(name text) RETURNS bigint LANGUAGE sql AS 'SELECT nextval(''s'')';
		CREATE FUNCTION next_ids(name text, n bigint) RETURNS SETOF bigint LANGUAGE sql AS 'SELECT nextval(''s'') FROM generate_series(1, n)';`))
	setup.until("ReadyForQuery")
	wiretest.Transcripts(t, func(t *testing.T, c wiretest.Case) {
		if c.Has("ours") {
			t.Skip("marked ours: PostgreSQL answers otherwise, on purpose")
		}
		wiretest.SameLines(t, c.Lines, play(t, c, dsn.Host, false))
	})
}
