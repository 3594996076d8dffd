package shared

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"nextid/generator"
)

// highWater holds the high-water mark of each key. See the package comment.
type highWater struct {
	path string // "" for none

	mu    sync.Mutex
	seen  map[string]mark
	file  *os.File // nil without a path, or after an error
	lines int      // in file
}

// position is the end of the latest reservation of a key, and its seq.
type position struct{ hi, seq int64 }

// mark is a high-water mark. This server's reservations from begin to hi have no gap, and
// floor is hi before them. When all of them were given back, another server may own what
// is on both sides of begin. It may then give back below begin.
type mark struct {
	position
	begin, floor int64
}

// markAt returns a mark with an unknown begin.
func markAt(s position) mark { return mark{s, math.MinInt64, math.MinInt64} }

const highWaterHead = "# How far each key of the shared store had come when this server last saw it: key, end, count.\n" +
	"# It shows a store that went back. Remove it only when the server is to use another store.\n"

// openHighWater reads the file at path, if there is one, and writes it anew.
func openHighWater(path string) (*highWater, error) {
	w := &highWater{path: path, seen: map[string]mark{}}
	if path == "" {
		return w, nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	if err := w.read(); err != nil {
		return nil, err
	}
	return w, w.rewrite()
}

func (w *highWater) read() error {
	text, err := os.ReadFile(w.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for line := range strings.Lines(string(text)) {
		var key string
		var s position
		// A line cut off by a crash is ignored.
		if n, err := fmt.Sscanf(line, "%q %d %d.", &key, &s.hi, &s.seq); err == nil && n == 3 {
			w.seen[key] = markAt(s)
		}
	}
	return err
}

// rewrite writes the file with one line per key. The caller holds mu, or no other
// goroutine uses w.
func (w *highWater) rewrite() error {
	if w.file != nil {
		w.file.Close()
		w.file = nil
	}
	f, err := os.OpenFile(w.path+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	var text strings.Builder
	text.WriteString(highWaterHead)
	for key, s := range w.seen {
		text.WriteString(line(key, s.position))
	}
	if _, err = f.WriteString(text.String()); err == nil {
		err = os.Rename(w.path+".new", w.path)
	}
	if err != nil {
		return errors.Join(err, f.Close())
	}
	w.file, w.lines = f, len(w.seen)
	return nil
}

// The full stop shows that the line is whole.
func line(key string, s position) string { return fmt.Sprintf("%q %d %d.\n", key, s.hi, s.seq) }

// look returns the high-water mark of a key.
func (w *highWater) look(key string) (s position, known bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	m, known := w.seen[key]
	return m.position, known
}

// grant compares a grant with the high-water mark and records it. If the grant goes
// back, it returns the mark and true instead. The grants of a key must come in
// their order. Rows that a server writes about itself may go back with a declared
// failover: its clock was corrected, and no ids depend on them.
func (w *highWater) grant(key string, lo int64, s position) (before position, back bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	m, known := w.seen[key]
	declared := !issuedBy(key) && s.seq/skipCount > m.seq/skipCount
	if known && !declared && (lo < m.hi || s.seq <= m.seq) {
		return m.position, true
	}
	switch {
	case !known:
		m = mark{begin: lo, floor: math.MinInt64}
	case lo != m.hi:
		m = mark{begin: lo, floor: m.hi}
	}
	m.position = s
	w.set(key, m)
	return position{}, false
}

// ends lists the high-water marks of the keys that begin with prefix, ordered by
// key.
func (w *highWater) ends(prefix string) []generator.Mark {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []generator.Mark
	for key, s := range w.seen {
		if strings.HasPrefix(key, prefix) {
			all = append(all, generator.Mark{Key: key, Hi: s.hi})
		}
	}
	slices.SortFunc(all, func(a, b generator.Mark) int { return strings.Compare(a.Key, b.Key) })
	return all
}

// raised records the seq of a key whose row was raised to the mark.
func (w *highWater) raised(key string, s position) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.seen[key].hi == s.hi {
		w.set(key, markAt(s))
	}
}

// note records s whatever was recorded before. An error of the file is ignored:
// marks that lag behind only detect less.
func (w *highWater) note(key string, s position) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.set(key, markAt(s))
}

// lower records that the end of a key may now be to. It returns the seq of the
// reservation that ended at hi. last is false if this server knows of a later one.
func (w *highWater) lower(key string, hi, to int64) (seq int64, last bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	m, known := w.seen[key]
	if !known || m.hi != hi {
		return 0, false
	}
	if m.hi = to; to <= m.begin {
		m = markAt(position{m.floor, m.seq})
	}
	w.set(key, m)
	return m.seq, true
}

// set records a mark. The caller holds mu.
func (w *highWater) set(key string, m mark) {
	w.seen[key] = m
	if w.file == nil {
		return
	}
	if w.lines++; w.lines > 1000+4*len(w.seen) {
		_ = w.rewrite()
		return
	}
	_, _ = w.file.WriteString(line(key, m.position))
}

func (w *highWater) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.file != nil {
		w.file.Close()
		w.file = nil
	}
}
