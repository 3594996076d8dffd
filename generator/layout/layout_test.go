package layout

import (
	"errors"
	"fmt"
	"math"
	"slices"
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

// packSlowly makes an id from a string of bits, without shifts. It is the
// definition of a layout.
func packSlowly(l *Layout, tick, worker, rollback, sequence int64) int64 {
	var text strings.Builder
	for _, f := range l.Fields {
		v := map[FieldKind]int64{
			Time: tick, Worker: worker, Rollback: rollback, Sequence: sequence, Shard: worker, Counter: sequence,
		}[f.Kind]
		if f.Kind == Reversed {
			digits := []byte(fmt.Sprintf("%0*b", f.Bits, tick))
			slices.Reverse(digits)
			text.Write(digits)
			continue
		}
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

func bitsOf(l *Layout, kinds ...FieldKind) int {
	for _, f := range l.Fields {
		if slices.Contains(kinds, f.Kind) {
			return int(f.Bits)
		}
	}
	return 0
}

func drawParts(t *rapid.T, l *Layout) (tick, worker, rollback, sequence int64) {
	field := func(name string, bits int) int64 { return rapid.Int64Range(0, 1<<bits-1).Draw(t, name) }
	return field("tick", bitsOf(l, Time, Reversed)), field("worker", int(l.WorkerBits())),
		field("rollback", bitsOf(l, Rollback)), field("sequence", bitsOf(l, Sequence, Counter))
}

// drawLayout draws a valid layout with the fields after the time in any order.
func drawLayout(t *rapid.T) *Layout {
	left := maxBits
	bits := rapid.IntRange(minTimeBits, 37).Draw(t, "time bits") // 37 bits of seconds end before the year 9999
	fields := []Field{{rapid.SampledFrom([]FieldKind{Time, Time, Reversed}).Draw(t, "lead"), uint8(bits)}}
	left -= bits
	for _, k := range rapid.Permutation([]FieldKind{Datacenter, Worker, Rollback, Sequence, Own}).Draw(t, "order") {
		if bits := rapid.IntRange(0, min(left, 43)).Draw(t, string(k)); bits > 0 {
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
	if p, err := l.Explain(id); err != nil || (p.Time != nil) != l.HasTime() || (l.HasTime() && !p.Time.Equal(l.TimeOf(tick))) {
		t.Fatalf("%s: Explain(%d) = %v, %v", l.FieldList(), id, p, err)
	}
	if !l.Ordered() {
		if _, err := l.Floor(l.Epoch); !errors.Is(err, generator.ErrWrongKind) {
			t.Fatalf("%s: Floor: %v, want ErrWrongKind", l.FieldList(), err)
		}
		return
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
		if step <= 0 && (l.Ordered() || sameTick) {
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

// Ids whose parts are published by their systems or by descriptions of them. For
// other systems there is a computed id.
func TestKnownIDsExplainThemselves(t *testing.T) {
	for _, c := range []struct {
		layout     string
		id         int64
		at         string
		datacenter int64
		worker     int64
		sequence   int64
	}{
		// The example of Wikipedia's article on Snowflake ID.
		{"twitter", 1541815603606036480, "2022-06-28T16:07:40.105Z", 11, 26, 0},
		{"mybatis", 1541815603606036480, "2022-06-28T16:07:40.105Z", 11, 26, 0},
		{"leaf", 1541815603606036480, "2022-06-28T16:07:40.105Z", -1, 378, 0},
		// The example of the Python package snowflake-id.
		{"leaf", 856165981072306191, "2017-04-23T15:20:51.339Z", -1, 363, 15},
		// Discord's developer documents.
		{"discord", 175928847299117063, "2016-04-30T11:18:25.796Z", 1, 0, 7},
		// Instagram's engineering blog, 2012: user 31341, the 5001st of its table.
		{"instagram", 1387263000<<23 | 1341<<10 | 5001%1024, "2011-09-09T22:28:04.721Z", -1, 1341, 905},
		{"baidu", 1<<35 | 7<<13 | 9, "2016-05-19T16:00:01Z", -1, 7, 9},
		{"sonyflake", 100<<24 | 9<<16 | 7, "2025-01-01T00:00:01Z", -1, 7, 9},
		{"sonyflake-v1", 100<<24 | 9<<16 | 7, "2014-09-01T00:00:01Z", -1, 7, 9},
		{"rollback", 1<<22 | 7<<14 | 9, "2010-11-04T01:42:54.658Z", -1, 7, 9},
		// CockroachDB's page on SERIAL, and the cases of its TestMapToUnorderedUniqueInt,
		// which keep the node and reverse the time.
		{"cockroach", 148656994422095873, "2016-06-09T01:48:34.41104Z", -1, 1, -1},
		{"cockroach-unordered", 1<<62 | 1<<15 | 5, "2059-08-07T01:28:03.55329Z", -1, 5, -1},
		{"cockroach-unordered", 13<<15 | 1, "2076-04-27T11:01:04.88576Z", -1, 1, -1},
		// By pgEdge's masks and shifts since 2023-10-31, then the older example of its
		// page on the functions.
		{"pgedge", 515066803945230338, "2026-11-22T07:31:35.539Z", -1, 5, 2},
		{"pgedge-2023", 136169504773242881, "2024-01-11T18:08:59.845Z", -1, 1, 0},
		{"cosid", 1000<<22 | 7<<12 | 9, "2019-12-24T16:00:01Z", -1, 7, 9},
		{"cosid-js", 1000<<12 | 7<<9 | 9, "2019-12-24T16:00:01Z", -1, 7, 9},
		{"cosid-s", 1<<32 | 7<<22 | 9, "2019-12-24T16:00:01Z", -1, 7, 9},
		{"beyond", 1000<<22 | 3<<17 | 7<<12 | 9, "2016-11-26T13:21:06.631Z", 3, 7, 9},
		{"ecp", 1000<<22 | 3<<17 | 7<<12 | 9, "2017-12-24T16:00:01Z", 3, 7, 9},
		{"mastodon", 1656432460105<<16 | 9, "2022-06-28T16:07:40.105Z", -1, -1, 9},
		{"yitter", 1000<<12 | 7<<6 | 9, "2020-02-19T18:20:03Z", -1, 7, 9},
		{"js", 1000<<11 | 7<<6 | 9, "2025-01-01T00:00:01Z", -1, 7, 9},
		{"tsid", 1000<<22 | 7<<12 | 9, "2020-01-01T00:00:01Z", -1, 7, 9},
		// The example of the AT Protocol's specification, 3jzfcijpj2z2a.
		{"tid", 1728652679052295174, "2023-06-30T15:03:01.887007Z", -1, 6, -1},
		// PingCAP's page on AUTO_RANDOM.
		{"tidb", 1152921504606846978, "", -1, 4, 2},
		{"tidb", 4899916394579099651, "", -1, 17, 3},
	} {
		t.Run(c.layout, func(t *testing.T) {
			p, err := mustPreset(t, c.layout).Explain(c.id)
			if err != nil {
				t.Fatal(err)
			}
			kind := "snowflake"
			if c.at == "" {
				kind = "auto_random"
				if p.Time != nil {
					t.Errorf("time %v, want none", p.Time)
				}
			} else if got := p.Time.Format(time.RFC3339Nano); got != c.at {
				t.Errorf("time %s, want %s", got, c.at)
			}
			if p.Kind != kind || p.Layout != c.layout {
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
		"sonyflake": "2199-03-19", "sonyflake-v1": "2188-11-16", "yitter": "3135-02-01", "js": "2164-05-15",
		"beyond": "2086-08-03", "ecp": "2087-08-31", "cosid-s": "2088-01-11", "tsid": "2089-09-06", "tid": "2255-06-05",
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
	if l := mustPreset(t, "js"); l.Last().Before(l.Epoch.AddDate(100, 0, 0)) {
		t.Errorf("js lasts until %v, less than 100 years", l.Last())
	}
}

// Baidu's bits can be split in any way: the starter of wujun234 has 30, 16 and 7
// bits from 2019-02-20 on (UTC+8), and this example.
func TestAnySplitOfBaidusBits(t *testing.T) {
	l, err := New("starter", []Field{{Time, 30}, {Worker, 16}, {Sequence, 7}}, time.UnixMilli(1550592000000), time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if tick, worker, _, sequence := l.Unpack(450795408770); tick != (14*60+55)*60+39 || worker != 27 || sequence != 2 {
		t.Errorf("tick %d, worker %d, sequence %d", tick, worker, sequence)
	}
	for time32 := uint8(minTimeBits); time32 <= 37; time32++ {
		for worker := uint8(1); worker < maxBits-time32; worker++ {
			fields := []Field{{Time, time32}, {Worker, worker}, {Sequence, maxBits - time32 - worker}}
			l, err := New("split", fields, time.UnixMilli(1463673600000), time.Second)
			if err != nil {
				t.Fatal(err)
			}
			if id := l.Pack(l.MaxTick(), l.Workers()-1, 0, 1<<l.SequenceBits()-1); id != math.MaxInt64 {
				t.Fatalf("%s: the greatest id is %d", l.FieldList(), id)
			}
			if l.RatePerSecond() < 1 || l.Workers() < 2 {
				t.Fatalf("%s: %d workers, %d ids a second", l.FieldList(), l.Workers(), l.RatePerSecond())
			}
		}
	}
}

// unordered_unique_rowid() maps the ids of unique_rowid() in this way; the numbers
// are those of CockroachDB's TestMapToUnorderedUniqueInt.
func TestReversedTimesAreThoseOfCockroachDB(t *testing.T) {
	ordered, unordered := mustPreset(t, "cockroach"), mustPreset(t, "cockroach-unordered")
	for _, c := range []struct{ in, out int64 }{
		{
			0b0101100000000000000000000000000000000000000000000000000000000001,
			0b0000000000000000000000000000000000000000000001101000000000000001,
		},
		{
			0b0100000000000000000000000000000000000000000000001000000000000101,
			0b0100000000000000000000000000000000000000000000001000000000000101,
		},
		{
			0b0111111111111111111111111111111111111111111111111000000000000001,
			0b0111111111111111111111111111111111111111111111111000000000000001,
		},
	} {
		if got := unordered.Pack(ordered.Unpack(c.in)); got != c.out {
			t.Errorf("%b became %b, want %b", c.in, got, c.out)
		}
		if got := ordered.Pack(unordered.Unpack(c.out)); got != c.in {
			t.Errorf("%b became %b, want %b", c.out, got, c.in)
		}
	}
}

func TestNewRefusesInvalidLayouts(t *testing.T) {
	epoch := time.UnixMilli(twitterEpoch)
	usual := []Field{{Time, 41}, {Worker, 10}, {Sequence, 12}}
	for _, c := range []struct {
		why    string
		fields []Field
		epoch  time.Time
		unit   time.Duration
		want   string
	}{
		{"64 bits", []Field{{Time, 42}, {Worker, 10}, {Sequence, 12}}, epoch, time.Millisecond, "64 bits"},
		{"no field", nil, epoch, time.Millisecond, "needs fields"},
		{"no time", []Field{{Worker, 10}, {Sequence, 12}}, epoch, time.Millisecond, "must come first"},
		{"time in the middle", []Field{{Worker, 10}, {Time, 41}, {Sequence, 12}}, epoch, time.Millisecond, "must come first"},
		{"time twice", []Field{{Time, 30}, {Time, 30}}, epoch, time.Millisecond, "twice"},
		{"worker twice", []Field{{Time, 41}, {Worker, 5}, {Worker, 5}}, epoch, time.Millisecond, "twice"},
		{"an empty field", []Field{{Time, 41}, {Worker, 0}}, epoch, time.Millisecond, "no bits"},
		{"an unknown field", []Field{{Time, 41}, {"color", 5}}, epoch, time.Millisecond, `"color"`},
		{"short time", []Field{{Time, 19}, {Worker, 10}}, epoch, time.Millisecond, "at least 20"},
		{"two times", []Field{{Time, 31}, {Reversed, 31}}, epoch, time.Millisecond, "twice"},
		{"a shard with a sequence", []Field{{Shard, 5}, {Sequence, 31}}, epoch, time.Millisecond, "of their own"},
		{"a counter without a shard", []Field{{Time, 31}, {Counter, 31}}, epoch, time.Millisecond, "of their own"},
		{"no unit", usual, epoch, 0, "unit"},
		{"negative unit", usual, epoch, -time.Millisecond, "unit"},
		{"nanoseconds", usual, epoch, 1500, "unit"},
		{"hours", usual, epoch, time.Hour, "unit"},
		{"epoch before all texts", usual, time.UnixMilli(math.MinInt64), time.Millisecond, "in the year -292275055"},
		{"epoch beyond all texts", usual, time.UnixMilli(math.MaxInt64), time.Millisecond, "in the year 292278994"},
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
		{"baidu", -1, true},
		{"instagram", math.MinInt64, true},
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

func TestFieldsWorkersAndRatesOfLayouts(t *testing.T) {
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
		if id < 0 { // of a system that uses the sign bit
			return
		}
		tick, worker, rollback, sequence := l.Unpack(id)
		if got := l.Pack(tick, worker, rollback, sequence); got != id {
			t.Fatalf("%s: Pack(Unpack(%d)) = %d", l.Name, id, got)
		}
		if l.HasTime() && l.TickOf(*p.Time) != tick {
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
