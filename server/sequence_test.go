package server

import (
	"testing"

	"nextid/generator/layout"
)

// The options that the configuration gives to names created by nextval are valid
// for their kind, whatever the layout.
func TestOptionsOfNextvalAreValid(t *testing.T) {
	c := DefaultConfig()
	for _, l := range layout.Presets() {
		if !l.HasTime() {
			continue
		}
		c.Layout, c.Epoch = l.Name, "2020-01-01"
		made := c.sequence()
		if _, ok := l.Pooled(); !ok && made.Kind == "" {
			continue
		}
		options, err := normalize(testBuild.Kinds(Parts{Layout: c.Layout}), made.Kind, made.Options)
		if err != nil || layout.PoolOf(options) != layout.Pool {
			t.Errorf("%s: %s %s: %v", l.Name, made.Kind, options, err)
		}
	}
	for _, configured := range []struct{ create, sequence, kind string }{
		{"snowflake", autoCreatePools, "snowflake"},
		{"segment", autoCreatePools, "segment"},
		{"snowflake", "segment", "segment"},
		{"segment", autoCreateSame, ""},
		{autoCreateOff, autoCreatePools, "snowflake"},
	} {
		c = DefaultConfig()
		c.AutoCreate, c.AutoCreateSequence = configured.create, configured.sequence
		if made := c.sequence(); made.Kind != configured.kind {
			t.Errorf("%v: %v", configured, made)
		}
	}
	if made := (&Config{AutoCreateSequence: autoCreateSame}).sequence(); made.Kind != "" || made.Options != nil {
		t.Errorf("%v, want nothing", made)
	}
}
