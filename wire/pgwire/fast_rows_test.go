package pgwire

import (
	"bytes"
	"fmt"
	"math"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"
	"pgregory.net/rapid"

	"nextid/generator"
	"nextid/wire/idrun"
)

// plainRun is appendRun as anybody would write it, over another encoder.
func plainRun(t interface{ Fatal(...any) }, r generator.Range, message func(id int64) pgproto3.BackendMessage) []byte {
	var b []byte
	for i := range r.Count {
		var err error
		if b, err = message(r.First + i*r.Step).Encode(b); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

func textRow(id int64) pgproto3.BackendMessage {
	return &pgproto3.DataRow{Values: [][]byte{fmt.Append(nil, id)}}
}

func binaryRow(id int64) pgproto3.BackendMessage {
	v := make([]byte, 8)
	for i := range v {
		v[i] = byte(uint64(id) >> (56 - 8*i))
	}
	return &pgproto3.DataRow{Values: [][]byte{v}}
}

func copyRow(id int64) pgproto3.BackendMessage {
	return &pgproto3.CopyData{Data: fmt.Append(nil, id, "\n")}
}

func checkRun(t interface{ Fatal(...any) }, r generator.Range) {
	prefix := []byte("before")
	for name, c := range map[string]struct {
		got     []byte
		message func(id int64) pgproto3.BackendMessage
	}{
		"text":   {appendRun(bytes.Clone(prefix), r, false), textRow},
		"binary": {appendRun(bytes.Clone(prefix), r, true), binaryRow},
		"copy":   {idrun.Append(bytes.Clone(prefix), r, 0, appendIDCopy), copyRow},
	} {
		if want := append(bytes.Clone(prefix), plainRun(t, r, c.message)...); !bytes.Equal(c.got, want) {
			t.Fatal(fmt.Sprintf("%s of %+v:\ngot  %q\nwant %q", name, r, c.got, want))
		}
	}
}

func TestRunsOfIDs(t *testing.T) {
	for _, r := range []generator.Range{
		{First: 1, Step: 1, Count: 1},
		{First: 1, Step: 1, Count: 12_000},
		{First: 9_990, Step: 1, Count: 20},
		{First: 99_999_999_990, Step: 1, Count: 20},
		{First: 7_123_456_789_012_345_678, Step: 1, Count: 100},
		{First: math.MaxInt64 - 9, Step: 1, Count: 10},
		{First: 12_345, Step: -1, Count: 3_000},
		{First: 20_000, Step: -3, Count: 7_000},
		{First: -5, Step: 1, Count: 10},
		{First: math.MinInt64, Step: 1, Count: 3},
		{First: 100_000, Step: 9_999, Count: 50},
		{First: 100_000, Step: 10_000, Count: 50},
		{First: 100_000, Step: 7, Count: 5_000},
		{First: 5, Step: 0, Count: 2},
		{First: 5, Step: 1, Count: 0},
	} {
		checkRun(t, r)
	}
}

func TestAnyRunOfIDs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const most = 20_000 * 300 // no run leaves the range of int64
		r := generator.Range{
			First: rapid.Int64Range(math.MinInt64+most, math.MaxInt64-most).Draw(t, "first"),
			Step:  rapid.Int64Range(-20_000, 20_000).Draw(t, "step"),
			Count: rapid.Int64Range(0, 300).Draw(t, "count"),
		}
		checkRun(t, r)
	})
}

func BenchmarkRun(b *testing.B) {
	r := generator.Range{First: 7_123_456_789_012_345_678, Step: 1, Count: 1024}
	dst := make([]byte, 0, 64<<10)
	for name, encode := range map[string]func(dst []byte) []byte{
		"text":   func(dst []byte) []byte { return appendRun(dst, r, false) },
		"copy":   func(dst []byte) []byte { return idrun.Append(dst, r, 0, appendIDCopy) },
		"binary": func(dst []byte) []byte { return appendRun(dst, r, true) },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				encode(dst)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(r.Count), "ns/row")
		})
	}
}
