// Package audit writes a trail of the ids that were issued to agents, as Twitter's
// Snowflake did (AuditLogEntry: id, agent and a random tag), and of the draws from
// chosen generators. Entries are lines of JSON in a file that is rotated by its
// size.
//
// A draw never waits for the trail. Record puts an entry into a queue of fixed
// length; one goroutine owns the file and writes. If the queue is full, the entry
// is dropped and counted.
package audit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// Entry is one line of the trail: an id for an agent, or one draw from a generator.
type Entry struct {
	Time   time.Time `json:"time"`
	Name   string    `json:"name,omitempty"`  // generator name
	ID     string    `json:"id"`              // text: JavaScript's numbers are exact up to 2^53 only, and some ids are texts
	Last   string    `json:"last,omitempty"`  // last id of the run that begins with ID
	Count  int64     `json:"count,omitempty"` // ids in the run, equally far apart
	Agent  string    `json:"agent,omitempty"`
	Tag    int64     `json:"tag,string"` // random; the same in copies of a line, different for two ids
	User   string    `json:"user,omitempty"`
	Client string    `json:"client,omitempty"` // address
}

// Config configures a Trail. File is required.
type Config struct {
	File    string
	Sample  int64 // one id in Sample is written; 1: all
	MaxSize int64 // size in bytes at which the file is rotated
	Keep    int   // number of rotated files: File.1 (the newest) to File.Keep
	Queue   int   // greatest number of entries in the queue

	// Names are the generators whose draws are recorded. A * at the end matches any
	// rest.
	Names []string
}

// Records reports whether the draws from a generator are recorded.
func (c *Config) Records(name string) bool {
	return slices.ContainsFunc(c.Names, func(pattern string) bool {
		start, open := strings.CutSuffix(pattern, "*")
		return name == pattern || open && strings.HasPrefix(name, start)
	})
}

// Stats is the state of a trail. Counts are of this process.
type Stats struct {
	File    string
	Sample  int64
	Queued  int64 // entries in the queue
	Written int64
	Dropped int64 // entries that found the queue full
	Failed  int64 // entries that could not be written, or only in part
	Rotated int64
	Bytes   int64 // size of the lines written

	LastError   string // the latest error; "" for none
	LastErrorAt time.Time
}

// Trail is an open audit trail. It is safe for concurrent use.
type Trail struct {
	cfg   Config
	log   *slog.Logger
	queue chan Entry
	seen  atomic.Int64

	written, dropped, failed, rotated, bytes atomic.Int64

	trouble atomic.Pointer[trouble] // the latest error; nil for none

	ctx  context.Context // canceled by Close
	stop context.CancelFunc
	done chan struct{} // closed when all queued entries are written

	// Owned by the writing goroutine.
	file  *os.File // nil after an error and after a rotation
	buf   []byte
	lines int64     // in buf
	size  int64     // of the file, with buf
	said  time.Time // when an error was last logged
}

// trouble is a failure to write.
type trouble struct {
	err error
	at  time.Time
}

const (
	bufferSize = 64 << 10
	// flushEvery is the longest time that a line stays in the buffer.
	flushEvery = time.Second
	sayEvery   = 10 * time.Second
)

// Open opens the file and starts the writing goroutine. It returns an error if the
// file cannot be written, so that the problem shows at the start. The caller must
// call Close.
func Open(cfg Config, log *slog.Logger) (*Trail, error) {
	t := &Trail{cfg: cfg, log: log, queue: make(chan Entry, cfg.Queue), done: make(chan struct{})}
	if err := t.open(); err != nil {
		return nil, err
	}
	t.ctx, t.stop = context.WithCancel(context.Background())
	go t.write()
	return t, nil
}

// Sampled reports whether the next id belongs to the sample. The caller calls
// Record only for those.
func (t *Trail) Sampled() bool { return t.cfg.Sample <= 1 || t.seen.Add(1)%t.cfg.Sample == 1 }

// Record puts an entry into the queue. It never blocks.
func (t *Trail) Record(e Entry) {
	e.Tag = rand.Int64()
	if t.ctx.Err() == nil {
		select {
		case t.queue <- e:
			return
		default:
		}
	}
	t.dropped.Add(1)
}

// Stats returns the state of the trail.
func (t *Trail) Stats() Stats {
	s := Stats{
		File: t.cfg.File, Sample: max(t.cfg.Sample, 1), Queued: int64(len(t.queue)),
		Written: t.written.Load(), Dropped: t.dropped.Load(), Failed: t.failed.Load(), Rotated: t.rotated.Load(),
		Bytes: t.bytes.Load(),
	}
	if last := t.trouble.Load(); last != nil {
		s.LastError, s.LastErrorAt = last.err.Error(), last.at
	}
	return s
}

// Close writes the queued entries and closes the file. Later entries are dropped.
func (t *Trail) Close(ctx context.Context) error {
	t.stop()
	select {
	case <-t.done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%d lines of the audit trail are not written: %w", len(t.queue), ctx.Err())
	}
}

// write is the goroutine that owns the file.
func (t *Trail) write() {
	defer close(t.done)
	flush := time.NewTicker(flushEvery)
	defer flush.Stop()
	for {
		select {
		case e := <-t.queue:
			t.line(e)
		case <-flush.C:
			t.flush()
		case <-t.ctx.Done():
			for len(t.queue) > 0 {
				t.line(<-t.queue)
			}
			t.flush()
			t.close()
			return
		}
	}
}

// line puts one entry into the buffer.
func (t *Trail) line(e Entry) {
	b, err := json.Marshal(e)
	if err != nil {
		t.failed.Add(1)
		return
	}
	b = append(b, '\n')
	full := func() bool { return t.size > 0 && t.size+int64(len(b)) > t.cfg.MaxSize }
	if full() {
		t.flush() // lines that are lost make no file full
	}
	if full() {
		t.rotate()
	}
	t.buf = append(t.buf, b...)
	t.lines++
	t.size += int64(len(b))
	if len(t.buf) >= bufferSize {
		t.flush()
	}
}

// flush writes the buffer to the file and counts its lines. Lines of a failed flush
// are lost: the queue would only fill while the goroutine waited for the disk.
func (t *Trail) flush() {
	if t.lines == 0 {
		return
	}
	err := t.open()
	if err == nil {
		_, err = t.file.Write(t.buf)
	}
	if err == nil {
		t.written.Add(t.lines)
		t.bytes.Add(int64(len(t.buf)))
	} else {
		t.failed.Add(t.lines)
		t.size -= int64(len(t.buf)) // else lost lines would rotate files away
		t.say(err)
		t.close()
	}
	t.buf, t.lines = t.buf[:0], 0
}

func (t *Trail) say(err error) {
	now := time.Now()
	t.trouble.Store(&trouble{err, now})
	if now.Sub(t.said) >= sayEvery {
		t.said = now
		t.log.Error("cannot write the audit trail", "file", t.cfg.File, "error", err)
	}
}

// open opens the file unless it is open.
func (t *Trail) open() error {
	if t.file != nil {
		return nil
	}
	f, err := os.OpenFile(t.cfg.File, os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o640)
	if err != nil {
		return err
	}
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return errors.Join(err, f.Close())
	}
	// A full disk or a crash can leave half a line.
	var last [1]byte
	if n, _ := f.ReadAt(last[:], size-1); n == 1 && last[0] != '\n' {
		t.buf = slices.Insert(t.buf, 0, '\n')
	}
	t.file, t.size = f, size+int64(len(t.buf))
	return nil
}

func (t *Trail) close() {
	if t.file != nil {
		if err := t.file.Close(); err != nil {
			t.say(err)
		}
		t.file = nil
	}
}

// rotate renames File to File.1, File.1 to File.2 and so on. The buffer is empty.
// The next flush opens File again.
func (t *Trail) rotate() {
	t.close()
	name := func(i int) string {
		if i == 0 {
			return t.cfg.File
		}
		return t.cfg.File + "." + strconv.Itoa(i)
	}
	for i := t.cfg.Keep; i > 0; i-- {
		if err := os.Rename(name(i-1), name(i)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.say(err)
		}
	}
	if t.cfg.Keep == 0 {
		if err := os.Remove(t.cfg.File); err != nil {
			t.say(err)
		}
	}
	t.rotated.Add(1)
	t.size = 0
}
