package web

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"net/http"
	"slices"
	"strconv"
	"time"

	"nextid/generator"
	"nextid/sqlfuncs"
	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
	"nextid/wire"
)

// result is the statement of a request while it is executed. The request's goroutine
// owns it.
type result struct {
	session *sqlfuncs.Session
	portal  *sqlfuncs.Portal
	ctx     context.Context
	cancel  context.CancelFunc
}

// arg is an argument of a statement.
type arg struct {
	of   datum.OID
	text func(r *http.Request) string
}

// inPath is a part of the path of a request.
func inPath(name string, of datum.OID) arg {
	return arg{of, func(r *http.Request) string { return r.PathValue(name) }}
}

// inQuery is a parameter of a request's query, or otherwise.
func inQuery(name string, of datum.OID, otherwise string) arg {
	return arg{of, func(r *http.Request) string { return cmp.Or(r.URL.Query().Get(name), otherwise) }}
}

func fixed(of datum.OID, text string) arg { return arg{of, func(*http.Request) string { return text }} }

// query begins a statement in a new session of the caller. The caller must call
// Close, which ends the session. query reads the body of the request to its end:
// only then can net/http notice a client that hangs up.
func (s *Server) query(req *http.Request, c caller, text string, args ...arg) (*result, error) {
	if _, err := io.Copy(io.Discard, req.Body); err != nil {
		return nil, sqlstate.New(sqlstate.LimitExceeded, "the body of the request: %v", err).
			WithHint("A body has at most %d bytes.", maxBody)
	}
	sql := s.cfg.SQL()
	if sql == nil {
		return nil, wire.ErrStarting
	}
	session, err := sql.NewSession(c.options)
	if err != nil {
		return nil, err
	}
	r := &result{session: session}
	r.ctx, r.cancel = session.StatementContext(req.Context(), nil)
	types, values := make([]datum.OID, len(args)), make([]sqlfuncs.Arg, len(args))
	for i, a := range args {
		types[i], values[i].Data = a.of, []byte(a.text(req))
	}
	st, err := session.Prepare("", text, types)
	if err == nil {
		r.portal, err = session.Open(st, values)
	}
	if err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// Close ends the statement and its session.
func (r *result) Close() {
	r.cancel()
	if r.portal != nil {
		r.portal.Close()
	}
	r.session.Close()
}

// next returns the next row. The error is io.EOF after the last row, and the cause
// of ctx after a timeout or a hang-up.
func (r *result) next() ([]datum.Value, error) {
	if err := r.ctx.Err(); err != nil {
		return nil, context.Cause(r.ctx)
	}
	return r.portal.Next(r.ctx)
}

// text returns the text form of a value.
func (r *result) text(v datum.Value) string {
	return string(datum.AppendText(nil, v, r.session.Env()))
}

// first returns the first row of a statement, and its columns as texts. The error is
// io.EOF if there is none.
func (s *Server) first(req *http.Request, c caller, text string, args ...arg) (row []datum.Value, texts []string, err error) {
	r, err := s.query(req, c, text, args...)
	if err != nil {
		return nil, nil, err
	}
	defer r.Close()
	row, err = r.next()
	return slices.Clone(row), r.textsOf(row), err // the portal reuses the row
}

// textsOf returns the text forms of values, "" for NULL.
func (r *result) textsOf(row []datum.Value) []string {
	texts := make([]string, len(row))
	for i, v := range row {
		if v.Valid {
			texts[i] = r.text(v)
		}
	}
	return texts
}

// appendJSON appends a value. A bigint is a string, as in ProtoJSON
// (protobuf.dev/programming-guides/json): JavaScript's numbers are exact up to 2^53
// only.
func (r *result) appendJSON(dst []byte, v datum.Value) []byte {
	switch {
	case !v.Valid:
		return append(dst, "null"...)
	case v.Type == datum.Bool:
		return strconv.AppendBool(dst, v.Int != 0)
	case v.Type == datum.Int2 || v.Type == datum.Int4:
		return strconv.AppendInt(dst, v.Int, 10)
	case v.Type == datum.JSON || v.Type == datum.JSONB:
		return append(dst, r.text(v)...)
	case v.Type == datum.TimestampTZ:
		return v.GoTime().UTC().AppendFormat(dst, `"2006-01-02T15:04:05.000Z"`)
	}
	return datum.AppendJSONString(dst, r.text(v))
}

// send answers with the bytes that write appends. Long answers are sent in parts. An
// error after the first part aborts the connection, so that the client notices. The
// session gives its CPU slot back before each part.
func (r *result) send(w http.ResponseWriter, contentType string, write func(out *wire.Out) error) error {
	sent, control := false, http.NewResponseController(w)
	out := wire.NewOut(wire.DefaultLimits.FlushAt, func(b []byte) error {
		if sent { // the first write has the deadline of the request
			_ = control.SetWriteDeadline(time.Now().Add(wire.DefaultLimits.Write)) // fails only on a closed connection, as the write will
		}
		sent = true
		w.Header().Set("Content-Type", contentType)
		r.session.Rest()
		_, err := w.Write(b)
		return err
	})
	err := write(out)
	if err == nil {
		err = out.Flush()
	}
	switch {
	case out.Err() != nil:
		return nil //nolint:nilerr // the client has hung up
	case err != nil && sent:
		panic(http.ErrAbortHandler)
	}
	return err
}

// sendRows answers with {"key": [row, …]}. A row is an object, or a single value if
// the rows have one column. outage is the one in which the rows are read; nil: none.
func (s *Server) sendRows(w http.ResponseWriter, req *http.Request, c caller, outage *Outage, key, text string, args ...arg) error {
	r, err := s.query(req, c, text, args...)
	if err != nil {
		return err
	}
	defer r.Close()
	return r.send(w, typeJSON, func(out *wire.Out) error {
		out.B = append(out.B, '{')
		if outage != nil {
			out.B = append(outage.Since.AppendFormat(append(out.B, `"store_down_since":"`...), time.RFC3339), `",`...)
		}
		out.B = append(append(append(out.B, '"'), key...), "\":[\n"...)
		rows := r.writeRows
		if r.portal.IDs() {
			rows = func(out *wire.Out) error { return r.writeIDs(out, `"`, ",\n") }
		}
		err := rows(out)
		out.B = append(out.B, "\n]}\n"...)
		return err
	})
}

// writeRows writes rows of any kind.
func (r *result) writeRows(out *wire.Out) error {
	separator := ""
	_, err := out.SendRows(r.ctx, r.portal, 0, func(row []datum.Value) error {
		out.B = append(out.B, separator...)
		separator = ",\n"
		if len(row) == 1 {
			out.B = r.appendJSON(out.B, row[0])
		} else {
			out.B = r.appendObject(out.B, row)
		}
		return context.Cause(r.ctx)
	})
	return atEnd(err)
}

// writeIDs writes the ids of a portal of ids, each between quotes.
func (r *result) writeIDs(out *wire.Out, quote, separator string) error {
	before := ""
	_, err := out.SendIDs(r.ctx, r.portal, 0, func(dst []byte, run generator.Range) []byte {
		for i := range run.Count {
			dst = append(append(dst, before...), quote...)
			dst = append(strconv.AppendInt(dst, run.First+i*run.Step, 10), quote...)
			before = separator
		}
		return dst
	})
	return atEnd(err)
}

// atEnd returns the error of a loop over rows, nil for io.EOF.
func atEnd(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// appendObject appends a row as an object, with a field for each column.
func (r *result) appendObject(dst []byte, row []datum.Value) []byte {
	next := byte('{')
	for i, column := range r.portal.Columns() {
		dst = append(datum.AppendJSONString(append(dst, next), column.Name), ':')
		dst = r.appendJSON(dst, row[i])
		next = ','
	}
	return append(dst, '}')
}

// Values of Content-Type.
const (
	typeJSON = "application/json"
	typeText = "text/plain; charset=utf-8"
)

// sendBytes answers with bytes.
func sendBytes(w http.ResponseWriter, contentType string, b []byte) error {
	w.Header().Set("Content-Type", contentType)
	_, _ = w.Write(b) // the client may have hung up
	return nil
}

// send answers with a value as JSON.
func send(w http.ResponseWriter, v any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	return sendBytes(w, typeJSON, b.Bytes())
}

// problem is an error in the JSON of the API.
type problem struct {
	SQLState string `json:"sqlstate"`
	Message  string `json:"message"`
	Detail   string `json:"detail,omitempty"`
	Hint     string `json:"hint,omitempty"`

	retry time.Duration // see sqlstate.Error
}

// problemOf returns the problem of an error. An error that is no *sqlstate.Error does
// not show its text.
func problemOf(err error) problem {
	e, ok := errors.AsType[*sqlstate.Error](err)
	switch {
	case ok:
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		e = sqlstate.New(sqlstate.QueryCanceled, "the request was canceled")
	default:
		e = sqlstate.New(sqlstate.Internal, "the request failed")
	}
	return problem{string(e.Code), e.Message, e.Detail, e.Hint, e.Retry}
}

// statuses maps SQLSTATEs, or their classes, to HTTP statuses. A SQLSTATE takes
// precedence over its class.
var statuses = map[string]int{
	"22": http.StatusBadRequest, "42": http.StatusBadRequest, "0A": http.StatusBadRequest, "54": http.StatusBadRequest,
	"28": http.StatusUnauthorized, "42501": http.StatusForbidden, "42P01": http.StatusNotFound, "42710": http.StatusConflict,
	"2200H": http.StatusConflict, "55000": http.StatusConflict, "53400": http.StatusTooManyRequests,
	"53": http.StatusServiceUnavailable, "55": http.StatusServiceUnavailable, "57": http.StatusServiceUnavailable, "58": http.StatusServiceUnavailable,
}

func (p problem) status() int {
	return cmp.Or(statuses[p.SQLState], statuses[p.SQLState[:2]], http.StatusInternalServerError)
}

// challenge makes a browser ask for a password.
const challenge = `Basic realm="nextid", charset="UTF-8"`

// send answers with a problem. Requests of the page get no WWW-Authenticate: the
// browser would open a window of its own for the password.
func (p problem) send(w http.ResponseWriter, r *http.Request, status int) {
	fromPage := slices.Contains([]string{"cors", "same-origin"}, r.Header.Get("Sec-Fetch-Mode"))
	switch {
	case status == http.StatusUnauthorized && !fromPage:
		w.Header().Set("WWW-Authenticate", challenge)
	case p.retry > 0:
		w.Header().Set("Retry-After", strconv.FormatInt(int64(math.Ceil(p.retry.Seconds())), 10))
	case status == http.StatusServiceUnavailable:
		w.Header().Set("Retry-After", "1")
	}
	w.Header().Set("Content-Type", typeJSON)
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]problem{"error": p}) // the client may have hung up
}
