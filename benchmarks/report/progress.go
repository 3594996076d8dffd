package report

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// Progress writes a line for each part of a run.
type Progress struct {
	mu    sync.Mutex
	w     io.Writer
	began time.Time
}

// NewProgress starts the clock of a run.
func NewProgress(w io.Writer) *Progress { return &Progress{w: w, began: time.Now()} }

// Part writes the elapsed time and the name of the part that begins. It is safe for
// concurrent use.
func (p *Progress) Part(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	fmt.Fprintf(p.w, "%6s  %s\n", time.Since(p.began).Round(time.Second), name)
}
