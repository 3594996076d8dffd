package simulation

import (
	"context"
	"maps"
	"strings"
	"time"

	"nextid/generator"
	"nextid/generator/store/memory"
	"nextid/generator/store/shared"
)

// database is the database of all servers: its rows, and the name of the epoch.
type database struct {
	state
	down   bool
	offset time.Duration    // of its clock
	ever   map[string]int64 // greatest end of each key that was ever granted, also in lost commits
	disk   *memory.Store    // content of an embedded store
}

// state is the content of the database, of a replica or of a backup.
type state struct {
	epoch string
	rows  map[string]shared.Row
	names map[string]shared.Entry
}

func (s state) copy() state {
	return state{s.epoch, maps.Clone(s.rows), maps.Clone(s.names)}
}

var (
	errNoAnswer error = &generator.Error{Kind: generator.ErrNotNow, Message: "no answer from the store"}
	errRefused  error = &generator.Error{Kind: generator.ErrNotNow, Message: "the store refuses the connection"}
)

// storeTimeout is the time for which a server waits for an answer.
const storeTimeout = 2 * time.Second

// call sends a request to the database, over a network on which requests and
// answers may be lost, late or repeated.
func (s *server) call(do func(*database) (any, error)) (any, error) {
	w, t := s.world, s.running
	answer := &wait{until: s.now() + storeTimeout, end: errNoAnswer}
	if !s.repeating {
		w.send(s, do, func(v any, err error) {
			if t.wait == answer && !t.due && !s.dead {
				s.goOn(t, outcome{value: v, err: err})
			}
		})
	}
	got := s.pause(answer)
	return got.value, got.err
}

// send carries a request to the database and its answer back.
func (w *world) send(s *server, do func(*database) (any, error), reply func(any, error)) {
	if w.plan.embedded {
		w.write(s, do, reply)
		return
	}
	if w.database.down || s.cut {
		if w.chance(50) {
			w.after(w.latency(), func() { reply(nil, errRefused) })
		}
		return
	}
	if w.lost() {
		return
	}
	w.after(w.latency(), func() {
		if w.database.down || s.cut {
			return
		}
		if w.plan.network && w.chance(2) {
			w.after(w.latency(), func() {
				if !w.database.down {
					_, _ = do(&w.database) // the request is repeated, and the second answer is dropped
				}
			})
		}
		v, err := do(&w.database)
		if w.lost() {
			return
		}
		if s.mute {
			v, err = nil, errNoAnswer
		}
		w.after(w.latency(), func() {
			if !s.cut {
				reply(v, err)
			}
		})
	})
}

// write is send for the embedded store. A system call may fail before or after the
// work. It ends with its process.
func (w *world) write(s *server, do func(*database) (any, error), reply func(any, error)) {
	fate := w.rand.IntN(20)
	w.after(w.between(0, 20*time.Millisecond), func() {
		var v any
		err := errNoAnswer
		if fate > 0 && !s.dead {
			v, err = do(&w.database)
		}
		if fate == 1 {
			v, err = nil, errNoAnswer
		}
		w.after(w.between(0, 20*time.Millisecond), func() { reply(v, err) })
	})
}

func (w *world) lost() bool { return w.plan.network && w.chance(4) }

// latency returns the time of one way: mostly short, sometimes longer than
// storeTimeout.
func (w *world) latency() time.Duration {
	if w.plan.network && w.chance(6) {
		return w.between(0, 2500*time.Millisecond)
	}
	return w.between(100*time.Microsecond, 20*time.Millisecond)
}

// engine is the shared.Engine through which one server reaches the database.
type engine struct{ server *server }

var _ shared.Engine = engine{}

// answer converts a result of call.
func answer[V any](v any, err error) (V, error) {
	if err != nil {
		var none V
		return none, err
	}
	return v.(V), nil
}

// Epoch implements shared.Engine.
func (e engine) Epoch(context.Context) (string, error) {
	return answer[string](e.server.call(func(d *database) (any, error) { return d.epoch, nil }))
}

// Time implements generator.Timekeeper.
func (e engine) Time(context.Context) (earliest, latest time.Time, err error) {
	w := e.server.world
	now, err := answer[time.Time](e.server.call(func(d *database) (any, error) {
		return time.Unix(0, beginning+int64(w.now+d.offset)), nil
	}))
	return now, now, err
}

// Advance implements shared.Engine.
func (e engine) Advance(_ context.Context, asks []shared.Ask) ([]shared.Answer, error) {
	answers, err := answer[[]shared.Answer](e.server.call(func(d *database) (any, error) {
		answers := make([]shared.Answer, len(asks))
		for i := range asks {
			answers[i] = d.advance(&asks[i])
		}
		return answers, nil
	}))
	for i, a := range answers {
		if a.Outcome == shared.Granted {
			e.server.grant(asks[i].Key, a.Lo, a.Hi)
		}
	}
	return answers, err
}

func (d *database) advance(a *shared.Ask) shared.Answer {
	var old *shared.Row
	if r, ok := d.rows[a.Key]; ok {
		old = &r
	}
	answer, row := a.Decide(old, d.epoch)
	if row != nil {
		d.rows[a.Key] = *row
		d.ever[a.Key] = max(d.ever[a.Key], row.Hi)
	}
	return answer
}

// grant records a reservation whose answer reached the server.
func (s *server) grant(key string, lo, hi int64) {
	s.granted[key] = append(s.granted[key], interval{lo, hi})
}

// Lower implements shared.Engine.
func (e engine) Lower(_ context.Context, r shared.Return) error {
	_, err := e.server.call(func(d *database) (any, error) {
		if row, ok := d.rows[r.Key]; ok && row.Hi == r.Hi && row.Seq == r.Seq && row.Epoch == r.Epoch {
			row.Hi, row.Lo = r.To, min(row.Lo, r.To)
			d.rows[r.Key] = row
		}
		return nil, nil
	})
	return err
}

// Row implements shared.Engine.
func (e engine) Row(_ context.Context, key string) (*shared.Row, error) {
	return answer[*shared.Row](e.server.call(func(d *database) (any, error) {
		if r, ok := d.rows[key]; ok {
			return &r, nil
		}
		return (*shared.Row)(nil), nil
	}))
}

// Rows implements shared.Engine.
func (e engine) Rows(_ context.Context, prefix string) ([]shared.Row, error) {
	return answer[[]shared.Row](e.server.call(func(d *database) (any, error) {
		var rows []shared.Row
		for key, r := range d.rows {
			if strings.HasPrefix(key, prefix) {
				rows = append(rows, r)
			}
		}
		return rows, nil
	}))
}

// Name implements shared.Engine.
func (e engine) Name(_ context.Context, name string) (shared.Entry, error) {
	return answer[shared.Entry](e.server.call(func(d *database) (any, error) {
		if entry, ok := d.names[name]; ok {
			return entry, nil
		}
		return nil, generator.UnknownError(name)
	}))
}

// Names implements shared.Engine.
func (e engine) Names(context.Context) ([]shared.Entry, error) {
	return answer[[]shared.Entry](e.server.call(func(d *database) (any, error) {
		entries := make([]shared.Entry, 0, len(d.names))
		for _, entry := range d.names {
			entries = append(entries, entry)
		}
		return entries, nil
	}))
}

// Count implements shared.Engine.
func (e engine) Count(context.Context) (int, error) {
	return answer[int](e.server.call(func(d *database) (any, error) { return len(d.names), nil }))
}

// PutName implements shared.Engine.
func (e engine) PutName(_ context.Context, _ string, entry shared.Entry, _ *shared.Entry) (bool, error) {
	return answer[bool](e.server.call(func(d *database) (any, error) {
		d.names[entry.Name] = entry
		return true, nil
	}))
}

// Close implements shared.Engine.
func (engine) Close() error { return nil }

// embedded is the generator.Store of a server with its own disk.
type embedded struct{ server *server }

var _ generator.Reserver = embedded{}

// Exclusive implements generator.Store.
func (embedded) Exclusive() bool { return true }

// Close implements generator.Store.
func (embedded) Close() error { return nil }

// Reserve implements generator.Reserver.
func (e embedded) Reserve(_ context.Context, r generator.Reservation) (lo, hi int64, err error) {
	got, err := answer[interval](e.server.call(func(d *database) (any, error) {
		lo, hi, err := d.disk.Reserve(context.Background(), r)
		return interval{lo, hi}, err
	}))
	if err == nil {
		e.server.grant(r.Key, got.lo, got.hi)
	}
	return got.lo, got.hi, err
}

// Release implements generator.Reserver.
func (e embedded) Release(_ context.Context, key string, hi, to int64) error {
	_, err := e.server.call(func(d *database) (any, error) {
		return nil, d.disk.Release(context.Background(), key, hi, to)
	})
	return err
}

// Mark implements generator.Reserver.
func (e embedded) Mark(_ context.Context, key string) (m generator.Mark, ok bool, err error) {
	_, err = e.server.call(func(d *database) (any, error) {
		var err error
		m, ok, err = d.disk.Mark(context.Background(), key)
		return nil, err
	})
	return m, ok, err
}

// Reserved implements generator.Reserver.
func (e embedded) Reserved(_ context.Context, prefix string) ([]generator.Mark, error) {
	return answer[[]generator.Mark](e.server.call(func(d *database) (any, error) {
		return d.disk.Reserved(context.Background(), prefix)
	}))
}

// The catalogue is not used: servers open generators by their definitions.

// Define implements generator.Definitions.
func (embedded) Define(context.Context, generator.Definition) (generator.Definition, bool, error) {
	return generator.Definition{}, false, errNoAnswer
}

// Redefine implements generator.Definitions.
func (embedded) Redefine(context.Context, generator.Definition) (generator.Definition, error) {
	return generator.Definition{}, errNoAnswer
}

// Defined implements generator.Definitions.
func (embedded) Defined(context.Context, string) (generator.Definition, error) {
	return generator.Definition{}, errNoAnswer
}

// ListDefined implements generator.Definitions.
func (embedded) ListDefined(context.Context) ([]generator.Definition, error) { return nil, errNoAnswer }

// Count implements generator.Definitions.
func (embedded) Count(context.Context) (int, error) { return 0, errNoAnswer }

// Undefine implements generator.Definitions.
func (embedded) Undefine(context.Context, string) error { return errNoAnswer }
