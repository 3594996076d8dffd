package main

import (
	"log/slog"
	"math"
	"os"
	"runtime/debug"

	"nextid/sqlfuncs/account"
)

// limitMemory fills in what sessions may hold: a quarter of the memory that
// the process may have. Go's collector is told to keep the whole process within
// half of it (GOMEMLIMIT says otherwise): what is counted, as much again that
// has not been collected yet, and what the server itself needs.
func limitMemory(l account.Limits, log *slog.Logger) account.Limits {
	available, why := availableMemory()
	if l.Server == 0 && available > 0 {
		l.Server = available / 4
	}
	l = l.WithDefaults()
	if os.Getenv("GOMEMLIMIT") == "" && available > 0 {
		debug.SetMemoryLimit(max(available/2, min(2*l.Server, available/8*7)))
	}
	log.Debug("memory", "available", available, "limited_by", why, "sessions", l.Server, "user", l.User, "session", l.Session,
		"collector", debug.SetMemoryLimit(-1))
	return l
}

// least keeps the smallest of several bounds on memory, 0 for none.
type least struct {
	bytes int64
	why   string
}

func (l *least) bound(bytes uint64, why string) {
	if bytes > 0 && bytes <= math.MaxInt64 && (l.bytes == 0 || int64(bytes) < l.bytes) {
		l.bytes, l.why = int64(bytes), why
	}
}
