package ids_test

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"nextid/sqlfuncs/ids"
	"nextid/sqlfuncs/sqltest"

	"nextid/generator"
	"nextid/generator/audit"
	"nextid/generator/store/memory"
	"nextid/sqlfuncs"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

// memoryTrail keeps what is recorded.
type memoryTrail struct {
	mu      sync.Mutex
	entries []audit.Entry
}

func (m *memoryTrail) Sampled() bool { return true }

func (m *memoryTrail) Record(e audit.Entry) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.entries = append(m.entries, e)
}

func (m *memoryTrail) Stats() audit.Stats {
	m.mu.Lock()
	defer m.mu.Unlock()
	return audit.Stats{File: "memory", Sample: 1, Written: int64(len(m.entries))}
}

func TestTwittersService(t *testing.T) {
	trail := &memoryTrail{}
	server := sqltest.NewServer(t, sqltest.Config{IDs: ids.Config{Trail: trail}})
	s := server.Session(t)
	var last int64
	for range 3 {
		id, err := strconv.ParseInt(s.Value(t, "SELECT get_id('web-frontend2')"), 10, 64)
		if err != nil || id <= last {
			t.Fatalf("%d after %d (%v)", id, last, err)
		}
		last = id
	}
	s.Want(t, fmt.Sprintf("SELECT parse_id(%d, 'twitter')->>'layout'", last), "twitter")
	s.Want(t, "SELECT p.datacenter = get_datacenter_id(), p.worker = get_worker_id() FROM parse_id("+strconv.FormatInt(last, 10)+", 'twitter') p", "t|t")
	at, err := strconv.ParseInt(s.Value(t, "SELECT get_timestamp()"), 10, 64)
	if since := time.Since(time.UnixMilli(at)).Abs(); err != nil || since > time.Minute {
		t.Errorf("get_timestamp() is %v away, %v", since, err)
	}

	// Without an agent the application's name counts, if it can be one.
	s.Must(t, "SET application_name = 'batch'")
	s.Must(t, "SELECT nextid.get_id()")
	s.Must(t, "SET application_name = 'two words'")
	s.Must(t, "SELECT get_id(), get_id()")
	for _, bad := range []string{"", "2web", "-web", "web_1", "web 1", "wéb", strings.Repeat("a", 129)} {
		s.Fails(t, "SELECT get_id('"+bad+"')", sqlstate.InvalidParameterValue)
	}
	s.Want(t, "SELECT agent, ids FROM nextid.agents", "batch|1\nunknown|2\nweb-frontend2|3")
	s.Want(t, "SELECT invalid_agents, file, written, dropped FROM nextid.audit", "7|memory|6|0")
	if len(trail.entries) != 6 || trail.entries[2].ID != strconv.FormatInt(last, 10) || trail.entries[2].Agent != "web-frontend2" || trail.entries[2].User != "tester" ||
		time.Since(trail.entries[2].Time) > time.Minute {
		t.Errorf("%+v", trail.entries)
	}
}

// Every way to draw from a generator whose name is audited leaves a line with all
// of its ids, and no other generator does.
func TestDrawsOfAuditedGeneratorsAreLines(t *testing.T) {
	trail := &memoryTrail{}
	server := sqltest.NewServer(t, sqltest.Config{IDs: ids.Config{Trail: trail}, Audited: func(name string) bool { return name != "orders" }})
	s := server.Session(t)
	s.Must(t, `SELECT create_generator('n', 'segment'), create_generator('u', 'uuid'), create_generator('f', 'snowflake', '{"bits": "time 41, field 10, worker 4, sequence 8"}')`)
	mysql := server.SessionWith(t, sqlfuncs.SessionOptions{User: "tester", Database: "db", Admin: true, Dialect: syntax.MySQL})
	for _, c := range []struct {
		session *sqltest.Session
		sql     string
		ids     int64
	}{
		{s, "SELECT next_id('n')", 1},
		{s, "SELECT nextval('n')", 1},
		{s, "SELECT count(*) FROM next_ids('n', 1000)", 1000},
		{s, "SELECT * FROM next_range('n', 1000)", 1000},
		{s, "SELECT next_code('n')", 1},
		{mysql, "SELECT NEXT 5 VALUES FROM n", 5},
		{s, "SELECT next_id('n') FROM generate_series(1, 10)", 10},
		{s, "SELECT id FROM n_id", 1},
		{s, "SELECT next_id('f', 7)", 1},
		{s, "SELECT next_code('u')", 1},
		{s, "SELECT next_uuid('u')", 1},
		{s, "SELECT get_id('web')", 1},
		{mysql, "SELECT next_id('n')", 1},
		{mysql, "SELECT NEXT VALUE FOR n", 1},
		{s, "SELECT next_id('orders')", 0},
	} {
		for range 2 { // the second time on the fast path, where there is one
			trail.entries = nil
			answer := c.session.Must(t, c.sql)
			var ids int64
			for _, e := range trail.entries {
				ids += max(e.Count, 1)
				if (e.Name == "") != (e.Agent != "") || e.User != "tester" || e.ID == "" {
					t.Errorf("%s: %+v", c.sql, e)
				}
			}
			if ids != c.ids {
				t.Errorf("%s: %d ids in %+v", c.sql, ids, trail.entries)
			}
			if c.ids == 1 && trail.entries[0].ID != answer.Rows[0][0] {
				t.Errorf("%s: %s and the line %+v", c.sql, answer.Rows[0][0], trail.entries[0])
			}
		}
	}
	if e := server.Registry.Lookup([]byte("n")); e == nil {
		t.Error("n is not open")
	} else if _, ok := e.TryNext(1); ok {
		t.Error("an audited generator gives ids on the fast path")
	}
}

// Clients cannot fill the memory with names.
func TestAgentsAreBounded(t *testing.T) {
	s := sqltest.NewServer(t).Session(t)
	for i := range 1100 {
		s.Must(t, fmt.Sprintf("SELECT get_id('agent-%d')", i))
	}
	s.Want(t, "SELECT count(*), sum(ids) FROM nextid.agents", "1001|1100")
	s.Want(t, "SELECT ids FROM nextid.agents WHERE agent = '(others)'", "100")
	s.Want(t, "SELECT file IS NULL FROM nextid.audit", "t")
}

func TestTwittersServiceNeedsAutoCreateOrItsGenerator(t *testing.T) {
	s := sqltest.NewServer(t, sqltest.Config{NoAutoCreate: true}).Session(t)
	s.Fails(t, "SELECT get_id('web')", sqlstate.UndefinedTable)
	s.Must(t, `SELECT create_generator('twitter', 'snowflake', '{"layout": "leaf"}')`)
	s.Must(t, "SELECT get_id('web')")
	s.Want(t, "SELECT get_datacenter_id()", "0") // Leaf's layout has none
}

// A generator that can issue nothing is not created: one whose time is over,
// and one whose epoch has not come.
func TestCreateGeneratorRefusesWhatCanIssueNothing(t *testing.T) {
	s := sqltest.NewServer(t).Session(t)
	future := time.Now().AddDate(1, 0, 0).UTC().Format(time.DateOnly)
	for options, want := range map[string]string{
		`{"layout": "baidu"}`: "ran out at 2024-11-20", `{"epoch": "` + future + `"}`: "has not come",
		`{"layout": "baidu", "text": "base62"}`: "ran out", `{"layout": "sonyflake", "epoch": "` + future + `"}`: "has not come",
	} {
		for _, kind := range []string{"snowflake", "ring"} {
			_, err := s.Query(t, "SELECT create_generator('a', '"+kind+"', '"+options+"')")
			sqltest.WantCode(t, kind+" "+options, err, sqlstate.InvalidParameterValue)
			if err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%s %s: %v, want %q", kind, options, err, want)
			}
		}
	}
	s.Want(t, "SELECT count(*) FROM nextid.generators", "0")
	s.Must(t, "SELECT create_generator('a', 'segment')")
	s.Fails(t, `SELECT create_generator('a', 'snowflake', '{"layout": "baidu"}')`, sqlstate.DuplicateObject)
}

// Programs tell the cases of 57P03 apart by the detail.
func TestNotNowTellsItsReason(t *testing.T) {
	server := sqltest.NewServer(t)
	server.Segment(t, "a")
	s := server.Session(t)
	s.ID(t, "a", "SELECT next_id('a')")
	if err := server.Registry.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, err := s.Query(t, "SELECT next_id('a')")
	sqltest.WantCode(t, "a draw from a server that stops", err, sqlstate.CannotConnectNow)
	if se, ok := errors.AsType[*sqlstate.Error](err); !ok || se.Detail != "Reason: shutdown." {
		t.Errorf("detail of %v, want the reason shutdown", err)
	}
	s.Want(t, "SELECT last_error LIKE 'shutdown: %', last_error_at > now() - interval '1 minute', errors, wait_p50_ms <= wait_p99_ms FROM nextid.generators WHERE name = 'a'",
		`t|t|{"57P03": 1}|t`)
}

func TestClientsAreToldOfTimeThatRunsOut(t *testing.T) {
	server := sqltest.NewServer(t)
	s := server.Session(t)
	span := time.Duration(1<<28) * time.Second // of Baidu's 28 bits
	create := func(name string, left time.Duration) {
		s.Must(t, fmt.Sprintf(`SELECT create_generator('%s', 'snowflake', '{"layout": "baidu", "epoch": %d}')`,
			name, time.Now().Add(left-span).UnixMilli()))
	}
	said := func(want string) {
		t.Helper()
		var lines strings.Builder
		for _, n := range s.TakeNotices() {
			lines.WriteString(n.Severity + " " + n.Message + "\n")
		}
		got := lines.String()
		if !strings.Contains(got, want) || (want == "" && got != "") {
			t.Errorf("notices %q, want %q", got, want)
		}
	}
	create("late", 400*24*time.Hour)
	said("")
	create("soon", 100*24*time.Hour+time.Hour)
	said(`the time bits of generator "soon" run out at 20`)
	s.ID(t, "soon", "SELECT next_id('soon')") // opens it
	said("in 100 days")
	s.ID(t, "soon", "SELECT next_id('soon')")
	said("")
	s.Want(t, "SELECT name, days_left FROM nextid.generators WHERE days_left < 365 ORDER BY 1", "soon|100")
	s.Must(t, "SELECT create_generator('numbers', 'segment')")
	s.Want(t, "SELECT ends IS NULL FROM nextid.generators WHERE name = 'numbers'", "t")
}

// A generator that has few numbers left, or few worker ids to be had, says so
// when it is created or changed.
func TestClientsAreToldOfNumbersAndWorkersThatRunOut(t *testing.T) {
	store := memory.New(memory.Config{})
	for i := range 15 {
		_, _, err := store.Reserve(t.Context(), generator.Reservation{Key: fmt.Sprintf("worker/4/%d", i), AtLeast: 1 << 60, N: 1, Limit: generator.NoLimit})
		if err != nil {
			t.Fatal(err)
		}
	}
	s := sqltest.NewServer(t, sqltest.Config{Store: store}).Session(t)
	for _, tc := range []struct{ sql, want string }{
		{`SELECT create_generator('plain', 'segment')`, ""},
		{`SELECT create_generator('whole', 'segment', '{"max": 100}')`, ""},
		{`SELECT create_generator('late', 'segment', '{"start": 2147483000, "max": 2147483647}')`, `generator "late" has 648 of 2147483647 numbers left`},
		{`SELECT create_generator('ends', 'segment', '{"start": 100, "min": 100, "max": 109}')`, ""},
		{`SELECT create_generator('down', 'segment', '{"start": -95, "increment": -1, "min": -100}')`, `"down" has 6 of 100 numbers left`},
		{`SELECT create_generator('tens', 'segment', '{"start": 1001, "increment": 10, "max": 1005}')`, `"tens" has 1 of 101 numbers left`},
		{`SELECT create_generator('count', 'counter', '{"start": 99, "max": 100}')`, `"count" has 2 of 100 numbers left`},
		{`CREATE SEQUENCE seq START 32767 AS smallint`, `"seq" has 1 of 32767 numbers left`},
		{`SELECT count(*) FROM next_ids('whole', 51)`, ""},
		{`SELECT alter_generator('whole', '{"max": 51}')`, `"whole" has 0 of 51 numbers left`},
		{`SELECT drop_generator('whole')`, ""},
		{`SELECT create_generator('whole', 'segment', '{"max": 51}')`, `"whole" has 0 of 51 numbers left`},
		{`SELECT create_generator('wide', 'snowflake')`, ""},
		{`SELECT create_generator('narrow', 'snowflake', '{"bits": "time 41, worker 4, sequence 12"}')`, `1 of the 16 worker ids for generator "narrow" are free`},
	} {
		s.TakeNotices()
		if _, err := s.QueryAll(t.Context(), tc.sql); err != nil {
			t.Errorf("%s: %v", tc.sql, err)
		}
		var got string
		var gotSb239 strings.Builder
		for _, n := range s.TakeNotices() {
			gotSb239.WriteString(n.Severity + " " + n.Message + "\n")
		}
		got += gotSb239.String()
		if !strings.Contains(got, tc.want) || (tc.want == "") != (got == "") {
			t.Errorf("%s says %q, want %q", tc.sql, got, tc.want)
		}
	}
}
