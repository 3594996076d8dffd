package sqlfuncs

import (
	"fmt"
	"io"
	"time"

	"nextid/generator"
	"nextid/sqlfuncs/datum"
)

// entry resolves a generator's name.
func (x *exec) entry(name string) (*generator.Entry, error) {
	if err := sessionOf(x).may(name); err != nil {
		return nil, err
	}
	if e := sessionOf(x).server.registry.Lookup([]byte(name)); e != nil {
		return e, nil
	}
	return x.registry().Get(x.ctx, name)
}

// registry is for questions that may reach the store: what was answered
// before need not wait for them.
func (x *exec) registry() *generator.Registry {
	sessionOf(x).waits()
	return sessionOf(x).server.registry
}

// nextID draws one id.
func (x *exec) nextID(e *generator.Entry) (int64, error) {
	r, err := x.draw(e, 1)
	return r.First, err
}

// draw draws a run of ids, waiting where it must.
func (x *exec) draw(e *generator.Entry, n int64) (generator.Range, error) {
	if err := sessionOf(x).may(e.Name()); err != nil {
		return generator.Range{}, err
	}
	r, ok := e.TryNext(n)
	if !ok {
		sessionOf(x).waits()
		var err error
		if r, err = e.Next(x.ctx, n); err != nil {
			return r, err
		}
		if sessionOf(x).warned != e {
			sessionOf(x).warned = e
			x.warnOfEnd(e.Name(), e.Ends())
		}
	}
	sessionOf(x).drew(e, r.Last())
	return r, nil
}

// warnOfEnd tells the client that the time of a generator runs out soon. The warm path does not come here: who opens the generator, or
// has to wait for it, is told.
func (x *exec) warnOfEnd(name string, ends time.Time) {
	now := sessionOf(x).server.now()
	if ends.IsZero() || ends.Sub(now) > generator.EndsSoon {
		return
	}
	sessionOf(x).notice(fmt.Sprintf("the time bits of generator %q run out at %s, in %d days; create its successor before",
		name, ends.Format(time.RFC3339), daysUntil(now, ends)))
}

// idRun draws a fixed number of ids as runs.
type idRun struct {
	entry *generator.Entry
	left  int64
}

func (r *idRun) next(x *exec, max int64) (generator.Range, error) {
	if r.left <= 0 {
		return generator.Range{}, io.EOF
	}
	run, err := x.draw(r.entry, min(max, r.left))
	r.left -= run.Count
	return run, err
}

// rows makes an idRun a rowIter.
func (r *idRun) rows() rowIter {
	var run generator.Range
	return funcRows(func(x *exec) ([]datum.Value, error) {
		if run.Count == 0 {
			var err error
			if run, err = r.next(x, 1); err != nil {
				return nil, err
			}
		}
		id := run.First
		run.First, run.Count = run.First+run.Step, run.Count-1
		x.idRow[0] = datum.MakeInt8(id)
		return x.idRow[:], nil
	})
}
