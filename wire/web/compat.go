package web

import (
	"context"
	"errors"
	"fmt"
	"html"
	"net/http"
	"strconv"
	"strings"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
	"nextid/wire"
)

// The paths of Leaf's HTTP server (Meituan-Dianping/Leaf, leaf-server). An answer is
// a number as text.

// leafSegment answers an unknown tag with status 500, as Leaf does. It does not
// create generators: Leaf's clients expect 1, 2, 3, which another kind would not
// issue.
func (s *Server) leafSegment(w http.ResponseWriter, r *http.Request, c caller) error {
	c.options.NoCreate = true
	err := s.number("SELECT nextval($1)")(w, r, c)
	if e, ok := errors.AsType[*sqlstate.Error](err); ok && (e.Code == sqlstate.UndefinedTable || e.Code == sqlstate.InvalidParameterValue) {
		problemOf(err).send(w, r, http.StatusInternalServerError)
		return nil
	}
	return err
}

// number answers with the first value of a statement about the name in the path. Like
// SQL it may create the generator (auto_create).
func (s *Server) number(text string) handler {
	return func(w http.ResponseWriter, r *http.Request, c caller) error {
		_, row, err := s.first(r, c, text, inPath("name", datum.Text))
		if err != nil {
			return err
		}
		return sendBytes(w, typeText, []byte(row[0]))
	}
}

// leafDecode answers with the fields of an id of Leaf's layout, as strings. The time
// is in UTC; Leaf uses the time zone of its server.
func (s *Server) leafDecode(w http.ResponseWriter, r *http.Request, c caller) error {
	id := r.URL.Query().Get("snowflakeId")
	if idType(id) != datum.Int8 {
		return sqlstate.New(sqlstate.InvalidParameterValue, "snowflakeId must be a number, not %q", id)
	}
	row, texts, err := s.first(r, c, "SELECT time, worker, sequence FROM parse_id($1, 'leaf')", fixed(datum.Int8, id))
	if err != nil {
		return err
	}
	at := row[0].GoTime().UTC()
	return send(w, map[string]string{
		"timestamp":  fmt.Sprintf("%d(%s)", at.UnixMilli(), at.Format("2006-01-02 15:04:05.000")),
		"workerId":   texts[1],
		"sequenceId": texts[2],
	})
}

// leafCache has the columns of Leaf's page of its buffers. pos 0 is the buffer in
// use.
const leafCache = `SELECT a.name, 'true' AS init, CASE WHEN b.name IS NULL THEN 'false' ELSE 'true' END AS next, a.buffer AS pos,
	a.next AS value0, a.max AS max0, a.step AS step0, coalesce(b.next, 0) AS value1, coalesce(b.max, 0) AS max1, coalesce(b.step, 0) AS step1
	FROM nextid.buffers a LEFT JOIN nextid.buffers b ON b.name = a.name AND b.buffer = 1 WHERE a.buffer = 0 ORDER BY a.name`

// leafDB has the columns of Leaf's page of its database. max is the end of this
// server's reservation.
const leafDB = `SELECT name AS tag, reserved_until AS max, coalesce(step, (options->>'step')::bigint) AS step,
	options->>'description' AS description, created_at AS created FROM nextid.generators WHERE kind = 'segment' ORDER BY name`

// leafPage answers with the rows of a statement as an HTML table.
func (s *Server) leafPage(text string) handler {
	return func(w http.ResponseWriter, r *http.Request, c caller) error {
		return s.read(c, func(c caller, _ *Outage) error {
			result, err := s.query(r, c, text)
			if err != nil {
				return err
			}
			defer result.Close()
			return result.send(w, "text/html; charset=utf-8", result.writeTable)
		})
	}
}

// writeTable writes the rows as an HTML table.
func (r *result) writeTable(out *wire.Out) error {
	out.B = append(out.B, "<!DOCTYPE html><title>Leaf</title><table><tr>"...)
	for _, column := range r.portal.Columns() {
		out.B = append(append(out.B, "<th>"...), column.Name...)
	}
	_, err := out.SendRows(r.ctx, r.portal, 0, func(row []datum.Value) error {
		out.B = append(out.B, "\n<tr>"...)
		for _, text := range r.textsOf(row) {
			out.B = append(append(out.B, "<td>"...), html.EscapeString(text)...)
		}
		return context.Cause(r.ctx)
	})
	return atEnd(err)
}

// The paths of Tinyid's HTTP server (didi/tinyid, tinyid-server). Tinyid's token
// gives access to a bizType. Here it is the password of the user of that name, or
// USER:PASSWORD.

// The codes in Tinyid's JSON answers. The HTTP status is always 200.
const (
	tinyidOK         = 200
	tinyidBadToken   = 5
	tinyidOtherError = 6
)

// maxTinyidBatch is Tinyid's batch.size.max. A larger batchSize is reduced to it.
const maxTinyidBatch = 100_000

// tinyid returns the handler of a path of Tinyid. It answers with JSON, or with
// text. A JSON answer has status 200 even for errors.
func (s *Server) tinyid(draw func(w http.ResponseWriter, r *http.Request, c caller, name string, asJSON bool) error, asJSON bool) http.Handler {
	return s.guarded(func(w http.ResponseWriter, r *http.Request) error {
		name := r.FormValue("bizType")
		c, err := s.tinyidCaller(r, name)
		if err == nil {
			c.options.NoCreate = true // Tinyid does not create bizTypes either
			err = draw(w, r, c, name, asJSON)
		}
		if err == nil || !asJSON {
			return err
		}
		p, code := problemOf(err), tinyidOtherError
		if strings.HasPrefix(p.SQLState, "28") || p.SQLState == string(sqlstate.InsufficientPrivilege) {
			code = tinyidBadToken
		}
		return send(w, tinyidResponse{nil, code, p.Message})
	})
}

// tinyidResponse is Tinyid's JSON answer.
type tinyidResponse struct {
	Data    any    `json:"data"`
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// tinyidCaller returns the user of a token, or the user of a request as on other
// paths.
func (s *Server) tinyidCaller(r *http.Request, name string) (caller, error) {
	token := r.FormValue("token")
	if !s.cfg.RequiresLogin() || token == "" || r.Header.Get("Authorization") != "" {
		return s.caller(r)
	}
	if user, password, ok := strings.Cut(token, ":"); ok {
		return s.login(r, user, password)
	}
	return s.login(r, name, token)
}

// tinyidNumbers draws batchSize ids, 1 if the request has none or a wrong one.
func (s *Server) tinyidNumbers(w http.ResponseWriter, r *http.Request, c caller, name string, asJSON bool) error {
	n, err := strconv.ParseInt(r.FormValue("batchSize"), 10, 64)
	if err != nil || n < 1 {
		n = 1
	}
	result, err := s.query(r, c, "SELECT * FROM next_ids($1, $2)", fixed(datum.Text, name), fixed(datum.Int8, strconv.FormatInt(min(n, maxTinyidBatch), 10)))
	if err != nil {
		return err
	}
	defer result.Close()
	contentType, before, after := typeText, "", ""
	if asJSON {
		contentType, before, after = typeJSON, `{"data":[`, `],"code":200,"message":""}`+"\n"
	}
	return result.send(w, contentType, func(out *wire.Out) error {
		out.B = append(out.B, before...)
		err := result.writeIDs(out, "", ",")
		out.B = append(out.B, after...)
		return err
	})
}

const (
	tinyidStep    = "1000" // ids in a segment
	tinyidLoading = 20     // part of a segment, in percent, after which Tinyid's client requests the next one
)

// tinyidSegment draws one run of ids for Tinyid's client. The client adds delta to
// currentId before each id, and stops after maxId.
func (s *Server) tinyidSegment(w http.ResponseWriter, r *http.Request, c caller, name string, asJSON bool) error {
	row, _, err := s.first(r, c, "SELECT * FROM next_range($1, $2) LIMIT 1", fixed(datum.Text, name), fixed(datum.Int8, tinyidStep))
	if err != nil {
		return err
	}
	first, last, delta := row[0].Int, row[1].Int, row[2].Int
	if delta < 1 {
		return sqlstate.New(sqlstate.FeatureNotSupported, "the numbers of generator %q fall: Tinyid's clients count upwards", name)
	}
	current, remainder := first-delta, (first%delta+delta)%delta
	loading := current + (last-current)*tinyidLoading/100
	if !asJSON {
		return sendBytes(w, typeText, fmt.Appendf(nil, "%d,%d,%d,%d,%d", current, loading, last, delta, remainder))
	}
	data := map[string]any{"currentId": current, "loadingId": loading, "maxId": last, "delta": delta, "remainder": remainder}
	return send(w, tinyidResponse{data, tinyidOK, ""})
}
