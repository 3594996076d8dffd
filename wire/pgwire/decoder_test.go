package pgwire

import (
	"bytes"
	"encoding/binary"
	"io"
	"testing"

	independent "github.com/jackc/pgproto3/v2"
	"github.com/jackc/pgx/v5/pgproto3"
)

// Decoder reads the messages of a PostgreSQL server with two decoders: pgx's, and
// its independent predecessor. Both must decode each message, and encode the result
// to the bytes that were sent.
type Decoder struct {
	t      testing.TB
	from   io.Reader
	second chunks
	first  *pgproto3.Frontend
	check  *independent.Frontend
}

// NewDecoder returns a Decoder that reads from from.
func NewDecoder(t testing.TB, from io.Reader) *Decoder {
	d := &Decoder{t: t, from: from}
	d.first = pgproto3.NewFrontend(d, io.Discard)
	d.check = independent.NewFrontend(&d.second, io.Discard)
	return d
}

// Read reads for the first decoder, and keeps the bytes for the second.
func (d *Decoder) Read(p []byte) (int, error) {
	n, err := d.from.Read(p)
	d.second = append(d.second, p[:n]...)
	return n, err
}

// Receive returns the next message, valid until the next call.
func (d *Decoder) Receive() (pgproto3.BackendMessage, error) {
	d.t.Helper()
	m, err := d.first.Receive()
	if err != nil {
		return nil, err
	}
	size := 1 + int(binary.BigEndian.Uint32(d.second[1:]))
	sent := d.second[:size:size]
	d.same(sent, m)
	if newerThanIndependent(sent) {
		d.second = d.second[size:]
		return m, nil
	}
	again, err := d.check.Receive()
	if err != nil {
		d.t.Fatalf("the independent decoder does not understand %q: %v", sent, err)
	}
	d.same(sent, again)
	return m, nil
}

// same compares a message with the bytes that were sent.
func (d *Decoder) same(sent []byte, m interface{ Encode([]byte) ([]byte, error) }) {
	d.t.Helper()
	if b, err := m.Encode(nil); err != nil || !bytes.Equal(b, sent) {
		d.t.Fatalf("sent %q\nread as %#v, which is %q, %v", sent, m, b, err)
	}
}

// newerThanIndependent reports whether a message is not in protocol 3.0, the only
// version of the independent decoder: NegotiateProtocolVersion, and the longer keys
// of 3.2.
func newerThanIndependent(sent []byte) bool {
	return sent[0] == 'v' || sent[0] == 'K' && len(sent) != 13
}

// chunks holds the bytes that the independent decoder has not read.
type chunks []byte

// Next implements the independent decoder's ChunkReader.
func (c *chunks) Next(n int) ([]byte, error) {
	if len(*c) < n {
		return nil, io.ErrUnexpectedEOF
	}
	b := (*c)[:n:n]
	*c = (*c)[n:]
	return b, nil
}
