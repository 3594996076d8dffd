package sqlfuncs

import (
	"regexp"
	"testing"
	"testing/synctest"
	"time"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
)

func TestEveryFunctionIsComplete(t *testing.T) {
	named := regexp.MustCompile(`^[a-z_][a-z0-9_]*$`)
	for _, f := range newCatalog().AllFunctions() {
		if f.Does == nil || !named.MatchString(f.Name) || (f.Result == datum.Invalid && len(f.Columns) == 0) {
			t.Errorf("%s: does %T, result %d", f.Name, f.Does, f.Result)
		}
		switch f.Does.(type) {
		case engine.EvalOrRow:
			if len(f.Columns) == 0 {
				t.Errorf("%s: a row without columns", f.Name)
			}
		case engine.IDs:
			if f.Result != datum.Int8 || len(f.Columns) > 0 {
				t.Errorf("%s: ids of type %d, %d columns", f.Name, f.Result, len(f.Columns))
			}
		}
		for i, a := range f.Args {
			if i > 0 && f.Args[i-1].Optional && !a.Optional {
				t.Errorf("%s: argument %d may not be left out, the one before may", f.Name, i+1)
			}
		}
	}
}

func TestSleepTakesTheTimeAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := &engine.Exec{Ctx: t.Context(), Host: &Session{server: &Server{}, envOK: true}}
		start := time.Now()
		if _, err := newCatalog().Functions["pg_sleep"][0].Eval()(x, []datum.Value{datum.MakeFloat8(2.5)}); err != nil {
			t.Fatal(err)
		}
		if d := time.Since(start); d != 2500*time.Millisecond {
			t.Errorf("slept %v", d)
		}
	})
}
