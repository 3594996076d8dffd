package workerid

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"

	"nextid/generator"
	"nextid/generator/store/memory"
	"nextid/generator/worker"
)

var twitter = worker.Width{Datacenter: 5, Worker: 5}

func open(t *testing.T, text string) worker.Source {
	t.Helper()
	s, err := Open(text, Config{Store: memory.New(memory.Config{})})
	if err != nil {
		t.Fatal(err)
	}
	if s.String() != text {
		t.Errorf("%s is shown as %s", text, s)
	}
	return s
}

func wish(t *testing.T, s wisher, w worker.Width) worker.Wish {
	t.Helper()
	got, err := s.Wish(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestPlannedWorkerIDs(t *testing.T) {
	t.Setenv("POD_NUMBER", " 7 ")
	for text, want := range map[string]int64{"5": 5, "env:POD_NUMBER": 7, "3/7": 3<<5 | 7, "31/env:POD_NUMBER": 31<<5 | 7} {
		if got := wish(t, open(t, text), twitter); got != (worker.Wish{ID: want, Firm: true}) {
			t.Errorf("%s: %+v, want %d", text, got, want)
		}
	}
	if got := wish(t, open(t, Auto), twitter); got != (worker.Wish{ID: worker.None}) {
		t.Errorf("auto: %+v", got)
	}
	for _, text := range []string{"32/0", "0/32"} {
		_, err := open(t, text).Wish(t.Context(), twitter)
		if !errors.Is(err, generator.ErrOption) || !strings.Contains(err.Error(), "do not fit the 5 and 5 bits") {
			t.Errorf("%s: %v", text, err)
		}
	}
	t.Setenv("WORD", "seven")
	t.Setenv("NESTED", "env:POD_NUMBER")
	for text, want := range map[string]string{
		"env:NONE_SUCH": "no variable NONE_SUCH", "env:WORD": `"seven"`, "env:NESTED": `"env:POD_NUMBER"`, "1/env:NONE_SUCH": "no variable",
	} {
		if _, err := Open(text, Config{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestOrdinal(t *testing.T) {
	for host, want := range map[string]int64{
		"nextid-0": 0, "nextid-17": 17, "id-2-31": 31, "nextid-3.nextid.default.svc": 3, "nextid-007": 7,
		"nextid": -1, "nextid-": -1, "nextid-a": -1, "web7": -1, "host.a-1": -1, "nextid-9999999999": -1,
	} {
		got, err := ordinalOf(host)
		if (err != nil) != (want < 0) || err == nil && got != want {
			t.Errorf("%s: %d, %v", host, got, err)
		}
	}
}

// TestHardwareIsThatOfMyBatisPlus compares with the results of its Java code (run
// with jshell 17).
func TestHardwareIsThatOfMyBatisPlus(t *testing.T) {
	mac := func(a, b byte) net.HardwareAddr { return net.HardwareAddr{2, 0, 0, 0, a, b} }
	for _, c := range []struct {
		mac  net.HardwareAddr
		ids  int64
		want int64
	}{{mac(0x11, 0x02), 32, 8}, {mac(0xfe, 0x9c), 32, 19}, {mac(0, 0xff), 1024, 1020}, {nil, 32, 1}, {net.HardwareAddr{}, 32, 0}} {
		if got := (hardware{mac: c.mac}).datacenter(c.ids); got != c.want {
			t.Errorf("datacenter of %v in %d: %d, want %d", c.mac, c.ids, got, c.want)
		}
	}
	for _, c := range []struct {
		datacenter int64
		pid        int
		ids, want  int64
	}{{1, 1, 32, 0}, {28, 4711, 32, 9}, {0, 123456, 1024, 659}} {
		if got := (hardware{pid: c.pid}).worker(c.datacenter, c.ids); got != c.want {
			t.Errorf("worker of %d and process %d in %d: %d, want %d", c.datacenter, c.pid, c.ids, got, c.want)
		}
	}
	got := wish(t, hardware{mac: mac(0x11, 0x02), pid: 1}, twitter)
	if got.Firm || got.ID>>5 != 8 || got.Note == "" {
		t.Errorf("%+v", got)
	}
	if _, err := newHardware(1); err != nil {
		t.Error(err)
	}
}

// TestDisposableIsNewAtEachStart also checks that the count wraps around, where
// Baidu's ends.
func TestDisposableIsNewAtEachStart(t *testing.T) {
	s := open(t, "disposable")
	small := worker.Width{Worker: 2}
	for _, want := range []int64{0, 1, 2, 3, 0, 1} {
		if got := wish(t, s, small); got.ID != want || got.Firm || !got.Again {
			t.Errorf("%+v, want %d", got, want)
		}
	}
	if got := wish(t, s, worker.Width{Worker: 22}); got.ID != 0 {
		t.Errorf("another width begins at %d", got.ID)
	}
	closed := memory.New(memory.Config{})
	closed.Close()
	if _, err := (disposable{closed}).Wish(context.Background(), small); !errors.Is(err, generator.ErrNotNow) {
		t.Errorf("without a store: %v", err)
	}
}
