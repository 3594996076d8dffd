package web

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
)

// The paths of Leaf's HTTP server (Meituan-Dianping/Leaf, leaf-server): a
// number as text.

func (s *Server) leafSegment(w http.ResponseWriter, r *http.Request, c caller) error {
	return s.number(w, r, c, "SELECT nextval($1)")
}

func (s *Server) leafSnowflake(w http.ResponseWriter, r *http.Request, c caller) error {
	return s.number(w, r, c, "SELECT next_id($1)")
}

func (s *Server) number(w http.ResponseWriter, r *http.Request, c caller, text string) error {
	result, err := s.query(r.Context(), c, text, []datum.OID{datum.Text}, r.PathValue("name"))
	if err != nil {
		return err
	}
	defer result.Close()
	row, err := result.row()
	if err != nil {
		return err
	}
	return sendText(w, row[0])
}

func sendText(w http.ResponseWriter, text string) error {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = io.WriteString(w, text) // the client may be gone
	return nil
}

// leafDecode takes a number of Leaf's layout apart, all of it as strings.
// Leaf writes the time in its server's zone; ours is UTC.
func (s *Server) leafDecode(w http.ResponseWriter, r *http.Request, c caller) error {
	id := r.URL.Query().Get("snowflakeId")
	if idType(id) != datum.Int8 {
		return sqlstate.New(sqlstate.InvalidParameterValue, "snowflakeId must be a number, not %q", id)
	}
	result, err := s.query(r.Context(), c, "SELECT time, worker, sequence FROM parse_id($1, 'leaf')", []datum.OID{datum.Int8}, id)
	if err != nil {
		return err
	}
	defer result.Close()
	row, err := result.next()
	if err != nil {
		return err
	}
	at := row[0].GoTime().UTC()
	return send(w, map[string]string{
		"timestamp":  fmt.Sprintf("%d(%s)", at.UnixMilli(), at.Format("2006-01-02 15:04:05.000")),
		"workerId":   result.text(row[1]),
		"sequenceId": result.text(row[2]),
	})
}

// The paths of Tinyid's HTTP server (didi/tinyid, tinyid-server). Its token
// says who may draw from a bizType: here the token is the password of the
// user of that name, or USER:PASSWORD.

// tinyidAnswer is what a Tinyid path gives: as JSON, and as text.
type tinyidAnswer struct {
	data any
	text string
}

// The codes of Tinyid's JSON answers, which come with status 200.
const (
	tinyidOK         = 200
	tinyidBadToken   = 5
	tinyidOtherError = 6
)

// maxTinyidBatch is Tinyid's batch.size.max; it cuts larger ones without a
// word.
const maxTinyidBatch = 100_000

func (s *Server) tinyid(
	draw func(s *Server, r *http.Request, c caller, name string) (tinyidAnswer, error),
	answer func(w http.ResponseWriter, a tinyidAnswer, err error) error,
) http.Handler {
	return s.guarded(func(w http.ResponseWriter, r *http.Request) error {
		name := r.FormValue("bizType")
		c, err := s.tinyidCaller(r, name)
		var a tinyidAnswer
		if err == nil {
			a, err = draw(s, r, c, name)
		}
		return answer(w, a, err)
	})
}

// tinyidCaller is who has a token, or who proves to be a user as elsewhere.
func (s *Server) tinyidCaller(r *http.Request, name string) (caller, error) {
	token := r.FormValue("token")
	if !s.cfg.Closed() || token == "" || r.Header.Get("Authorization") != "" {
		return s.caller(r)
	}
	user, password, ok := strings.Cut(token, ":")
	if !ok {
		user, password = name, token
	}
	return s.login(r, user, password)
}

func asText(w http.ResponseWriter, a tinyidAnswer, err error) error {
	if err != nil {
		return err
	}
	return sendText(w, a.text)
}

func asResponse(w http.ResponseWriter, a tinyidAnswer, err error) error {
	response := struct {
		Data    any    `json:"data"`
		Code    int    `json:"code"`
		Message string `json:"message"`
	}{a.data, tinyidOK, ""}
	if err != nil {
		_, p := explain(err)
		response.Data, response.Code, response.Message = nil, tinyidOtherError, p.Message
		if strings.HasPrefix(p.SQLState, "28") || p.SQLState == string(sqlstate.InsufficientPrivilege) {
			response.Code = tinyidBadToken
		}
	}
	return send(w, response)
}

// tinyidNumbers draws batchSize numbers.
func tinyidNumbers(s *Server, r *http.Request, c caller, name string) (a tinyidAnswer, err error) {
	n, err := strconv.ParseInt(r.FormValue("batchSize"), 10, 64)
	if err != nil || n < 1 {
		n = 1
	}
	result, err := s.query(r.Context(), c, "SELECT * FROM next_ids($1, $2)", nameAndCount, name, strconv.FormatInt(min(n, maxTinyidBatch), 10))
	if err != nil {
		return a, err
	}
	defer result.Close()
	ids := make([]int64, 0, min(n, maxTinyidBatch))
	var text strings.Builder
	for {
		row, err := result.next()
		if errors.Is(err, io.EOF) {
			return tinyidAnswer{ids, text.String()}, nil
		} else if err != nil {
			return a, err
		}
		if len(ids) > 0 {
			text.WriteByte(',')
		}
		ids = append(ids, row[0].Int)
		text.WriteString(strconv.FormatInt(row[0].Int, 10))
	}
}

// tinyidLoading is after what part of a segment Tinyid's client asks for the
// next one, in percent.
const tinyidLoading = 20

// tinyidStep is how many numbers a segment has.
const tinyidStep = "1000"

// tinyidSegment draws a run of numbers for Tinyid's client, which adds delta
// to currentId before it gives a number, and stops behind maxId.
func tinyidSegment(s *Server, r *http.Request, c caller, name string) (a tinyidAnswer, err error) {
	result, err := s.query(r.Context(), c, "SELECT first, last FROM next_range($1, $2) LIMIT 1", nameAndCount, name, tinyidStep)
	if err != nil {
		return a, err
	}
	defer result.Close()
	row, err := result.next()
	if err != nil {
		return a, err
	}
	current, last := row[0].Int-1, row[1].Int
	loading := current + (last-current)*tinyidLoading/100
	return tinyidAnswer{
		data: map[string]any{
			"currentId": current, "loadingId": loading, "maxId": last, "delta": 1, "remainder": 0,
		},
		text: fmt.Sprintf("%d,%d,%d,1,0", current, loading, last),
	}, nil
}
