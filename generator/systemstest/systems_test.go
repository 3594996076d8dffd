// Package systemstest compares ids of the libraries of other systems, made by
// the libraries themselves, with what nextid says about them. It is a module of
// its own: the server's needs none of them.
package systemstest

import (
	"fmt"
	"testing"
	"time"

	"github.com/bluesky-social/indigo/atproto/syntax"
	"github.com/bwmarrin/snowflake"
	gofrs "github.com/gofrs/uuid/v5"
	google "github.com/google/uuid"
	"github.com/oklog/ulid/v2"
	"github.com/rs/xid"
	"github.com/segmentio/ksuid"
	sonyflake1 "github.com/sony/sonyflake"
	sonyflake2 "github.com/sony/sonyflake/v2"
	"github.com/yitter/idgenerator-go/idgen"
	"go.jetify.com/typeid"
	"go.mongodb.org/mongo-driver/v2/bson"

	"nextid/generator"
	"nextid/generator/layout"
	"nextid/generator/uuid"
)

// each is how many ids of a system are compared.
const each = 10_000

// parts is what a library says about an id; -1 where it says nothing.
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

// numbers are libraries whose ids are numbers. draw returns the next id and
// what the library's own decoder says about it.
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
	{"sony/sonyflake v1.2.0", "sonyflake-v1", func(*testing.T) func() (int64, parts) {
		flake := sonyflake1.NewSonyflake(sonyflake1.Settings{MachineID: func() (uint16, error) { return 60007, nil }})
		return func() (int64, parts) {
			id, _ := flake.NextID()
			at := time.Date(2014, 9, 1, 0, 0, 0, 0, time.UTC).Add(sonyflake1.ElapsedTime(id))
			return int64(id), parts{at, int64(sonyflake1.MachineID(id)), int64(sonyflake1.SequenceNumber(id))}
		}
	}},
	{"sony/sonyflake v2.2.0", "sonyflake", func(t *testing.T) func() (int64, parts) {
		flake, err := sonyflake2.New(sonyflake2.Settings{MachineID: func() (int, error) { return 60007, nil }})
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
	}},
	{"yitter/idgenerator-go v1.3.3", "yitter", func(*testing.T) func() (int64, parts) {
		g := idgen.NewDefaultIdGenerator(idgen.NewIdGeneratorOptions(42))
		return func() (int64, parts) {
			id := g.NewLong()
			// The library extracts the time only; its README has the other fields.
			return id, parts{g.ExtractTime(id).Truncate(time.Millisecond), 42, id & 63}
		}
	}},
	{"bluesky-social/indigo, TIDs as numbers", "tid", func(*testing.T) func() (int64, parts) {
		clock := syntax.NewTIDClock(321)
		return func() (int64, parts) {
			id := clock.Next()
			return int64(id.Integer()), parts{id.Time(), int64(id.ClockID()), -1}
		}
	}},
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
	{"go.jetify.com/typeid v1.3.0", "uuid", func() (string, parts) {
		id := typeid.Must(typeid.WithPrefix("user"))
		at, _ := uuid.UUID(id.UUIDBytes()).Time()
		return id.String(), parts{at, -1, -1}
	}},
	{"mongo-driver v2.3.0, ObjectId", "objectid", func() (string, parts) {
		id := bson.NewObjectID()
		return id.Hex(), parts{id.Timestamp(), -1, int64(id[9])<<16 | int64(id[10])<<8 | int64(id[11])}
	}},
	{"bluesky-social/indigo, TID", "tid", func() (string, parts) {
		id := syntax.NewTIDNow(99)
		return id.String(), parts{id.Time(), 99, -1}
	}},
	// Not its version 6, which has the 60 bits of time four bits too low, so that
	// RFC 9562's version takes the place of a part of it.
	{"google/uuid v1.6.0, version 1", "uuidv1", func() (string, parts) { return googleUUID(google.NewUUID()) }},
	{"google/uuid v1.6.0, version 2", "uuidv2", func() (string, parts) {
		id, err := google.NewDCESecurity(google.Group, 4711)
		if err != nil {
			panic(err)
		}
		return id.String(), parts{time.Time{}, node(id), int64(id.ClockSequence() >> 8)}
	}},
	{"google/uuid v1.6.0, version 7", "uuidv7", func() (string, parts) { return gofrsUUID(gofrs.UUID(google.Must(google.NewV7())), nil) }},
	{"gofrs/uuid v5.3.2, version 6", "uuidv6", func() (string, parts) { return gofrsUUID(gofrs.NewV6()) }},
	{"gofrs/uuid v5.3.2, version 7", "uuidv7", func() (string, parts) { return gofrsUUID(gofrs.NewV7()) }},
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

// gofrsUUID lets gofrs's library decode a UUID.
func gofrsUUID(id gofrs.UUID, err error) (string, parts) {
	if err != nil {
		panic(err)
	}
	stamp, err := gofrs.TimestampFromV7(id)
	if id.Version() == 6 {
		stamp, err = gofrs.TimestampFromV6(id)
	}
	if err != nil {
		panic(err)
	}
	at, err := stamp.Time()
	if err != nil {
		panic(err)
	}
	return id.String(), parts{at.Truncate(time.Microsecond), -1, -1}
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

// explain is what parse_id does with a text.
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
