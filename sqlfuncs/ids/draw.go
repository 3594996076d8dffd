package ids

import (
	"fmt"
	"io"
	"time"

	"nextid/generator"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

// entry resolves a generator's name.
func entry(x *engine.Exec, name string) (*generator.Entry, error) {
	if err := x.Host.Client().May(name); err != nil {
		return nil, err
	}
	if x.Host.Client().NoCreate {
		e, err := Known(x, name)
		if Missing(err) {
			err = sqlstate.New(sqlstate.UndefinedTable, "generator %q does not exist", name).
				WithHint("Create it: CREATE SEQUENCE %s, or SELECT create_generator('%s', 'segment').", syntax.QuoteIdent(name), name)
		}
		return e, err
	}
	if e := x.Host.Registry().Lookup([]byte(name)); e != nil {
		return e, nil
	}
	e, created, err := Registry(x).GetOrCreate(x.Ctx, name)
	if created && err == nil {
		noteOfResembling(x, name)
	}
	return e, err
}

// noteOfResembling sends a notice if a name that was just created resembles an
// existing one and may be a typing mistake.
func noteOfResembling(x *engine.Exec, name string) {
	if like, err := Registry(x).Resembling(x.Ctx, name); err == nil && like != "" {
		x.Host.Notice(fmt.Sprintf("generator %q was created: there is %q, whose name differs only in case or by one letter; drop_generator('%s') drops the new one", name, like, name))
	}
}

// Registry returns the server's registry, for calls that may wait for the store.
// The answers so far are sent to the client first.
func Registry(x *engine.Exec) *generator.Registry {
	x.Host.Waits()
	return x.Host.Registry()
}

// Known returns the entry of a name that exists. If its generator runs on this
// server, Known neither asks the store nor waits.
func Known(x *engine.Exec, name string) (*generator.Entry, error) {
	if e := x.Host.Registry().Lookup([]byte(name)); e != nil && e.Running() != nil {
		return e, nil
	}
	return Registry(x).Existing(x.Ctx, name)
}

// opened returns the entry that look finds for a name, and its generator.
func opened(x *engine.Exec, name string, look func(*engine.Exec, string) (*generator.Entry, error)) (*generator.Entry, generator.Generator, error) {
	e, err := look(x, name)
	if err != nil {
		return nil, nil, err
	}
	g, err := running(x, e)
	return e, g, err
}

// find returns the entry of a name and its generator, nil if no generator has the name.
func find(x *engine.Exec, name string) (*generator.Entry, generator.Generator, error) {
	if generator.CheckName(name) != nil {
		return nil, nil, nil //nolint:nilerr // there is no generator of such a name
	}
	e, g, err := opened(x, name, Known)
	if Missing(err) {
		return nil, nil, nil
	}
	return e, g, err
}

// allowed is Known for a name that the client may use.
func allowed(x *engine.Exec, name string) (*generator.Entry, error) {
	if err := x.Host.Client().May(name); err != nil {
		return nil, err
	}
	return Known(x, name)
}

// running returns the generator of an entry. It does not wait if the generator runs
// already.
func running(x *engine.Exec, e *generator.Entry) (generator.Generator, error) {
	if g := e.Running(); g != nil {
		return g, nil
	}
	x.Host.Waits()
	return e.Generator(x.Ctx)
}

// nextID draws one id.
func nextID(x *engine.Exec, e *generator.Entry) (int64, error) {
	id, err := takeID(x, e)
	if err == nil {
		recordDraw(x, e, generator.Range{First: id, Step: 1, Count: 1})
	}
	return id, err
}

// takeID is nextID without the audit trail: its caller records the id.
func takeID(x *engine.Exec, e *generator.Entry) (int64, error) {
	r, err := charged(x, e, func() (generator.Range, error) { return take(x, e, 1) })
	return r.First, err
}

// charged draws an id that counts against the quotas, unless draw fails.
func charged[T any](x *engine.Exec, e *generator.Entry, draw func() (T, error)) (id T, err error) {
	if err := sessionOf(x).Charge(e.Name(), 1); err != nil {
		return id, err
	}
	if id, err = draw(); err != nil {
		sessionOf(x).Refund(e.Name(), 1)
	}
	return id, err
}

// draw draws a run of ids that were charged. It may wait.
func draw(x *engine.Exec, e *generator.Entry, n int64) (generator.Range, error) {
	r, err := take(x, e, n)
	if err == nil {
		recordDraw(x, e, r)
	}
	return r, err
}

// take is draw without the audit trail: its caller records the ids.
func take(x *engine.Exec, e *generator.Entry, n int64) (generator.Range, error) {
	if err := x.Host.Client().May(e.Name()); err != nil {
		return generator.Range{}, err
	}
	r, ok := e.TryNext(n)
	if !ok {
		x.Host.Waits()
		start := x.Host.Now()
		var err error
		r, err = e.Next(x.Ctx, n)
		e.NoteWait(x.Host.Now().Sub(start))
		if err != nil {
			e.NoteTrouble(err, x.Host.Now())
			return r, err
		}
		if sessionOf(x).Drawn().warned != e {
			sessionOf(x).Drawn().warned = e
			warnOfEnd(x, e.Name(), e.Shape().Ends)
		}
	}
	sessionOf(x).Drew(e, r.Last())
	return r, nil
}

// slowAfter is the duration from which a client gets a notice before a call waits.
const slowAfter = time.Second

// warnOfRate sends a notice if a call has to wait for the layout's rate limit.
func warnOfRate(x *engine.Exec, e *generator.Entry, n int64) {
	rate := e.Shape().Rate
	if rate == 0 || n <= rate*int64(slowAfter/time.Second) {
		return
	}
	x.Host.Notice(fmt.Sprintf("%d ids of generator %q take %d seconds or more: its layout has %d a second for one server (nextid.generators, ids_per_second)",
		n, e.Name(), n/rate, rate))
}

// warnOfEnd warns that the time of a generator ends soon. Only the slow path warns:
// calls that open the generator or wait for it.
func warnOfEnd(x *engine.Exec, name string, ends time.Time) {
	now := x.Host.Now()
	if ends.IsZero() || ends.Sub(now) > generator.EndsSoon {
		return
	}
	x.Host.Notice(fmt.Sprintf("the time bits of generator %q run out at %s, in %d days; create its successor before",
		name, ends.Format(time.RFC3339), daysUntil(now, ends)))
}

// warnOfOutlook warns after CREATE or ALTER if the generator's time, numbers or
// worker ids run out soon.
func warnOfOutlook(x *engine.Exec, name string) {
	o := Registry(x).OutlookOf(x.Ctx, name, x.Host.Now())
	warnOfEnd(x, name, o.Ends)
	if o.Numbers.Scarce() {
		x.Host.Notice(fmt.Sprintf("generator %q has %d of %d numbers left; raise its maximum, or create its successor before they run out",
			name, o.Numbers.Left, o.Numbers.All))
	}
	if o.Workers.Scarce() {
		x.Host.Notice(fmt.Sprintf("%d of the %d worker ids for generator %q are free: a server that finds none gives no ids of it; use a layout with more worker bits",
			o.Workers.Left, o.Workers.All, name))
	}
}

// idRun draws a fixed number of ids as runs. The first call charges all ids. If the
// generator can, it also draws all of them, so that a refused statement costs no
// id.
type idRun struct {
	entry *generator.Entry
	left  int64
	begun bool
	rest  generator.Range // drawn, see contiguous

	all  generator.AllGenerator // nil where ids are drawn as they are asked for
	held []generator.Range      // drawn from all, and not returned
}

func (r *idRun) Next(x *engine.Exec, max int64) (generator.Range, error) {
	if r.left <= 0 {
		return generator.Range{}, io.EOF
	}
	if !r.begun {
		if err := r.begin(x); err != nil {
			return generator.Range{}, err
		}
	}
	if r.all != nil {
		run := r.take(min(max, r.left))
		recordDraw(x, r.entry, run)
		sessionOf(x).Drew(r.entry, run.Last())
		return run, nil
	}
	run, err := draw(x, r.entry, min(max, r.left))
	r.left -= run.Count
	if err != nil {
		sessionOf(x).Refund(r.entry.Name(), r.left)
	}
	return run, err
}

// begin charges all ids and, if the generator can, draws them.
func (r *idRun) begin(x *engine.Exec) error {
	if err := x.Host.Client().May(r.entry.Name()); err != nil {
		return err
	}
	if err := sessionOf(x).Charge(r.entry.Name(), r.left); err != nil {
		return err
	}
	r.begun = true
	if r.left == 1 || r.entry.Streams() {
		return nil
	}
	x.Host.Waits()
	var err error
	if r.all, r.held, err = r.entry.NextAll(x.Ctx, r.left); err != nil {
		sessionOf(x).Refund(r.entry.Name(), r.left)
		r.entry.NoteTrouble(err, x.Host.Now())
		r.left = 0
	}
	return err
}

// take removes up to n ids from those that are held.
func (r *idRun) take(n int64) generator.Range {
	run := r.held[0]
	run.Count = min(run.Count, n)
	ids := run
	if c, ok := r.all.(generator.Converter); ok {
		ids = c.Convert(run)
	}
	r.left -= ids.Count
	if rest := &r.held[0]; rest.Count > ids.Count {
		rest.First, rest.Count = rest.First+ids.Count*rest.Step, rest.Count-ids.Count
	} else {
		r.held = r.held[1:]
	}
	return ids
}

// Close implements engine.NumberRun.
func (r *idRun) Close() {
	if len(r.held) > 0 {
		r.all.GiveBack(r.held)
		r.held = nil
	}
}

// contiguous draws ids that follow one another without a hole. A generator with
// another step than 1 gives them one by one.
func (r *idRun) contiguous(x *engine.Exec) (generator.Range, error) {
	if !r.begun && r.left > 0 {
		if err := r.begin(x); err != nil {
			return generator.Range{}, err
		}
	}
	if len(r.held) > 0 && r.held[0].Step != 1 {
		return r.Next(x, 1)
	}
	if r.rest.Count == 0 {
		var err error
		if r.rest, err = r.Next(x, r.left); err != nil {
			return r.rest, err
		}
	}
	run := r.rest
	if run.Step != 1 {
		run.Count = 1
	}
	r.rest.First, r.rest.Count = r.rest.First+run.Count*run.Step, r.rest.Count-run.Count
	return run, nil
}
