package layout

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"nextid/generator"
)

func mustPreset(t testing.TB, name string) *Layout {
	t.Helper()
	l, err := Preset(name)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// packSlowly builds an id from a string of bits: the definition of a layout,
// written without shifts.
func packSlowly(l *Layout, tick, worker, rollback, sequence int64) int64 {
	var text strings.Builder
	for _, f := range l.Fields {
		v := map[FieldKind]int64{Time: tick, Worker: worker, Rollback: rollback, Sequence: sequence}[f.Kind]
		if f.Kind == Datacenter || f.Kind == Worker {
			all := fmt.Sprintf("%0*b", l.WorkerBits(), worker)
			low := bitsOf(l, Worker)
			part := all[:len(all)-low]
			if f.Kind == Worker {
				part = all[len(all)-low:]
			}
			text.WriteString(part)
			continue
		}
		fmt.Fprintf(&text, "%0*b", f.Bits, v)
	}
	id, err := strconv.ParseInt(text.String(), 2, 64)
	if err != nil {
		panic(err)
	}
	return id
}

func bitsOf(l *Layout, k FieldKind) int {
	for _, f := range l.Fields {
		if f.Kind == k {
			return int(f.Bits)
		}
	}
	return 0
}

func drawParts(t *rapid.T, l *Layout) (tick, worker, rollback, sequence int64) {
	field := func(name string, bits int) int64 { return rapid.Int64Range(0, 1<<bits-1).Draw(t, name) }
	return field("tick", bitsOf(l, Time)), field("worker", int(l.WorkerBits())),
		field("rollback", bitsOf(l, Rollback)), field("sequence", bitsOf(l, Sequence))
}

// drawLayout makes a valid layout with the fields after the time in any order.
func drawLayout(t *rapid.T) *Layout {
	left := maxBits
	bits := rapid.IntRange(minTimeBits, 37).Draw(t, "time bits") // 37 bits of seconds end before the year 9999
	fields := []Field{{Time, uint8(bits)}}
	left -= bits
	for _, k := range rapid.Permutation([]FieldKind{Datacenter, Worker, Rollback, Sequence}).Draw(t, "order") {
		if bits := rapid.IntRange(0, min(left, 12)).Draw(t, string(k)); bits > 0 {
			fields = append(fields, Field{k, uint8(bits)})
			left -= bits
		}
	}
	unit := rapid.SampledFrom([]time.Duration{10 * time.Microsecond, time.Millisecond, 10 * time.Millisecond, time.Second}).Draw(t, "unit")
	l, err := New("drawn", fields, time.UnixMilli(rapid.Int64Range(0, 1<<41).Draw(t, "epoch")), unit)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func checkRoundTrip(t *rapid.T, l *Layout) {
	tick, worker, rollback, sequence := drawParts(t, l)
	id := l.Pack(tick, worker, rollback, sequence)
	if want := packSlowly(l, tick, worker, rollback, sequence); id != want {
		t.Fatalf("%s: Pack = %b, want %b", l.FieldList(), id, want)
	}
	if a, b, c, d := l.Unpack(id); a != tick || b != worker || c != rollback || d != sequence {
		t.Fatalf("%s: Unpack(%d) = %d %d %d %d, packed %d %d %d %d", l.FieldList(), id, a, b, c, d, tick, worker, rollback, sequence)
	}
	slot := tick<<l.SequenceBits() | sequence
	if got := l.Base(worker, rollback) | l.Place(slot); got != id {
		t.Fatalf("%s: Base|Place = %d, want %d", l.FieldList(), got, id)
	}
	at := l.TimeOf(tick)
	floor, err1 := l.Floor(at)
	ceil, err2 := l.Ceil(at)
	if err1 != nil || err2 != nil || id < floor || id > ceil {
		t.Fatalf("%s: id %d of %v is outside its bounds [%d, %d] (%v, %v)", l.FieldList(), id, at, floor, ceil, err1, err2)
	}
	if next, err := l.Floor(at.Add(l.Unit)); err == nil && next != ceil+1 && tick < l.MaxTick() {
		t.Fatalf("%s: the tick after %v begins at %d, this one ends at %d", l.FieldList(), at, next, ceil)
	}
}

func TestPackAndUnpackAgreeForEveryPreset(t *testing.T) {
	for _, l := range Presets() {
		t.Run(l.Name, rapid.MakeCheck(func(t *rapid.T) { checkRoundTrip(t, l) }))
	}
}

func TestPackAndUnpackAgreeForAnyLayout(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { checkRoundTrip(t, drawLayout(t)) })
}

func TestSlotsMakeArithmeticRuns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := drawLayout(t)
		slot := rapid.Int64Range(0, l.MaxTick()<<l.SequenceBits()-1).Draw(t, "slot")
		sameTick := slot>>l.SequenceBits() == (slot+1)>>l.SequenceBits()
		step := l.Place(slot+1) - l.Place(slot)
		if step <= 0 {
			t.Fatalf("%s: slot %d has id %d, the next one %d more", l.FieldList(), slot, l.Place(slot), step)
		}
		if (sameTick || l.Seamless()) && step != l.SlotStep() {
			t.Fatalf("%s: ids of neighboring slots differ by %d, SlotStep is %d", l.FieldList(), step, l.SlotStep())
		}
	})
}

func TestTicksAndInstantsAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := drawLayout(t)
		tick := rapid.Int64Range(-1000, l.MaxTick()).Draw(t, "tick")
		inside := time.Duration(rapid.Int64Range(0, int64(l.Unit)-1).Draw(t, "inside")).Truncate(time.Microsecond)
		at := l.TimeOf(tick).Add(inside)
		if got := l.TickOf(at); got != tick {
			t.Fatalf("TickOf(%v) = %d, want %d", at, got, tick)
		}
	})
}

// The facts are of the systems' own documents: Twitter's id is the example
// of Wikipedia's article on Snowflake ID, Discord's that of its developer
// documents, Instagram's that of its engineering blog (2012).
func TestKnownIDsExplainThemselves(t *testing.T) {
	for _, c := range []struct {
		layout     string
		id         int64
		at         string
		datacenter int64
		worker     int64
		sequence   int64
	}{
		{"twitter", 1541815603606036480, "2022-06-28T16:07:40.105Z", 378 >> 5, 378 & 31, 0},
		{"mybatis", 1541815603606036480, "2022-06-28T16:07:40.105Z", 378 >> 5, 378 & 31, 0},
		{"leaf", 1541815603606036480, "2022-06-28T16:07:40.105Z", -1, 378, 0},
		{"discord", 175928847299117063, "2016-04-30T11:18:25.796Z", 1, 0, 7},
		{"instagram", 1387263000<<23 | 1341<<10 | 5001%1024, "2011-09-09T22:28:04.721Z", -1, 1341, 905},
		{"baidu", 1<<35 | 7<<13 | 9, "2016-05-19T16:00:01Z", -1, 7, 9},
		{"sonyflake", 100<<24 | 9<<16 | 7, "2025-01-01T00:00:01Z", -1, 7, 9},
		{"rollback", 1<<22 | 7<<14 | 9, "2010-11-04T01:42:54.658Z", -1, 7, 9},
		{"cockroach", 100_000<<15 | 7, "2015-01-01T00:00:01Z", -1, 7, -1},
		{"pgedge", 1000<<22 | 7<<12 | 9, "2023-01-01T00:00:01Z", -1, 7, 9},
		{"cosid", 1000<<22 | 7<<12 | 9, "2019-12-24T16:00:01Z", -1, 7, 9},
		{"cosid-js", 1000<<12 | 7<<9 | 9, "2019-12-24T16:00:01Z", -1, 7, 9},
		{"cosid-s", 1<<32 | 7<<22 | 9, "2019-12-24T16:00:01Z", -1, 7, 9},
		{"beyond", 1000<<22 | 3<<17 | 7<<12 | 9, "2016-11-26T13:21:06.631Z", 3, 7, 9},
		{"ecp", 1000<<22 | 3<<17 | 7<<12 | 9, "2017-12-24T16:00:01Z", 3, 7, 9},
		{"mastodon", 1656432460105<<16 | 9, "2022-06-28T16:07:40.105Z", -1, -1, 9},
		{"sonyflake-v1", 100<<24 | 9<<16 | 7, "2014-09-01T00:00:01Z", -1, 7, 9},
		{"yitter", 1000<<12 | 7<<6 | 9, "2020-02-19T18:20:03Z", -1, 7, 9},
		{"js", 1000<<12 | 7<<7 | 9, "2025-01-01T00:00:01Z", -1, 7, 9},
	} {
		t.Run(c.layout, func(t *testing.T) {
			p, err := mustPreset(t, c.layout).Explain(c.id)
			if err != nil {
				t.Fatal(err)
			}
			if got := p.Time.Format(time.RFC3339Nano); got != c.at {
				t.Errorf("time %s, want %s", got, c.at)
			}
			if p.Kind != "snowflake" || p.Layout != c.layout {
				t.Errorf("kind %q, layout %q", p.Kind, p.Layout)
			}
			for _, f := range []struct {
				what string
				got  *int64
				want int64
			}{{"datacenter", p.Datacenter, c.datacenter}, {"worker", p.Worker, c.worker}, {"sequence", p.Sequence, c.sequence}} {
				if (f.got == nil) != (f.want < 0) || (f.got != nil && *f.got != f.want) {
					t.Errorf("%s is %v, want %d", f.what, f.got, f.want)
				}
			}
			if hasRollback := c.layout == "rollback"; (p.Rollback != nil) != hasRollback {
				t.Errorf("rollback is %v", p.Rollback)
			}
		})
	}
}

func TestPresetsEndWhenTheirSystemsSay(t *testing.T) {
	for name, want := range map[string]string{
		"twitter": "2080-07-10", "discord": "2084-09-06", "instagram": "2046-06-27", "baidu": "2024-11-20",
		"cosid": "2089-08-30", "cosid-js": "2089-08-30", "pgedge": "2092-09-06", "cockroach": "2104-03-13",
		"sonyflake": "2199-03-19", "yitter": "3135-02-01", "js": "2094-09-07",
	} {
		if got := mustPreset(t, name).Last().Format(time.DateOnly); got != want {
			t.Errorf("%s ends on %s, want %s", name, got, want)
		}
	}
}

func TestScriptLayoutsStayBelowTwoToThe53(t *testing.T) {
	for _, name := range []string{"js", "cosid-js"} {
		if got := mustPreset(t, name).maxID(); got != 1<<53-1 {
			t.Errorf("the greatest id of %s is %d, want 2^53-1", name, got)
		}
	}
}

func TestNewRefusesWhatCannotWork(t *testing.T) {
	epoch := time.UnixMilli(TwitterEpoch)
	usual := []Field{{Time, 41}, {Worker, 10}, {Sequence, 12}}
	for _, c := range []struct {
		why    string
		fields []Field
		epoch  time.Time
		unit   time.Duration
		want   string
	}{
		{"64 bits", []Field{{Time, 42}, {Worker, 10}, {Sequence, 12}}, epoch, time.Millisecond, "64 bits"},
		{"no field", nil, epoch, time.Millisecond, "at least 20"},
		{"no time", []Field{{Worker, 10}, {Sequence, 12}}, epoch, time.Millisecond, "must come first"},
		{"time in the middle", []Field{{Worker, 10}, {Time, 41}, {Sequence, 12}}, epoch, time.Millisecond, "must come first"},
		{"time twice", []Field{{Time, 30}, {Time, 30}}, epoch, time.Millisecond, "twice"},
		{"worker twice", []Field{{Time, 41}, {Worker, 5}, {Worker, 5}}, epoch, time.Millisecond, "twice"},
		{"an empty field", []Field{{Time, 41}, {Worker, 0}}, epoch, time.Millisecond, "no bits"},
		{"an unknown field", []Field{{Time, 41}, {"shard", 5}}, epoch, time.Millisecond, `"shard"`},
		{"short time", []Field{{Time, 19}, {Worker, 10}}, epoch, time.Millisecond, "at least 20"},
		{"wide worker", []Field{{Time, 31}, {Datacenter, 5}, {Worker, 20}}, epoch, time.Millisecond, "at most 24"},
		{"wide sequence", []Field{{Time, 31}, {Sequence, 31}}, epoch, time.Millisecond, "at most 30"},
		{"no unit", usual, epoch, 0, "unit"},
		{"negative unit", usual, epoch, -time.Millisecond, "unit"},
		{"nanoseconds", usual, epoch, 1500, "unit"},
		{"hours", usual, epoch, time.Hour, "unit"},
		{"epoch finer than its text", usual, epoch.Add(time.Microsecond), time.Millisecond, "whole number of milliseconds"},
		{"beyond the calendar", []Field{{Time, 50}}, epoch, time.Millisecond, "9999"},
		{"far beyond", []Field{{Time, 63}}, epoch, time.Minute, "9999"},
	} {
		t.Run(c.why, func(t *testing.T) {
			l, err := New("x", c.fields, c.epoch, c.unit)
			if err == nil {
				t.Fatalf("accepted as %s", l.FieldList())
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %q does not say %q", err, c.want)
			}
		})
	}
}

func TestExplainRefusesForeignNumbers(t *testing.T) {
	for _, c := range []struct {
		layout string
		id     int64
		ok     bool
	}{
		{"twitter", 0, true},
		{"twitter", math.MaxInt64, true},
		{"twitter", -1, false},
		{"twitter", math.MinInt64, false},
		{"js", 1<<53 - 1, true},
		{"js", 1 << 53, false},
		{"yitter", 1 << 57, false},
	} {
		_, err := mustPreset(t, c.layout).Explain(c.id)
		if (err == nil) != c.ok || (err != nil && !errors.Is(err, generator.ErrOption)) {
			t.Errorf("%s: Explain(%d) = %v, want ok %v", c.layout, c.id, err, c.ok)
		}
	}
}

func TestBoundsOfInstantsOutsideTheLayoutAreRefused(t *testing.T) {
	l := mustPreset(t, "twitter")
	for _, at := range []time.Time{l.Epoch.Add(-time.Millisecond), l.Last().Add(time.Millisecond), {}, time.Unix(1<<50, 0)} {
		if _, err := l.Floor(at); !errors.Is(err, generator.ErrOption) {
			t.Errorf("Floor(%v): %v, want ErrOption", at, err)
		}
		if _, err := l.Ceil(at); !errors.Is(err, generator.ErrOption) {
			t.Errorf("Ceil(%v): %v, want ErrOption", at, err)
		}
	}
	floor, err := l.Floor(l.Epoch)
	if err != nil || floor != 0 {
		t.Errorf("Floor(epoch) = %d, %v", floor, err)
	}
	ceil, err := l.Ceil(l.Last())
	if err != nil || ceil != math.MaxInt64 {
		t.Errorf("Ceil(last) = %d, %v", ceil, err)
	}
}

func TestLayoutsSayWhatTheyHold(t *testing.T) {
	for _, c := range []struct {
		name, fields  string
		workers, rate int64
	}{
		{"twitter", "time 41, datacenter 5, worker 5, sequence 12", 1024, 4_096_000},
		{"sonyflake", "time 39, sequence 8, worker 16", 65536, 25_600},
		{"baidu", "time 28, worker 22, sequence 13", 1 << 22, 8192},
		{"cockroach", "time 48, worker 15", 32768, 100_000},
		{"rollback", "time 41, worker 8, rollback 2, sequence 12", 256, 4_096_000},
	} {
		l := mustPreset(t, c.name)
		if l.FieldList() != c.fields || l.Workers() != c.workers || l.RatePerSecond() != c.rate {
			t.Errorf("%s: %q, %d workers, %d a second; want %q, %d, %d", c.name,
				l.FieldList(), l.Workers(), l.RatePerSecond(), c.fields, c.workers, c.rate)
		}
	}
}

func TestPresetNamesIgnoreCaseAndUnknownOnesListTheKnown(t *testing.T) {
	if l := mustPreset(t, "Twitter"); l.Name != Default {
		t.Errorf("got %s", l.Name)
	}
	_, err := Preset("tweeter")
	if err == nil || !strings.Contains(err.Error(), "cosid-js, cosid-s, discord") {
		t.Errorf("error %v does not list the layouts", err)
	}
}

func FuzzUnpackThenPackGivesTheID(f *testing.F) {
	all := Presets()
	for i := range all {
		f.Add(uint8(i), int64(1541815603606036480))
		f.Add(uint8(i), int64(math.MaxInt64))
		f.Add(uint8(i), int64(0))
	}
	f.Fuzz(func(t *testing.T, which uint8, id int64) {
		l := all[int(which)%len(all)]
		p, err := l.Explain(id)
		if err != nil {
			if id >= 0 && id <= l.maxID() {
				t.Fatalf("%s: Explain(%d): %v", l.Name, id, err)
			}
			return
		}
		tick, worker, rollback, sequence := l.Unpack(id)
		if got := l.Pack(tick, worker, rollback, sequence); got != id {
			t.Fatalf("%s: Pack(Unpack(%d)) = %d", l.Name, id, got)
		}
		if l.TickOf(*p.Time) != tick {
			t.Fatalf("%s: %d is of tick %d, but its time %v of tick %d", l.Name, id, tick, p.Time, l.TickOf(*p.Time))
		}
	})
}

func BenchmarkExplain(b *testing.B) {
	l := mustPreset(b, "twitter")
	for b.Loop() {
		if _, err := l.Explain(1541815603606036480); err != nil {
			b.Fatal(err)
		}
	}
}
