// Package web serves nextid over HTTP, to people and to programs that speak
// no SQL:
//
//	/                    the page: generators, rates, nodes, and any id taken apart
//	/api/v1/…            the JSON API, described by /api/v1/openapi.json
//	/api/segment/get/…   the paths of Leaf's callers, and of Tinyid's (/tinyid/id/…)
//
// It is one more protocol over package sqlfuncs: every request is an SQL
// statement in a session of the user who asks, so users, roles, limits and
// errors are those of SQL.
//
//	web.go      Server, its routes, what every answer carries
//	caller.go   who asks: passwords, logins of the page, other sites
//	query.go    a request's statement, and its rows as JSON
//	api.go      /api/v1
//	compat.go   the paths of Leaf and Tinyid
//	history.go  ids a second, for the last hour
//	page/       what a browser loads
//	openapi.json describes the API; a test holds the server to it
package web

import (
	"context"
	"embed"
	"io"
	"io/fs"
	"net"
	"net/http"
	"time"

	"nextid/sqlfuncs"
)

// Config configures a Server. Status and Login are required.
type Config struct {
	// SQL answers the statements; nil while the server waits for its store.
	SQL func() *sqlfuncs.Server

	// Login decides about a name and a password and writes what the user may
	// do into the options of its session. Without credentials both are empty.
	Login func(ctx context.Context, remote net.Addr, secure bool, name, password string, o *sqlfuncs.SessionOptions) error

	// Closed reports whether there are users, so that not everybody may ask.
	Closed func() bool

	Status func() Status

	// Issued tells how many ids each open generator gave so far.
	Issued func(yield func(name string, ids int64) bool)
}

// Status is how the server stands, for the page's first line.
type Status struct {
	Version string    `json:"version"`
	Store   string    `json:"store"` // which one, and so which id space, without secrets
	Started time.Time `json:"started"`
	Ready   bool      `json:"ready"`
	Reason  string    `json:"reason,omitempty"` // why not ready
	Notes   []string  `json:"notes"`
}

// Server answers HTTP requests.
type Server struct {
	cfg     Config
	mux     *http.ServeMux
	logins  logins
	history history
}

//go:embed page
var files embed.FS

//go:embed openapi.json
var openAPI string

// New returns a Server.
func New(cfg Config) *Server {
	s := &Server{cfg: cfg, mux: http.NewServeMux()}
	page, err := fs.Sub(files, "page")
	if err != nil {
		panic(err) // the name is in the line above
	}
	s.mux.Handle("/", pageHeaders(http.FileServerFS(page)))
	s.mux.HandleFunc("GET /api/v1/openapi.json", func(w http.ResponseWriter, _ *http.Request) {
		setJSON(w)
		_, _ = io.WriteString(w, openAPI) // the client may be gone
	})
	for pattern, handler := range s.routes() {
		s.mux.Handle(pattern, handler)
	}
	return s
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// pageHeaders lets a browser load nothing from elsewhere, and nobody else
// show the page in a frame.
func pageHeaders(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "+
			"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cache-Control", "no-cache") // a new version shows at once
		next.ServeHTTP(w, r)
	})
}

// handler answers one request of somebody who may ask.
type handler func(w http.ResponseWriter, r *http.Request, c caller) error

// answer finds out who asks and runs a handler.
func (s *Server) answer(handle handler) http.Handler {
	return s.guarded(func(w http.ResponseWriter, r *http.Request) error {
		c, err := s.caller(r)
		if err != nil {
			return err
		}
		return handle(w, r, c)
	})
}

// guarded keeps other sites' pages out, and sends the error of what it runs.
func (s *Server) guarded(do func(w http.ResponseWriter, r *http.Request) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Cache-Control", "no-store")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		err := s.checkOrigin(r)
		if err == nil {
			err = do(w, r)
		}
		if err != nil {
			sendError(w, r, err)
		}
	})
}

// maxBody bounds a request's body, in bytes: options of a generator.
const maxBody = 64 << 10
