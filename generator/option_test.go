package generator

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"
)

type optionSample struct {
	Step  *int64    `json:"step"`
	Ratio float64   `json:"ratio"`
	Name  string    `json:"name"`
	Fast  bool      `json:"fast"`
	Wait  *Duration `json:"wait"`
	From  *Instant  `json:"from"`
}

func TestDecodeReadsEveryForm(t *testing.T) {
	for in, want := range map[string]string{
		``:     `{"step":null,"ratio":0,"name":"","fast":false,"wait":null,"from":null}`,
		`  `:   `{"step":null,"ratio":0,"name":"","fast":false,"wait":null,"from":null}`,
		`null`: `{"step":null,"ratio":0,"name":"","fast":false,"wait":null,"from":null}`,
		`{"step":5,"ratio":0.5,"name":"a","fast":true,"wait":"1m30s","from":"2024-01-01"}`: `{"step":5,"ratio":0.5,"name":"a","fast":true,"wait":"1m30s","from":"2024-01-01T00:00:00.000Z"}`,
		`{"wait":5,"from":1288834974657}`:                                                  `{"step":null,"ratio":0,"name":"","fast":false,"wait":"5ms","from":"2010-11-04T01:42:54.657Z"}`,
		`{"wait":0.5,"from":"2024-01-01 10:00:00"}`:                                        `{"step":null,"ratio":0,"name":"","fast":false,"wait":"500µs","from":"2024-01-01T10:00:00.000Z"}`,
		`{"wait":"10ms","from":"2024-01-01T10:00:00.123+08:00"}`:                           `{"step":null,"ratio":0,"name":"","fast":false,"wait":"10ms","from":"2024-01-01T02:00:00.123Z"}`,
	} {
		var s optionSample
		if err := DecodeOptions(json.RawMessage(in), &s, ""); err != nil {
			t.Errorf("%s: %v", in, err)
			continue
		}
		got, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != want {
			t.Errorf("%s became\n%s, want\n%s", in, got, want)
		}
		var again optionSample
		if err := DecodeOptions(got, &again, ""); err != nil {
			t.Errorf("%s does not read what it wrote: %v", in, err)
		}
	}
}

func TestDecodeSaysWhatIsWrong(t *testing.T) {
	for in, want := range map[string]string{
		`[]`:                     "must be a JSON object",
		`"x"`:                    "must be a JSON object",
		`{`:                      "options:",
		`{} {}`:                  "more than one",
		`{}x`:                    "more than one",
		`{"stepp":1}`:            `unknown option "stepp"`,
		`{"step":"1"}`:           "option step must be a whole number",
		`{"step":1.5}`:           "option step must be a whole number",
		`{"step":1e30}`:          "option step must be a whole number",
		`{"ratio":"x"}`:          "option ratio must be a number",
		`{"scater":true}`:        `unknown option "scater"; did you mean scatter?`,
		`{"name":1}`:             "option name must be a text",
		`{"fast":1}`:             "option fast must be true or false",
		`{"wait":"soon"}`:        `a duration is written "5ms", not "soon"`,
		`{"wait":true}`:          "a duration is written",
		`{"wait":1e300}`:         "a duration is written",
		`{"from":"yesterday"}`:   "a time is written",
		`{"from":1.5}`:           "a time is written",
		`{"from":{"year":2024}}`: "a time is written",
	} {
		var s optionSample
		err := DecodeOptions(json.RawMessage(in), &s, "try this")
		var e *Error
		if !errors.Is(err, ErrOption) || !errors.As(err, &e) {
			t.Errorf("%s: error %v, want ErrOption", in, err)
			continue
		}
		if !strings.Contains(e.Message, want) || e.Hint != "try this" {
			t.Errorf("%s: %q (hint %q), want %q", in, e.Message, e.Hint, want)
		}
	}
}

// A kind whose ids are no numbers refuses an option that others have.
func TestTheWordThatWasRefusedIsNotSuggested(t *testing.T) {
	var s optionSample
	err := DecodeOptions(json.RawMessage(`{"scatter":true}`), &s, "")
	if e, ok := errors.AsType[*Error](err); !ok || e.Message != `unknown option "scatter"` {
		t.Errorf("%v", err)
	}
}

func FuzzDecode(f *testing.F) {
	for _, s := range []string{`{"step":5}`, `{"wait":"1h"}`, `{"from":1288834974657}`, `{"from":"2024-01-01"}`, `[]`, `{"wait":1e300}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		var s optionSample
		if err := DecodeOptions(in, &s, ""); err != nil {
			if !errors.Is(err, ErrOption) {
				t.Fatalf("%q: %v is not ErrOption", in, err)
			}
			return
		}
		if s.From != nil && time.Time(*s.From).Year() > 9999 {
			return // beyond RFC 3339
		}
		out, err := json.Marshal(s)
		if err != nil {
			return // a year below 0
		}
		var again optionSample
		if err := DecodeOptions(out, &again, ""); err != nil {
			t.Fatalf("%q was written as %q: %v", in, out, err)
		}
	})
}
