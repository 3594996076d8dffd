// Package web serves nextid over HTTP:
//
//	/                    the page: generators, rates, servers, the fields of an id
//	/api/v1/…            the JSON API, described by /api/v1/openapi.json
//	/api/segment/get/…   the paths of Leaf's clients, and of Tinyid's (/tinyid/id/…)
//	/healthz             200 while the process answers (liveness)
//	/readyz              200 while clients should connect, else 503 and the reason (readiness)
//	/metrics             metrics in Prometheus's text format
//
// Every other request is an SQL statement in a new sqlfuncs.Session of its user, so
// that users, roles, limits and errors are those of SQL. The request's goroutine owns
// the session. Requests from pages of other sites are refused. Server itself keeps the
// logins of the page and the rates of the last hour.
//
//	web.go      Server, its routes, the headers of every answer
//	listen.go   connections, /healthz, /readyz, /metrics
//	caller.go   passwords, logins of the page, other sites
//	query.go    the statement of a request, and its rows as JSON
//	api.go      /api/v1
//	compat.go   the paths of Leaf and Tinyid
//	history.go  ids a second, for the last hour
//	page/       the files of the page
//	openapi.json describes the API; a test compares the server with it
package web

import (
	"cmp"
	"crypto/tls"
	"embed"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"nextid/sqlfuncs"
	"nextid/wire"
)

// Config configures a Server. Its functions are called from several goroutines. All
// but TLS and Logger are required.
type Config struct {
	// Ready returns the reason for which no client should connect, nil if clients
	// should.
	Ready func() error
	// Notes returns warnings for an operator, a line each. Every client can read
	// them.
	Notes func() []string

	Metrics http.Handler // answers /metrics

	TLS    func() *tls.Config // of the next connection; nil for plain HTTP
	Logger *slog.Logger       // nil: slog.Default()

	// SQL returns the SQL layer, nil while the server waits for its store.
	SQL func() *sqlfuncs.Server

	// Login checks the name and the password of a request, and writes the rights of
	// the user into the options of its session. Without credentials both are empty.
	Login func(r *http.Request, name, password string, o *sqlfuncs.SessionOptions) error

	// RequiresLogin reports whether there are users.
	RequiresLogin func() bool

	Status func() Status

	// Outage describes the outage while the store does not answer. It returns nil
	// while the store answers.
	Outage func() *Outage

	// Issued yields the number of ids that each open generator has issued since it
	// was opened.
	Issued func(yield func(name string, ids int64) bool)
}

// Status is the state of the server, for the first line of the page.
type Status struct {
	Version string    `json:"version"`
	Store   string    `json:"store"` // its URL without secrets, which names the id space
	Started time.Time `json:"started"`
	Kinds   []string  `json:"kinds,omitempty"` // of generators; none before the store has answered
}

// Outage describes a store that does not answer.
type Outage struct {
	Since time.Time `json:"since"`
	Error string    `json:"error"`
	Hint  string    `json:"hint,omitempty"`
	// Lasts holds the seconds for which each open generator can issue ids from its
	// reservation.
	Lasts map[string]float64 `json:"lasts_seconds"`

	Readable bool `json:"-"` // only writes fail, as with a full disk
}

// Server answers on one listener. It is safe for concurrent use.
type Server struct {
	cfg     Config
	http    http.Server
	logins  logins
	history history

	mu     sync.Mutex
	places *wire.Places[net.Conn]
}

//go:embed page
var files embed.FS

//go:embed openapi.json
var openAPI []byte

// New returns a Server.
func New(cfg Config) *Server {
	mux := http.NewServeMux()
	s := &Server{cfg: cfg, places: wire.NewPlaces[net.Conn](connections)}
	s.http = http.Server{
		Handler: mux, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 8 << 10,
		WriteTimeout: 30 * time.Second, // the metrics of many generators have some 100 KiB
		ConnState:    s.limit, ErrorLog: slog.NewLogLogger(cmp.Or(cfg.Logger, slog.Default()).Handler(), slog.LevelDebug),
	}
	s.history.names, s.logins.all = map[string][]int64{}, map[string]*loggedIn{}
	page, err := fs.Sub(files, "page")
	if err != nil {
		panic(err) // the name is in the line above
	}
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { probed(w, http.StatusOK, "ok\n") })
	mux.HandleFunc("GET /readyz", s.ready)
	mux.HandleFunc("GET /metrics", s.metrics)
	mux.Handle("/", pageHeaders(http.FileServerFS(page)))
	mux.HandleFunc("GET /api/v1/openapi.json", func(w http.ResponseWriter, _ *http.Request) {
		_ = sendBytes(w, typeJSON, openAPI)
	})
	for pattern, handler := range s.routes() {
		mux.Handle(pattern, handler)
	}
	return s
}

// pageHeaders forbids a browser to load anything from other sites, and other sites
// to show the page in a frame.
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

// handler answers a request of a known user.
type handler func(w http.ResponseWriter, r *http.Request, c caller) error

// answer returns a guarded handler that looks up the user of a request.
func (s *Server) answer(handle handler) http.Handler {
	return s.guarded(func(w http.ResponseWriter, r *http.Request) error {
		c, err := s.caller(r)
		if err != nil {
			return err
		}
		return handle(w, r, c)
	})
}

// guarded refuses requests from pages of other sites, bounds the body, and sends the
// error of do.
func (s *Server) guarded(do func(w http.ResponseWriter, r *http.Request) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		noStore(w.Header())
		w.Header().Set("Cross-Origin-Resource-Policy", "same-origin")
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		err := s.checkOrigin(r)
		if err == nil {
			err = do(w, r)
		}
		if err != nil {
			p := problemOf(err)
			p.send(w, r, p.status())
		}
	})
}

// maxBody bounds a request's body, in bytes: options of a generator.
const maxBody = 64 << 10
