package standard_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"nextid/generator"
)

// walkName is the model of a name: what its generators gave, and must not give again.
type walkName struct {
	name    string
	kind    string            // "" while there is no generator
	last    string            // kind of the latest generator
	made    int               // number of generators so far
	options map[string]any    // as they are stored
	version string            // of the definition
	ids     map[string]int    // every id, and the step of its draw
	held    map[string]string // ids that may come again, and their holders
	newest  map[any]string    // of each server, and of all (nil), since the generator was made
	change  moment            // the last one of an administrator
	floors  []floor
	left    bool // clients have left: numbers of theirs may come late
}

// floor is a number that setval has passed.
type floor struct {
	v int64
	moment
}

// moment is when a server has changed something.
type moment struct {
	server *walkServer
	at     time.Time
	step   int
	faults int
}

// lease is time on a worker id that a library has.
type lease struct {
	bits        int
	worker      int64
	from, until time.Time
}

// holds reports whether a library may issue an id.
func (l *lease) holds(bits int, worker int64, at time.Time) bool {
	return l.bits == bits && l.worker == worker && !at.Before(l.from) && at.Before(l.until)
}

// moment returns the present one. Faults that are still to come would hide a change.
func (w *walk) moment(s *walkServer) moment {
	for _, s := range w.servers {
		s.faulty.Clear()
	}
	return moment{s, time.Now(), len(w.steps), w.faults}
}

// known reports whether a server knows a change.
func (w *walk) known(m moment, s *walkServer) bool {
	return m.server == nil || m.server == s || s.started > m.step || time.Since(m.at) > 4*generator.WatchEvery && w.faults == m.faults
}

func (n *walkName) is(kinds ...string) bool { return slices.Contains(kinds, n.kind) }

func (n *walkName) texts() bool {
	return n.is("uuid", "ulid", "ksuid", "xid", "nanoid", "cuid2", "typeid")
}

// order tells whether the ids of one server rise (1), fall (-1), or neither (0).
func (n *walkName) order() int64 {
	o := n.options
	switch increment, _ := o["increment"].(float64); {
	case o["scatter"] != nil || o["holds"] != nil || o["on_rollback"] == "bits" || o["layout"] == "cockroach-unordered",
		n.is("uuid") && (o["form"] == "guid" || o["version"] == "1" || o["version"] == "1mc" || o["version"] == "4"),
		n.is("ksuid", "nanoid", "cuid2"):
		return 0
	case increment < 0:
		return -1
	}
	return 1
}

// value is the part of an id that is ordered.
func (n *walkName) value(id string) int64 {
	v, _ := strconv.ParseInt(id, 10, 64)
	if n.is("auto_random") {
		counter := n.options["fields"].([]any)[1].(map[string]any)
		v &= 1<<int64(counter["bits"].(float64)) - 1
	}
	return v
}

// above reports whether an id lies behind another one in the order.
func (n *walkName) above(id, other string) bool {
	if n.texts() {
		return id > other
	}
	return n.order()*n.value(id) > n.order()*n.value(other)
}

// binds reports whether a server must respect a floor.
func (w *walk) binds(f floor, n *walkName, s *walkServer) bool {
	switch {
	case f.server == s:
		return true
	case n.is("counter"):
		return !n.left
	case n.options["offset"] != nil || n.is("auto_random"):
		return s.started > f.step // other servers first use what they have
	case n.is("ticket"):
		return w.alone && s.started > f.step
	}
	return n.is("segment") && w.known(f.moment, s)
}

// note checks ids that a session has drawn, one after the other. Without ordered they
// need only be new. alone is false if other statements ran at the same time.
func (w *walk) note(s *walkServer, n *walkName, ids []string, ordered, alone bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	order, last := n.order(), ""
	for _, id := range ids {
		if before, is := n.ids[id]; is && n.held[id] == "" {
			w.Errorf("%s gave %s again, which step %d drew", n.name, id, before)
		}
		delete(n.held, id)
		n.ids[id] = len(w.steps)
		if !ordered || order == 0 {
			continue
		}
		if last == "" && alone {
			if last = n.newest[s]; n.is("counter") && !n.left {
				last = n.newest[nil]
			}
		}
		if last != "" && !n.above(id, last) {
			w.Errorf("%s gave %s after %s", n.name, id, last)
		}
		last = id
		for _, f := range n.floors {
			if alone && w.binds(f, n, s) && order*n.value(id) <= order*f.v {
				w.Errorf("%s gave %s, which setval has passed: %d", n.name, id, f.v)
			}
		}
	}
	for _, of := range []any{s, nil} {
		if last != "" && (n.newest[of] == "" || n.above(last, n.newest[of])) {
			n.newest[of] = last
		}
	}
}

// parse takes an id apart.
func (w *walk) parse(s *walkServer, n *walkName, id string) {
	if n.texts() {
		id = "'" + id + "'::text"
	}
	rows, err := w.query(client{server: s}, fmt.Sprintf("SELECT parse_id(%s, '%s')", id, n.name))
	if err != nil || len(rows) == 0 {
		return
	}
	var p struct {
		Kind, Name                   string
		Number                       *int64
		Time                         time.Time
		Datacenter, Worker, Rollback int64
	}
	err = json.Unmarshal([]byte(rows[0][0]), &p)
	// Steps of clocks and zones take less time. An id above those of another layout may have any time.
	ahead := n.made == 1 && p.Time.Sub(s.clock.Time()) > 26*time.Hour
	if n.is("snowflake") && p.Rollback == 0 {
		bits := 0
		for _, f := range n.options["fields"].([]any) {
			if field := f.(map[string]any); field["kind"] == "worker" || field["kind"] == "datacenter" {
				bits += int(field["bits"].(float64))
			}
		}
		for _, l := range w.leases {
			if l.holds(bits, p.Datacenter<<5+p.Worker, p.Time) {
				w.Errorf("%s gave %s, whose time is leased: %+v", n.name, id, *l)
			}
		}
	}
	series := n.is("segment", "counter", "ticket") && n.options["scatter"] == nil
	if err != nil || p.Kind != n.kind || !n.texts() && p.Name != n.name || ahead || series && p.Number == nil {
		w.Errorf("parse_id(%s, %s), of kind %s: %s, %v", id, n.name, n.kind, rows[0][0], err)
	}
}

// learn reads the definition of a name after a change on a server. After an error the
// change may have been made, and the server need not know.
func (w *walk) learn(s *walkServer, n *walkName, failed error) {
	s.faulty.Clear()
	rows, err := w.query(client{server: s}, fmt.Sprintf("SELECT kind, options, version FROM nextid.generators WHERE name = '%s'", n.name))
	if version := fmt.Sprint(rows); version != n.version {
		n.version, n.change = version, w.moment(s)
		if failed != nil {
			n.change.server = new(walkServer)
		}
	}
	n.kind, n.options = "", map[string]any{}
	if len(rows) > 0 {
		n.kind, n.last = rows[0][0], rows[0][0]
		err = json.Unmarshal([]byte(rows[0][1]), &n.options)
	}
	if err != nil {
		w.Error(err)
	}
}

func pick[T any](w *walk, all ...T) T { return all[w.IntN(len(all))] }

// recipes are options of kinds: first those of new generators, then those that may
// change. Half of them are left out, but those with ! are not.
var recipes = []struct{ kind, fixed, free string }{
	{"snowflake", `layout!="twitter"|"leaf"|"discord"|"instagram"|"sonyflake"|"mybatis"|"rollback"|"cockroach"|"cockroach-unordered"|"pgedge-2023"|"cosid"|"cosid-js"|"yitter"|"js"|"tid"`, flake},
	{"snowflake", `bits=[{"kind":"time","bits":41},{"kind":"field","bits":8},{"kind":"worker","bits":6},{"kind":"sequence","bits":8}]|[{"kind":"time","bits":42},{"kind":"sequence","bits":10},{"kind":"worker","bits":8}]`, flake},
	{"ring", `bits!=[{"kind":"time","bits":32},{"kind":"worker","bits":10},{"kind":"sequence","bits":6}]|[{"kind":"time","bits":36},{"kind":"worker","bits":4},{"kind":"sequence","bits":8}] unit="1s"|"100ms"`, `boost_power=0|1|3 padding_factor=1|50|99 schedule_interval="0s"|"100ms" max_borrow="1m"|"1h" reject_take="wait"|"error"`},
	{"segment", `start=1|1000|-50|1099511627776`, `increment=1|2|7|100 max=3000|2199023255552 offset=0|1|5 ` + segment},
	{"segment", `increment!=-1|-3 start=-1|500`, segment},
	{"auto_random", `shard_bits=1|5 range_bits=32|64 start=1|1000`, `step=1|10|100`},
	{"auto_random", `shard_bits!=15 range_bits!=32 counter!={"start":65000}|{"start":65000,"max":1099511627776}`, `step=1|10`},
	{"counter", `start=1|1000|-50 increment=1|5`, `max=3000`},
	{"dated", `pattern="yyyyMMdd"|"yyMMdd"|"yyyy-MM"|"ddMMyyyy"|"yyyyMMddHH"|"yy" width=3|6 start=0|10`, `width=7 time_zone="UTC"|"Europe/Berlin" max_ahead="1h"|"24h"`},
	{"uuid", `version=1|"1mc"|4|6|7|8 form="standard"|"hex"|"base58"|"base62"|"guid"`, ``},
	{"ulid", ``, ``},
	{"ksuid", ``, ``},
	{"xid", ``, ``},
	{"nanoid", ``, ``},
	{"cuid2", ``, ``},
	{"typeid", `prefix="user"`, ``},
	{"ticket", `databases!=%s start=1|1000`, `databases=%s step=1|10|100`},
}

const (
	flake   = `sequence_start="zero"|"random"|"carry"|3|"0-9" on_rollback="continue"|"wait"|"refuse"|"5ms" max_ahead="0s"|"5ms"|"1s" strict=true|false`
	segment = `step=1|2|10|1000 prefetch_at=0|0.5|1 strict=true|false`
	scatter = ` scatter=true|"bit_reverse"|{"bits":63}|{"bits":24} check=true pad=1|10`
	forms   = ` text!="hex"|"base32"|"base36"|"base58"|"base62"|"base64url"|"sqids" prefix!="p_"`
)

// recipe returns a kind, or the given one, with random options: all, or those that may
// change.
func (w *walk) recipe(kind string, alter bool) (string, string) {
	r := recipes[w.IntN(len(recipes))]
	for kind != "" && r.kind != kind || r.kind == "ticket" && w.redis == "" {
		r = recipes[w.IntN(len(recipes))]
	}
	row, text := r.free, !(&walkName{kind: r.kind}).texts() && r.kind != "dated" && w.IntN(4) == 0
	if !alter {
		row = r.fixed + " " + row
	}
	if text && !alter {
		row += scatter
	}
	if text {
		row += forms
	}
	var options []string
	for option := range strings.FieldsSeq(strings.ReplaceAll(row, "%s", w.databases)) {
		name, values, _ := strings.Cut(option, "=")
		name, always := strings.CutSuffix(name, "!")
		if always || w.IntN(2) == 0 {
			options = append(options, fmt.Sprintf("%q: %s", name, pick(w, strings.Split(values, "|")...)))
		}
	}
	return r.kind, "{" + strings.Join(options, ", ") + "}"
}
