package datum

import "time"

// Env holds what the text forms depend on: the session's settings.
type Env struct {
	Location         *time.Location // TimeZone; nil: UTC
	ExtraFloatDigits int            // PostgreSQL's extra_float_digits; > 0 (the default, 1) is shortest-precise
	ByteaEscape      bool
	Names            Names  // resolves reg* types; nil: only numbers
	Worker           Worker // ends long conversions; nil: nothing does
}

// Worker is told of work, in bytes that were looked at. Its error ends it.
type Worker interface{ Work(n int) error }

// work tells the environment's worker.
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
