package generator

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// MaxNameBytes is the greatest length of a generator name.
const MaxNameBytes = 128

// DefaultMaxNames is the default greatest number of names in a store, and so in the
// memory of a process.
const DefaultMaxNames = 100_000

// Config configures a Registry. Store and Kinds are required.
type Config struct {
	Store Store
	Kinds []Kind

	// AutoCreate is the kind of the generators that Get creates for unknown names. ""
	// makes Get return ErrUnknown for them.
	AutoCreate string
	// AutoOptions are the options of auto-created generators, by kind.
	AutoOptions map[string]json.RawMessage

	// Declared are the generators of this server's configuration. Missing ones are
	// created. A stored definition that contradicts one is refused with ErrPinned.
	// Version and Created are not used.
	Declared []Definition

	MaxNames int // 0: DefaultMaxNames

	// Audited reports whether every draw of a name is recorded; nil means none.
	// Entries of audited names answer no TryNext: only the slow path records draws
	// (Entry.Audited).
	Audited func(name string) bool

	// Guard is the store that the kinds use, if other servers use it, too. It is nil
	// for a store of this process alone. See Watch.
	Guard *Guard
}

// Registry maps names to entries. Lookup takes no lock. All other methods may ask
// the store.
type Registry struct {
	cfg       Config
	kinds     map[string]Kind
	declared  map[string]Definition
	patterns  map[string]Definition // templates of the configuration
	names     *names
	catalogue catalogue
	closed    atomic.Bool

	changing   lock           // held during closeChanged
	seenChange Mark           // changesKey at the end of the last closeChanged; guarded by changing
	agreed     map[*live]bool // generators that agree with the store as of agreedAt; guarded by changing
	agreedAt   Mark
	opening    sync.Mutex   // guards going live and the set of live generators; never held while the store is asked
	edits      atomic.Int64 // number of changed definitions noticed; see found
	templates  atomic.Pointer[knownTemplates]
	unsaid     atomic.Bool // an announcement failed
}

// NewRegistry returns a Registry. It does not touch the store.
func NewRegistry(cfg Config) (*Registry, error) {
	if cfg.MaxNames == 0 {
		cfg.MaxNames = DefaultMaxNames
	}
	r := &Registry{
		cfg:      cfg,
		kinds:    make(map[string]Kind, len(cfg.Kinds)),
		declared: make(map[string]Definition, len(cfg.Declared)),
		patterns: map[string]Definition{},
		names:    newNames(),
		changing: newLock(),
	}
	for _, k := range cfg.Kinds {
		r.kinds[k.Name()] = k
	}
	if cfg.AutoCreate != "" {
		if _, err := r.kind(cfg.AutoCreate); err != nil {
			return nil, err
		}
	}
	for _, d := range cfg.Declared {
		if IsPattern(d.Name) {
			n, err := r.pattern(d.Name, d.Kind, d.Options)
			if err != nil {
				return nil, fmt.Errorf("template %q in the configuration: %w", d.Name, err)
			}
			r.patterns[d.Name] = n
			continue
		}
		n, err := r.normalize(d.Name, d.Kind, d.Options)
		if err != nil {
			return nil, fmt.Errorf("generator %q in the configuration: %w", d.Name, err)
		}
		r.declared[d.Name] = n
	}
	if cfg.Guard != nil {
		cfg.Guard.registry.Store(r)
	}
	return r, nil
}

// Declare creates the generators and templates of Config.Declared that the store
// does not have.
func (r *Registry) Declare(ctx context.Context) error {
	for _, name := range slices.Sorted(maps.Keys(r.declared)) {
		if _, _, err := r.define(ctx, r.declared[name]); err != nil {
			return err
		}
	}
	return r.declare(ctx)
}

// Lookup returns the entry of a name that this process has used before, or nil. It
// takes no lock and allocates nothing.
func (r *Registry) Lookup(name []byte) *Entry { return r.names.find(name) }

// Get returns the entry of name. It looks up a new name in the store, and creates
// it if Config.AutoCreate is set. Names that do not exist take no memory.
func (r *Registry) Get(ctx context.Context, name string) (*Entry, error) {
	e, _, err := r.GetOrCreate(ctx, name)
	return e, err
}

// GetOrCreate is Get that reports whether it has created the name.
func (r *Registry) GetOrCreate(ctx context.Context, name string) (e *Entry, created bool, err error) {
	if e := r.Lookup([]byte(name)); e != nil {
		return e, false, nil
	}
	if err := CheckName(name); err != nil {
		return nil, false, err
	}
	f, created, err := r.load(ctx, name)
	if err != nil {
		return nil, false, err
	}
	e, err = r.entry(f)
	return e, created, err
}

// GetAs is Get with another kind and options for auto-created names. A matching
// template takes precedence.
func (r *Registry) GetAs(ctx context.Context, name, kind string, options json.RawMessage) (*Entry, error) {
	f, err := r.find(ctx, name)
	_, declared := r.declared[name]
	if errors.Is(err, ErrUnknown) && r.cfg.AutoCreate != "" && !declared && !r.closed.Load() {
		if _, ok, failed := r.template(ctx, name); ok || failed != nil {
			return r.Get(ctx, name)
		}
		if f.Definition, _, err = r.create(ctx, name, kind, options); err != nil {
			return nil, err
		}
	}
	if err != nil {
		return r.Get(ctx, name)
	}
	return r.entry(f)
}

// found is a definition with the value of Registry.edits before it was read. While
// edits has that value, no change of the definition was noticed.
type found struct {
	Definition
	edits int64
}

// find reads the definition of a name from the store.
func (r *Registry) find(ctx context.Context, name string) (found, error) {
	f := found{edits: r.edits.Load()}
	var err error
	f.Definition, err = r.cfg.Store.Defined(ctx, name)
	return f, err
}

// entry returns the entry of an existing name, and makes it if needed. Its
// generator will be opened by f.
func (r *Registry) entry(f found) (*Entry, error) {
	e, err := r.names.add(f.Name, func(known int) (*Entry, error) {
		if _, declared := r.declared[f.Name]; known >= r.cfg.MaxNames && !declared {
			return nil, r.tooMany(f.Name, "this server already knows %d generator names", r.cfg.MaxNames)
		}
		return newEntry(f.Name, known, r), nil
	})
	if err == nil && e.live.Load() == nil {
		e.found.Store(&f)
	}
	return e, err
}

// Existing returns the entry of a name in the store. It never creates a name:
// unknown ones are ErrUnknown.
func (r *Registry) Existing(ctx context.Context, name string) (*Entry, error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	f, err := r.find(ctx, name)
	if err != nil {
		return nil, err
	}
	return r.entry(f)
}

// Past returns the end (exclusive) of all reservations under a name, by all servers
// and before drops. Without any it returns the least int64.
func (r *Registry) Past(ctx context.Context, name string) (int64, error) {
	key := NameKey(name)
	m, ok, err := r.cfg.Store.Mark(ctx, key)
	if !ok {
		return math.MinInt64, err
	}
	return m.Hi, err
}

// Definitions lists the definitions in the store, ordered by name, without secrets.
func (r *Registry) Definitions(ctx context.Context) ([]Definition, error) {
	list, err := r.cfg.Store.ListDefined(ctx)
	list = slices.DeleteFunc(list, func(d Definition) bool { return d.Name == templatesName })
	for i, d := range list {
		list[i] = public(r.kinds[d.Kind], d)
	}
	return list, err
}

// Numbered lists the definitions whose ids are numbers, not texts.
func (r *Registry) Numbered(ctx context.Context) ([]Definition, error) {
	list, err := r.Definitions(ctx)
	return slices.DeleteFunc(list, func(d Definition) bool {
		_, texts := KindAs[TextKind](r.kinds[d.Kind])
		return texts
	}), err
}

// public returns d without secrets. k is nil for an unknown kind.
func public(k Kind, d Definition) Definition {
	if p, ok := KindAs[Publisher](k); ok {
		d.Options = p.Public(d.Options)
	}
	return d
}

// Running calls f for every open generator of this process, until f returns false.
// The order is undefined.
func (r *Registry) Running(f func(d Definition, g Generator) bool) {
	for e := range r.names.all() {
		if l := e.live.Load(); l != nil && !f(l.definition, l.gen) {
			return
		}
	}
}

// Open lists the definitions of the open generators of this process, ordered by
// name, without secrets. It does not ask the store.
func (r *Registry) Open() []Definition {
	var list []Definition
	r.Running(func(d Definition, _ Generator) bool {
		list = append(list, public(r.kinds[d.Kind], d))
		return true
	})
	slices.SortFunc(list, func(a, b Definition) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// Shape returns the Shape of a definition. ok is false for kinds without layouts, and
// for options that cannot be read.
func (r *Registry) Shape(d Definition) (s Shape, ok bool) {
	k, ok := KindAs[Shaped](r.kinds[d.Kind])
	if !ok {
		return s, false
	}
	s, err := k.Shape(d.Options)
	return s, err == nil
}

// Kinds returns the names of the kinds, sorted.
func (r *Registry) Kinds() []string { return slices.Sorted(maps.Keys(r.kinds)) }

// KindOf returns the kind of a generator in the store; ErrUnknown without one. It
// opens nothing.
func (r *Registry) KindOf(ctx context.Context, name string) (Kind, error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	_, k, err := r.defined(ctx, name)
	return k, err
}

// Close stops every generator and gives back unused reservations. Names return
// ErrNotNow afterwards. An error reports what could not be given back. Those ids
// are lost; it needs no action.
func (r *Registry) Close(ctx context.Context) error {
	r.closed.Store(true)
	var failed int
	var first error
	for e := range r.names.all() {
		err := e.lock.acquire(ctx)
		if err == nil {
			err = e.stop(ctx)
			e.lock.release()
		}
		if err == nil {
			continue
		}
		if failed++; first == nil {
			first = err
		}
	}
	if first != nil {
		return fmt.Errorf("%d generators could not give back what they hold: %w", failed, first)
	}
	return nil
}

// load finds the definition of name. It creates the name if the configuration asks
// for it. Define returns the definition of a name that exists, too: on a store of this
// process alone one call is enough.
func (r *Registry) load(ctx context.Context, name string) (f found, created bool, err error) {
	if r.closed.Load() {
		return f, false, ShutdownError(name)
	}
	var d Definition
	f.edits = r.edits.Load()
	atOnce := r.cfg.Store.Exclusive()
	if atOnce {
		d, err = r.wanted(ctx, name)
		atOnce = err == nil
	}
	if !atOnce {
		if f, err = r.find(ctx, name); !errors.Is(err, ErrUnknown) {
			return f, false, err
		}
		if d, err = r.wanted(ctx, name); err != nil {
			return f, false, err
		}
	}
	f.Definition, created, err = r.define(ctx, d)
	return f, created, err
}

// wanted returns the definition that the first use of an unknown name creates, or
// ErrUnknown: that of the configuration, where the name was dropped since the start,
// that of a template, or that of Config.AutoCreate.
func (r *Registry) wanted(ctx context.Context, name string) (Definition, error) {
	if d, ok := r.declared[name]; ok {
		return d, nil
	}
	if d, ok, err := r.template(ctx, name); ok || err != nil {
		return d, err
	}
	if r.cfg.AutoCreate == "" {
		return Definition{}, Errorf(ErrUnknown, name, "Create it: SELECT create_generator('"+name+"', 'snowflake'); or start the server with --auto-create.",
			"generator %q does not exist", name)
	}
	return r.normalize(name, r.cfg.AutoCreate, r.cfg.AutoOptions[r.cfg.AutoCreate])
}

// define writes a normalized definition to the store unless its name exists.
func (r *Registry) define(ctx context.Context, d Definition) (stored Definition, created bool, err error) {
	if k, ok := KindAs[Completer](r.kinds[d.Kind]); ok {
		options, err := k.Complete(ctx, d)
		if err != nil {
			if stored, known := r.cfg.Store.Defined(ctx, d.Name); known == nil {
				return stored, false, nil
			}
			return d, false, named(err, d.Name)
		}
		d.Options = options
	}
	if err := r.admit(ctx, d.Name); err != nil {
		return d, false, err
	}
	stored, created, err = r.cfg.Store.Define(ctx, d)
	c := &r.catalogue
	c.mu.Lock()
	defer c.mu.Unlock()
	c.coming--
	if created {
		c.names++
		c.made++
	}
	return stored, created, err
}

func (r *Registry) kind(name string) (Kind, error) {
	k, ok := r.kinds[name]
	if !ok {
		return nil, OptionError("Known kinds: "+strings.Join(slices.Sorted(maps.Keys(r.kinds)), ", ")+".",
			"unknown generator kind %q%s", name, DidYouMean(name, slices.Sorted(maps.Keys(r.kinds))))
	}
	return k, nil
}

func (r *Registry) normalize(name, kind string, options json.RawMessage) (Definition, error) {
	if err := CheckName(name); err != nil {
		return Definition{}, err
	}
	k, err := r.kind(kind)
	if err != nil {
		return Definition{}, named(err, name)
	}
	o, err := k.Normalize(options)
	if err != nil {
		return Definition{}, named(err, name)
	}
	return Definition{Name: name, Kind: kind, Options: o}, nil
}

// Alike reports whether Create with these options would store the same definition
// as d.
func (r *Registry) Alike(d Definition, options json.RawMessage) bool {
	made, err := r.normalize(d.Name, d.Kind, options)
	if err != nil {
		return false
	}
	var a, b any
	return json.Unmarshal(made.Options, &a) == nil && json.Unmarshal(d.Options, &b) == nil && reflect.DeepEqual(a, b)
}

// checkDeclared returns ErrPinned for a definition that contradicts this server's
// configuration: ids of a name must mean the same on every server.
func (r *Registry) checkDeclared(k Kind, d Definition) error {
	want, ok := r.declared[d.Name]
	if !ok {
		return nil
	}
	if want.Kind == d.Kind {
		if bytes.Equal(want.Options, d.Options) {
			return nil
		}
		for _, stored := range []json.RawMessage{d.Options, public(k, d).Options} {
			now, err := k.Normalize(stored)
			if err == nil && bytes.Equal(unmoved(k, want.Options), unmoved(k, now)) {
				return nil
			}
		}
	}
	return Errorf(ErrPinned, d.Name, "Make the configuration of this server agree with the store, or remove the generator from it.",
		"generator %q is configured here as %s %s, which contradicts %s %s",
		d.Name, want.Kind, public(r.kinds[want.Kind], want).Options, d.Kind, public(k, d).Options)
}

// unmoved returns normalized options without those of Movable.
func unmoved(k Kind, options json.RawMessage) json.RawMessage {
	m, ok := KindAs[Movable](k)
	var fields map[string]json.RawMessage
	if !ok || json.Unmarshal(options, &fields) != nil {
		return options
	}
	for _, name := range m.Position() {
		delete(fields, name)
	}
	rest, err := json.Marshal(fields)
	if err != nil {
		return options
	}
	return rest
}

// validName matches names of at most MaxNameBytes.
var validName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.:-]{0,127}$`)

// CheckName returns an ErrName unless name can be the name of a generator.
func CheckName(name string) error {
	if validName.MatchString(name) {
		return nil
	}
	return Errorf(ErrName, "", "A name begins with a letter or _, goes on with letters, digits and _ . : - and has at most 128 characters.",
		"invalid generator name %q", clip(name))
}

// named sets the Name of an *Error that has none.
func named(err error, name string) error {
	var e *Error
	if errors.As(err, &e) && e.Name == "" {
		c := *e
		c.Name = name
		return &c
	}
	return err
}
