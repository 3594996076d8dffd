package server

import (
	"slices"
	"testing"
)

// A reload names the settings that differ, secrets in URLs included, and no others.
func TestReloadNamesWhatDiffers(t *testing.T) {
	t.Parallel()
	load := func(content string) Config {
		t.Helper()
		c, err := testBuild.LoadFile(writeFile(t, "nextid.yaml", content))
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	was := load("store: postgres://nextid:one@db/nextid\nstore_password: x\n")
	for content, want := range map[string][]string{
		"store: postgres://nextid:one@db/nextid\nstore_password: x\nstore_unsafe: ''\n":                              nil,
		"store: postgres://nextid:two@db/nextid\nstore_password: x\n":                                                {"store"},
		"store: postgres://nextid:one@db/nextid\nstore_password: y\nstore_unsafe: fsync\n":                           {"store_unsafe", "store_password"},
		"store: postgres://nextid:one@db/nextid\nstore_password: x\ngenerators: {a: {kind: segment, open: start}}\n": {generatorsKey},
	} {
		is := load(content)
		if inForce, restart := changedKeys(&was, &is); len(inForce) > 0 || !slices.Equal(restart, want) {
			t.Errorf("%s: in force %v, restart %v, want %v", content, inForce, restart, want)
		}
	}
}
