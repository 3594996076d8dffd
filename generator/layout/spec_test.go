package layout

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestBitsAreReadInEveryForm(t *testing.T) {
	for in, want := range map[string]string{
		`"time 41, worker 6, sequence 16"`:     "time 41, worker 6, sequence 16",
		`"41,6,16"`:                            "time 41, worker 6, sequence 16",
		`[41, 6, 16]`:                          "time 41, worker 6, sequence 16",
		`[41, 5, 5, 12]`:                       "time 41, datacenter 5, worker 5, sequence 12",
		`{"sequence":16,"time":41,"worker":6}`: "time 41, worker 6, sequence 16",
		`[{"kind":"time","bits":41}]`:          "time 41",
		`"time 39, sequence 8, worker 16"`:     "time 39, sequence 8, worker 16",
		`[300, 6, 16]`:                         "",
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
