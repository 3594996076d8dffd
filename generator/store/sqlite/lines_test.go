package sqlite_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"

	"nextid/generator"
	"nextid/generator/history"
)

// appendLine appends the text form of a draw: name, first, step and count,
// separated by tabs, and a newline. Child processes print the draws that were
// acknowledged to them. They must write each line with one call, so that a kill
// cannot cut it.
func appendLine(b []byte, name string, r generator.Range) []byte {
	b = append(b, name...)
	for _, v := range [...]int64{r.First, r.Step, r.Count} {
		b = append(b, '\t')
		b = strconv.AppendInt(b, v, 10)
	}
	return append(b, '\n')
}

// readLines adds the lines of appendLine as draws of client. It ignores a last line
// without a newline, since a kill may have cut its count. Any other bad line is an
// error.
func readLines(l *history.Log, r io.Reader, client int) error {
	br := bufio.NewReader(r)
	for n := 1; ; n++ {
		line, err := br.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("history line %d: %w", n, err)
		}
		e, err := parseLine(line[:len(line)-1])
		if err != nil {
			return fmt.Errorf("history line %d: %w", n, err)
		}
		e.Client = client
		l.Add(e)
	}
}

func parseLine(line []byte) (history.Event, error) {
	fields := bytes.Split(line, []byte{'\t'})
	if len(fields) != 4 || len(fields[0]) == 0 {
		return history.Event{}, fmt.Errorf("want name, first, step and count, got %q", line)
	}
	var v [3]int64
	for i := range v {
		n, err := strconv.ParseInt(string(fields[i+1]), 10, 64)
		if err != nil {
			return history.Event{}, fmt.Errorf("in %q: %w", line, err)
		}
		v[i] = n
	}
	return history.Event{Name: string(fields[0]), Range: generator.Range{First: v[0], Step: v[1], Count: v[2]}}, nil
}
