package wire

import (
	"log/slog"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"time"
)

// panicLog logs panics, each place in the code at most once a second: a
// client that found a bug must not fill the disk with it. The places are
// lines of the program, so that there are few.
type panicLog struct {
	mu     sync.Mutex
	places map[string]*throttle
}

// note logs what was recovered. A deferred function calls it, while the panic
// is still on the stack.
func (l *panicLog) note(log *slog.Logger, message string, connection int32, cause any) {
	if skipped, ok := l.at(panicPlace()).next(time.Now()); ok {
		log.Error(message, "connection", connection, "panic", cause, "skipped", skipped, "stack", string(debug.Stack())) //nolint:sloglint // one of two constants
	}
}

func (l *panicLog) at(place string) *throttle {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.places == nil {
		l.places = map[string]*throttle{}
	}
	t := l.places[place]
	if t == nil {
		t = &throttle{}
		l.places[place] = t
	}
	return t
}

// panicPlace returns the line that panicked: the first below the call of
// panic that is not the runtime's.
func panicPlace() string {
	var pcs [64]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs[:])])
	panicked := false
	for {
		f, more := frames.Next()
		if panicked && !strings.HasPrefix(f.Function, "runtime.") {
			return f.File + ":" + strconv.Itoa(f.Line)
		}
		if panicked = panicked || f.Function == "runtime.gopanic"; !more {
			return ""
		}
	}
}
