package cmd

import (
	"errors"
	"fmt"
	"log/slog"

	"nextid/server"
)

// Exit codes of the program.
const (
	exitOK     = 0
	exitFailed = 1 // the command failed
	exitUsage  = 2 // the command line could not be parsed
)

// errUsage is the cause of the error of a command line that cannot be parsed.
var errUsage = errors.New("usage")

// failed reports err and returns the exit code. Each mistake in the configuration
// gets a line of its own.
func (p *program) failed(err error) int {
	if err == nil {
		return exitOK
	}
	var log *slog.Logger // nil: plain lines
	if p.logsJSON() {
		log = slog.New(slog.NewJSONHandler(p.stderr, nil))
	}
	if mistakes, ok := errors.AsType[server.Mistakes](err); ok {
		for _, m := range mistakes {
			if log != nil {
				log.Error("the configuration has a mistake", "error", m.String())
			} else {
				fmt.Fprintf(p.stderr, "nextid: %s\n", m)
			}
		}
		return exitFailed
	}
	code := exitFailed
	if errors.Is(err, errUsage) {
		code = exitUsage
	}
	text, hint := server.OneLine(err.Error()), server.OneLine(server.HintOf(err))
	switch {
	case log != nil:
		log.Error("nextid ends", "error", text, "hint", hint)
	case hint != "":
		fmt.Fprintf(p.stderr, "nextid: %s\nhint: %s\n", text, hint)
	default:
		fmt.Fprintf(p.stderr, "nextid: %s\n", text)
	}
	return code
}
