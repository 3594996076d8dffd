package web

import (
	"cmp"
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
	name, n := inPath("name", datum.Text), inQuery("n", datum.Int8, "1")
	pool, worker := inPath("pool", datum.Text), inPath("worker", datum.Int8)
	until, used := inQuery("until", datum.TimestampTZ, ""), inQuery("used", datum.TimestampTZ, "")
	routes := map[string]http.Handler{"/api/": s.answer(unknown)}
	for pattern, handle := range map[string]handler{
		"GET /api/v1/status":                     s.status,
		"GET /api/v1/history":                    s.rates,
		"POST /api/v1/login":                     s.logIn,
		"DELETE /api/v1/login":                   s.logOut,
		"GET /api/v1/generators":                 s.list("generators", pageOfGenerators, inQuery("after", datum.Text, "")),
		"GET /api/v1/generators/{name}":          s.generator,
		"POST /api/v1/generators/{name}/ids":     s.draw("ids", "SELECT * FROM next_ids($1, $2)", name, n),
		"POST /api/v1/generators/{name}/codes":   s.draw("codes", "SELECT * FROM next_codes($1, $2)", name, n),
		"POST /api/v1/generators/{name}/runs":    s.draw("runs", "SELECT * FROM next_range($1, $2)", name, n),
		"PUT /api/v1/generators/{name}":          admin(s.create),
		"PATCH /api/v1/generators/{name}":        admin(s.alter),
		"DELETE /api/v1/generators/{name}":       admin(s.drop),
		"GET /api/v1/parse/{id}":                 s.parse,
		"POST /api/v1/workers/{pool}":            s.object("SELECT * FROM lease_worker($1, $2)", pool, inQuery("holder", datum.Text, "")),
		"PATCH /api/v1/workers/{pool}/{worker}":  s.object("SELECT * FROM renew_worker($1, $2, $3)", pool, worker, until),
		"DELETE /api/v1/workers/{pool}/{worker}": s.object("SELECT * FROM release_worker($1, $2, $3, $4)", pool, worker, until, used),
		"GET /api/segment/get/{name}":            s.leafSegment,
		"GET /api/snowflake/get/{name}":          s.number("SELECT next_id($1)"),
		"GET /decodeSnowflakeId":                 s.leafDecode,
		"GET /cache":                             s.leafPage(leafCache),
		"GET /db":                                s.leafPage(leafDB),
	} {
		routes[pattern] = s.answer(handle)
	}
	for _, view := range views {
		routes["GET /api/v1/"+view] = s.answer(s.list(view, "SELECT * FROM nextid."+view))
	}
	for _, method := range []string{"GET", "POST"} { // Tinyid's client posts, people open links
		path := method + " /tinyid/id/"
		routes[path+"nextId"] = s.tinyid(s.tinyidNumbers, true)
		routes[path+"nextIdSimple"] = s.tinyid(s.tinyidNumbers, false)
		routes[path+"nextSegmentId"] = s.tinyid(s.tinyidSegment, true)
		routes[path+"nextSegmentIdSimple"] = s.tinyid(s.tinyidSegment, false)
	}
	return routes
}

// views lists the tables of the schema nextid that the API shows unchanged, each
// under its name.
var views = []string{"nodes", "workers", "sessions", "layouts", "databases", "rings", "agents", "leases", "quotas", "feeds"}

// pageOfGenerators bounds the generators in one answer. A client requests the next
// ones by the parameter after: the name to begin behind.
const pageOfGenerators = "SELECT * FROM nextid.generators WHERE name > $1 ORDER BY name LIMIT 1000"

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
	reason, notes := "", append([]string{}, s.cfg.Notes()...) // not null in JSON
	if err := s.cfg.Ready(); err != nil {
		reason = err.Error()
	}
	outage := s.cfg.Outage()
	if outage != nil {
		maps.DeleteFunc(outage.Lasts, func(name string, _ float64) bool { return c.options.May(name) != nil })
	}
	return send(w, struct {
		Status
		Ready  bool     `json:"ready"`
		Reason string   `json:"reason,omitempty"` // for which it is not ready
		Notes  []string `json:"notes"`
		Outage *Outage  `json:"outage,omitempty"`
		User   string   `json:"user"`
		Admin  bool     `json:"admin"`
		Closed bool     `json:"users"`
	}{s.cfg.Status(), reason == "", reason, notes, outage, c.options.User, c.options.Admin && c.loggedIn, s.cfg.RequiresLogin()})
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

// draw answers with the rows of a statement that draws, under key.
func (s *Server) draw(key, text string, args ...arg) handler {
	return func(w http.ResponseWriter, r *http.Request, c caller) error {
		return s.sendRows(w, r, c, nil, key, text, args...)
	}
}

// list answers with the rows of a statement that reads, under key. During an outage
// of the store it answers with the rows that this server has.
func (s *Server) list(key, text string, args ...arg) handler {
	return func(w http.ResponseWriter, r *http.Request, c caller) error {
		return s.read(c, func(c caller, outage *Outage) error {
			return s.sendRows(w, r, c, outage, key, text, args...)
		})
	}
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

func (s *Server) generator(w http.ResponseWriter, r *http.Request, c caller) error {
	show := s.object("SELECT * FROM nextid.generators WHERE name = $1", inPath("name", datum.Text))
	return s.read(c, func(c caller, outage *Outage) error {
		err, name := show(w, r, c), r.PathValue("name")
		switch {
		case errors.Is(err, io.EOF) && outage != nil:
			return sqlstate.New(sqlstate.CannotConnectNow, "generator %q is not open on this server, and the store does not answer", name).WithHint("%s", outage.Hint)
		case errors.Is(err, io.EOF):
			return sqlstate.New(sqlstate.UndefinedTable, "there is no generator %q", name)
		}
		return err
	})
}

// object answers with the first row of a statement as an object. It returns io.EOF
// if there is none.
func (s *Server) object(text string, args ...arg) handler {
	return func(w http.ResponseWriter, r *http.Request, c caller) error {
		result, err := s.query(r, c, text, args...)
		if err != nil {
			return err
		}
		defer result.Close()
		row, err := result.next()
		if err != nil {
			return err
		}
		return sendBytes(w, typeJSON, append(result.appendObject(nil, row), '\n'))
	}
}

// parse answers with the fields of an id. The parameter by is the second argument of
// parse_id: a generator or a layout.
func (s *Server) parse(w http.ResponseWriter, r *http.Request, c caller) error {
	id, by := r.PathValue("id"), r.URL.Query().Get("by")
	text, args := "SELECT parse_id($1)", []arg{fixed(idType(id), id)}
	if by != "" {
		text, args = "SELECT parse_id($1, $2)", append(args, fixed(datum.Text, by))
	}
	_, row, err := s.first(r, c, text, args...)
	if err != nil {
		return err
	}
	return sendBytes(w, typeJSON, []byte(row[0]+"\n"))
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
	return s.change(w, r, c, http.StatusCreated, "SELECT create_generator($1, $2, $3::jsonb)", body.Kind, object(body.Options))
}

func (s *Server) alter(w http.ResponseWriter, r *http.Request, c caller) error {
	var body struct {
		Options json.RawMessage `json:"options"`
	}
	if err := readBody(r, &body); err != nil {
		return err
	}
	return s.change(w, r, c, http.StatusOK, "SELECT alter_generator($1, $2::jsonb)", object(body.Options))
}

func (s *Server) drop(w http.ResponseWriter, r *http.Request, c caller) error {
	return s.change(w, r, c, http.StatusOK, "SELECT drop_generator($1)")
}

// change runs a function that changes the generator of the path, and answers with
// its name.
func (s *Server) change(w http.ResponseWriter, r *http.Request, c caller, status int, text string, more ...string) error {
	args := []arg{inPath("name", datum.Text)}
	for _, m := range more {
		args = append(args, fixed(datum.Text, m))
	}
	_, row, err := s.first(r, c, text, args...)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", typeJSON)
	w.WriteHeader(status)
	return send(w, map[string]string{"name": row[0]})
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
func object(options json.RawMessage) string { return cmp.Or(string(options), "{}") }
