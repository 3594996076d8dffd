package generator

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
)

// A template creates generators at their first use. It applies to the names that
// begin with its pattern without the * at the end. All templates of a store are the
// options of one definition. So a new name costs one more read of a store that other
// servers use, however many templates there are.

// templatesName is the name of that definition. No generator can have this name.
const templatesName = "*"

// maxTemplates is the greatest number of templates in a store.
const maxTemplates = 1000

// templateForm is the stored form of a template. Options are normalized by the
// kind.
type templateForm struct {
	Kind    string          `json:"kind"`
	Options json.RawMessage `json:"options"`
}

// IsPattern reports whether a name is the pattern of a template.
func IsPattern(name string) bool { return strings.HasSuffix(name, "*") }

// pattern returns the definition of a template; its Name is the pattern.
func (r *Registry) pattern(pattern, kind string, options json.RawMessage) (Definition, error) {
	prefix, ok := strings.CutSuffix(pattern, "*")
	if !ok || CheckName(prefix+"_") != nil {
		return Definition{}, Errorf(ErrName, "", "Write the beginning of the names, and a * at its end: 'inv:*'.",
			"invalid pattern %q of a template", pattern)
	}
	d, err := r.normalize(prefix+"_", kind, options)
	d.Name = pattern
	return d, err
}

// stored reads the templates of the store. d is the definition to replace; its
// Version is 0 if there is none yet.
func (r *Registry) stored(ctx context.Context) (d Definition, all map[string]templateForm, err error) {
	all = map[string]templateForm{}
	d, err = r.cfg.Store.Defined(ctx, templatesName)
	if errors.Is(err, ErrUnknown) {
		return Definition{Name: templatesName, Kind: "template"}, all, nil
	}
	if err == nil && json.Unmarshal(d.Options, &all) != nil {
		err = Errorf(ErrRegressed, "", "Restore the store, or remove the definition with the name *.",
			"the stored templates cannot be read")
	}
	return d, all, err
}

// change applies edit to the templates of the store. It repeats this if another
// server changed them meanwhile.
func (r *Registry) change(ctx context.Context, edit func(all map[string]templateForm) error) error {
	const attempts = 8 // another server may change them at the same time
	for range attempts {
		d, all, err := r.stored(ctx)
		if err == nil {
			err = edit(all)
		}
		if err == nil {
			d.Options, err = json.Marshal(all)
		}
		if err != nil {
			return err
		}
		var done bool
		if d.Version == 0 {
			_, done, err = r.cfg.Store.Define(ctx, d)
		} else {
			_, err = r.cfg.Store.Redefine(ctx, d)
			done = err == nil
		}
		r.edits.Add(1) // also after an error: the store may have made the change
		if done || err != nil && !errors.Is(err, ErrRetry) {
			return err
		}
	}
	return Errorf(ErrRetry, "", "Try again.",
		"other servers change the templates at the same time")
}

// CreateTemplate creates a template; ErrExists if the pattern has one.
func (r *Registry) CreateTemplate(ctx context.Context, pattern, kind string, options json.RawMessage) error {
	d, err := r.pattern(pattern, kind, options)
	if err != nil {
		return err
	}
	return r.change(ctx, func(all map[string]templateForm) error {
		if _, exists := all[pattern]; exists {
			return Errorf(ErrExists, "", "Drop it first: SELECT drop_template('"+pattern+"'). Generators that it made stay.",
				"template %q already exists", pattern)
		}
		if len(all) >= maxTemplates {
			return Errorf(ErrTooMany, "", "Drop some with drop_template.",
				"the store has %d templates already", len(all))
		}
		all[pattern] = templateForm{d.Kind, d.Options}
		return nil
	})
}

// DropTemplate removes a template; ErrUnknown if the pattern has none. The
// generators that it created stay.
func (r *Registry) DropTemplate(ctx context.Context, pattern string) error {
	return r.change(ctx, func(all map[string]templateForm) error {
		if _, exists := all[pattern]; !exists {
			return Errorf(ErrUnknown, "", "SELECT * FROM nextid.templates lists those that do.",
				"template %q does not exist", pattern)
		}
		delete(all, pattern)
		return nil
	})
}

// Templates lists the templates, ordered by pattern, without secrets.
func (r *Registry) Templates(ctx context.Context) ([]Definition, error) {
	_, all, err := r.stored(ctx)
	var list []Definition
	for _, pattern := range slices.Sorted(maps.Keys(all)) {
		t := all[pattern]
		list = append(list, public(r.kinds[t.Kind], Definition{Name: pattern, Kind: t.Kind, Options: t.Options}))
	}
	return list, err
}

// knownTemplates is the result of allTemplates. It is valid while Registry.edits has
// the value that it had before the store was read.
type knownTemplates struct {
	all   map[string]templateForm
	edits int64
}

// allTemplates returns the templates of the store and those of the configuration. It
// reads a store of this process alone once, and again after a change.
func (r *Registry) allTemplates(ctx context.Context) (map[string]templateForm, error) {
	edits := r.edits.Load()
	if k := r.templates.Load(); k != nil && k.edits == edits {
		return k.all, nil
	}
	_, all, err := r.stored(ctx)
	if err != nil {
		return nil, err
	}
	for pattern, declared := range r.patterns {
		if _, stored := all[pattern]; !stored { // dropped since the start
			all[pattern] = templateForm{declared.Kind, declared.Options}
		}
	}
	if r.cfg.Store.Exclusive() {
		r.templates.Store(&knownTemplates{all, edits})
	}
	return all, nil
}

// template returns the definition of a name by the template with the longest
// matching pattern. ok is false if no pattern matches. The error is ErrPinned if
// the configuration contradicts that template.
func (r *Registry) template(ctx context.Context, name string) (d Definition, ok bool, err error) {
	all, err := r.allTemplates(ctx)
	longest := ""
	for pattern := range all {
		if len(pattern) > len(longest) && strings.HasPrefix(name, strings.TrimSuffix(pattern, "*")) {
			longest = pattern
		}
	}
	if longest == "" {
		return d, false, err
	}
	t := all[longest]
	if declared, known := r.patterns[longest]; known && (declared.Kind != t.Kind || !bytes.Equal(declared.Options, t.Options)) {
		return d, false, Errorf(ErrPinned, name, "Make the configuration of this server agree with the store, or remove the template from it.",
			"template %q is configured here as %s %s, which contradicts %s %s", longest,
			declared.Kind, public(r.kinds[declared.Kind], declared).Options, t.Kind, public(r.kinds[t.Kind], Definition{Options: t.Options}).Options)
	}
	if _, err := r.kind(t.Kind); err != nil {
		return d, false, named(err, name)
	}
	return Definition{Name: name, Kind: t.Kind, Options: t.Options}, true, nil
}

// declare creates the templates of the configuration that the store does not have.
func (r *Registry) declare(ctx context.Context) error {
	if len(r.patterns) == 0 {
		return nil
	}
	return r.change(ctx, func(all map[string]templateForm) error {
		for pattern, d := range r.patterns {
			if _, exists := all[pattern]; !exists {
				all[pattern] = templateForm{d.Kind, d.Options}
			}
		}
		return nil
	})
}

// Templated returns the entry of a name that exists, or that a template creates;
// else ErrUnknown.
func (r *Registry) Templated(ctx context.Context, name string) (*Entry, error) {
	e, err := r.Existing(ctx, name)
	if errors.Is(err, ErrUnknown) {
		if _, ok, failed := r.template(ctx, name); ok || failed != nil {
			return r.Get(ctx, name)
		}
	}
	return e, err
}
