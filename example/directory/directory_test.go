//go:build unix

package directory_test

import (
	"os"
	"path/filepath"
	"testing"

	"nextid/dbtest"

	"example.com/ids/directory"
)

// TestStoreConformance runs the tests that every store must pass.
func TestStoreConformance(t *testing.T) {
	t.Parallel()
	driver := directory.Driver()
	dbtest.Opener(driver.Open).Conformance(t, func(t *testing.T) string {
		url := "dir://" + filepath.ToSlash(filepath.Join(t.TempDir(), "ids"))
		schema, err := driver.Schema(url)
		if err != nil {
			t.Fatal(err)
		}
		defer schema.Close()
		if _, complete, err := schema.Status(t.Context()); complete || err != nil {
			t.Errorf("complete %t before up, %v", complete, err)
		}
		for range 2 {
			if err := schema.Up(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if text, complete, err := schema.Status(t.Context()); text != "prepared; 0 generators, 0 keys" || !complete || err != nil {
			t.Errorf("%s, complete %t after up, %v", text, complete, err)
		}
		return url
	})
}

// Up leaves a state that it cannot read as it is.
func TestUpKeepsADamagedState(t *testing.T) {
	t.Parallel()
	state := filepath.Join(t.TempDir(), "state")
	if err := os.WriteFile(state, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	schema, err := directory.Driver().Schema("dir://" + filepath.ToSlash(filepath.Dir(state)))
	if err != nil {
		t.Fatal(err)
	}
	defer schema.Close()
	if err := schema.Up(t.Context()); err == nil {
		t.Error("up succeeds")
	}
	if text, err := os.ReadFile(state); string(text) != "{" {
		t.Errorf("the state is %q, %v", text, err)
	}
}
