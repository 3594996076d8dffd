package sqlfuncs

import (
	"context"
	"sync"
	"time"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
)

// mysqlSessionFunctions tell a client where it is (manual, 12.16).
var mysqlSessionFunctions = families(
	[]function{
		sessionText("version", func(x *exec) string { return sessionOf(x).server.MySQLVersion() }),
		{name: "connection_id", result: datum.Int4, volatile: stable, eval: func(x *exec, _ []datum.Value) (datum.Value, error) {
			return datum.MakeInt4(int64(sessionOf(x).options.PID)), nil
		}},
		{
			name: "last_insert_id", args: []argument{{typ: datum.Int8, optional: true}}, result: datum.Int8, volatile: isVolatile,
			help: "the newest id that this session drew, or set with LAST_INSERT_ID(n)", eval: lastInsertID,
		},
		{name: "found_rows", result: datum.Int8, volatile: isVolatile, eval: func(x *exec, _ []datum.Value) (datum.Value, error) {
			return datum.MakeInt8(sessionOf(x).mysql.foundRows), nil
		}},
		{name: "row_count", result: datum.Int8, volatile: isVolatile, eval: func(x *exec, _ []datum.Value) (datum.Value, error) {
			return datum.MakeInt8(sessionOf(x).mysql.rowCount), nil
		}},
		{name: "sleep", args: args(datum.Float8), result: datum.Int4, volatile: isVolatile, eval: sleepMySQL},
		{
			name: "benchmark", args: args(anyElement, anyElement), result: datum.Int4, volatile: isVolatile,
			eval: func(*exec, []datum.Value) (datum.Value, error) { return datum.Value{}, benchmarkRefused },
		},
		{name: "get_lock", args: args(datum.Text, datum.Float8), result: datum.Int4, volatile: isVolatile, eval: getLock},
		{name: "release_lock", args: args(datum.Text), result: datum.Int4, volatile: isVolatile, eval: releaseLock},
		{name: "is_free_lock", args: args(datum.Text), result: datum.Int4, volatile: isVolatile, eval: isFreeLock},
		{name: "is_used_lock", args: args(datum.Text), result: datum.Int4, volatile: isVolatile, eval: isUsedLock},
		{name: "release_all_locks", result: datum.Int4, volatile: isVolatile, eval: func(x *exec, _ []datum.Value) (datum.Value, error) {
			return datum.MakeInt4(int64(sessionOf(x).server.locks.releaseAll(sessionOf(x)))), nil
		}},
		{name: "current_role", result: datum.Text, volatile: stable, eval: func(*exec, []datum.Value) (datum.Value, error) { return datum.Null(datum.Text), nil }},
		{name: "coercibility", args: args(anyElement), result: datum.Int4, typed: coercibility},
	},
	alias(function{name: "database", result: datum.Text, volatile: stable, collation: systemCollation, eval: func(x *exec, _ []datum.Value) (datum.Value, error) {
		return textOrNull(sessionOf(x).mysql.database), nil
	}}, "schema"),
	alias(sessionText("user", func(x *exec) string { return sessionOf(x).account() }), "session_user", "system_user"),
	[]function{sessionText("current_user", func(x *exec) string { return sqlstate.Cut(sessionOf(x).options.User, 64) + "@%" })},
)

func families(lists ...[]function) []function {
	var out []function
	for _, f := range lists {
		out = append(out, f...)
	}
	return out
}

func sessionText(name string, f func(x *exec) string) function {
	return function{
		name: name, result: datum.Text, volatile: stable, collation: systemCollation,
		eval: func(x *exec, _ []datum.Value) (datum.Value, error) { return datum.MakeText(f(x)), nil },
	}
}

func lastInsertID(x *exec, a []datum.Value) (datum.Value, error) {
	m := &sessionOf(x).mysql
	if len(a) > 0 {
		m.lastInsert, m.insertID = uint64(a[0].Int), uint64(a[0].Int)
		return a[0], nil
	}
	return datum.MakeInt8(int64(m.lastInsert)), nil
}

// maxSleep bounds SLEEP; max_statement_time may end it before.
const maxSleep = 24 * time.Hour

func sleepMySQL(x *exec, a []datum.Value) (datum.Value, error) {
	if a[0].Float < 0 {
		return datum.Value{}, sqlstate.New(sqlstate.InvalidParameterValue, "Incorrect arguments to sleep")
	}
	sessionOf(x).waits()
	timer := time.NewTimer(time.Duration(min(a[0].Float, maxSleep.Seconds()) * float64(time.Second)))
	defer timer.Stop()
	select {
	case <-timer.C:
		return datum.MakeInt4(0), nil
	case <-x.ctx.Done():
		return datum.Value{}, x.ctx.Err()
	}
}

// ---- GET_LOCK ----

// namedLocks are the locks of GET_LOCK: advisory, of this server only.
type namedLocks struct {
	mu   sync.Mutex
	held map[string]*namedLock
}

type namedLock struct {
	owner *Session
	count int
	freed chan struct{} // closed when it is free
}

// maxNamedLocks bounds the locks of one session.
const maxNamedLocks = 64

func (l *namedLocks) get(ctx context.Context, s *Session, name string) (bool, error) {
	for {
		l.mu.Lock()
		if l.held == nil {
			l.held = map[string]*namedLock{}
		}
		lock := l.held[name]
		switch {
		case lock == nil:
			mine := 0
			for _, other := range l.held {
				if other.owner == s {
					mine++
				}
			}
			if mine >= maxNamedLocks {
				l.mu.Unlock()
				return false, sqlstate.New(sqlstate.LimitExceeded, "a session may hold at most %d locks", maxNamedLocks)
			}
			l.held[name] = &namedLock{owner: s, count: 1, freed: make(chan struct{})}
			s.mysql.locks = true
			l.mu.Unlock()
			return true, nil
		case lock.owner == s:
			lock.count++
			l.mu.Unlock()
			return true, nil
		}
		l.mu.Unlock()
		select {
		case <-lock.freed:
		case <-ctx.Done():
			return false, nil
		}
	}
}

func (l *namedLocks) release(name string, lock *namedLock) {
	delete(l.held, name)
	close(lock.freed)
}

func (l *namedLocks) releaseAll(s *Session) int {
	if !s.mysql.locks {
		return 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for name, lock := range l.held {
		if lock.owner == s {
			n += lock.count
			l.release(name, lock)
		}
	}
	s.mysql.locks = false
	return n
}

// lockName checks a name: MySQL's have at most 64 characters, without case.
func lockName(s string) (string, error) {
	if s == "" || len([]rune(s)) > 64 {
		return "", sqlstate.New(sqlstate.InvalidParameterValue, "Incorrect user-level lock name '%s'.", sqlstate.Cut(s, 64)).WithMySQL(3057, "42000")
	}
	return foldText(s), nil
}

func getLock(x *exec, a []datum.Value) (datum.Value, error) {
	name, err := lockName(a[0].Str)
	if err != nil {
		return datum.Value{}, err
	}
	wait := time.Duration(min(max(a[1].Float, 0), maxSleep.Seconds()) * float64(time.Second))
	if a[1].Float < 0 {
		wait = maxSleep
	}
	if wait > 0 {
		sessionOf(x).waits()
	}
	ctx, cancel := context.WithTimeout(x.ctx, wait)
	defer cancel()
	ok, err := sessionOf(x).server.locks.get(ctx, sessionOf(x), name)
	if err == nil && !ok && x.ctx.Err() != nil {
		err = x.ctx.Err()
	}
	return datum.Value{Type: datum.Int4, Valid: true, Int: map[bool]int64{true: 1}[ok]}, err
}

func releaseLock(x *exec, a []datum.Value) (datum.Value, error) {
	name, err := lockName(a[0].Str)
	if err != nil {
		return datum.Value{}, err
	}
	l := &sessionOf(x).server.locks
	l.mu.Lock()
	defer l.mu.Unlock()
	lock := l.held[name]
	switch {
	case lock == nil:
		return datum.Null(datum.Int4), nil
	case lock.owner != sessionOf(x):
		return datum.MakeInt4(0), nil
	}
	if lock.count--; lock.count == 0 {
		l.release(name, lock)
	}
	return datum.MakeInt4(1), nil
}

func isFreeLock(x *exec, a []datum.Value) (datum.Value, error) {
	v, err := isUsedLock(x, a)
	return datum.Value{Type: datum.Int4, Valid: true, Int: map[bool]int64{false: 1}[v.Valid]}, err
}

func isUsedLock(x *exec, a []datum.Value) (datum.Value, error) {
	name, err := lockName(a[0].Str)
	if err != nil {
		return datum.Value{}, err
	}
	sessionOf(x).server.locks.mu.Lock()
	defer sessionOf(x).server.locks.mu.Unlock()
	if lock := sessionOf(x).server.locks.held[name]; lock != nil {
		return datum.MakeInt4(int64(lock.owner.options.PID)), nil
	}
	return datum.Null(datum.Int4), nil
}

// ---- conditions ----

// mysqlConditionalFunctions compute no more arguments than they need.
var mysqlConditionalFunctions = []function{
	{name: "if", args: args(anyElement, anyElement, anyElement), result: anyElement, typed: ifMySQL},
	{name: "ifnull", args: args(anyElement, anyElement), result: anyElement, typed: coalesce},
	{name: "nvl", args: args(anyElement, anyElement), result: anyElement, typed: coalesce},
	{name: "nvl2", args: args(anyElement, anyElement, anyElement), result: anyElement, typed: nvl2},
	{name: "coalesce", args: args(anyElement), variadic: true, result: anyElement, typed: coalesce},
	{name: "nullif", args: args(anyElement, anyElement), result: anyElement, typed: nullIfMySQL},
	{name: "isnull", args: args(anyElement), result: datum.Bool, nullable: true, eval: func(_ *exec, a []datum.Value) (datum.Value, error) {
		return datum.MakeBool(!a[0].Valid), nil
	}},
	{name: "greatest", args: args(anyElement, anyElement), variadic: true, result: anyElement, typed: extremeMySQL(1)},
	{name: "least", args: args(anyElement, anyElement), variadic: true, result: anyElement, typed: extremeMySQL(-1)},
	{
		name: "interval", args: args(datum.Float8, datum.Float8), variadic: true, result: datum.Int4, nullable: true,
		eval: func(_ *exec, a []datum.Value) (datum.Value, error) {
			if !a[0].Valid {
				return datum.MakeInt4(-1), nil
			}
			n := int64(0)
			for _, v := range a[1:] {
				if v.Valid && v.Float > a[0].Float {
					break
				}
				n++
			}
			return datum.MakeInt4(n), nil
		},
	},
}

func ifMySQL(p *planner, es []*expr) (*expr, error) {
	cond, err := p.truthMySQL(es[0])
	if err != nil {
		return nil, err
	}
	branches := []*expr{es[1], es[2]}
	t, err := p.commonArgs("IF", branches)
	if err != nil {
		return nil, err
	}
	return derive(t, func(x *exec) (datum.Value, error) {
		v, err := cond.eval(x)
		if err != nil {
			return v, err
		}
		if v.Valid && v.Int == 1 {
			return branches[0].eval(x)
		}
		return branches[1].eval(x)
	}, cond, branches[0], branches[1]), nil
}

// nvl2 is the second argument where the first is not NULL, else the third.
func nvl2(p *planner, es []*expr) (*expr, error) {
	branches := []*expr{es[1], es[2]}
	t, err := p.commonArgs("NVL2", branches)
	if err != nil {
		return nil, err
	}
	return derive(t, func(x *exec) (datum.Value, error) {
		v, err := es[0].eval(x)
		if err != nil {
			return v, err
		}
		if v.Valid {
			return branches[0].eval(x)
		}
		return branches[1].eval(x)
	}, es[0], branches[0], branches[1]), nil
}

// nullIfMySQL returns its first argument as it is; only the comparison folds.
func nullIfMySQL(p *planner, es []*expr) (*expr, error) {
	x, finish := once(es[0])
	same, err := p.comparisonMySQL("nullif", comparisons["="], x, es[1])
	if err != nil {
		return nil, err
	}
	if x, err = p.resolveUnknown(x); err != nil {
		return nil, err
	}
	return finish(derive(x.typ, func(ex *exec) (datum.Value, error) {
		v, err := same.eval(ex)
		if err != nil || v.Valid && v.Int == 1 {
			return datum.Null(x.typ), err
		}
		return x.eval(ex)
	}, x, same)), nil
}

// extremeMySQL is GREATEST and LEAST, which are NULL when an argument is.
func extremeMySQL(sign int) func(*planner, []*expr) (*expr, error) {
	return func(p *planner, es []*expr) (*expr, error) {
		c, err := p.collationOf(es...)
		if err != nil {
			return nil, err
		}
		t, err := p.commonArgs("GREATEST", es)
		if err != nil {
			return nil, err
		}
		fold := p.foldOf(t, c)
		return derive(t, func(x *exec) (datum.Value, error) {
			var best datum.Value
			for i, e := range es {
				v, err := e.eval(x)
				if err != nil || !v.Valid {
					return datum.Null(t), err
				}
				c := 0
				if i > 0 {
					if c, err = datum.Compare(fold.apply(v), fold.apply(best)); err != nil {
						return v, err
					}
				}
				if i == 0 || c*sign > 0 {
					best = v
				}
			}
			return best, nil
		}, es...), nil
	}
}

// mysqlIDFunctions make and convert UUIDs (manual, 12.24), and take ids apart.
var mysqlIDFunctions = []function{
	{
		name: "uuid", result: datum.Text, volatile: isVolatile, help: "a UUID of version 1",
		eval: func(x *exec, _ []datum.Value) (datum.Value, error) {
			return datum.MakeText(sessionOf(x).server.uuids.V1().String()), nil
		},
	},
	{name: "sys_guid", result: datum.Text, volatile: isVolatile, eval: func(x *exec, _ []datum.Value) (datum.Value, error) {
		id := sessionOf(x).server.uuids.V1()
		return datum.MakeText(hexUpper(string(id[:]))), nil
	}},
	{
		name: "uuid_short", result: datum.Int8, volatile: isVolatile, help: "an id of the generator uuid_short, of its own kind",
		eval: func(x *exec, _ []datum.Value) (datum.Value, error) { return drawID(x, "uuid_short") },
	},
	{name: "is_uuid", args: args(datum.Text), result: datum.Bool, eval: func(_ *exec, a []datum.Value) (datum.Value, error) {
		_, ok := parseUUIDMySQL(a[0].Str)
		return datum.MakeBool(ok), nil
	}},
	{name: "uuid_to_bin", args: []argument{{typ: datum.Text}, {typ: datum.Int8, optional: true}}, result: datum.Bytea, eval: uuidToBin},
	{name: "bin_to_uuid", args: []argument{{typ: datum.Bytea}, {typ: datum.Int8, optional: true}}, result: datum.Text, eval: binToUUID},
}

func uuidError(text, function string) error {
	return sqlstate.New(sqlstate.InvalidText, "Incorrect string value: '%s' for function %s", sqlstate.Cut(text, 64), function).WithMySQL(1411, "HY000")
}

func uuidToBin(_ *exec, a []datum.Value) (datum.Value, error) {
	b, ok := parseUUIDMySQL(a[0].Str)
	if !ok {
		return datum.Value{}, uuidError(a[0].Str, "uuid_to_bin")
	}
	if len(a) > 1 && a[1].Int != 0 { // the time's high bits first, so that rows of one time are neighbours
		b = b[12:16] + b[8:12] + b[0:8] + b[16:]
	}
	return datum.MakeString(datum.Bytea, unhex(b)), nil
}

func binToUUID(_ *exec, a []datum.Value) (datum.Value, error) {
	if len(a[0].Str) != 16 {
		return datum.Value{}, uuidError(a[0].Str, "bin_to_uuid")
	}
	u := uuidOf(a[0])
	if len(a) > 1 && a[1].Int != 0 {
		u = u.Unswapped()
	}
	return datum.MakeText(u.String()), nil
}
