// The tests of this file compare ids made by the libraries of other systems with
// nextid's explanation of them.

package layout_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/bwmarrin/snowflake"
	google "github.com/google/uuid"
	"github.com/oklog/ulid/v2"
	"github.com/rs/xid"
	"github.com/segmentio/ksuid"
	"github.com/sony/sonyflake/v2"

	"nextid/generator"
	"nextid/generator/layout"
	"nextid/generator/uuid"
)

// each is the number of ids compared per system.
const each = 10_000

// parts is a library's explanation of an id; -1 for missing parts.
type parts struct {
	at               time.Time
	worker, sequence int64
}

func (want parts) differs(got generator.Parts) string {
	if !want.at.IsZero() && (got.Time == nil || !got.Time.Equal(want.at)) {
		return fmt.Sprintf("time %v, want %v", got.Time, want.at.UTC())
	}
	worker := int64(0)
	if got.Worker != nil {
		worker = *got.Worker
	}
	if want.worker >= 0 && worker != want.worker {
		return fmt.Sprintf("worker %d, want %d", worker, want.worker)
	}
	if want.sequence >= 0 && (got.Sequence == nil || *got.Sequence != want.sequence) {
		return fmt.Sprintf("sequence %v, want %d", got.Sequence, want.sequence)
	}
	return ""
}

// numbers are libraries whose ids are numbers. draw returns the next id and the
// explanation of the library's own decoder.
var numbers = []struct {
	name, layout string
	draw         func(t *testing.T) func() (int64, parts)
}{
	{"bwmarrin/snowflake v0.3.0", "leaf", func(t *testing.T) func() (int64, parts) {
		node, err := snowflake.NewNode(777)
		if err != nil {
			t.Fatal(err)
		}
		return func() (int64, parts) {
			id := node.Generate()
			return id.Int64(), parts{time.UnixMilli(id.Time()), id.Node(), id.Step()}
		}
	}},
	{"sony/sonyflake v2.2.0", "sonyflake", sony(time.Time{})},
	{"sony/sonyflake v2.2.0 from version 1's epoch", "sonyflake-v1", sony(time.Date(2014, 9, 1, 0, 0, 0, 0, time.UTC))},
}

func sony(epoch time.Time) func(t *testing.T) func() (int64, parts) {
	return func(t *testing.T) func() (int64, parts) {
		flake, err := sonyflake.New(sonyflake.Settings{StartTime: epoch, MachineID: func() (int, error) { return 60007, nil }})
		if err != nil {
			t.Fatal(err)
		}
		return func() (int64, parts) {
			id, err := flake.NextID()
			if err != nil {
				t.Fatal(err)
			}
			p := flake.Decompose(id)
			return id, parts{flake.ToTime(id), p["machine"], p["sequence"]}
		}
	}
}

func TestNumbersOfTheRealLibraries(t *testing.T) {
	for _, c := range numbers {
		t.Run(c.name, func(t *testing.T) {
			l, err := layout.Preset(c.layout)
			if err != nil {
				t.Fatal(err)
			}
			draw := c.draw(t)
			for range each {
				id, want := draw()
				got, err := l.Explain(id)
				if err != nil {
					t.Fatal(err)
				}
				if why := want.differs(got); why != "" {
					t.Fatalf("%d: %s", id, why)
				}
				if again := l.Pack(l.Unpack(id)); again != id {
					t.Fatalf("%d packed again is %d", id, again)
				}
			}
		})
	}
}

// texts are libraries whose ids are texts or UUIDs.
var texts = []struct {
	name, kind string
	draw       func() (string, parts)
}{
	{"oklog/ulid v2.1.1", "ulid", func() (string, parts) {
		id := ulid.Make()
		return id.String(), parts{ulid.Time(id.Time()), -1, -1}
	}},
	{"segmentio/ksuid v1.0.4", "ksuid", func() (string, parts) {
		id := ksuid.New()
		return id.String(), parts{id.Time(), -1, -1}
	}},
	{"rs/xid v1.6.0", "xid", func() (string, parts) {
		id := xid.New()
		return id.String(), parts{id.Time(), -1, int64(id.Counter())}
	}},

	// Not its version 6: its 60 bits of time are four bits too low, so that the
	// version overwrites a part of them.
	{"google/uuid v1.6.0, version 1", "uuidv1", func() (string, parts) { return googleUUID(google.NewUUID()) }},
	{"google/uuid v1.6.0, version 2", "uuidv2", func() (string, parts) {
		id, err := google.NewDCESecurity(google.Group, 4711)
		if err != nil {
			panic(err)
		}
		return id.String(), parts{time.Time{}, node(id), int64(id.ClockSequence() >> 8)}
	}},
	{"google/uuid v1.6.0, version 7", "uuidv7", func() (string, parts) {
		id := google.Must(google.NewV7())
		return id.String(), parts{time.Unix(id.Time().UnixTime()).Truncate(time.Millisecond), -1, -1}
	}},
}

func node(id google.UUID) int64 {
	var n int64
	for _, b := range id.NodeID() {
		n = n<<8 | int64(b)
	}
	return n
}

func googleUUID(id google.UUID, err error) (string, parts) {
	if err != nil {
		panic(err)
	}
	return id.String(), parts{time.Unix(id.Time().UnixTime()).Truncate(time.Microsecond), node(id), int64(id.ClockSequence())}
}

func TestTextsOfTheRealLibraries(t *testing.T) {
	for _, c := range texts {
		t.Run(c.name, func(t *testing.T) {
			for range each {
				id, want := c.draw()
				got, kind := explain(id)
				if kind == "" {
					t.Fatalf("%s is not known", id)
				}
				if why := want.differs(got); why != "" || kind != c.kind && got.Kind != c.kind && kind != "typeid" {
					t.Fatalf("%s is %s: %s", id, kind, why)
				}
			}
		})
	}
}

// explain explains a text like parse_id.
func explain(id string) (p generator.Parts, kind string) {
	if u, ok := uuid.Parse(id); ok {
		p = u.Explain()
		return p, p.Layout
	}
	p, ok := uuid.ExplainText(id)
	if !ok {
		return p, ""
	}
	return p, p.Kind
}
