package cmd

import (
	"errors"
	"fmt"
	"io"
	"log/slog"

	"nextid/migrations/appdb"
	"nextid/server"
)

// Exit codes of the program.
const (
	exitOK     = 0
	exitFailed = 1 // the command failed
	exitUsage  = 2 // the command line could not be parsed
)

// usageError is the error of a command line that cannot be parsed.
type usageError struct{ what, hint string }

func (e *usageError) Error() string { return e.what }

// printFailure writes err to w and returns the exit code. Each mistake in the
// configuration gets a line of its own.
func printFailure(w io.Writer, err error) int {
	if err == nil {
		return exitOK
	}
	if mistakes, ok := errors.AsType[server.Mistakes](err); ok {
		for _, m := range mistakes {
			fmt.Fprintf(w, "nextid: %s\n", m)
		}
		return exitFailed
	}
	fmt.Fprintf(w, "nextid: %s\n", server.OneLine(err.Error()))
	hint, code := advice(err)
	if hint != "" {
		fmt.Fprintf(w, "hint: %s\n", server.OneLine(hint))
	}
	return code
}

// logFailure is printFailure for a log of JSON.
func logFailure(w io.Writer, err error) int {
	log := slog.New(slog.NewJSONHandler(w, nil))
	if mistakes, ok := errors.AsType[server.Mistakes](err); ok {
		for _, m := range mistakes {
			log.Error("the configuration has a mistake", "error", m.String())
		}
		return exitFailed
	}
	hint, code := advice(err)
	log.Error("nextid ends", "error", server.OneLine(err.Error()), "hint", server.OneLine(hint))
	return code
}

// advice returns the hint of an error, and its exit code.
func advice(err error) (hint string, code int) {
	if u, ok := errors.AsType[*usageError](err); ok {
		return u.hint, exitUsage
	}
	if hint := server.HintOf(err); hint != "" {
		return hint, exitFailed
	}
	if e, ok := errors.AsType[*appdb.Error](err); ok {
		return e.Hint, exitFailed
	}
	return "", exitFailed
}
