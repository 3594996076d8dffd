package sqlfuncs_test

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"nextid/sqlfuncs/audit"
	"nextid/sqlfuncs/sqlstate"
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
	server := newServer(t, serverConfig{trail: trail})
	s := server.session(t)
	var last int64
	for range 3 {
		id, err := strconv.ParseInt(s.value(t, "SELECT get_id('web-frontend2')"), 10, 64)
		if err != nil || id <= last {
			t.Fatalf("%d after %d (%v)", id, last, err)
		}
		last = id
	}
	s.want(t, fmt.Sprintf("SELECT parse_id(%d, 'twitter')->>'layout'", last), "twitter")
	s.want(t, "SELECT p.datacenter = get_datacenter_id(), p.worker = get_worker_id() FROM parse_id("+strconv.FormatInt(last, 10)+", 'twitter') p", "t|t")
	s.want(t, "SELECT get_timestamp() - extract(epoch FROM clock_timestamp()) * 1000 BETWEEN -60000 AND 60000", "t")

	// Without an agent the application's name counts, if it can be one.
	s.must(t, "SET application_name = 'batch'")
	s.must(t, "SELECT nextid.get_id()")
	s.must(t, "SET application_name = 'two words'")
	s.must(t, "SELECT get_id(), get_id()")
	for _, bad := range []string{"", "2web", "-web", "web_1", "web 1", "wéb", strings.Repeat("a", 129)} {
		s.fails(t, "SELECT get_id('"+bad+"')", sqlstate.InvalidParameterValue)
	}
	s.want(t, "SELECT agent, ids FROM nextid.agents", "batch|1\nunknown|2\nweb-frontend2|3")
	s.want(t, "SELECT invalid_agents, file, written, dropped FROM nextid.audit", "7|memory|6|0")
	if len(trail.entries) != 6 || trail.entries[2].ID != last || trail.entries[2].Agent != "web-frontend2" || trail.entries[2].User != "tester" ||
		time.Since(trail.entries[2].Time) > time.Minute {
		t.Errorf("%+v", trail.entries)
	}
}

// Clients cannot fill the memory with names.
func TestAgentsAreBounded(t *testing.T) {
	s := newServer(t).session(t)
	for i := range 1100 {
		s.must(t, fmt.Sprintf("SELECT get_id('agent-%d')", i))
	}
	s.want(t, "SELECT count(*), sum(ids) FROM nextid.agents", "1001|1100")
	s.want(t, "SELECT ids FROM nextid.agents WHERE agent = '(others)'", "100")
	s.want(t, "SELECT file IS NULL FROM nextid.audit", "t")
}

func TestTwittersServiceNeedsAutoCreateOrItsGenerator(t *testing.T) {
	s := newServer(t, serverConfig{noAutoCreate: true}).session(t)
	s.fails(t, "SELECT get_id('web')", sqlstate.UndefinedTable)
	s.must(t, `SELECT create_generator('twitter', 'snowflake', '{"layout": "leaf"}')`)
	s.must(t, "SELECT get_id('web')")
	s.want(t, "SELECT get_datacenter_id()", "0") // Leaf's layout has none
}

// A generator that can issue nothing is not created: one whose time is over,
// and one whose epoch has not come.
func TestCreateGeneratorRefusesWhatCanIssueNothing(t *testing.T) {
	s := newServer(t).session(t)
	future := time.Now().AddDate(1, 0, 0).UTC().Format(time.DateOnly)
	for options, want := range map[string]string{
		`{"layout": "baidu"}`: "ran out at 2024-11-20", `{"epoch": "` + future + `"}`: "has not come",
		`{"layout": "baidu", "text": "base62"}`: "ran out", `{"layout": "sonyflake", "epoch": "` + future + `"}`: "has not come",
	} {
		for _, kind := range []string{"snowflake", "ring"} {
			_, err := s.run(t, "SELECT create_generator('a', '"+kind+"', '"+options+"')")
			wantCode(t, kind+" "+options, err, sqlstate.InvalidParameterValue)
			if err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%s %s: %v, want %q", kind, options, err, want)
			}
		}
	}
	s.want(t, "SELECT count(*) FROM nextid.generators", "0")
	s.must(t, "SELECT create_generator('a', 'segment')")
	s.fails(t, `SELECT create_generator('a', 'snowflake', '{"layout": "baidu"}')`, sqlstate.DuplicateObject)
}

// Programs tell the cases of 57P03 apart by the detail.
func TestNotNowTellsItsReason(t *testing.T) {
	server := newServer(t)
	server.segment(t, "a")
	s := server.session(t)
	s.id(t, "a", "SELECT next_id('a')")
	if err := server.registry.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, err := s.run(t, "SELECT next_id('a')")
	wantCode(t, "a draw from a server that stops", err, sqlstate.CannotConnectNow)
	if se, ok := errors.AsType[*sqlstate.Error](err); !ok || se.Detail != "Reason: shutdown." {
		t.Errorf("detail of %v, want the reason shutdown", err)
	}
}

func TestClientsAreToldOfTimeThatRunsOut(t *testing.T) {
	server := newServer(t)
	s := server.session(t)
	span := time.Duration(1<<28) * time.Second // of Baidu's 28 bits
	create := func(name string, left time.Duration) {
		s.must(t, fmt.Sprintf(`SELECT create_generator('%s', 'snowflake', '{"layout": "baidu", "epoch": %d}')`,
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
	s.id(t, "soon", "SELECT next_id('soon')") // opens it
	said("in 100 days")
	s.id(t, "soon", "SELECT next_id('soon')")
	said("")
	s.want(t, "SELECT name, days_left FROM nextid.generators WHERE days_left < 365 ORDER BY 1", "soon|100")
	s.must(t, "SELECT create_generator('numbers', 'segment')")
	s.want(t, "SELECT ends IS NULL FROM nextid.generators WHERE name = 'numbers'", "t")
}
