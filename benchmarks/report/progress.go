package report

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"golang.org/x/term"
)

// Progress shows how far a run is: a bar that moves on a terminal, and a line
// for each part elsewhere.
type Progress struct {
	mu       sync.Mutex
	w        io.Writer
	terminal func() (width int, ok bool)
	total    time.Duration // expected
	done     time.Duration
	part     string
	began    time.Time
}

// NewProgress expects a run of some length.
func NewProgress(w io.Writer) *Progress {
	return &Progress{w: w, began: time.Now(), terminal: func() (int, bool) {
		f, ok := w.(*os.File)
		if !ok || !term.IsTerminal(int(f.Fd())) {
			return 0, false
		}
		width, _, err := term.GetSize(int(f.Fd()))
		return width, err == nil && width > 20
	}}
}

// Expect says how much there will be to do.
func (p *Progress) Expect(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.total += d
}

// Part begins a part of the run.
func (p *Progress) Part(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.part = name
	if _, ok := p.terminal(); !ok {
		fmt.Fprintf(p.w, "%6s  %s\n", time.Since(p.began).Round(time.Second), name)
		return
	}
	p.draw("")
}

// Step says what goes on.
func (p *Progress) Step(what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.draw(what)
}

// Did says that so much of what was expected is done.
func (p *Progress) Did(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done += d
}

const barWidth = 24

func (p *Progress) draw(what string) {
	width, ok := p.terminal()
	if !ok {
		return
	}
	share := 0.0
	if p.total > 0 {
		share = min(float64(p.done)/float64(p.total), 1)
	}
	eighths := int(share * barWidth * 8)
	bar := strings.Repeat("█", eighths/8)
	if eighths%8 > 0 {
		bar += string([]rune("▏▎▍▌▋▊▉")[eighths%8-1])
	}
	line := fmt.Sprintf("%s%s %3.0f %%  %s  %s", bar, strings.Repeat("░", barWidth-utf8.RuneCountInString(bar)), share*100, p.part, what)
	if runes := []rune(line); len(runes) >= width {
		line = string(runes[:width-1])
	}
	fmt.Fprintf(p.w, "\r\x1b[K%s", line)
}

// End clears the bar.
func (p *Progress) End() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, ok := p.terminal(); ok {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
