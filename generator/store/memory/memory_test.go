package memory_test

import (
	"testing"
	"time"

	"nextid/generator"
	"nextid/generator/generatortest"
	"nextid/generator/store/memory"
)

func TestConformance(t *testing.T) {
	for _, exclusive := range []bool{false, true} {
		t.Run(map[bool]string{false: "shared", true: "exclusive"}[exclusive], func(t *testing.T) {
			generatortest.RunStore(t, func(*testing.T) generator.Store {
				return memory.New(memory.Config{Exclusive: exclusive})
			}, generatortest.StoreCaps{Exclusive: exclusive})
		})
	}
}

type fixedClock struct{ generator.SystemClock }

func (fixedClock) Wall() int64 { return 1_007_000_000 }

func TestTimesComeFromTheClock(t *testing.T) {
	s := memory.New(memory.Config{Clock: fixedClock{}})
	want := time.UnixMilli(1007)
	d, _, err := s.Define(t.Context(), generator.Definition{Name: "a", Kind: "segment"})
	if err != nil || !d.Created.Equal(want) {
		t.Errorf("created %v, %v; want %v", d.Created, err, want)
	}
	if _, _, err := s.Reserve(t.Context(), generator.Reservation{Key: "k", N: 1, Limit: 9}); err != nil {
		t.Fatal(err)
	}
	marks, err := s.Reserved(t.Context(), "")
	if err != nil || !marks[0].Updated.Equal(want) {
		t.Errorf("marks %+v, %v", marks, err)
	}
}
