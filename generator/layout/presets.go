package layout

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"nextid/generator"
)

// Default is the layout of generators without the option.
const Default = "twitter"

// twitterEpoch is 2010-11-04 01:42:54.657 UTC, in Unix milliseconds
// (twitter/snowflake, IdWorker.scala).
const twitterEpoch = 1288834974657

// preset is one row of the table of known systems. A row must never change, since
// ids issued with it would get another meaning.
type preset struct {
	name   string
	epoch  int64 // Unix ms
	unit   time.Duration
	fields []Field
	start  string // Layout.Start
	note   string // Layout.Note
}

// twitterFields are the fields of Twitter and of systems that copied it.
var twitterFields = []Field{{Time, 41}, {Datacenter, 5}, {Worker, 5}, {Sequence, 12}}

var presets = index([]preset{
	{
		"twitter", twitterEpoch, time.Millisecond, twitterFields, "",
		"twitter/snowflake, 2010: a tick begins at 0, so that ids which are drawn slowly are multiples of 4096",
	},
	{
		"leaf", twitterEpoch, time.Millisecond,
		[]Field{{Time, 41}, {Worker, 10}, {Sequence, 12}},
		"0-99",
		"Meituan Leaf, bwmarrin/snowflake: a tick begins at a random number below 100",
	},
	{
		"beyond", 1480166465631, time.Millisecond, twitterFields, "",
		"beyondfengyu/SnowFlake: Twitter's fields from 2016-11-26 on",
	},
	{
		"ecp", 1514131200000, time.Millisecond, twitterFields, "",
		"ECP uid: Twitter's fields from 2017-12-25 in UTC+8 on",
	},
	{
		"mybatis", twitterEpoch, time.Millisecond, twitterFields, "1-2",
		"MyBatis-Plus ASSIGN_ID: a tick begins at 1 or 2",
	},
	{
		"discord", 1420070400000, time.Millisecond, twitterFields, "",
		"its worker and process are datacenter and worker here; its ids are unsigned, a bigint has 41 of its 42 bits of time",
	},
	{
		"instagram", 1314220021721, time.Millisecond,
		[]Field{{Time, 40}, {Worker, 13}, {Sequence, 10}},
		"",
		"next_id() of 2012 with the epoch of its example; 40 bits of time, since the 41st is the sign of a bigint; worker is its shard",
	},
	{
		"mastodon", 0, time.Millisecond,
		[]Field{{Time, 47}, {Sequence, 16}},
		"",
		"timestamp_id(): the low 16 bits are hashed there and count here; for one server, as it has no worker id",
	},
	{
		"baidu", 1463673600000, time.Second,
		[]Field{{Time, 28}, {Worker, 22}, {Sequence, 13}},
		"",
		"Baidu uid-generator; its time has ended, and its ids are negative since: parse_id reads them. Give new generators an epoch of their own",
	},
	{
		"ring", 1735689600000, time.Second,
		[]Field{{Time, 31}, {Worker, 19}, {Sequence, 13}},
		"",
		"Baidu's with 68 years from 2025 on: the default of kind ring",
	},
	{
		"sonyflake-v1", 1409529600000, 10 * time.Millisecond,
		[]Field{{Time, 39}, {Sequence, 8}, {Worker, 16}},
		"",
		"sony/sonyflake 1: the sequence lies above the machine id",
	},
	{
		"sonyflake", 1735689600000, 10 * time.Millisecond,
		[]Field{{Time, 39}, {Sequence, 8}, {Worker, 16}},
		"",
		"sony/sonyflake 2 with its defaults: as version 1 from 2025-01-01 on",
	},
	{
		"rollback", twitterEpoch, time.Millisecond,
		[]Field{{Time, 41}, {Worker, 8}, {Rollback, 2}, {Sequence, 12}},
		"",
		"Twitter's worker id split: 8 bits for the machine, 2 that count how often its clock was set back",
	},
	{
		"cockroach", 1420070400000, 10 * time.Microsecond,
		[]Field{{Time, 48}, {Worker, 15}},
		"",
		"CockroachDB unique_rowid(): one id a tick",
	},
	{
		"cockroach-unordered", 1420070400000, 10 * time.Microsecond,
		[]Field{{Reversed, 48}, {Worker, 15}},
		"",
		"CockroachDB unordered_unique_rowid(): as cockroach with the bits of the time in reverse; ids do not rise",
	},
	{
		"pgedge", 1672531200000, time.Millisecond,
		[]Field{{Time, 41}, {Worker, 10}, {Sequence, 12}},
		"",
		"pgEdge snowflake since 2023-10-31; its node is worker here",
	},
	{
		"pgedge-2023", 1672531200000, time.Millisecond,
		[]Field{{Time, 41}, {Sequence, 12}, {Worker, 10}},
		"",
		"pgEdge snowflake before 2023-10-31: the count lies above the node; not for use beside newer nodes",
	},
	{
		"cosid", 1577203200000, time.Millisecond,
		[]Field{{Time, 41}, {Worker, 10}, {Sequence, 12}},
		Carry,
		"CosId: the sequence goes on from tick to tick",
	},
	{
		"cosid-s", 1577203200000, time.Second,
		[]Field{{Time, 31}, {Worker, 10}, {Sequence, 22}},
		Carry,
		"CosId by the second",
	},
	{
		"cosid-js", 1577203200000, time.Millisecond,
		[]Field{{Time, 41}, {Worker, 3}, {Sequence, 9}},
		Carry,
		"CosId below 2^53, the integers that JavaScript's numbers hold exactly",
	},
	{
		"yitter", 1582136402000, time.Millisecond,
		[]Field{{Time, 45}, {Worker, 6}, {Sequence, 6}},
		"5",
		"yitter/IdGenerator with its defaults: a tick begins at 5; time takes all bits that are left there, 45 last until 3135",
	},
	{
		"js", 1735689600000, time.Millisecond,
		[]Field{{Time, 42}, {Worker, 5}, {Sequence, 6}},
		"",
		"below 2^53, the integers that JavaScript's numbers hold exactly, for 139 years",
	},
	{
		"tsid", 1577836800000, time.Millisecond,
		[]Field{{Time, 41}, {Worker, 10}, {Sequence, 12}},
		"",
		"tsid-creator and Hypersistence TSID with 10 bits for the node; a bigint has 41 of its 42 bits of time",
	},
	{
		"tid", 0, time.Microsecond,
		[]Field{{Time, 53}, {Worker, 10}},
		"",
		"timestamp identifiers of the AT Protocol (Bluesky) as numbers: one id a microsecond; worker is the clock id",
	},
	{
		"tidb", 0, 0,
		[]Field{{Shard, 5}, {Counter, 58}},
		"",
		"TiDB AUTO_RANDOM(5): made by kind auto_random; parse_id shows the shard as worker and the counter as sequence",
	},
})

// signed lists the presets of systems whose time has no end and uses all bits; see
// Layout.Signed. Baidu's ids are negative since 2024-11-20, Instagram's from 2046
// on, Discord's from 2084, TSIDs from 2089.
var signed = []string{"baidu", "instagram", "discord", "tsid"}

// renamed maps presets to the name that their fields of earlier versions have now.
// A layout that is stored with those fields is the other preset.
var renamed = map[string]string{"pgedge": "pgedge-2023"}

// nameOf returns the present name of a stored layout.
func (p Pinned) nameOf() string {
	if now, ok := renamed[p.Layout]; ok && slices.Equal(p.Fields, presets[now].Fields) {
		return now
	}
	return p.Layout
}

// Renamed returns the old and the present name of the preset in stored options. ok
// is false if the name has not changed.
func Renamed(stored json.RawMessage) (was, now string, ok bool) {
	var p Pinned
	if json.Unmarshal(stored, &p) != nil {
		return "", "", false
	}
	now = p.nameOf()
	return p.Layout, now, now != p.Layout
}

// Carry is the Start of a system whose sequence continues from tick to tick.
const Carry = "carry"

// index returns the presets by name. It panics on a mistake in the table.
func index(rows []preset) map[string]*Layout {
	m := make(map[string]*Layout, len(rows))
	for _, r := range rows {
		l, err := New(r.name, r.fields, time.UnixMilli(r.epoch), r.unit)
		if err != nil {
			panic("layout " + r.name + ": " + err.Error()) // a mistake in the table above
		}
		l.Start, l.Note, l.Signed = r.start, r.note, slices.Contains(signed, r.name)
		m[r.name] = l
	}
	return m
}

// added holds the layouts of Add by lower-case name. The map is replaced, not
// changed.
var added atomic.Pointer[map[string]*Layout]

// Add adds a layout to this process under its name in lower case. A name keeps its
// layout, since ids issued with it would get another meaning.
func Add(l *Layout) error {
	name := strings.ToLower(l.Name)
	for {
		was := added.Load()
		more := map[string]*Layout{name: l}
		if was != nil {
			maps.Copy(more, *was)
		}
		if there := cmp.Or(presets[name], more[name]); there != l && !there.same(l) {
			return fmt.Errorf("layout %q is known already, with other fields", l.Name)
		}
		if presets[name] != nil || added.CompareAndSwap(was, &more) {
			return nil
		}
	}
}

// same reports whether ids have the same meaning in both.
func (l *Layout) same(other *Layout) bool {
	return slices.Equal(l.Fields, other.Fields) && l.Epoch.Equal(other.Epoch) && l.Unit == other.Unit && l.Start == other.Start
}

// known returns all layouts by name.
func known() map[string]*Layout {
	all := maps.Clone(presets)
	if more := added.Load(); more != nil {
		maps.Copy(all, *more)
	}
	return all
}

// Preset returns a known layout. Names are not case-sensitive.
func Preset(name string) (*Layout, error) {
	name = strings.ToLower(name)
	if l := presets[name]; l != nil {
		return l, nil
	}
	if more := added.Load(); more != nil && (*more)[name] != nil {
		return (*more)[name], nil
	}
	names := Names()
	return nil, fmt.Errorf("unknown layout %q%s: known are %s", name, generator.DidYouMean(name, names), strings.Join(names, ", "))
}

// Names returns the names of the known layouts.
func Names() []string { return slices.Sorted(maps.Keys(known())) }

// Presets returns the known layouts, sorted by name.
func Presets() []*Layout {
	return slices.SortedFunc(maps.Values(known()), func(a, b *Layout) int { return cmp.Compare(a.Name, b.Name) })
}
