package layout

import (
	"cmp"
	_ "embed" // presetTable
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"nextid/generator"
)

// Default is the layout of generators without the option.
const Default = "twitter"

// twitterEpoch is 2010-11-04 01:42:54.657 UTC, in Unix milliseconds
// (twitter/snowflake, IdWorker.scala).
const twitterEpoch = 1288834974657

// presetTable is the table of known systems: name, epoch in Unix ms, unit, fields,
// Layout.Start and Layout.Note. A row must never change, since ids issued with it
// would get another meaning.
//
//go:embed presets.tsv
var presetTable string

var (
	mu    sync.RWMutex // guards known
	known = index()    // the layouts of the table and of Add, by lower-case name
)

// get returns the layout of a lower-case name, nil for an unknown one.
func get(name string) *Layout {
	mu.RLock()
	defer mu.RUnlock()
	return known[name]
}

// signed lists the presets of systems whose time has no end and uses all bits; see
// Layout.Signed. Baidu's ids are negative since 2024-11-20, Instagram's from 2046
// on, Discord's from 2084, TSIDs from 2089.
var signed = []string{"baidu", "instagram", "discord", "tsid"}

// Carry is the Start of a system whose sequence continues from tick to tick.
const Carry = "carry"

// index returns the presets by name. It panics on a mistake in the table.
func index() map[string]*Layout {
	m := map[string]*Layout{}
	for i, row := range strings.Split(strings.TrimSpace(presetTable), "\n") {
		if i == 0 {
			continue // names of the columns
		}
		c := strings.Split(row, "\t")
		epoch, err1 := strconv.ParseInt(c[1], 10, 64)
		unit, err2 := time.ParseDuration(c[2])
		var fields FieldList
		err3 := fields.parse(c[3])
		l, err4 := New(c[0], fields, time.UnixMilli(epoch), unit)
		if err := errors.Join(err1, err2, err3, err4); err != nil {
			panic("layout " + c[0] + ": " + err.Error())
		}
		l.Start, l.Note, l.Signed = c[4], c[5], slices.Contains(signed, l.Name)
		m[l.Name] = l
	}
	return m
}

// Add adds a layout to this process under its name in lower case. A name keeps its
// layout, since ids issued with it would get another meaning.
func Add(l *Layout) error {
	if l == nil || len(l.Fields) == 0 {
		return errors.New("a layout comes from layout.New")
	}
	name := strings.ToLower(l.Name)
	mu.Lock()
	defer mu.Unlock()
	if there := known[name]; there != nil && !there.same(l) {
		return fmt.Errorf("layout %q is known already, with other fields", l.Name)
	}
	known[name] = cmp.Or(known[name], l)
	return nil
}

// same reports whether ids have the same meaning in both.
func (l *Layout) same(other *Layout) bool {
	return slices.Equal(l.Fields, other.Fields) && l.Epoch.Equal(other.Epoch) && l.Unit == other.Unit && l.Start == other.Start
}

// Preset returns a known layout. Names are not case-sensitive.
func Preset(name string) (*Layout, error) {
	name = strings.ToLower(name)
	if l := get(name); l != nil {
		return l, nil
	}
	names := Names()
	return nil, fmt.Errorf("unknown layout %q%s: known are %s", name, generator.DidYouMean(name, names), strings.Join(names, ", "))
}

// Names returns the names of the known layouts.
func Names() []string {
	mu.RLock()
	defer mu.RUnlock()
	return slices.Sorted(maps.Keys(known))
}

// Presets returns the known layouts, sorted by name.
func Presets() []*Layout {
	mu.RLock()
	defer mu.RUnlock()
	return slices.SortedFunc(maps.Values(known), func(a, b *Layout) int { return cmp.Compare(a.Name, b.Name) })
}
