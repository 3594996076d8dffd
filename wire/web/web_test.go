package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"nextid/sqlfuncs"
	"nextid/sqlfuncs/sqltest"
)

// users maps the tests' users to their passwords and rights.
var users = map[string]user{
	"root":   {"secret", sqlfuncs.SessionOptions{Admin: true}},
	"orders": {"token", sqlfuncs.SessionOptions{Generators: []string{"orders"}}},
}

type user struct {
	password string
	options  sqlfuncs.SessionOptions
}

// start serves the page and the API for a test; closed: to users only.
func start(t *testing.T, closed bool) (ask func(method, path, body string, headers ...string) (int, string), s *Server) {
	t.Helper()
	sql := sqltest.NewServer(t).Server
	s = New(Config{
		SQL: func() *sqlfuncs.Server { return sql },
		Login: func(_ *http.Request, name, password string, o *sqlfuncs.SessionOptions) error {
			if u, ok := users[name]; closed && (!ok || u.password != password) {
				return errors.New("no such user")
			} else if closed {
				o.Admin, o.Generators, o.Rights = u.options.Admin, u.options.Generators, u.options.Rights
				return nil
			}
			o.Admin = true
			return nil
		},
		RequiresLogin: func() bool { return closed },
		Status:        func() Status { return Status{Version: "test", Store: "memory"} },
		Ready:         func() error { return nil },
		Notes:         func() []string { return nil },
		Issued:        func(func(string, int64) bool) {},
		Outage:        func() *Outage { return nil },
	})
	server := httptest.NewServer(s.http.Handler)
	t.Cleanup(server.Close)
	return func(method, path, body string, headers ...string) (int, string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, server.URL+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < len(headers); i += 2 {
			switch headers[i] {
			case "user":
				r.SetBasicAuth(headers[i+1], users[headers[i+1]].password)
			case "Host":
				r.Host = headers[i+1]
			default:
				r.Header.Set(headers[i], headers[i+1])
			}
		}
		answer, err := server.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return answer.StatusCode, strings.TrimSpace(string(text))
	}, s
}

// TestAnswers checks the answers of a server without users.
func TestAnswers(t *testing.T) {
	ask, _ := start(t, false)
	for _, c := range []struct {
		request string
		status  int
		want    string // a regular expression
	}{
		{"POST /api/v1/generators/a/ids", 200, `^\{"ids":\[\s"\d{18,19}"\s\]\}$`},
		{"POST /api/v1/generators/a/ids?n=3", 200, `^\{"ids":\[\s("\d{18,19}",?\s){3}\]\}$`},
		{"POST /api/v1/generators/a/runs?n=3", 200, `"first":"\d+","last":"\d+"`},
		{"POST /api/v1/generators/a/ids?n=0", 400, `"sqlstate":"22023"`},
		{"POST /api/v1/generators/a/ids?n=x", 400, `"sqlstate":"22P02"`},
		{"POST /api/v1/generators/a%20b/ids", 400, `invalid generator name`},
		{"GET /api/v1/generators/a/ids", 404, `Drawing takes POST`},
		{"GET /api/v1/generators", 200, `^\{"generators":\[\s\{"name":"a","kind":"snowflake","options":\{`},
		{"GET /api/v1/generators?after=a", 200, `^\{"generators":\[\s*\]\}$`},
		{"GET /api/v1/generators/a", 200, `^\{"name":"a",.*"issued":"7"`},
		{"GET /api/v1/generators/none", 404, `"sqlstate":"42P01"`},
		{"GET /api/v1/parse/1541815603606036480", 200, `"time": "2022-06-28T16:07:40.105Z"`},
		{"GET /api/v1/parse/1541815603606036480?by=discord", 200, `"layout": "discord"`},
		{"GET /api/v1/parse/-7050965758787919863?by=baidu", 200, `"UID": "-7050965758787919863".*"workerId": "7", "timestamp": "2026-11-22 08:00:00"`},
		{"GET /api/v1/parse/1541815603606036480?by=nonesuch", 400, `"hint"`},
		{"GET /api/v1/parse/01890a5d-ac96-774b-bcce-b302099a8057", 200, `"layout": "uuidv7"`},
		{"GET /api/v1/status", 200, `"ready":true,"notes":\[\],"user":"http","admin":false,"users":false`},
		{"GET /api/v1/layouts", 200, `"name":"twitter","fields":"time 41`},
		{"GET /api/v1/nonesuch", 404, `"sqlstate":"42P01"`},
		{"POST /api/v1/login", 409, `has no users`},
		{"PUT /api/v1/generators/b", 403, `need a login`},
		{"DELETE /api/v1/generators/a", 403, `need a login`},
		{"GET /api/segment/get/a", 200, `^\d{18,19}$`},
		{"GET /api/segment/get/NewTag", 500, `"sqlstate":"42P01","message":"generator \\"NewTag\\" does not exist","hint":"Create it`},
		{"GET /api/segment/get/9", 500, `invalid generator name`},
		{"GET /tinyid/id/nextId?bizType=NewTag", 200, `^\{"data":null,"code":6,"message":"generator \\"NewTag\\" does not exist`},
		{"GET /tinyid/id/nextSegmentIdSimple?bizType=NewTag", 404, `does not exist`},
		{"GET /api/v1/generators/NewTag", 404, `"sqlstate":"42P01"`},
		{"GET /api/snowflake/get/a", 200, `^\d{18,19}$`},
		{"GET /api/snowflake/get/9", 400, `invalid generator name`},
		{"GET /decodeSnowflakeId?snowflakeId=1541815603606036480", 200, `"timestamp":"1656432460105\(2022-06-28 16:07:40.105\)","workerId":"378"`},
		{"GET /decodeSnowflakeId?snowflakeId=x", 400, `must be a number`},
		{"GET /tinyid/id/nextId?bizType=a", 200, `^\{"data":\[\d+\],"code":200,"message":""\}$`},
		{"POST /tinyid/id/nextId?bizType=a&batchSize=2", 200, `^\{"data":\[\d+,\d+\],"code":200`},
		{"GET /tinyid/id/nextId?bizType=", 200, `^\{"data":null,"code":6,"message":"invalid`},
		{"GET /tinyid/id/nextIdSimple?bizType=a&batchSize=3", 200, `^\d+,\d+,\d+$`},
		{"GET /tinyid/id/nextSegmentIdSimple?bizType=a", 200, `^\d+,\d+,\d+,1,0$`},
		{"GET /", 200, `<title>nextid</title>`},
		{"GET /nonesuch.js", 404, ``},
	} {
		method, path, _ := strings.Cut(c.request, " ")
		status, body := ask(method, path, "{}")
		if status != c.status || !regexp.MustCompile(c.want).MatchString(body) {
			t.Errorf("%s: %d %s\nwant %d %s", c.request, status, body, c.status, c.want)
		}
	}
}

// TestLeafSegmentCounts: Leaf's callers count on from 1.
func TestLeafSegmentCounts(t *testing.T) {
	ask, s := start(t, false)
	numbers(t, s)
	for _, want := range []string{"1", "2", "3"} {
		if status, body := ask("GET", "/api/segment/get/numbers", ""); status != 200 || body != want {
			t.Errorf("%d %s, want %s", status, body, want)
		}
	}
}

// TestPagesOfLeaf checks the buffers on /cache and the reservations on /db.
func TestPagesOfLeaf(t *testing.T) {
	ask, s := start(t, false)
	segment(t, s, "few", `{"step": 10, "max_step": 10, "description": "<all> \"few\""}`)
	segment(t, s, "idle", `{}`)
	numbers(t, s)
	ask("GET", "/api/segment/get/numbers", "")
	for range 2 { // the second one loads the next segment
		ask("GET", "/api/segment/get/few", "")
	}
	for path, want := range map[string]string{
		"/cache": `^<!DOCTYPE html><title>Leaf</title><table><tr><th>name<th>init<th>next<th>pos<th>value0<th>max0<th>step0<th>value1<th>max1<th>step1\s` +
			`<tr><td>few<td>true<td>true<td>0<td>3<td>11<td>10<td>11<td>21<td>10\s<tr><td>numbers<td>true<td>false<td>0<td>2<td>1000001<td>1000000<td>0<td>0<td>0$`,
		"/db": `<tr><th>tag<th>max<th>step<th>description<th>created\s<tr><td>few<td>21<td>10<td>&lt;all&gt; &#34;few&#34;<td>20.*\s` +
			`<tr><td>idle<td><td>1000<td><td>20.*\s<tr><td>numbers<td>1000001<td>1000000<td><td>20`,
	} {
		status, body := 0, ""
		for end := time.Now().Add(10 * time.Second); time.Now().Before(end) && !regexp.MustCompile(want).MatchString(body); {
			status, body = ask("GET", path, "") // the next segment is loaded in the background
		}
		if status != 200 || !regexp.MustCompile(want).MatchString(body) {
			t.Errorf("%s: %d %s\nwant %s", path, status, body, want)
		}
	}
}

// The ids that Tinyid's client computes from an answer are those of the run, and no
// other client gets them.
func TestTinyidSegment(t *testing.T) {
	ask, s := start(t, false)
	segment(t, s, "odd", `{"increment": 2}`)
	ask("POST", "/api/v1/generators/s/ids", "")
	if status, body := ask("GET", "/tinyid/id/nextSegmentIdSimple?bizType=odd", ""); status != 200 || !regexp.MustCompile(`^-1,\d+,\d+[13579],2,1$`).MatchString(body) {
		t.Errorf("with an increment of 2: %d %s", status, body)
	}
	seen := map[int64]bool{}
	for range 5 {
		_, body := ask("GET", "/tinyid/id/nextSegmentIdSimple?bizType=s", "")
		var current, loading, last, delta, remainder int64
		if _, err := fmt.Sscanf(body, "%d,%d,%d,%d,%d", &current, &loading, &last, &delta, &remainder); err != nil {
			t.Fatal(body, err)
		}
		if loading < current || loading > last {
			t.Errorf("%s: loading is outside", body)
		}
		for id := current + delta; id <= last; id += delta {
			if seen[id] {
				t.Fatalf("%d twice", id)
			}
			seen[id] = true
		}
	}
	if len(seen) < 5 {
		t.Errorf("%d numbers of five segments", len(seen))
	}
}

// TestOtherSites: a page of another site, or a name that somebody's DNS made
// point here, gets nothing.
func TestOtherSites(t *testing.T) {
	ask, _ := start(t, false)
	ask("POST", "/api/v1/generators/a/ids", "")
	for _, path := range []string{"/api/segment/get/a", "/api/v1/status", "/tinyid/id/nextId?bizType=a"} {
		for _, h := range [][]string{{"Origin", "http://evil.example"}, {"Referer", "http://evil.example/127.0.0.1/"}, {"Referer", "null"}, {"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}, {"Host", "evil.example"}} {
			if status, body := ask("GET", path, "", h...); status != http.StatusForbidden {
				t.Errorf("%s with %v: %d %s", path, h, status, body)
			}
		}
		for _, h := range [][]string{
			{"Sec-Fetch-Site", "same-origin"},
			{"Sec-Fetch-Site", "none"},
			{"Host", "localhost:8433"},
			{"Host", "LOCALHOST:8433"},
			{"Host", "Page.Localhost"},
			{"Host", "[::1]:8433"},
			{"Host", "localhost:8433", "Referer", "http://localhost:8433/page"},
			{"Referer", "http://evil.example/", "Sec-Fetch-Site", "none"},
		} {
			if status, body := ask("GET", path, "", h...); status != http.StatusOK {
				t.Errorf("%s with %v: %d %s", path, h, status, body)
			}
		}
	}
}

// rights holds the rights of the user "changing".
type rights struct {
	generation   atomic.Uint64 // 1: it does not change
	admin, ended bool
}

func (r *rights) Generation() *atomic.Uint64  { return &r.generation }
func (r *rights) Now() (bool, []string, bool) { return r.admin, nil, !r.ended }

// Users have the same rights as in SQL, and only an admin may change generators.
func TestUsers(t *testing.T) {
	ask, _ := start(t, true)
	want := func(method, path, body string, status int, headers ...string) string {
		t.Helper()
		got, text := ask(method, path, body, headers...)
		if got != status {
			t.Errorf("%s %s %v: %d %s, want %d", method, path, headers, got, text, status)
		}
		return text
	}
	want("GET", "/", "", 200)
	want("GET", "/api/v1/status", "", 401)
	want("POST", "/api/v1/generators/orders/ids", "", 401)
	want("POST", "/api/v1/generators/orders/ids", "", 401, "Authorization", "Basic cm9vdDpndWVzcw==")
	if _, body := ask("POST", "/api/v1/login", "", "Authorization", "Basic cm9vdDpndWVzcw=="); !strings.Contains(body, "the user or the password is wrong") {
		t.Errorf("a wrong password: %s", body)
	}
	want("POST", "/api/v1/generators/orders/ids", "", 200, "user", "orders")
	want("POST", "/api/v1/generators/others/ids", "", 403, "user", "orders")
	want("PUT", "/api/v1/generators/s", `{"kind": "segment"}`, 403, "user", "orders")
	want("PUT", "/api/v1/generators/s", `{"kind": "segment", "options": {"start": 7}}`, 201, "user", "root")
	want("PUT", "/api/v1/generators/s", `{"kind": "segment", "options": {"start": 8}}`, 409, "user", "root")
	want("PUT", "/api/v1/generators/t", `{"kinds": "segment"}`, 400, "user", "root")
	want("PATCH", "/api/v1/generators/s", `{"options": {"step": 5}}`, 200, "user", "root")
	if got := want("GET", "/api/segment/get/s", "", 200, "user", "root"); got != "7" {
		t.Errorf("the first number is %s", got)
	}
	want("DELETE", "/api/v1/generators/s", "", 200, "user", "root", "Origin", "") // curl
	want("DELETE", "/api/v1/generators/s", "", 403, "user", "root", "Sec-Fetch-Site", "cross-site")

	// Tinyid's token is the password of the user that is named as the type.
	for token, code := range map[string]string{"token": `"code":200`, "wrong": `"code":5`, "root:secret": `"code":200`, "": `"code":5`} {
		if _, body := ask("GET", "/tinyid/id/nextId?bizType=orders&token="+token, ""); !strings.Contains(body, code) {
			t.Errorf("token %q: %s, want %s", token, body, code)
		}
	}

	var login struct{ Token string }
	if err := json.Unmarshal([]byte(want("POST", "/api/v1/login", "", 200, "user", "root")), &login); err != nil {
		t.Fatal(err)
	}
	bearer := []string{"Authorization", "Bearer " + login.Token}
	if body := want("GET", "/api/v1/status", "", 200, bearer...); !strings.Contains(body, `"user":"root","admin":true,"users":true`) {
		t.Error(body)
	}
	want("PUT", "/api/v1/generators/u", `{"kind": "segment"}`, 201, bearer...)
	want("DELETE", "/api/v1/login", "", 204, bearer...)
	want("GET", "/api/v1/status", "", 401, bearer...)

	// A login lasts while the users are read again, and its rights change with them.
	now := &rights{admin: true}
	now.generation.Store(1)
	users["changing"] = user{"x", sqlfuncs.SessionOptions{Rights: now}}
	if err := json.Unmarshal([]byte(want("POST", "/api/v1/login", "", 200, "user", "changing")), &login); err != nil {
		t.Fatal(err)
	}
	bearer = []string{"Authorization", "Bearer " + login.Token}
	if body := want("GET", "/api/v1/status", "", 200, bearer...); !strings.Contains(body, `"user":"changing","admin":true`) {
		t.Error(body)
	}
	now.admin = false
	if body := want("GET", "/api/v1/status", "", 200, bearer...); !strings.Contains(body, `"user":"changing","admin":false`) {
		t.Error(body)
	}
	want("DELETE", "/api/v1/generators/u", "", 403, bearer...)
	now.ended = true
	want("GET", "/api/v1/status", "", 401, bearer...)
}

// TestLoginsEnd: unused for an hour, and there are not more than so many.
func TestLoginsEnd(t *testing.T) {
	l := logins{all: map[string]*loggedIn{}}
	now := time.Now()
	token, _, err := l.add(caller{}, now)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := l.find(token, now.Add(loginLasts)); !ok {
		t.Error("it ended too soon")
	}
	if _, ok := l.find(token, now.Add(2*loginLasts)); !ok {
		t.Error("use did not make it last")
	}
	if _, ok := l.find(token, now.Add(4*loginLasts)); ok {
		t.Error("it did not end")
	}
	for range maxLogins {
		_, _, err = l.add(caller{}, now.Add(4*loginLasts))
	}
	if err != nil {
		t.Errorf("the ended one takes room: %v", err)
	}
	if _, _, err := l.add(caller{}, now.Add(4*loginLasts)); err == nil {
		t.Error("no bound")
	}
}

// TestOpenAPI compares openapi.json with the server: it has the server's paths and
// no others, and the answers are as it describes them.
func TestOpenAPI(t *testing.T) {
	var doc struct {
		Paths map[string]map[string]struct {
			Responses map[string]struct {
				Ref     string `json:"$ref"`
				Content map[string]struct {
					Schema struct {
						Ref      string `json:"$ref"`
						Required []string
					}
				}
			}
		}
		Components struct {
			Schemas map[string]struct{ Required []string }
		}
	}
	if err := json.Unmarshal(openAPI, &doc); err != nil {
		t.Fatal(err)
	}
	ask, s := start(t, true)
	documented := []string{}
	for path, methods := range doc.Paths {
		for method := range methods {
			documented = append(documented, strings.ToUpper(method)+" "+path)
		}
	}
	served := slices.AppendSeq([]string{"GET /api/v1/openapi.json"}, maps.Keys(s.routes()))
	served = slices.DeleteFunc(served, func(r string) bool { return r == "/api/" })
	slices.Sort(documented)
	slices.Sort(served)
	if !slices.Equal(documented, served) {
		t.Errorf("documented\n%q\nserved\n%q", documented, served)
	}
	bodies := map[string]string{"PUT": `{"kind": "segment"}`, "PATCH": `{"options": {"step": 7}}`}
	var lease struct{ Worker, Until string }
	if _, body := ask("POST", "/api/v1/workers/10?holder=doc", "", "user", "root"); json.Unmarshal([]byte(body), &lease) != nil {
		t.Fatal(body)
	}
	place := strings.NewReplacer("{name}", "doc", "{id}", "1541815603606036480", "{pool}", "10", "{worker}", lease.Worker)
	order := map[string]int{"PUT": -1, "DELETE": 1} // made before it is used, dropped behind it
	slices.SortStableFunc(documented, func(a, b string) int {
		am, _, _ := strings.Cut(a, " ")
		bm, _, _ := strings.Cut(b, " ")
		return order[am] - order[bm]
	})
	for _, route := range documented {
		method, path, _ := strings.Cut(route, " ")
		url := place.Replace(path)
		switch {
		case strings.HasPrefix(path, "/tinyid/"):
			url += "?bizType=doc"
		case strings.HasPrefix(path, "/decode"):
			url += "?snowflakeId=1541815603606036480"
		case strings.HasSuffix(path, "{worker}"):
			url += "?until=" + lease.Until + "&used=" + lease.Until
		}
		status, body := ask(method, url, bodies[method], "user", "root")
		if method == "PATCH" && strings.HasSuffix(path, "{worker}") {
			if status == 503 && strings.Contains(body, "no more is reserved yet") { // a lease of the same second is as long as leases are
				continue
			}
			if json.Unmarshal([]byte(body), &lease) != nil { // of a second later
				t.Errorf("%s: status %d: %s", route, status, body)
			}
		}
		response, ok := doc.Paths[path][strings.ToLower(method)].Responses[strconv.Itoa(status)]
		if !ok {
			t.Errorf("%s: status %d is not documented: %s", route, status, body)
			continue
		}
		schema := response.Content["application/json"].Schema
		required := slices.Concat(schema.Required, doc.Components.Schemas[strings.TrimPrefix(schema.Ref, "#/components/schemas/")].Required)
		var fields map[string]json.RawMessage
		if len(required) > 0 {
			if err := json.Unmarshal([]byte(body), &fields); err != nil {
				t.Errorf("%s: %v: %s", route, err, body)
			}
		}
		for _, name := range required {
			if _, ok := fields[name]; !ok {
				t.Errorf("%s: no %q in %s", route, name, body)
			}
		}
	}
}

// TestHistory: an hour in steps; a generator that came later, one that went
// and one that was made again.
func TestHistory(t *testing.T) {
	h := history{names: map[string][]int64{}}
	counts := map[string]int64{"a": 10}
	step := func() { h.step(maps.All(counts), time.Now()) }
	step()
	counts["a"], counts["b"] = 30, 5
	step()
	counts["a"] = 3 // dropped and created again
	delete(counts, "b")
	step()
	if want := []int64{10, 25, 3}; !slices.Equal(h.total, want) {
		t.Errorf("%v, want %v", h.total, want)
	}
	if want := []int64{10, 20, 3}; !slices.Equal(h.names["a"], want) || !slices.Equal(h.names["b"], []int64{5, 0}) {
		t.Errorf("%v, want a: %v", h.names, want)
	}
	counts["b"] = 5 // it was closed, and is opened again: nothing was drawn
	if step(); h.names["b"][2] != 0 || h.total[3] != 0 {
		t.Errorf("%v, %v", h.names["b"], h.total)
	}
	for i := range 3 * historyNames {
		counts[fmt.Sprint("n", i)] = 1
	}
	for range 2 * historySteps {
		counts["a"]++
		step()
	}
	if h.names["b"] != nil {
		t.Error("a name of which nothing was drawn for an hour keeps its place")
	}
	counts["late"] = 7
	if step(); len(h.names["late"]) != 1 {
		t.Errorf("no place for a name that is drawn from: %d names", len(h.names))
	}
	if len(h.total) != historySteps || len(h.names) > historyNames || len(h.names["a"]) != historySteps {
		t.Errorf("%d steps, %d names, %d of a", len(h.total), len(h.names), len(h.names["a"]))
	}
}

// TestHistoryOfRestrictedUsers: they see the rates of their own names, and no sums
// of others.
func TestHistoryOfRestrictedUsers(t *testing.T) {
	ask, s := start(t, true)
	for user, names := range map[string][]string{"root": {"orders", "others"}} {
		for _, name := range names {
			if status, body := ask("POST", "/api/v1/generators/"+name+"/ids?n=50", "", "user", user); status != 200 {
				t.Fatal(body)
			}
		}
	}
	s.history.step(maps.All(map[string]int64{"orders": 50}), time.Now())
	s.history.step(maps.All(map[string]int64{"orders": 100, "others": 1000}), time.Now())
	for user, want := range map[string]string{
		"root":   `"total":[5,105],"generators":{"orders":[5,5],"others":[100]}}`,
		"orders": `"total":[5,5],"generators":{"orders":[5,5]}}`,
	} {
		if _, body := ask("GET", "/api/v1/history", "", "user", user); !strings.HasSuffix(body, want) {
			t.Errorf("%s: %s, want %s", user, body, want)
		}
	}
	if _, body := ask("GET", "/api/v1/generators", "", "user", "orders"); strings.Contains(body, "others") || !strings.Contains(body, `"name":"orders"`) {
		t.Errorf("the list of a restricted user: %s", body)
	}
}

// TestHistoryEnds with its context.
func TestHistoryEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(Config{Issued: func(yield func(string, int64) bool) { yield("a", 1) }})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { s.keepHistory(ctx); close(done) }()
		time.Sleep(historyStep*3 + time.Second) //nolint:forbidigo // synctest's
		cancel()
		<-done
		if len(s.history.total) != 3 {
			t.Errorf("%d steps", len(s.history.total))
		}
	})
}
