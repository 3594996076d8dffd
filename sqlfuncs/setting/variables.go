package setting

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// modeDefaults maps the modes of a transaction to the settings that hold their
// defaults.
var modeDefaults = map[string]string{
	"transaction_isolation":  "default_transaction_isolation",
	"transaction_read_only":  "default_transaction_read_only",
	"transaction_deferrable": "default_transaction_deferrable",
}

// Variables holds the settings of one session: the values that differ from the
// defaults, and the values that ROLLBACK and the end of the transaction restore. All
// keys are names in lower case. It belongs to the session's goroutine.
type Variables struct {
	defs    map[string]*Definition
	server  map[string]string // defaults of all sessions, which share the map
	own     []Own             // defaults of this session
	set     map[string]string // SET in this session
	local   map[string]string // SET LOCAL in this transaction
	changed []string          // reported settings that changed since TakeChanged

	undo    Saved // state at the start of the implicit transaction, if touched
	touched bool  // the implicit transaction has changed a setting
}

// Own is the value of a setting at the start of a session. Key is in lower case.
type Own struct{ Key, Value string }

// NewVariables returns the settings of a new session: defs with the server's values
// and the client's own. If own has a key twice, the last value counts.
func NewVariables(defs map[string]*Definition, server map[string]string, own []Own) Variables {
	return Variables{defs: defs, server: server, own: slices.Clip(own)}
}

// Begins returns the value of a setting at the start of the session. given reports
// whether the server or the client set it.
func (v *Variables) Begins(key string) (value string, given bool) {
	for _, o := range slices.Backward(v.own) {
		if o.Key == key {
			return o.Value, true
		}
	}
	if value, given = v.server[key]; given {
		return value, true
	}
	if s := v.defs[key]; s != nil {
		return s.Default, false
	}
	return "", false
}

// Begin changes the value that a setting had at the start of the session. It is for
// settings that SQL cannot set, such as is_superuser.
func (v *Variables) Begin(o Own) {
	v.own = slices.DeleteFunc(v.own, func(before Own) bool { return before.Key == o.Key })
	v.own = append(v.own, o)
	v.noteChange(o.Key)
}

// TakeChanged returns the reported settings that changed since the last call,
// in lower case.
func (v *Variables) TakeChanged() []string {
	changed := v.changed
	v.changed = nil
	return changed
}

// Count returns the number of settings that the session and its transaction
// changed.
func (v *Variables) Count() int { return len(v.set) + len(v.local) }

// HasLocal reports whether the transaction has settings of its own.
func (v *Variables) HasLocal() bool { return len(v.local) > 0 }

// Settle keeps the changes of an implicit transaction.
func (v *Variables) Settle() { v.touched = false }

// Rollback undoes the changes of an implicit transaction.
func (v *Variables) Rollback() (changed bool) {
	if changed = v.touched; changed {
		v.Restore(v.undo)
	}
	return changed
}

// Before returns the state that a ROLLBACK of a new block restores. The block
// includes the changes of the implicit transaction before it.
func (v *Variables) Before() Saved {
	if v.touched {
		return v.undo
	}
	return v.Save()
}

// KeepMode keeps the mode of the current transaction before a change of its default.
// Such a default applies to the next transactions. For other settings KeepMode does
// nothing.
func (v *Variables) KeepMode(key string) {
	if mode, ok := strings.CutPrefix(key, "default_"); ok && modeDefaults[mode] == key {
		now, _ := v.Get(mode)
		v.Assign(mode, now, true)
	}
}

// KeepModes keeps all modes of the current transaction.
func (v *Variables) KeepModes() {
	for _, key := range modeDefaults {
		v.KeepMode(key)
	}
}

// Saved is the state that a rollback restores.
type Saved struct{ set, local map[string]string }

// Save returns the state for Restore.
func (v *Variables) Save() Saved {
	return Saved{maps.Clone(v.set), maps.Clone(v.local)}
}

// touch must be called before each change. It saves the state for Rollback of the
// implicit transaction.
func (v *Variables) touch() {
	if !v.touched {
		v.undo, v.touched = v.Save(), true
	}
}

// Restore goes back to a saved state.
func (v *Variables) Restore(s Saved) {
	v.touched = false
	before := v.reportedValues()
	v.set, v.local = maps.Clone(s.set), maps.Clone(s.local)
	v.noteChanges(before)
}

// EndTransaction drops the values of SET LOCAL.
func (v *Variables) EndTransaction() {
	if len(v.local) == 0 {
		return
	}
	before := v.reportedValues()
	v.local = nil
	v.noteChanges(before)
}

// reportedValues returns the values of Reported.
func (v *Variables) reportedValues() []string {
	values := make([]string, len(Reported))
	for i, key := range Reported {
		values[i], _ = v.Get(key)
	}
	return values
}

// noteChanges notes the reported settings that differ from before, a result of
// reportedValues.
func (v *Variables) noteChanges(before []string) {
	for i, key := range Reported {
		if now, _ := v.Get(key); now != before[i] {
			v.noteChange(key)
		}
	}
}

// noteChange notes a change for TakeChanged, if the setting is reported.
func (v *Variables) noteChange(key string) {
	if slices.Contains(Reported, key) && !slices.Contains(v.changed, key) {
		v.changed = append(v.changed, key)
	}
}

// Get returns the value of a setting by its lower-case name. A mode that was not set
// for the current transaction has the session's default.
func (v *Variables) Get(key string) (string, bool) {
	if value, ok := v.local[key]; ok {
		return value, true
	}
	if def, ok := modeDefaults[key]; ok {
		return v.Get(def)
	}
	if value, ok := v.set[key]; ok {
		return value, true
	}
	value, given := v.Begins(key)
	return value, given || v.defs[key] != nil
}

// Assign sets a setting for the session, or for the transaction if local. value is a
// result of Normalize.
func (v *Variables) Assign(key, value string, local bool) {
	v.touch()
	old, known := v.Get(key)
	if local {
		if v.local == nil {
			v.local = map[string]string{}
		}
		v.local[key] = value
	} else {
		if v.set == nil {
			v.set = map[string]string{}
		}
		v.set[key] = value
		delete(v.local, key)
	}
	if !known || old != value {
		v.noteChange(key)
	}
}

// Reset sets a setting to its value at the start of the session.
func (v *Variables) Reset(key string, local bool) {
	def, _ := v.Begins(key)
	v.Assign(key, def, local)
}

// ResetAll resets all settings except those in keep and the modes of the transaction.
func (v *Variables) ResetAll(keep ...string) {
	v.touch()
	before := v.reportedValues()
	reset := func(key, _ string) bool { return modeDefaults[key] == "" && !slices.Contains(keep, key) }
	maps.DeleteFunc(v.set, reset)
	maps.DeleteFunc(v.local, reset)
	v.noteChanges(before)
}

// Duration returns the value of a setting with a time unit: a number in
// milliseconds, or one with a suffix as Normalize prints it. It returns 0 for values
// that are not positive.
func (v *Variables) Duration(key string) time.Duration {
	value, _ := v.Get(key)
	number, unit := splitUnit(value)
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n <= 0 {
		return 0
	}
	return time.Duration(float64(n) * timeUnits[cmp.Or(unit, "ms")] * float64(time.Millisecond))
}
