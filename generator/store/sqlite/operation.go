package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"nextid/generator"
)

// The operations return a *generator.Error if the call is wrong or a single row
// refuses it. Any other error comes from the database.

// runReserve grants a reservation. now is in Unix milliseconds.
func (s *statements) runReserve(ctx context.Context, r generator.Reservation, now int64) (lo, hi int64, err error) {
	err = s.reserve.QueryRowContext(ctx, r.Key, r.AtLeast, r.N, r.Limit, r.Owner, now).Scan(&lo, &hi)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, 0, s.refusedReserve(ctx, r)
	}
	return lo, hi, err
}

// refusedReserve returns the reason why Reserve changed nothing. It grants nothing.
func (s *statements) refusedReserve(ctx context.Context, r generator.Reservation) error {
	var hi int64
	intact := true
	err := s.standing.QueryRowContext(ctx, r.Key).Scan(&hi, &intact)
	switch {
	case err != nil && !errors.Is(err, sql.ErrNoRows):
		return err
	case !intact:
		return damagedRow("reservation", r.Key)
	default:
		return &generator.Error{
			Kind:    generator.ErrExhausted,
			Message: fmt.Sprintf("%q has no numbers left below %d", r.Key, r.Limit),
		}
	}
}

// runRelease gives back [to, hi) if hi is still the end of the key's reservations.
func (s *statements) runRelease(ctx context.Context, key string, hi, to, now int64) error {
	_, err := s.release.ExecContext(ctx, key, hi, to, now)
	return err
}

// runReserved returns the marks of all keys with a prefix, in the order of the
// keys.
func (s *statements) runReserved(ctx context.Context, prefix string) ([]generator.Mark, error) {
	return collect(s.reserved, scanMark, ctx, prefix, prefixEnd(prefix))
}

// runMark returns the mark of a key, or none.
func (s *statements) runMark(ctx context.Context, key string) ([]generator.Mark, error) {
	return collect(s.mark, scanMark, ctx, key)
}

// scanMark reads key, hi, owner, updated and intact. A damaged row is an error.
func scanMark(rows *sql.Rows) (m generator.Mark, err error) {
	var updated int64
	var intact bool
	if err = rows.Scan(&m.Key, &m.Hi, &m.Owner, &updated, &intact); err == nil && !intact {
		err = damagedRow("reservation", m.Key)
	}
	m.Updated = time.UnixMilli(updated)
	return m, err
}

// runDefine stores a definition unless the name exists. It returns the stored one.
func (s *statements) runDefine(ctx context.Context, d generator.Definition, now int64) (
	stored generator.Definition, created bool, err error,
) {
	var at int64
	err = s.define.QueryRowContext(ctx, d.Name, d.Kind, string(d.Options), now).Scan(&d.Version, &at)
	if errors.Is(err, sql.ErrNoRows) {
		stored, err = s.runDefined(ctx, d.Name)
		if errors.Is(err, generator.ErrUnknown) {
			err = generator.ChangedError(d.Name)
		}
		return stored, false, err
	}
	d.Created = time.UnixMilli(at)
	return d, err == nil, err
}

// runRedefine changes the options of a name if its version is still d.Version.
func (s *statements) runRedefine(ctx context.Context, d generator.Definition) (generator.Definition, error) {
	var at int64
	err := s.redefine.QueryRowContext(ctx, d.Name, d.Version, string(d.Options)).Scan(&d.Kind, &d.Version, &at)
	if errors.Is(err, sql.ErrNoRows) {
		if _, err := s.runDefined(ctx, d.Name); err != nil {
			return generator.Definition{}, err
		}
		return generator.Definition{}, generator.ChangedError(d.Name)
	}
	d.Created = time.UnixMilli(at)
	return d, err
}

// runUndefine marks a name as dropped. Its row keeps the version.
func (s *statements) runUndefine(ctx context.Context, name string) error {
	var version int64
	err := s.undefine.QueryRowContext(ctx, name).Scan(&version)
	if !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	if _, err := s.runDefined(ctx, name); err != nil {
		return err
	}
	return generator.ChangedError(name)
}

// runDefined returns the definition of a name. Dropped names are ErrUnknown.
func (s *statements) runDefined(ctx context.Context, name string) (generator.Definition, error) {
	d, dropped, err := scanDefinition(s.defined.QueryRowContext(ctx, name))
	if dropped || errors.Is(err, sql.ErrNoRows) {
		return generator.Definition{}, &generator.Error{
			Kind: generator.ErrUnknown, Name: name,
			Message: fmt.Sprintf("generator %q does not exist", name),
		}
	}
	return d, err
}

// runList returns all definitions in the order of their names, without dropped
// ones.
func (s *statements) runList(ctx context.Context) ([]generator.Definition, error) {
	return collect(s.list, func(rows *sql.Rows) (generator.Definition, error) {
		d, _, err := scanDefinition(rows)
		return d, err
	}, ctx)
}

// scanDefinition reads name, kind, options, version, created, dropped and intact. A
// damaged row is an error and never counts as dropped.
func scanDefinition(row interface{ Scan(dest ...any) error }) (d generator.Definition, dropped bool, err error) {
	var options string
	var created int64
	var intact bool
	if err := row.Scan(&d.Name, &d.Kind, &options, &d.Version, &created, &dropped, &intact); err != nil {
		return generator.Definition{}, false, err
	}
	if !intact {
		return generator.Definition{}, false, damagedRow("generator", d.Name)
	}
	d.Options = json.RawMessage(options)
	d.Created = time.UnixMilli(created)
	return d, dropped, nil
}

// collect runs a query and reads all of its rows.
func collect[V any](stmt *sql.Stmt, scan func(*sql.Rows) (V, error), ctx context.Context, args ...any) ([]V, error) {
	rows, err := stmt.QueryContext(ctx, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []V
	for rows.Next() {
		v, err := scan(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, rows.Err()
}

// prefixEnd returns the least text above every text that begins with prefix. It
// returns "" if none can be made by raising an ASCII character.
func prefixEnd(prefix string) string {
	for i := len(prefix) - 1; i >= 0; i-- {
		if c := prefix[i]; c < 0x7f {
			return prefix[:i] + string(rune(c+1))
		}
	}
	return ""
}
