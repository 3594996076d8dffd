package engine

import (
	"errors"
	"strings"
	"unicode/utf8"

	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

// Located converts the byte offsets that the planner put into errors to character
// positions, as the protocols need.
func (p *Planner) Located(err error) error {
	var pe *posError
	if !errors.As(err, &pe) {
		return err
	}
	var se *sqlstate.Error
	if errors.As(pe.err, &se) && se.Position == 0 && pe.pos >= 0 && int(pe.pos) <= len(p.Source) {
		c := *se
		c.Position = utf8.RuneCountInString(p.Source[:pe.pos]) + 1
		return &c
	}
	return pe.err
}

// posError is an error with a position in the statement.
type posError struct {
	pos syntax.Pos
	err error
}

func (e *posError) Error() string { return e.err.Error() }
func (e *posError) Unwrap() error { return e.err }

// At adds a position to an error that has none.
func At(pos syntax.Pos, err error) error {
	if err == nil {
		return nil
	}
	if _, known := errors.AsType[*posError](err); known {
		return err
	}
	return &posError{pos, err}
}

// Unsupported returns the error for a statement or construct that nextid lacks
// (0A000).
func Unsupported(pos syntax.Pos, what string) error {
	hint := "nextid answers SELECT over its id functions and tables; it stores no rows."
	for words, instead := range refusalHints {
		if strings.HasPrefix(what, words) || strings.HasSuffix(what, words) {
			hint = instead
		}
	}
	return At(pos, sqlstate.New(sqlstate.FeatureNotSupported, "%s is not supported by nextid", what).WithHint("%s", hint))
}

// refusalHints maps the first or last words of an unsupported construct to what to
// do instead.
var refusalHints = map[string]string{
	"FLUSH":       "Users, host rules and certificates are read again on SIGHUP.",
	"GRANT":       usersFile,
	"REVOKE":      usersFile,
	"CREATE USER": usersFile,
	"CREATE ROLE": usersFile,
	"DROP USER":   usersFile,
	"DROP ROLE":   usersFile,
	"ALTER USER":  usersFile,
	"ALTER ROLE":  usersFile,
	"SHUTDOWN":    "Stop the process; SIGTERM lets running statements finish.",
	"COPY with":   "COPY (query) TO STDOUT writes text, or with FORMAT csv, and a HEADER if wanted.",
	"COPY BINARY": "COPY (query) TO STDOUT writes text, or with FORMAT csv, and a HEADER if wanted.",
	"COPY TO":     "COPY (query) TO STDOUT sends the rows to the client; psql's \\copy puts them into a file.",
	" with OVER":  "With OVER there is row_number. Aggregate in a statement of its own, or in a subquery with GROUP BY.",
}

const usersFile = "Users and their rights are in the users file: see nextid passwd."
