package sqlite

import (
	"context"
	"database/sql"
	"fmt"
)

// dialect holds the SQL text of each operation of a generator.Store. Each text is
// one statement. A change returns its result itself (RETURNING), so that nothing is
// looked up again after it (rule R3). The parameters are ?1, ?2, … in the order
// given here; the results follow the colon.
type dialect struct {
	reserve  string // key, at least, n, limit, owner, now: lo, hi; no row if refused
	standing string // key: hi, intact
	release  string // key, hi, to, now
	mark     string // key: as reserved
	reserved string // prefix, end of the prefix or '': key, hi, owner, updated, intact

	define   string // name, kind, options, now: version, created; no row if the name is taken
	redefine string // name, version, options: kind, version, created; no row if refused
	undefine string // name: version; no row if refused
	defined  string // name: as scanDefinition reads it, dropped names too
	list     string // as scanDefinition reads it, without dropped names
	count    string // of the names, dropped ones too
}

// statements holds the prepared texts of a dialect.
type statements struct {
	reserve, standing, release, mark, reserved       *sql.Stmt
	define, redefine, undefine, defined, list, count *sql.Stmt
}

// preparer is implemented by *sql.Conn and *sql.DB.
type preparer interface {
	PrepareContext(ctx context.Context, query string) (*sql.Stmt, error)
}

// prepare prepares all statements. They are closed with their connection.
func (d *dialect) prepare(ctx context.Context, on preparer) (*statements, error) {
	s := new(statements)
	for _, p := range []struct {
		stmt **sql.Stmt
		text string
	}{
		{&s.reserve, d.reserve},
		{&s.standing, d.standing},
		{&s.release, d.release},
		{&s.mark, d.mark},
		{&s.reserved, d.reserved},
		{&s.define, d.define},
		{&s.redefine, d.redefine},
		{&s.undefine, d.undefine},
		{&s.defined, d.defined},
		{&s.list, d.list},
		{&s.count, d.count},
	} {
		stmt, err := on.PrepareContext(ctx, p.text)
		if err != nil {
			return nil, fmt.Errorf("prepare %q: %w", p.text, err)
		}
		*p.stmt = stmt
	}
	return s, nil
}
