package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"nextid/generator"
	"nextid/migrations/foreign"
	"nextid/migrations/shards"
)

// Exit codes of the program.
const (
	exitOK     = 0
	exitFailed = 1 // it was understood and did not work
	exitUsage  = 2 // the command line was not understood
)

// failure is an error for the person at the terminal: what went wrong in one
// line, and what to do about it.
type failure struct {
	what  string
	hint  string
	cause error
	usage bool // the command line is wrong
}

func (f *failure) Error() string { return f.what }
func (f *failure) Unwrap() error { return f.cause }

// printFailure writes err to w and returns the exit code. Mistakes in the
// configuration come one a line, without a prefix that would repeat.
func printFailure(w io.Writer, err error) int {
	if err == nil {
		return exitOK
	}
	if mistakes, ok := errors.AsType[Mistakes](err); ok {
		for _, m := range mistakes {
			fmt.Fprintf(w, "nextid: %s\n", m)
		}
		return exitFailed
	}
	fmt.Fprintf(w, "nextid: %s\n", oneLine(err.Error()))
	hint, code := advice(err)
	if hint != "" {
		fmt.Fprintf(w, "hint: %s\n", oneLine(hint))
	}
	return code
}

// logFailure is printFailure in the form of a log of JSON.
func logFailure(w io.Writer, err error) int {
	log := slog.New(slog.NewJSONHandler(w, nil))
	if mistakes, ok := errors.AsType[Mistakes](err); ok {
		for _, m := range mistakes {
			log.Error("the configuration has a mistake", "error", m.String())
		}
		return exitFailed
	}
	hint, code := advice(err)
	log.Error("nextid ends", "error", oneLine(err.Error()), "hint", oneLine(hint))
	return code
}

// advice is what to do about an error, and the exit code it stands for.
func advice(err error) (hint string, code int) {
	if f, ok := errors.AsType[*failure](err); ok {
		if f.usage {
			return f.hint, exitUsage
		}
		return f.hint, exitFailed
	}
	if g, ok := errors.AsType[*generator.Error](err); ok {
		return g.Hint, exitFailed
	}
	if e, ok := errors.AsType[*foreign.Error](err); ok {
		return e.Hint, exitFailed
	}
	if e, ok := errors.AsType[*shards.Error](err); ok {
		return e.Hint, exitFailed
	}
	return "", exitFailed
}

// oneLine keeps a message from being mistaken for several.
func oneLine(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
}
