package ticket

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"nextid/generator"
	"nextid/migrations/appdb"
)

// TakeoverRequest describes the id system to take over.
type TakeoverRequest struct {
	Name    string // name of the generator; default of the option key
	System  string // leaf, tinyid, sequence, …
	DSN     string // URLs of the databases, with spaces between them
	Options json.RawMessage

	// Agree is called once the position is known, before anything is fenced. Its error
	// ends TakeOver. nil agrees to everything.
	Agree func(Takeover) error
}

// Takeover describes the generator that continues.
type Takeover struct {
	Kind      string
	Options   json.RawMessage
	Next      int64  // the other system issues no number of the series at or above it
	Increment int64  // of the series: Next + k·Increment; 1 for all numbers
	Fenced    bool   // the fence was there before this call
	Report    string // text about what was done, for the operator
}

// options are the user's options.
type options struct {
	Kind  string `json:"kind"`  // segment or counter
	Key   string `json:"key"`   // biz tag, sequence, table or key
	Table string `json:"table"` // table of the other system; "": its usual name
	Fence bool   `json:"fence"`
}

const optionsHint = "Options: key (biz tag, sequence, table or key), table (of the other system), kind (segment or counter), fence (true or false)."

// position is the state of one database.
type position struct {
	next        int64 // least number not issued
	increment   int64 // 0: 1
	offset      int64 // the series is the numbers that equal offset modulo increment
	step        int64 // 0: unknown
	description string
	fenced      bool // before this call
}

// system describes an id system that can be taken over.
type system struct {
	name string
	on   []System
	read func(ctx context.Context, d *takenDatabase) (position, error)
	how  string // how an operator fences it by hand
}

// systems lists the id systems that can be taken over.
var systems = []system{
	allocSystem(alloc{table: "leaf_alloc", key: "biz_tag", max: "max_id", step: "step", description: "description", width: 128}, "leaf"),
	allocSystem(alloc{
		table: "tiny_id_info", key: "biz_type", max: "max_id", step: "step", increment: "delta", offset: "remainder", width: 63, inclusive: true,
	}, "tinyid"),
	allocSystem(alloc{table: "tinyid_alloc", key: "biz_tag", max: "max_id", step: "step", description: "description", width: 128}, "tinyid-go"),
	allocSystem(alloc{table: "id_segment", key: "BIZ_TAG", max: "MAX_ID", step: "STEP", width: 50, inclusive: true}, "ecp"),
	allocSystem(alloc{table: "cosid", key: "name", max: "last_max_id", width: 100, inclusive: true}, "cosid"),
	{
		name: "sequence", on: []System{Postgres}, read: readSequence,
		how: "ALTER SEQUENCE … MAXVALUE with its last value",
	},
	{
		name: "auto_increment", on: []System{MySQL}, read: readAutoIncrement,
		how: "a trigger that refuses rows without an id",
	},
	{
		name: "redis", on: []System{Redis}, read: readRedis,
		how: "a text in the place of the number, which INCR refuses",
	},
}

// TakeoverSystems returns the names of all systems.
func TakeoverSystems() []string {
	var names []string
	for _, s := range systems {
		names = append(names, s.name)
	}
	return names
}

const (
	// timeout bounds the work on one database.
	timeout = 30 * time.Second

	// lockWait bounds one wait for a lock, because later statements of others wait
	// behind it.
	lockWait  = time.Second
	lockPause = 2 * time.Second
)

// takenDatabase is one database of a request.
type takenDatabase struct {
	Location
	passwords Passwords
	sql       *sql.DB // nil for a Redis
	key       string
	table     string // "" for the usual one
	fence     bool
}

// TakeOver reads the position of another id system, and fences it unless the
// options decline that. The fenced system issues no more numbers, so that a
// generator can go on above its last one.
//
// The fence is made in the other system's database, in the transaction that reads
// the position or before it. Numbers that its servers hold in memory are below the
// position. A second call finds the fence and returns the same position. Errors are
// ErrOption or ErrNotNow.
func TakeOver(ctx context.Context, r TakeoverRequest, passwords Passwords) (Takeover, error) {
	t := &task{TakeoverRequest: r, options: options{Kind: "segment", Key: r.Name, Fence: true}, passwords: passwords}
	if err := generator.DecodeOptions(r.Options, &t.options, optionsHint); err != nil {
		return Takeover{}, err
	}
	if t.Kind != "segment" && t.Kind != "counter" {
		return Takeover{}, generator.OptionError(optionsHint, "kind must be segment or counter, not %q", t.Kind)
	}
	i := slices.IndexFunc(systems, func(s system) bool { return s.name == r.System })
	if i < 0 {
		return Takeover{}, generator.OptionError("Known: "+strings.Join(TakeoverSystems(), ", ")+".", "unknown id system %q", r.System)
	}
	t.system = systems[i]
	for text := range strings.FieldsSeq(r.DSN) {
		l, err := ParseLocation(text)
		if err != nil {
			return Takeover{}, generator.OptionError("Write postgres://USER@HOST/DATABASE, mysql://USER@HOST/DATABASE or redis://HOST.", "dsn: %v", err)
		}
		if !slices.Contains(t.system.on, l.System) {
			return Takeover{}, generator.OptionError("Check the system and the URL.", "%s is not found on %s", r.System, l)
		}
		t.locations = append(t.locations, l)
	}
	if len(t.locations) == 0 {
		return Takeover{}, generator.OptionError("Give the URL of its database.", "dsn is empty")
	}
	seen, err := t.visit(ctx, false)
	if err != nil {
		return Takeover{}, err
	}
	if r.Agree != nil {
		if err := r.Agree(seen); err != nil {
			return Takeover{}, err
		}
	}
	if !t.Fence {
		return seen, nil
	}
	return t.visit(ctx, true)
}

// task is one call of TakeOver.
type task struct {
	TakeoverRequest
	options
	system    system
	locations []Location
	passwords Passwords
}

// visit reads the positions of all databases, and fences them if fence is set. A
// first visit without fence changes nothing. So errors of any database are known
// before another one is fenced.
func (t *task) visit(ctx context.Context, fence bool) (Takeover, error) {
	var found []position
	for _, l := range t.locations {
		d := &takenDatabase{Location: l, passwords: t.passwords, key: cmp.Or(t.Key, t.Name), table: t.Table, fence: fence}
		p, err := d.read(ctx, t.system)
		if err != nil {
			return Takeover{}, explain(l, t.system, err)
		}
		found = append(found, p)
	}
	return t.result(found)
}

// read reads the position of one database. It tries again while others hold locks,
// until timeout.
func (d *takenDatabase) read(ctx context.Context, s system) (position, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if d.System != Redis {
		db, err := d.OpenSQL(d.passwords, nil)
		if err != nil {
			return position{}, err
		}
		defer db.Close()
		d.sql = db
	}
	for {
		p, err := s.read(ctx, d)
		if !appdb.LockTimeout(err) {
			return p, err
		}
		// The pause lets waiting statements of others get the lock.
		if (generator.Goroutines{}).Sleep(ctx, lockPause) != nil {
			return p, err
		}
	}
}

// result combines the positions of all databases. The greatest position counts, and
// their series are joined.
func (t *task) result(found []position) (Takeover, error) {
	all := position{next: math.MinInt64, fenced: true}
	for _, p := range found {
		all.next, all.step = max(all.next, p.next), max(all.step, p.step)
		all.fenced = all.fenced && p.fenced
		all.description = cmp.Or(all.description, p.description)
	}
	if all.next > math.MaxInt64/2 || all.next < 0 {
		return Takeover{}, generator.OptionError("Numbers that are left must be positive.", "the position %d cannot be gone on from", all.next)
	}
	own, err := joinSeries(found)
	if err != nil {
		return Takeover{}, err
	}
	all.next = own.from(all.next)
	settings := map[string]any{"start": all.next}
	if own.increment > 1 {
		settings["increment"] = own.increment
	}
	if t.Kind == "segment" && all.step > 0 {
		settings["step"] = min(all.step, 1_000_000)
	}
	if all.description != "" {
		settings["description"] = clean(all.description)
	}
	raw, err := json.Marshal(settings)
	if err != nil {
		return Takeover{}, err
	}
	var names []string
	for _, l := range t.locations {
		names = append(names, l.String())
	}
	report := "fenced: " + strings.Join(names, ", ")
	if !t.Fence {
		report = fmt.Sprintf("NOT fenced, stop it before you draw (%s): %s", t.system.how, strings.Join(names, ", "))
	}
	if own.increment > 1 {
		report += fmt.Sprintf("; only every %d. number is taken over, the others belong to other databases", own.increment)
	}
	return Takeover{Kind: t.Kind, Options: raw, Next: all.next, Increment: own.increment, Fenced: all.fenced, Report: report}, nil
}

// clean makes a description of another system valid for nextid.
func clean(text string) string {
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return ' '
		}
		return r
	}, text)
	for len(text) > 256 {
		text = text[:strings.LastIndexFunc(text, func(rune) bool { return true })]
	}
	return text
}

// series is the set of numbers that equal offset modulo increment, as with MySQL's
// auto_increment_increment, or Tinyid's delta and remainder.
type series struct{ offset, increment int64 }

// from returns the least number of the series at or above v.
func (s series) from(v int64) int64 { return v + generator.Gap(s.offset, s.increment, v) }

// holds reports whether a ticket database with this series issues a number.
func (s series) holds(v int64) bool { return v >= s.offset && s.from(v) == v }

// above returns the least ticket of the series that is greater than v.
func (s series) above(v int64) int64 { return s.from(max(v+1, s.offset)) }

// maxDelta is the greatest increment for which joinSeries looks for a wider series.
const maxDelta = 1 << 16

// joinSeries returns the widest series whose numbers all belong to one of the
// databases. Both of two make all numbers, one of two every second one. Numbers of
// databases that are not taken over stay theirs.
func joinSeries(found []position) (series, error) {
	delta := max(found[0].increment, 1)
	own := make(map[int64]bool, len(found))
	for _, p := range found {
		if max(p.increment, 1) != delta {
			return series{}, generator.OptionError("Take them over one by one, under different names.",
				"the databases count in steps of %d and of %d", delta, max(p.increment, 1))
		}
		own[generator.Modulo(p.offset, delta)] = true
	}
	widest := series{generator.Modulo(found[0].offset, delta), delta}
	if delta > maxDelta {
		return widest, nil
	}
	for increment := int64(1); increment < delta; increment++ {
		for offset := range increment {
			if delta%increment == 0 && all(own, offset, increment, delta) {
				return series{offset, increment}, nil
			}
		}
	}
	return widest, nil
}

// all reports whether own contains every number below delta that equals offset
// modulo increment.
func all(own map[int64]bool, offset, increment, delta int64) bool {
	for v := offset; v < delta; v += increment {
		if !own[v] {
			return false
		}
	}
	return true
}

// hints are the hints for errors of databases.
var hints = appdb.Hints{
	"55P03": hintBusy, "1205": hintBusy,
	"28P01": hintLogin, "28000": hintLogin, "1045": hintLogin, "1698": hintLogin,
	"42501": hintRights, "1044": hintRights, "1142": hintRights, "1143": hintRights, "1227": hintRights, "1370": hintRights,
	"42P01": hintTable, "3F000": hintTable, "1146": hintTable,
	"25006": hintReplica, "1290": hintReplica, "1836": hintReplica,
	"1419": "With a binary log MySQL lets only administrators make triggers: SET GLOBAL log_bin_trust_function_creators = 1 for that time, or fence it by hand.",
}

const (
	hintBusy    = "A transaction used the table during the whole wait. Other statements got the lock in between, and nothing was changed. Call it again when that transaction has ended."
	hintLogin   = "Passwords come from the file of the setting database_passwords, lines of HOST:PORT:DATABASE:USER:PASSWORD."
	hintRights  = "The user needs the right to change what is fenced: UPDATE and DELETE on the table, the ownership of the sequence, TRIGGER on the table."
	hintTable   = "Pass its key and table: import_generator(name, system, dsn, key => '…', table => '…')."
	hintReplica = "The database is a replica or read-only: give the URL of the primary."
)

// explain adds a hint to an error of a database.
func explain(l Location, s system, err error) error {
	if e, ok := errors.AsType[*generator.Error](err); ok {
		return e
	}
	code := appdb.Code(err)
	hint := "Is the database up, and does this server reach it? To go on without it, fence it by hand (" + s.how + "), and take it over from a copy with fence => false."
	if code != "" {
		hint = cmp.Or(hints[code], "Mend that, or fence it by hand ("+s.how+"), then pass fence => false.")
	}
	return generator.Errorf(generator.ErrNotNow, "", hint,
		"the position cannot be taken over from %s: %s", l, strings.Join(strings.Fields(err.Error()), " "))
}
