package layout

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Default is the layout of generators that name none.
const Default = "twitter"

// TwitterEpoch is 2010-11-04 01:42:54.657 UTC, in Unix milliseconds
// (twitter/snowflake, IdWorker.scala).
const TwitterEpoch = 1288834974657

// preset is one row of the table of known systems. A row must never change:
// ids that were issued with it would mean something else.
type preset struct {
	name   string
	epoch  int64 // Unix ms
	unit   time.Duration
	fields []Field
}

var presets = index([]preset{
	// twitter/snowflake, 2010: datacenter and worker of 5 bits each.
	{"twitter", TwitterEpoch, time.Millisecond, []Field{{Time, 41}, {Datacenter, 5}, {Worker, 5}, {Sequence, 12}}},
	// Meituan Leaf: Twitter's epoch, one worker id of 10 bits.
	{"leaf", TwitterEpoch, time.Millisecond, []Field{{Time, 41}, {Worker, 10}, {Sequence, 12}}},
	// beyondfengyu/SnowFlake and ECP uid: Twitter's fields, later epochs
	// (2016-11-26 and 2017-12-25).
	{"beyond", 1480166465631, time.Millisecond, []Field{{Time, 41}, {Datacenter, 5}, {Worker, 5}, {Sequence, 12}}},
	{"ecp", 1514131200000, time.Millisecond, []Field{{Time, 41}, {Datacenter, 5}, {Worker, 5}, {Sequence, 12}}},
	// MyBatis-Plus ASSIGN_ID: Twitter's layout as it is.
	{"mybatis", TwitterEpoch, time.Millisecond, []Field{{Time, 41}, {Datacenter, 5}, {Worker, 5}, {Sequence, 12}}},
	// Discord, epoch 2015-01-01: its worker and its process are our
	// datacenter and worker. Its ids are unsigned; 41 bits of time are what
	// a bigint has.
	{"discord", 1420070400000, time.Millisecond, []Field{{Time, 41}, {Datacenter, 5}, {Worker, 5}, {Sequence, 12}}},
	// Instagram's next_id() of 2012: the epoch is that of its example; 41
	// bits of time with the sign bit, so 40 in a positive bigint.
	{"instagram", 1314220021721, time.Millisecond, []Field{{Time, 40}, {Worker, 13}, {Sequence, 10}}},
	// Mastodon's timestamp_id: Unix milliseconds above 16 bits, which are
	// hashed there and count here.
	{"mastodon", 0, time.Millisecond, []Field{{Time, 47}, {Sequence, 16}}},
	// Baidu uid-generator, epoch 2016-05-20 in UTC+8. Its time ended on
	// 2024-11-20: new generators need an epoch of their own.
	{"baidu", 1463673600000, time.Second, []Field{{Time, 28}, {Worker, 22}, {Sequence, 13}}},
	// sony/sonyflake, version 1 with epoch 2014-09-01 and version 2 with epoch
	// 2025-01-01: the sequence lies above the machine id.
	{"sonyflake-v1", 1409529600000, 10 * time.Millisecond, []Field{{Time, 39}, {Sequence, 8}, {Worker, 16}}},
	{"sonyflake", 1735689600000, 10 * time.Millisecond, []Field{{Time, 39}, {Sequence, 8}, {Worker, 16}}},
	// The common variant of Twitter's layout that counts clock rollbacks.
	{"rollback", TwitterEpoch, time.Millisecond, []Field{{Time, 41}, {Worker, 8}, {Rollback, 2}, {Sequence, 12}}},
	// CockroachDB unique_rowid(), epoch 2015-01-01: one id a tick.
	{"cockroach", 1420070400000, 10 * time.Microsecond, []Field{{Time, 48}, {Worker, 15}}},
	// pgEdge snowflake, epoch 2023-01-01.
	{"pgedge", 1672531200000, time.Millisecond, []Field{{Time, 41}, {Worker, 10}, {Sequence, 12}}},
	// CosId, epoch 2019-12-24 16:00, and its variants by the second and below
	// 2^53.
	{"cosid", 1577203200000, time.Millisecond, []Field{{Time, 41}, {Worker, 10}, {Sequence, 12}}},
	{"cosid-s", 1577203200000, time.Second, []Field{{Time, 31}, {Worker, 10}, {Sequence, 22}}},
	{"cosid-js", 1577203200000, time.Millisecond, []Field{{Time, 41}, {Worker, 3}, {Sequence, 9}}},
	// yitter/IdGenerator, epoch 2020-02-19 18:20:02. Its time takes all bits
	// that are left; 45 last until the year 3135.
	{"yitter", 1582136402000, time.Millisecond, []Field{{Time, 45}, {Worker, 6}, {Sequence, 6}}},
	// Our own below 2^53, the integers that JavaScript's numbers hold
	// exactly; epoch 2025-01-01.
	{"js", 1735689600000, time.Millisecond, []Field{{Time, 41}, {Worker, 5}, {Sequence, 7}}},
})

func index(rows []preset) map[string]*Layout {
	m := make(map[string]*Layout, len(rows))
	for _, r := range rows {
		l, err := New(r.name, r.fields, time.UnixMilli(r.epoch), r.unit)
		if err != nil {
			panic("layout " + r.name + ": " + err.Error()) // a mistake in the table above
		}
		m[r.name] = l
	}
	return m
}

// Preset returns a known layout. Names are not case-sensitive.
func Preset(name string) (*Layout, error) {
	if l := presets[strings.ToLower(name)]; l != nil {
		return l, nil
	}
	return nil, fmt.Errorf("unknown layout %q, known are %s", name, strings.Join(slices.Sorted(maps.Keys(presets)), ", "))
}

// Presets lists the known layouts by name.
func Presets() []*Layout {
	return slices.SortedFunc(maps.Values(presets), func(a, b *Layout) int { return cmp.Compare(a.Name, b.Name) })
}
