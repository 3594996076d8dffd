package sqlite_test

import (
	"testing"

	"nextid/generator"
	"nextid/generator/generatortest"
	"nextid/generator/store/sqlite"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	dirs := make(map[generator.Store]string)
	open := func(t *testing.T, dir string) generator.Store {
		s, err := sqlite.Open(t.Context(), sqlite.Config{Dir: dir, Owner: "conformance"})
		if err != nil {
			t.Fatal(err)
		}
		dirs[s] = dir
		return s
	}
	generatortest.RunStore(t, func(t *testing.T) generator.Store { return open(t, t.TempDir()) }, generatortest.StoreCaps{
		Exclusive: true,
		Reopen: func(t *testing.T, s generator.Store) generator.Store {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			return open(t, dirs[s])
		},
	})
}
