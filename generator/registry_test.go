package generator_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"nextid/generator"
	"nextid/generator/generatortest"
	"nextid/generator/history"
	"nextid/generator/segment"
	"nextid/generator/store/memory"
)

// registry is a Registry on a store in memory, with the kind segment.
type registry struct {
	*generator.Registry
	t     *testing.T
	store *generatortest.Faulty
	log   history.Log
}

func newRegistry(t *testing.T, change ...func(*generator.Config)) *registry {
	t.Helper()
	return onStore(t, generatortest.NewFaulty(memory.New(memory.Config{})), change...)
}

// onStore is another server of a store.
func onStore(t *testing.T, store *generatortest.Faulty, change ...func(*generator.Config)) *registry {
	t.Helper()
	r := &registry{t: t, store: store}
	cfg := generator.Config{Store: store, Kinds: []generator.Kind{segment.Kind(store, generator.SystemClock{}, "test")}}
	for _, c := range change {
		c(&cfg)
	}
	var err error
	if r.Registry, err = generator.NewRegistry(cfg); err != nil {
		t.Fatal(err)
	}
	return r
}

func autoCreate(kind, options string) func(*generator.Config) {
	return func(c *generator.Config) {
		c.AutoCreate, c.AutoOptions = kind, map[string]json.RawMessage{kind: json.RawMessage(options)}
	}
}

func declared(name, kind, options string) func(*generator.Config) {
	return func(c *generator.Config) {
		c.Declared = append(c.Declared, generator.Definition{Name: name, Kind: kind, Options: json.RawMessage(options)})
	}
}

func (r *registry) create(name, options string) {
	r.t.Helper()
	if err := r.Create(r.t.Context(), name, "segment", json.RawMessage(options)); err != nil {
		r.t.Fatal(err)
	}
}

// next draws one id of a name and writes it into the history.
func (r *registry) next(name string) int64 {
	r.t.Helper()
	e, err := r.Get(r.t.Context(), name)
	if err != nil {
		r.t.Fatal(err)
	}
	run, err := e.Next(r.t.Context(), 1)
	if err != nil {
		r.t.Fatal(err)
	}
	r.log.Add(history.Event{Name: name, Range: run})
	if err := r.log.Check(); err != nil {
		r.t.Fatal(err)
	}
	return run.First
}

func (r *registry) wantIDs(name string, want ...int64) {
	r.t.Helper()
	for _, w := range want {
		if id := r.next(name); id != w {
			r.t.Errorf("%s gave %d, want %d", name, id, w)
		}
	}
}

func wantErr(t *testing.T, err, kind error, parts ...string) {
	t.Helper()
	var e *generator.Error
	if !errors.Is(err, kind) || !errors.As(err, &e) {
		t.Fatalf("error is %v, want an *Error of kind %q", err, kind)
	}
	for _, p := range parts {
		if !strings.Contains(e.Message+"\n"+e.Hint, p) {
			t.Errorf("error %q (hint %q) does not say %q", e.Message, e.Hint, p)
		}
	}
}

func TestNamesAreCreatedAsTheConfigurationSays(t *testing.T) {
	t.Run("not at all without auto-create", func(t *testing.T) {
		r := newRegistry(t)
		_, err := r.Get(t.Context(), "orders")
		wantErr(t, err, generator.ErrUnknown, "orders", "create_generator")
		if r.Lookup([]byte("orders")) != nil {
			t.Error("a name that does not exist takes memory")
		}
	})
	t.Run("by their first use with it", func(t *testing.T) {
		r := newRegistry(t, autoCreate("segment", `{"start":7}`))
		r.wantIDs("orders", 7, 8)
		if e := r.Lookup([]byte("orders")); e == nil || e.Name() != "orders" {
			t.Error("a name in use is not found")
		}
	})
	t.Run("with the store's definition where there is one", func(t *testing.T) {
		r := newRegistry(t, autoCreate("segment", `{"start":7}`))
		r.create("orders", `{"start":100}`)
		r.wantIDs("orders", 100)
	})
	t.Run("as declared", func(t *testing.T) {
		r := newRegistry(t, autoCreate("segment", `{"start":7}`), declared("orders", "segment", `{"start":50}`))
		r.wantIDs("orders", 50)
	})
	t.Run("at the start when declared", func(t *testing.T) {
		r := newRegistry(t, declared("orders", "segment", `{"start":50}`), declared("bills", "segment", `{}`))
		for range 2 {
			if err := r.Declare(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		list, err := r.Definitions(t.Context())
		if err != nil || len(list) != 2 || list[0].Name != "bills" || list[1].Name != "orders" {
			t.Errorf("definitions %+v, %v", list, err)
		}
	})
}

func TestBadConfigurationsAreRefused(t *testing.T) {
	for _, c := range []struct {
		change func(*generator.Config)
		kind   error
		says   string
	}{
		{autoCreate("flicker", `{}`), generator.ErrOption, "segment"},
		{declared("orders", "flicker", `{}`), generator.ErrOption, "flicker"},
		{declared("orders", "segment", `{"step":0}`), generator.ErrOption, "step"},
		{declared("or ders", "segment", `{}`), generator.ErrName, "or ders"},
	} {
		cfg := generator.Config{Store: memory.New(memory.Config{}), Kinds: []generator.Kind{segment.Kind(nil, nil, "")}}
		c.change(&cfg)
		_, err := generator.NewRegistry(cfg)
		wantErr(t, err, c.kind, c.says)
	}
}

func TestCreateRefuses(t *testing.T) {
	r := newRegistry(t, declared("declared", "segment", `{"start":5}`))
	r.create("orders", ``)
	for _, c := range []struct {
		name, kind, options string
		want                error
	}{
		{"orders", "segment", ``, generator.ErrExists},
		{"bills", "flicker", ``, generator.ErrOption},
		{"bills", "segment", `{"step":-1}`, generator.ErrOption},
		{"no good", "segment", ``, generator.ErrName},
		{"declared", "segment", `{"start":6}`, generator.ErrPinned},
	} {
		wantErr(t, r.Create(t.Context(), c.name, c.kind, json.RawMessage(c.options)), c.want)
	}
	if err := r.Create(t.Context(), "declared", "segment", json.RawMessage(`{"start":5}`)); err != nil {
		t.Errorf("what agrees with the configuration is refused: %v", err)
	}
}

// Invariant 4: ids of one name mean the same on every server.
func TestAServerThatIsConfiguredOtherwiseRefusesTheName(t *testing.T) {
	first := newRegistry(t)
	first.create("orders", `{"start":100}`)
	first.create("bills", ``)
	first.wantIDs("orders", 100)

	second := onStore(t, first.store, declared("orders", "segment", `{"start":200}`))
	if err := second.Declare(t.Context()); err != nil {
		t.Fatal(err)
	}
	e, err := second.Get(t.Context(), "orders")
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		_, err = e.Next(t.Context(), 1)
		wantErr(t, err, generator.ErrPinned, "orders", `"start":200`, `"start":100`)
	}
	if _, ok := e.TryNext(1); ok {
		t.Error("an id of a refused name")
	}
	second.next("bills")
	first.next("orders")
}

// A version that knows more options writes a longer form of the same.
func TestStoredOptionsOfAnEarlierVersionAgreeWithTheConfiguration(t *testing.T) {
	newer := testKind{
		KindName: "newer",
		NormalizeFunc: func(o json.RawMessage) (json.RawMessage, error) {
			if strings.Contains(string(o), "start") {
				return json.RawMessage(`{"start":100,"speed":1}`), nil
			}
			return json.RawMessage(`{"speed":1}`), nil
		},
		OpenFunc: func(context.Context, generator.Definition) (generator.Generator, error) { return constant(7), nil },
	}
	r := newRegistry(t, func(c *generator.Config) { c.Kinds = append(c.Kinds, newer) },
		declared("same", "newer", `{"start":100}`), declared("other", "newer", `{}`))
	for _, name := range []string{"same", "other"} {
		_, _, err := r.store.Define(t.Context(), generator.Definition{Name: name, Kind: "newer", Options: json.RawMessage(`{"start":100}`)})
		if err != nil {
			t.Fatal(err)
		}
	}
	r.wantIDs("same", 7)
	e, err := r.Get(t.Context(), "other")
	if err != nil {
		t.Fatal(err)
	}
	_, err = e.Next(t.Context(), 1)
	wantErr(t, err, generator.ErrPinned, "other")
}

func TestAlterGoesOnAboveWithTheNewOptions(t *testing.T) {
	r := newRegistry(t)
	r.create("orders", ``)
	r.wantIDs("orders", 1, 2, 3)
	e := r.Lookup([]byte("orders"))
	if err := r.Alter(t.Context(), "orders", json.RawMessage(`{"increment":10}`)); err != nil {
		t.Fatal(err)
	}
	r.wantIDs("orders", 11, 21)
	if r.Lookup([]byte("orders")) != e {
		t.Error("plans hold another entry now")
	}
	d, err := e.Definition(t.Context())
	if err != nil || d.Version != 2 || !strings.Contains(string(d.Options), `"increment":10`) {
		t.Errorf("definition %+v, %v", d, err)
	}
}

func TestAlterOfANameThatDoesNotRunStartsNothing(t *testing.T) {
	r := newRegistry(t)
	r.create("orders", ``)
	if err := r.Alter(t.Context(), "orders", json.RawMessage(`{"step":5}`)); err != nil {
		t.Fatal(err)
	}
	if e := r.Lookup([]byte("orders")); e.Running() != nil {
		t.Error("an unused generator runs")
	}
	r.wantIDs("orders", 1)
}

func TestAlterRefuses(t *testing.T) {
	r := newRegistry(t, declared("declared", "segment", `{"step":5}`))
	r.create("orders", ``)
	if err := r.Declare(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantErr(t, r.Alter(t.Context(), "unknown", nil), generator.ErrUnknown)
	wantErr(t, r.Alter(t.Context(), "or ders", nil), generator.ErrName)
	wantErr(t, r.Alter(t.Context(), "orders", json.RawMessage(`{"increment":-1}`)), generator.ErrOption, "direction")
	wantErr(t, r.Alter(t.Context(), "declared", json.RawMessage(`{"step":6}`)), generator.ErrPinned, `"step":5`)
	if r.Lookup([]byte("unknown")) != nil {
		t.Error("altering a name that does not exist takes memory")
	}
	r.wantIDs("orders", 1)
	r.wantIDs("declared", 1)
}

// A store that fails while the old generator gives back its rest must not
// undo the change, nor lead to an id twice.
func TestAlterBearsAFailingRelease(t *testing.T) {
	r := newRegistry(t)
	r.create("orders", ``)
	r.wantIDs("orders", 1, 2)
	r.store.Inject(generatortest.Release, 1, generatortest.FailAfter(nil))
	if err := r.Alter(t.Context(), "orders", json.RawMessage(`{"step":5}`)); err != nil {
		t.Fatal(err)
	}
	r.next("orders")
	r.store.Inject(generatortest.Release, 1, generatortest.FailBefore(nil))
	if err := r.Alter(t.Context(), "orders", json.RawMessage(`{"step":6}`)); err != nil {
		t.Fatal(err)
	}
	r.next("orders")
}

func TestADroppedNameIsGoneAndGoesOnAboveWhenCreatedAgain(t *testing.T) {
	r := newRegistry(t)
	r.create("orders", ``)
	r.wantIDs("orders", 1, 2, 3)
	if err := r.Drop(t.Context(), "orders"); err != nil {
		t.Fatal(err)
	}
	e := r.Lookup([]byte("orders"))
	if _, ok := e.TryNext(1); ok || e.Running() != nil {
		t.Error("the dropped generator issues")
	}
	_, err := e.Next(t.Context(), 1)
	wantErr(t, err, generator.ErrUnknown, "orders")
	wantErr(t, r.Drop(t.Context(), "orders"), generator.ErrUnknown)
	r.create("orders", `{"increment":10}`)
	r.wantIDs("orders", 11, 21)
}

func TestDropThatFailsLeavesTheNameUsable(t *testing.T) {
	for _, op := range []generatortest.Op{generatortest.Undefine, generatortest.Reserved} {
		r := newRegistry(t)
		r.create("orders", `{"start":-5}`) // such a name leaves a tombstone
		r.wantIDs("orders", -5)
		r.store.Inject(op, 1, generatortest.FailBefore(nil))
		if err := r.Drop(t.Context(), "orders"); err == nil {
			t.Fatalf("dropped although %s failed", op)
		}
		r.next("orders")
		if err := r.Drop(t.Context(), "orders"); err != nil {
			t.Fatal(err)
		}
	}
}

func TestCloseGivesEverythingBackAndAnswersNotNow(t *testing.T) {
	r := newRegistry(t, autoCreate("segment", ``))
	for i := range 50 {
		r.wantIDs(fmt.Sprint("n", i), 1, 2)
	}
	if err := r.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	e := r.Lookup([]byte("n7"))
	if _, ok := e.TryNext(1); ok {
		t.Error("an id after Close")
	}
	_, err := e.Next(t.Context(), 1)
	wantErr(t, err, generator.ErrNotNow, "shutting down")
	_, err = r.Get(t.Context(), "new")
	wantErr(t, err, generator.ErrNotNow)
	next := onStore(t, r.store)
	for i := range 50 {
		next.wantIDs(fmt.Sprint("n", i), 3)
	}
}

func TestCloseTellsWhatItCouldNotGiveBackAndStopsAllTheSame(t *testing.T) {
	r := newRegistry(t, autoCreate("segment", ``))
	for i := range 5 {
		r.next(fmt.Sprint("n", i))
	}
	r.store.Inject(generatortest.Release, 2, generatortest.FailBefore(nil))
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // a drain that ran out of time
	if err := r.Close(ctx); err == nil || !strings.Contains(err.Error(), "generators could not give back") {
		t.Errorf("error %v", err)
	}
	for i := range 5 {
		if _, ok := r.Lookup(fmt.Append(nil, "n", i)).TryNext(1); ok {
			t.Errorf("n%d issues after Close", i)
		}
	}
}

// TestNamesBeyondTheLimitAreNotWritten: clients cannot fill the store, and the
// names of the configuration have room in a full one.
func TestNamesBeyondTheLimitAreNotWritten(t *testing.T) {
	store := memory.New(memory.Config{})
	create := func(r *registry, names ...string) {
		t.Helper()
		for _, name := range names {
			if _, err := r.Get(t.Context(), name); err != nil {
				t.Fatal(err)
			}
		}
	}
	limit := func(c *generator.Config) { c.Store, c.MaxNames = store, 3 }
	create(newRegistry(t, autoCreate("segment", ``), limit), "a", "b")
	r := newRegistry(t, autoCreate("segment", ``), limit, func(c *generator.Config) {
		c.Declared = []generator.Definition{{Name: "declared", Kind: "segment"}}
	})
	create(r, "c")
	for _, name := range []string{"d", "e"} {
		_, err := r.Get(t.Context(), name)
		wantErr(t, err, generator.ErrTooMany, "3 generator names", "max_names")
		wantErr(t, r.Create(t.Context(), name, "segment", nil), generator.ErrTooMany, "max_names")
	}
	if err := r.Declare(t.Context()); err != nil {
		t.Error(err)
	}
	create(r, "declared", "a")
	list, err := store.ListDefined(t.Context())
	if err != nil || len(list) != 4 {
		t.Errorf("the store has %d names, %v", len(list), err)
	}
}

func TestTheNumberOfNamesIsBounded(t *testing.T) {
	r := newRegistry(t, autoCreate("segment", ``), func(c *generator.Config) { c.MaxNames = 3 })
	for i := range 3 {
		r.next(fmt.Sprint("n", i))
	}
	_, err := r.Get(t.Context(), "n3")
	wantErr(t, err, generator.ErrTooMany, "3 generator names", "max_names")
	r.next("n1")
}

func TestWorkersListsTheTimeLines(t *testing.T) {
	r := newRegistry(t)
	for _, key := range []string{"worker/10/3", "worker/5/31", "worker/x/1", "worker/1", "name/worker/10/4"} {
		if _, _, err := r.store.Reserve(t.Context(), generator.Reservation{Key: key, AtLeast: 5, N: 10, Limit: generator.NoLimit}); err != nil {
			t.Fatal(err)
		}
	}
	list, err := r.Workers(t.Context())
	if err != nil || len(list) != 2 || list[0].Bits != 10 || list[0].ID != 3 || list[0].Hi != 15 || list[1].Bits != 5 || list[1].ID != 31 {
		t.Errorf("%+v, %v", list, err)
	}
}

func TestCheckName(t *testing.T) {
	for name, ok := range map[string]bool{
		"a": true, "_": true, "orders": true, "Orders_2": true, "a.b:c-d": true, strings.Repeat("x", 128): true,
		"": false, "2a": false, ".a": false, "-a": false, "a b": false, "a'": false, "ä": false, "a\x00": false, "a\n": false,
		strings.Repeat("x", 129): false, strings.Repeat("ü", 500): false,
	} {
		err := generator.CheckName(name)
		if (err == nil) != ok {
			t.Errorf("CheckName(%q) = %v", name, err)
		}
		if err != nil {
			wantErr(t, err, generator.ErrName)
			if len(err.Error()) > 400 {
				t.Errorf("the error repeats all %d bytes of the name", len(name))
			}
		}
	}
}

func FuzzCheckName(f *testing.F) {
	for _, s := range []string{"orders", "", "a.b:c-d", "1", "ä", "x\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if err := generator.CheckName(name); err != nil {
			if !errors.Is(err, generator.ErrName) {
				t.Fatalf("%q: %v", name, err)
			}
			return
		}
		for i, c := range []byte(name) {
			if c >= 0x80 || c <= ' ' || c == '\'' || c == '"' || c == '/' || (i == 0 && c < 'A') {
				t.Fatalf("%q was accepted", name)
			}
		}
	})
}

func TestErrorsTellTheirKindAndTheirCause(t *testing.T) {
	cause := errors.New("connection refused")
	err := fmt.Errorf("outer: %w", &generator.Error{Kind: generator.ErrNotNow, Message: "the store does not answer", Cause: cause})
	if !errors.Is(err, generator.ErrNotNow) || !errors.Is(err, cause) || errors.Is(err, generator.ErrRetry) {
		t.Error("kind or cause is lost")
	}
	if got := err.Error(); got != "outer: the store does not answer: connection refused" {
		t.Errorf("text %q", got)
	}
	bare := &generator.Error{Kind: generator.ErrName, Message: "bad"}
	if bare.Error() != "bad" || !errors.Is(bare, generator.ErrName) {
		t.Error("an error without a cause")
	}
}
