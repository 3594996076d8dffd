package datum

import "time"

// Env holds the session's settings on which text forms depend.
type Env struct {
	Location         *time.Location // TimeZone; nil: UTC
	ExtraFloatDigits int            // PostgreSQL's extra_float_digits; > 0 (the default, 1) is shortest-precise
	ByteaEscape      bool
	Names            Names  // resolves reg* types; nil: only numbers
	Worker           Worker // ends long conversions; nil: nothing does
}

// Worker counts work, in bytes read. An error of it ends the operation.
type Worker interface{ Work(n int) error }

// work counts work at the environment's Worker.
func (e *Env) work(n int) error {
	if e == nil || e.Worker == nil {
		return nil
	}
	return e.Worker.Work(n)
}

// Names resolves the names behind regclass, regtype, regproc, regnamespace
// and regrole values. ok is false when there is no such object.
type Names interface {
	ObjectOID(t OID, name string) (oid uint32, ok bool)
	ObjectName(t OID, oid uint32) (name string, ok bool)
}
