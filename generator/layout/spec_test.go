package layout

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestBitsAreReadInEveryForm(t *testing.T) {
	for in, want := range map[string]string{
		`"time 41, worker 6, sequence 16"`:     "time 41, worker 6, sequence 16",
		`"41,6,16"`:                            "",
		`{"sequence":16,"time":41,"worker":6}`: "",
		`[{"kind":"time","bits":41}]`:          "time 41",
		`"time 39, sequence 8, worker 16"`:     "time 39, sequence 8, worker 16",
		`"time 300, sequence 16"`:              "",
		`[41, 6]`:                              "",
		`"41"`:                                 "",
		`true`:                                 "",
		`"reversed 48, worker 15"`:             "reversed 48, worker 15",
	} {
		var f FieldList
		err := json.Unmarshal([]byte(in), &f)
		got := ""
		if err == nil {
			got = (&Layout{Fields: f}).FieldList()
		} else if !strings.Contains(err.Error(), "bits are written") {
			t.Errorf("%s: %v", in, err)
		}
		if got != want {
			t.Errorf("%s is %q, want %q (%v)", in, got, want, err)
		}
	}
}

// A stored layout keeps its bits, even if the preset of its name has others. Pinned
// again, it is refused.
func TestAStoredLayoutKeepsItsBits(t *testing.T) {
	const stored = `{"layout":"pgedge","fields":[{"kind":"time","bits":41},{"kind":"sequence","bits":12},{"kind":"worker","bits":10}],` +
		`"epoch":"2023-01-01T00:00:00.000Z","unit":"1ms"}`
	var p Pinned
	if err := json.Unmarshal([]byte(stored), &p); err != nil {
		t.Fatal(err)
	}
	l, err := p.Build()
	if err != nil || l.Name != "pgedge" || l.FieldList() != "time 41, sequence 12, worker 10" {
		t.Fatalf("built %+v, %v", l, err)
	}
	if _, err := p.Pin(Default); err == nil {
		t.Errorf("pinned again as %+v", p)
	}
}

func TestPooledIDsAreFurtherApartThanPool(t *testing.T) {
	for _, preset := range Presets() {
		pooled, ok := preset.Pooled()
		if last := preset.Fields[len(preset.Fields)-1]; ok != (last.Kind == Sequence && last.Bits >= 10) {
			t.Errorf("%s: %v", preset.Name, ok)
		}
		if !ok {
			continue
		}
		l, err := pooled.Build()
		if err != nil {
			t.Fatalf("%s: %v", preset.Name, err)
		}
		if l.Bits() != preset.Bits() || l.WorkerBits() != preset.WorkerBits() || l.MaxTick() != preset.MaxTick() {
			t.Errorf("%s: %s is not as wide as %s", preset.Name, l.FieldList(), preset.FieldList())
		}
		if all := l.Pack(-1, -1, -1, -1); all%64 != 0 || Pool > 64 {
			t.Errorf("%s: %x has no room for pools in the lowest bits", preset.Name, all)
		}
		stored, err := json.Marshal(pooled)
		if err != nil {
			t.Fatal(err)
		}
		if n := PoolOf(stored); n != Pool {
			t.Errorf("%s: pools of %d", pooled.Layout, n)
		}
	}
	if n := PoolOf([]byte(`{"layout": "gene", "fields": [{"kind": "time", "bits": 41}, {"kind": "field", "bits": 6}]}`)); n != 1 {
		t.Errorf("a field of the caller's is no room for pools: %d", n)
	}
}
