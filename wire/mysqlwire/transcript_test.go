package mysqlwire_test

import (
	"encoding/hex"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"nextid/dbtest"
	"nextid/wire/mysqlwire"
	"nextid/wire/wiretest"
)

// A transcript is a text of cases:
//
//	case NAME [ours]          ours: a real MariaDB answers otherwise
//	> query SELECT 1          a command of the client, see sendLine
//	< Row "1"                 the expected answer, see show
//
// All lines of a case come after the login; the connection is new for each case.
// Several > lines in a row are sent together. Clients with different capabilities
// play the same cases; show leaves out the differences.

// sendLine encodes a > line and returns the kind of its answer (decoder.answer).
// Statements are numbered in the order in which they were prepared; ids holds the
// server's numbers.
func sendLine(t *testing.T, caps uint64, line string, ids []int) (b []byte, kind string) {
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
	id := func() int {
		if n := number(0); n > 0 && n <= len(ids) {
			return ids[n-1]
		}
		return number(0)
	}
	switch verb {
	case "query":
		return query(rest), "text"
	case "prepare":
		return prepare(rest), "prepare"
	case "execute": // id flags values…
		var params []param
		for _, v := range arg[2:] {
			params = append(params, readParam(t, v))
		}
		return execute(id(), number(1), params...), "binary"
	case "again": // id nulls values…: no types
		b := join(u32(id()), []byte{0}, u32(1), []byte{byte(number(1)), 0})
		for _, v := range arg[2:] {
			b = append(b, readParam(t, v).value...)
		}
		return command(0x17, b), "binary"
	case "fetch":
		return command(0x1c, u32(id()), u32(number(1))), "fetch"
	case "long": // id parameter text
		return command(0x18, u32(id()), u16(number(1)), []byte(arg[2])), "none"
	case "close":
		return command(0x19, u32(id())), "none"
	case "reset":
		return command(0x1a, u32(id())), "text"
	case "fields":
		return command(4, cstr(arg[0]), []byte(strings.Join(arg[1:], " "))), "fields"
	case "option":
		return command(0x1b, u16(number(0))), "fields"
	case "statistics":
		return command(9), "string"
	case "execution": // body, in hex
		b, err := hex.DecodeString(strings.Join(arg, ""))
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		return command(0x17, b), "binary"
	case "command": // type body, in hex
		b, err := hex.DecodeString(strings.Join(arg, ""))
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		return packet(0, b), "text"
	case "raw":
		b, err := hex.DecodeString(strings.Join(arg, ""))
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		return b, "text"
	}
	t.Fatalf("unknown verb in %q", line)
	return nil, ""
}

// readParam reads a value: NULL, a number, a number with a point, type:hex, or a
// text.
func readParam(t *testing.T, s string) param {
	t.Helper()
	if s == "NULL" {
		return param{typ: 6, null: true}
	}
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return bigint(n)
	}
	if f, err := strconv.ParseFloat(s, 64); err == nil {
		return double(f)
	}
	if typ, value, ok := strings.Cut(s, ":"); ok {
		n, err1 := strconv.ParseInt(typ, 0, 32)
		b, err2 := hex.DecodeString(value)
		if err1 != nil || err2 != nil {
			t.Fatalf("%q: %v, %v", s, err1, err2)
		}
		return param{typ: int(n), value: b}
	}
	return text(s)
}

var (
	idPattern     = regexp.MustCompile(`\b\d{18,19}\b`)
	columnPattern = regexp.MustCompile(`^(Column .*?:type=\d+):.*$`)
	paramPattern  = regexp.MustCompile(`^(Param .*?):.*$`)
	preparedLine  = regexp.MustCompile(`^Prepared (\d+) `)
	endPattern    = regexp.MustCompile(`^(?:EOF|OK-EOF).* status=0x([0-9a-f]+) warnings=(\d+).*$`)
	okPattern     = regexp.MustCompile(`^OK affected=(\d+) insert=(\d+) status=0x([0-9a-f]+) warnings=(\d+).*$`)
)

// status keeps the flags of a status that are compared: transaction, autocommit,
// more results, cursor, last row, no backslash escapes, read-only, ANSI quotes. It
// leaves out MariaDB's flags about indexes, and that the session's state has
// changed.
func status(hex string) string {
	n, err := strconv.ParseUint(hex, 16, 16)
	if err != nil {
		return hex
	}
	return fmt.Sprintf("0x%x", n&0xa2cb)
}

// show prints the lines of an answer in the form of a transcript: without the parts
// that depend on the client's capabilities, with ID for ids, without the texts of
// errors.
func show(kind string, lines []string) (out []string) {
	columns := false
	for _, line := range lines {
		switch {
		case strings.HasPrefix(line, "ERR "):
			words := strings.Fields(line)
			line = strings.Join(words[:min(3, len(words))], " ")
		case paramPattern.MatchString(line): // servers do not know the type yet
			columns = true
			out = append(out, paramPattern.ReplaceAllString(line, "$1"))
			continue
		case columnPattern.MatchString(line):
			columns = kind != "fields"
			out = append(out, columnPattern.ReplaceAllString(line, "$1"))
			continue
		case endPattern.MatchString(line):
			m := endPattern.FindStringSubmatch(line)
			if line = "End " + status(m[1]); m[2] != "0" {
				line += " warnings=" + m[2]
			} else if columns && strings.HasPrefix(line, "End ") && !strings.Contains(line, "0x4") && !strings.Contains(line, "0xc") {
				columns = false
				continue // between columns and rows, for older clients
			}
		case okPattern.MatchString(line):
			m := okPattern.FindStringSubmatch(line)
			line = fmt.Sprintf("OK affected=%s insert=%s status=%s warnings=%s", m[1], m[2], status(m[3]), m[4])
		}
		columns = false
		out = append(out, idPattern.ReplaceAllString(line, "ID"))
	}
	return out
}

// play runs a case and returns the answers in the places of the < lines.
func play(t *testing.T, c wiretest.Case, address string, caps uint64, drip bool) []string {
	t.Helper()
	conn := login(t, address, caps)
	var got []string
	var out []byte
	var kinds []string
	var ids []int
	flush := func() {
		if drip {
			for i := range out {
				conn.write(out[i : i+1])
			}
		} else if len(out) > 0 {
			conn.write(out)
		}
		for _, kind := range kinds {
			var known []column
			if kind == "fetch" {
				known = []column{{typ: 8}}
			}
			lines, err := conn.answer(kind, known...)
			if err != nil {
				lines = append(lines, "closed")
			}
			if caps&deprecateEOF != 0 && kind != "prepare" && kind != "fields" {
				lines = markColumns(lines)
			}
			if kind == "string" {
				lines = []string{"String"}
			}
			for _, line := range show(kind, lines) {
				if m := preparedLine.FindStringSubmatch(line); m != nil {
					id, _ := strconv.Atoi(m[1]) // digits
					ids = append(ids, id)
					line = preparedLine.ReplaceAllString(line, "Prepared ")
				}
				got = append(got, "< "+line)
			}
		}
		out, kinds = nil, nil
	}
	asked := false
	for _, line := range c.Lines {
		sent, ok := strings.CutPrefix(line, "> ")
		if !ok {
			asked = true
			continue
		}
		if asked {
			flush()
			asked = false
		}
		b, kind := sendLine(t, caps, sent, ids)
		out = append(out, b...)
		kinds = append(kinds, kind)
		got = append(got, line)
	}
	flush()
	return got
}

// markColumns puts the EOF behind the columns that newer clients do without,
// so that show can leave it out for all.
func markColumns(lines []string) (out []string) {
	for i, line := range lines {
		out = append(out, line)
		if strings.HasPrefix(line, "Column ") && (i+1 == len(lines) || !strings.HasPrefix(lines[i+1], "Column ")) &&
			(i+1 == len(lines) || !strings.Contains(lines[i+1], "status=0x42")) {
			out = append(out, "EOF status=0x0 warnings=0")
		}
	}
	return out
}

func TestTranscripts(t *testing.T) {
	address, _ := startServer(t, mysqlwire.Config{})
	for name, caps := range map[string]uint64{"plain": plain, "modern": modern, "MariaDB": maria &^ cacheMetadata, "no plugins": plain &^ (pluginAuth | lenencAuth | connectAttrs)} {
		t.Run(name, func(t *testing.T) {
			wiretest.Transcripts(t, func(t *testing.T, c wiretest.Case) { wiretest.SameLines(t, c.Lines, play(t, c, address, caps, false)) })
		})
	}
}

// TestTranscriptsByteByByte sends every message one byte at a time: where a
// read ends must not matter.
func TestTranscriptsByteByByte(t *testing.T) {
	address, _ := startServer(t, mysqlwire.Config{})
	wiretest.Transcripts(t, func(t *testing.T, c wiretest.Case) { wiretest.SameLines(t, c.Lines, play(t, c, address, modern, true)) })
}

// TestTranscriptsAgainstMariaDB holds the transcripts to the real thing.
func TestTranscriptsAgainstMariaDB(t *testing.T) {
	address, _ := dbtest.QuickMariaDB(t)
	setup := loginTo(t, address, plain, "test")
	for _, sql := range []string{
		"CREATE DATABASE nextid", "USE nextid",
		"CREATE TABLE ids (name varchar(128) NOT NULL, id bigint)",
		"CREATE DATABASE shop", "CREATE TABLE shop.ids LIKE ids",
		"CREATE SEQUENCE s START 1000000000000000001",
		"CREATE FUNCTION next_id(name varchar(64)) RETURNS bigint RETURN NEXT VALUE FOR s",
	} {
		if got := setup.ask("text", query(sql)); !strings.HasPrefix(got[len(got)-1], "OK ") {
			t.Fatalf("%s: %q", sql, got)
		}
	}
	wiretest.Transcripts(t, func(t *testing.T, c wiretest.Case) {
		if c.Has("ours") {
			t.Skip("marked ours: MariaDB answers otherwise, on purpose")
		}
		wiretest.SameLines(t, c.Lines, play(t, c, address, plain, false))
	})
}
