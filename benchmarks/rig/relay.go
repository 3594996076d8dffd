package rig

import (
	"io"
	"net"
	"net/url"
	"sync/atomic"
)

// Relay passes on the bytes of connections to a server, and counts them.
type Relay struct {
	URL      string // the server's, with the relay's address
	target   atomic.Pointer[string]
	listener net.Listener
	bytes    atomic.Int64
}

// NewRelay listens for a server whose URL names a TCP address.
func NewRelay(target string) (*Relay, error) {
	u, err := url.Parse(target)
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &Relay{listener: l}
	r.target.Store(&u.Host)
	through := *u
	through.Host = l.Addr().String()
	r.URL = through.String()
	go r.serve() // until Close
	return r, nil
}

// Bytes is how many bytes went through in both directions.
func (r *Relay) Bytes() int64 { return r.bytes.Load() }

// To lets connections that begin now go to another server.
func (r *Relay) To(server *Server) error {
	u, err := url.Parse(server.URL)
	if err == nil {
		r.target.Store(&u.Host)
	}
	return err
}

// Close stops to accept; connections end with their clients.
func (r *Relay) Close() { _ = r.listener.Close() }

func (r *Relay) serve() {
	for {
		client, err := r.listener.Accept()
		if err != nil {
			return // closed
		}
		server, err := net.Dial("tcp", *r.target.Load())
		if err != nil {
			_ = client.Close() // which tells the client
			continue
		}
		go r.pass(client, server)
		go r.pass(server, client)
	}
}

// pass copies until one side ends, and then ends both.
func (r *Relay) pass(from, to net.Conn) {
	_, _ = io.Copy(to, io.TeeReader(from, r)) // the end is all there is to know
	_ = from.Close()
	_ = to.Close()
}

// Write counts.
func (r *Relay) Write(b []byte) (int, error) {
	r.bytes.Add(int64(len(b)))
	return len(b), nil
}
