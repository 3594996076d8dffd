package web

import (
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
)

// routes returns the handlers of the API.
func (s *Server) routes() map[string]http.Handler {
	routes := map[string]http.Handler{"/api/": s.answer(unknown)}
	for pattern, handle := range map[string]handler{
		"GET /api/v1/status":                     s.status,
		"GET /api/v1/history":                    s.rates,
		"POST /api/v1/login":                     s.logIn,
		"DELETE /api/v1/login":                   s.logOut,
		"GET /api/v1/generators":                 s.generators,
		"GET /api/v1/generators/{name}":          s.generator,
		"POST /api/v1/generators/{name}/ids":     s.ids,
		"POST /api/v1/generators/{name}/codes":   s.codes,
		"POST /api/v1/generators/{name}/runs":    s.runs,
		"PUT /api/v1/generators/{name}":          admin(s.create),
		"PATCH /api/v1/generators/{name}":        admin(s.alter),
		"DELETE /api/v1/generators/{name}":       admin(s.drop),
		"GET /api/v1/parse/{id}":                 s.parse,
		"POST /api/v1/workers/{pool}":            s.lease,
		"PATCH /api/v1/workers/{pool}/{worker}":  s.renew,
		"DELETE /api/v1/workers/{pool}/{worker}": s.release,
		"GET /api/segment/get/{name}":            s.leafSegment,
		"GET /api/snowflake/get/{name}":          s.leafSnowflake,
		"GET /decodeSnowflakeId":                 s.leafDecode,
		"GET /cache":                             s.leafCache,
		"GET /db":                                s.leafDB,
	} {
		routes[pattern] = s.answer(handle)
	}
	for _, view := range views {
		routes["GET /api/v1/"+view] = s.answer(func(w http.ResponseWriter, r *http.Request, c caller) error {
			return s.list(w, r, c, view, "SELECT * FROM nextid."+view)
		})
	}
	for _, method := range []string{"GET", "POST"} { // Tinyid's client posts, people open links
		path := method + " /tinyid/id/"
		routes[path+"nextId"] = s.tinyid(tinyidNumbers, true)
		routes[path+"nextIdSimple"] = s.tinyid(tinyidNumbers, false)
		routes[path+"nextSegmentId"] = s.tinyid(tinyidSegment, true)
		routes[path+"nextSegmentIdSimple"] = s.tinyid(tinyidSegment, false)
	}
	return routes
}

// views lists the tables of the schema nextid that the API shows unchanged, each
// under its name.
var views = []string{"nodes", "workers", "sessions", "layouts", "databases", "rings", "agents", "leases", "quotas", "feeds"}

// unknown answers a path that the API does not have.
func unknown(_ http.ResponseWriter, r *http.Request, _ caller) error {
	err := sqlstate.New(sqlstate.UndefinedTable, "there is no %s %s", r.Method, r.URL.Path)
	if parts := strings.Split(r.URL.Path, "/"); r.Method == http.MethodGet && slices.Contains([]string{"ids", "codes", "runs"}, parts[len(parts)-1]) {
		return err.WithHint("Drawing takes POST: curl -X POST …%s", r.URL.Path)
	}
	return err.WithHint("/api/v1/openapi.json lists the paths.")
}

// admin returns a handler that requires a login. SQL checks the rights of an
// administrator, but without users every program on the machine could change
// generators.
func admin(handle handler) handler {
	return func(w http.ResponseWriter, r *http.Request, c caller) error {
		if !c.loggedIn {
			return sqlstate.New(sqlstate.InsufficientPrivilege, "changes over HTTP need a login, and this server has no users").
				WithHint("Make one with nextid passwd USER --admin and restart, or use SQL: SELECT create_generator(…).")
		}
		return handle(w, r, c)
	}
}

// status answers with the state of the server. A caller sees only the generators
// that it may draw from.
func (s *Server) status(w http.ResponseWriter, _ *http.Request, c caller) error {
	status := s.cfg.Status()
	if status.Notes == nil {
		status.Notes = []string{}
	}
	outage := s.cfg.Outage()
	if outage != nil {
		maps.DeleteFunc(outage.Lasts, func(name string, _ float64) bool { return c.options.May(name) != nil })
	}
	return send(w, struct {
		Status
		Outage *Outage `json:"outage,omitempty"`
		User   string  `json:"user"`
		Admin  bool    `json:"admin"`
		Closed bool    `json:"users"`
	}{status, outage, c.options.User, c.options.Admin && c.loggedIn, s.cfg.RequiresLogin()})
}

// logIn answers with the token of a new login.
func (s *Server) logIn(w http.ResponseWriter, _ *http.Request, c caller) error {
	if !c.loggedIn {
		return sqlstate.New(sqlstate.NotPrerequisite, "this server has no users").WithHint("nextid passwd USER makes one.")
	}
	token, ends, err := s.logins.add(c, time.Now())
	if err != nil {
		return err
	}
	return send(w, map[string]any{"token": token, "ends": ends.UTC().Format(time.RFC3339), "user": c.options.User, "admin": c.options.Admin})
}

func (s *Server) logOut(w http.ResponseWriter, r *http.Request, _ caller) error {
	s.logins.end(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// list answers with the rows of a statement that reads, under key. During an outage
// of the store it answers with the rows that this server has.
func (s *Server) list(w http.ResponseWriter, r *http.Request, c caller, key, text string, args ...string) error {
	types := make([]datum.OID, len(args))
	for i := range types {
		types[i] = datum.Text
	}
	return s.read(c, func(c caller, outage *Outage) error {
		result, err := s.query(r, c, text, types, args...)
		if err != nil {
			return err
		}
		defer result.Close()
		result.outage = outage
		return result.sendRows(w, key)
	})
}

// read calls do with a caller for a statement that reads. During an outage the
// statement reads the state of this server only (OwnOnly). If the outage begins
// during do, read calls do again.
func (s *Server) read(c caller, do func(caller, *Outage) error) error {
	before := s.cfg.Outage()
	if before != nil && before.Readable {
		return do(c, nil)
	}
	c.options.OwnOnly = before != nil
	err := do(c, before)
	if err == nil || before != nil {
		return err
	}
	if after := s.cfg.Outage(); after != nil && !after.Readable {
		c.options.OwnOnly = true
		return do(c, after)
	}
	return err
}

// pageSize bounds the generators in one answer. A client requests the next ones by
// the parameter after.
const pageSize = 1000

// generators answers with the generators in the order of their names. The parameter
// after is the name to begin behind.
func (s *Server) generators(w http.ResponseWriter, r *http.Request, c caller) error {
	return s.list(w, r, c, "generators", "SELECT * FROM nextid.generators WHERE name > $1 ORDER BY name LIMIT "+strconv.Itoa(pageSize),
		r.URL.Query().Get("after"))
}

func (s *Server) generator(w http.ResponseWriter, r *http.Request, c caller) error {
	name := r.PathValue("name")
	return s.read(c, func(c caller, outage *Outage) error {
		err := s.one(w, r, c, "SELECT * FROM nextid.generators WHERE name = $1", []datum.OID{datum.Text}, name)
		switch {
		case errors.Is(err, io.EOF) && outage != nil:
			return sqlstate.New(sqlstate.CannotConnectNow, "generator %q is not open on this server, and the store does not answer", name).WithHint("%s", outage.Hint)
		case errors.Is(err, io.EOF):
			return sqlstate.New(sqlstate.UndefinedTable, "there is no generator %q", name)
		}
		return err
	})
}

// one answers with the first row of a statement as an object. It returns io.EOF if
// there is none.
func (s *Server) one(w http.ResponseWriter, r *http.Request, c caller, text string, types []datum.OID, args ...string) error {
	result, err := s.query(r, c, text, types, args...)
	if err != nil {
		return err
	}
	defer result.Close()
	row, err := result.next()
	if err != nil {
		return err
	}
	out := append(result.appendObject(nil, result.portal.Columns(), row), '\n')
	setJSON(w)
	_, _ = w.Write(out) // the client may have hung up
	return nil
}

// leaseTypes are the types of the arguments (pool, worker, until, used).
var leaseTypes = []datum.OID{datum.Text, datum.Int8, datum.TimestampTZ, datum.TimestampTZ}

// lease answers with a worker id for a library. renew and release take the columns
// pool, worker and until of that answer.
func (s *Server) lease(w http.ResponseWriter, r *http.Request, c caller) error {
	return s.one(w, r, c, "SELECT * FROM lease_worker($1, $2)", []datum.OID{datum.Text, datum.Text}, r.PathValue("pool"), r.URL.Query().Get("holder"))
}

func (s *Server) renew(w http.ResponseWriter, r *http.Request, c caller) error {
	return s.one(w, r, c, "SELECT * FROM renew_worker($1, $2, $3)", leaseTypes[:3], r.PathValue("pool"), r.PathValue("worker"), r.URL.Query().Get("until"))
}

func (s *Server) release(w http.ResponseWriter, r *http.Request, c caller) error {
	q := r.URL.Query()
	return s.one(w, r, c, "SELECT * FROM release_worker($1, $2, $3, $4)", leaseTypes, r.PathValue("pool"), r.PathValue("worker"), q.Get("until"), q.Get("used"))
}

// nameAndCount are the types of the arguments (name, n).
var nameAndCount = []datum.OID{datum.Text, datum.Int8}

// draw answers with the rows of a function of (name, n), under key. n is 1 if the
// request has none.
func (s *Server) draw(w http.ResponseWriter, r *http.Request, c caller, key, text string) error {
	n := r.URL.Query().Get("n")
	if n == "" {
		n = "1"
	}
	result, err := s.query(r, c, text, nameAndCount, r.PathValue("name"), n)
	if err != nil {
		return err
	}
	defer result.Close()
	return result.sendRows(w, key)
}

func (s *Server) ids(w http.ResponseWriter, r *http.Request, c caller) error {
	return s.draw(w, r, c, "ids", "SELECT * FROM next_ids($1, $2)")
}

func (s *Server) codes(w http.ResponseWriter, r *http.Request, c caller) error {
	return s.draw(w, r, c, "codes", "SELECT * FROM next_codes($1, $2)")
}

func (s *Server) runs(w http.ResponseWriter, r *http.Request, c caller) error {
	return s.draw(w, r, c, "runs", "SELECT * FROM next_range($1, $2)")
}

// parse answers with the fields of an id. The parameter by is the second argument of
// parse_id: a generator or a layout.
func (s *Server) parse(w http.ResponseWriter, r *http.Request, c caller) error {
	id := r.PathValue("id")
	text, types, args := "SELECT parse_id($1)", []datum.OID{idType(id)}, []string{id}
	if by := r.URL.Query().Get("by"); by != "" {
		text, types, args = "SELECT parse_id($1, $2)", append(types, datum.Text), append(args, by)
	}
	row, err := s.texts(r, c, text, types, args...)
	if err != nil {
		return err
	}
	setJSON(w)
	_, _ = io.WriteString(w, row[0]+"\n") // the client may have hung up
	return nil
}

// idType returns the type of an id: bigint, or text.
func idType(id string) datum.OID {
	if _, err := strconv.ParseInt(id, 10, 64); err == nil {
		return datum.Int8
	}
	return datum.Text
}

// create calls create_generator.
func (s *Server) create(w http.ResponseWriter, r *http.Request, c caller) error {
	var body struct {
		Kind    string          `json:"kind"`
		Options json.RawMessage `json:"options"`
	}
	if err := readBody(r, &body); err != nil {
		return err
	}
	return s.change(w, r, c, http.StatusCreated, "SELECT create_generator($1, $2, $3::jsonb)", r.PathValue("name"), body.Kind, object(body.Options))
}

func (s *Server) alter(w http.ResponseWriter, r *http.Request, c caller) error {
	var body struct {
		Options json.RawMessage `json:"options"`
	}
	if err := readBody(r, &body); err != nil {
		return err
	}
	return s.change(w, r, c, http.StatusOK, "SELECT alter_generator($1, $2::jsonb)", r.PathValue("name"), object(body.Options))
}

func (s *Server) drop(w http.ResponseWriter, r *http.Request, c caller) error {
	return s.change(w, r, c, http.StatusOK, "SELECT drop_generator($1)", r.PathValue("name"))
}

// change runs a function that changes a generator, and answers with its name.
func (s *Server) change(w http.ResponseWriter, r *http.Request, c caller, status int, text string, args ...string) error {
	types := []datum.OID{datum.Text, datum.Text, datum.Text}[:len(args)]
	row, err := s.texts(r, c, text, types, args...)
	if err != nil {
		return err
	}
	setJSON(w)
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"name": row[0]}) // the client may have hung up
	return nil
}

// readBody decodes the JSON of a request. Unknown fields are an error: a misspelled
// option would be ignored.
func readBody(r *http.Request, body any) error {
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	if err := d.Decode(body); err != nil {
		return sqlstate.New(sqlstate.InvalidParameterValue, "the body is not the JSON that this path takes: %v", err).
			WithHint("/api/v1/openapi.json describes it.")
	}
	return nil
}

// object returns options as text, {} if the request has none.
func object(options json.RawMessage) string {
	if options == nil {
		return "{}"
	}
	return string(options)
}
