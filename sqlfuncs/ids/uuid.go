package ids

import (
	"errors"

	"nextid/generator/uuid"
	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/sqlstate"
)

// pgUUIDFunctions are PostgreSQL 18's functions of UUIDs.
var pgUUIDFunctions = []engine.Function{
	makeUUID("gen_random_uuid", "a random UUID (version 4)", (*uuid.Source).V4),
	makeUUID("uuidv4", "a random UUID (version 4)", (*uuid.Source).V4),
	drawing("uuidv7(shift interval?) uuid", "a UUID that grows with time (version 7), its time moved by shift", uuidV7),
	{
		// Of any type, so that an untyped literal is a shift, as in PostgreSQL.
		Name: "uuidv7", Args: []engine.Argument{{Name: "at", Type: engine.AnyType}}, Result: datum.UUID, Volatile: engine.Volatile, Does: engine.Typed(uuidV7At),
		Help: "a UUID of version 7 of a time (timestamptz)",
	},
	{Name: "uuid_extract_timestamp", Args: engine.Args(datum.UUID), Result: datum.TimestampTZ, Does: engine.Eval(uuidTime), Help: "when a UUID of version 1, 6 or 7 was made"},
	{Name: "uuid_extract_version", Args: engine.Args(datum.UUID), Result: datum.Int2, Does: engine.Eval(uuidVersion), Help: "version of a UUID"},
}

// uuidFunctions are those of its extension uuid-ossp, and what RFC 9562 has
// besides.
var uuidFunctions = []engine.Function{
	makeUUID("uuid_generate_v1", "a UUID of time and node (version 1)", (*uuid.Source).V1),
	makeUUID("uuid_generate_v1mc", "a UUID of time and a random node (version 1)", (*uuid.Source).V1MC),
	makeUUID("uuid_generate_v4", "a random UUID (version 4)", (*uuid.Source).V4),
	makeUUID("uuid_generate_v6", "a UUID of time and node that grows with time (version 6)", (*uuid.Source).V6),
	makeUUID("uuid_generate_v7", "a UUID that grows with time (version 7)", (*uuid.Source).V7),
	makeUUID("uuid_v4", "MariaDB's name of uuidv4", (*uuid.Source).V4),
	makeUUID("uuid_v7", "MariaDB's name of uuidv7", (*uuid.Source).V7),
	ofArgs("uuid_generate_v3(namespace uuid, name text) uuid", "the UUID of a name, by MD5 (version 3)",
		func(a []datum.Value) uuid.UUID { return uuid.V3(UUIDOf(a[0]), a[1].Str) }),
	ofArgs("uuid_generate_v3(name text) uuid", "the UUID of a name without a namespace, as Java's nameUUIDFromBytes (version 3)",
		func(a []datum.Value) uuid.UUID { return uuid.V3Bytes(a[0].Str) }),
	ofArgs("uuid_generate_v3(bytes bytea) uuid", "the UUID of bytes without a namespace, as Java's nameUUIDFromBytes (version 3)",
		func(a []datum.Value) uuid.UUID { return uuid.V3Bytes(a[0].Str) }),
	ofArgs("uuid_generate_v5(namespace uuid, name text) uuid", "the UUID of a name, by SHA-1 (version 5)",
		func(a []datum.Value) uuid.UUID { return uuid.V5(UUIDOf(a[0]), a[1].Str) }),
	engine.Func("uuid_generate_v8(bits bytea) uuid", engine.Immutable, "a UUID of 16 bytes of one's own (version 8)", engine.Eval(uuidV8)),
	ofArgs("uuid_guid(u uuid) uuid", "changes between the byte orders of UUIDs and Microsoft's GUIDs", func(a []datum.Value) uuid.UUID { return UUIDOf(a[0]).GUID() }),
	ofArgs("uuid_swap(u uuid) uuid", "the form of MySQL's UUID_TO_BIN(u, 1)", func(a []datum.Value) uuid.UUID { return UUIDOf(a[0]).Swapped() }),
	ofArgs("uuid_unswap(u uuid) uuid", "undoes uuid_swap", func(a []datum.Value) uuid.UUID { return UUIDOf(a[0]).Unswapped() }),
	constantUUID("uuid_nil", uuid.Nil), constantUUID("uuid_max", uuid.Max), constantUUID("uuid_ns_dns", uuid.DNS),
	constantUUID("uuid_ns_url", uuid.URL), constantUUID("uuid_ns_oid", uuid.OID), constantUUID("uuid_ns_x500", uuid.X500),
	drawing("gen_ulid() text", "a ULID that rises, as the extension pgx_ulid names it", makeULID),
	drawing("generate_ulid() text", "a ULID that rises, as pgulid names it", makeULID),
}

// UUIDOf is the UUID that a value of type uuid holds.
func UUIDOf(v datum.Value) uuid.UUID { return uuid.UUID([]byte(v.Str)) }

func makeUUID(name, help string, draw func(*uuid.Source) uuid.UUID) engine.Function {
	return drawing(name+"() uuid", help, func(x *engine.Exec, _ []datum.Value) (datum.Value, error) {
		return datum.MakeUUID(draw(serverOf(x).UUIDs)), nil
	})
}

func makeULID(x *engine.Exec, _ []datum.Value) (datum.Value, error) {
	code, err := serverOf(x).UUIDs.ULID()
	return datum.MakeText(code), err
}

// ofArgs declares an immutable function that makes a UUID of its arguments.
func ofArgs(signature, help string, of func(a []datum.Value) uuid.UUID) engine.Function {
	return engine.Func(signature, engine.Immutable, help, engine.Eval(func(_ *engine.Exec, a []datum.Value) (datum.Value, error) {
		return datum.MakeUUID(of(a)), nil
	}))
}

func constantUUID(name string, u uuid.UUID) engine.Function {
	return ofArgs(name+"() uuid", u.String(), func([]datum.Value) uuid.UUID { return u })
}

func uuidV7(x *engine.Exec, a []datum.Value) (datum.Value, error) {
	if len(a) == 0 {
		return datum.MakeUUID(serverOf(x).UUIDs.V7()), nil
	}
	// Months and days are those of the calendar from now on.
	now := datum.TimestampTZFromTime(x.Host.Now())
	shifted, err := datum.Compute('+', now, a[0], x.Env())
	if err != nil {
		return datum.Value{}, err
	}
	u, err := serverOf(x).UUIDs.V7Shifted(shifted.Int - now.Int)
	return uuidInRange(u, err)
}

func uuidInRange(u uuid.UUID, err error) (datum.Value, error) {
	if errors.Is(err, uuid.ErrRange) {
		err = sqlstate.New(sqlstate.DatetimeOverflow, "timestamp out of range for UUID version 7").
			WithHint("A UUID of version 7 holds the times from 1970 to the year 10889.")
	}
	return datum.MakeUUID(u), err
}

// uuidV7At is uuidv7(timestamptz).
func uuidV7At(p *engine.Planner, args []*engine.Expr) (*engine.Expr, error) {
	switch args[0].Type {
	case datum.TimestampTZ, datum.Timestamp, datum.Date:
	default:
		return nil, sqlstate.New(sqlstate.UndefinedFunction, "function uuidv7(%s) does not exist", datum.FormatType(args[0].Type, -1)).
			WithHint("uuidv7() takes nothing, a shift of type interval, or a time of type timestamptz.")
	}
	at, err := p.Coerce(args[0], datum.TimestampTZ, datum.ImplicitCast)
	if err != nil {
		return nil, err
	}
	made := engine.Derive(datum.UUID, func(x *engine.Exec) (datum.Value, error) {
		v, err := at.Eval(x)
		if err != nil || !v.Valid {
			return datum.Null(datum.UUID), err
		}
		return uuidInRange(uuid.V7At(v.GoTime()))
	}, at)
	made.Volatile = true
	return made, nil
}

func uuidV8(_ *engine.Exec, a []datum.Value) (datum.Value, error) {
	if len(a[0].Str) != len(uuid.UUID{}) {
		return datum.Value{}, sqlstate.New(sqlstate.InvalidParameterValue, "a UUID has 16 bytes, not %d", len(a[0].Str))
	}
	return datum.MakeUUID(uuid.Own([16]byte([]byte(a[0].Str)))), nil
}

func uuidTime(_ *engine.Exec, a []datum.Value) (datum.Value, error) {
	t, ok := UUIDOf(a[0]).Time()
	if !ok {
		return datum.Null(datum.TimestampTZ), nil
	}
	return datum.TimestampTZFromTime(t), nil
}

func uuidVersion(_ *engine.Exec, a []datum.Value) (datum.Value, error) {
	u := UUIDOf(a[0])
	if !u.Standard() {
		return datum.Null(datum.Int2), nil
	}
	return datum.Value{Type: datum.Int2, Valid: true, Int: int64(u.Version())}, nil
}

// TimeUUID is a new UUID of time and node (version 1).
func TimeUUID(x *engine.Exec) uuid.UUID { return serverOf(x).UUIDs.V1() }
