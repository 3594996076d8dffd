package generator

import (
	"testing"
	"time"
)

func TestWaitsOfSlowDraws(t *testing.T) {
	t.Parallel()
	e := newEntry("orders", 0, nil)
	if w := e.Waits(); w.P99 != 0 || w.Failed != nil {
		t.Errorf("before any: %+v", w)
	}
	for range 98 {
		e.NoteWait(700 * time.Microsecond)
	}
	e.NoteWait(-time.Second) // the clock was set back
	e.NoteWait(3 * time.Second)
	if w := e.Waits(); w.P50 != 1024*time.Microsecond || w.P99 != 1024*time.Microsecond {
		t.Errorf("%+v", w)
	}
	for range 2 {
		e.NoteWait(time.Hour * 24 * 365 * 100)
	}
	e.NoteTrouble(&Error{Kind: ErrRetry}, time.Now())
	e.NoteTrouble(&Error{Kind: ErrOption}, time.Now()) // the client's
	if w := e.Waits(); w.P99 < time.Hour || len(w.Failed) != 1 || w.Failed[ErrRetry] != 1 {
		t.Errorf("%+v", w)
	}
}
