package sqlfuncs

import (
	"errors"

	"nextid/generator/uuid"
	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/sqlstate"
)

// uuidFunctions are PostgreSQL 18's functions of UUIDs and those of its
// extension uuid-ossp, and what RFC 9562 has besides.
var uuidFunctions = append([]function{
	makeUUID("gen_random_uuid", pgCatalog, "a random UUID (version 4)", (*uuid.Source).V4),
	makeUUID("uuidv4", pgCatalog, "a random UUID (version 4)", (*uuid.Source).V4),
	{
		name: "uuidv7", args: []argument{{name: "shift", typ: datum.Interval, optional: true}}, result: datum.UUID, volatile: isVolatile, eval: uuidV7,
		help: "a UUID that grows with time (version 7), its time moved by shift",
	},
	{name: "uuid_extract_timestamp", args: args(datum.UUID), result: datum.TimestampTZ, eval: uuidTime, help: "when a UUID of version 1, 6 or 7 was made"},
	{name: "uuid_extract_version", args: args(datum.UUID), result: datum.Int2, eval: uuidVersion, help: "version of a UUID"},

	makeUUID("uuid_generate_v1", nextidSchema, "a UUID of time and node (version 1)", (*uuid.Source).V1),
	makeUUID("uuid_generate_v1mc", nextidSchema, "a UUID of time and a random node (version 1)", (*uuid.Source).V1MC),
	nameUUID("uuid_generate_v3", "the UUID of a name, by MD5 (version 3)", uuid.V3),
	{
		name: "uuid_generate_v3", schema: nextidSchema, args: []argument{{name: "name", typ: datum.Text}}, result: datum.UUID,
		help: "the UUID of a name without a namespace, as Java's nameUUIDFromBytes (version 3)",
		eval: func(_ *exec, a []datum.Value) (datum.Value, error) { return uuidValue(uuid.V3Bytes(a[0].Str)), nil },
	},
	{
		name: "uuid_generate_v3", schema: nextidSchema, args: []argument{{name: "bytes", typ: datum.Bytea}}, result: datum.UUID,
		help: "the UUID of bytes without a namespace, as Java's nameUUIDFromBytes (version 3)",
		eval: func(_ *exec, a []datum.Value) (datum.Value, error) { return uuidValue(uuid.V3Bytes(a[0].Str)), nil },
	},
	makeUUID("uuid_generate_v4", nextidSchema, "a random UUID (version 4)", (*uuid.Source).V4),
	nameUUID("uuid_generate_v5", "the UUID of a name, by SHA-1 (version 5)", uuid.V5),
	makeUUID("uuid_generate_v6", nextidSchema, "a UUID of time and node that grows with time (version 6)", (*uuid.Source).V6),
	makeUUID("uuid_generate_v7", nextidSchema, "a UUID that grows with time (version 7)", (*uuid.Source).V7),
	{
		name: "uuid_generate_v8", schema: nextidSchema, args: []argument{{name: "bits", typ: datum.Bytea}}, result: datum.UUID, eval: uuidV8,
		help: "a UUID of 16 bytes of one's own (version 8)",
	},
	{
		name: "uuid_guid", schema: nextidSchema, args: named("u", datum.UUID), result: datum.UUID, help: "changes between the byte orders of UUIDs and Microsoft's GUIDs",
		eval: func(_ *exec, a []datum.Value) (datum.Value, error) { return uuidValue(uuidOf(a[0]).GUID()), nil },
	},
	{
		name: "uuid_swap", schema: nextidSchema, args: named("u", datum.UUID), result: datum.UUID, help: "the form of MySQL's UUID_TO_BIN(u, 1)",
		eval: func(_ *exec, a []datum.Value) (datum.Value, error) { return uuidValue(uuidOf(a[0]).Swapped()), nil },
	},
	{
		name: "uuid_unswap", schema: nextidSchema, args: named("u", datum.UUID), result: datum.UUID, help: "undoes uuid_swap",
		eval: func(_ *exec, a []datum.Value) (datum.Value, error) { return uuidValue(uuidOf(a[0]).Unswapped()), nil },
	},
}, uuidConstants(map[string]uuid.UUID{
	"uuid_nil": uuid.Nil, "uuid_max": uuid.Max, "uuid_ns_dns": uuid.DNS, "uuid_ns_url": uuid.URL, "uuid_ns_oid": uuid.OID, "uuid_ns_x500": uuid.X500,
})...)

func uuidValue(u uuid.UUID) datum.Value { return datum.MakeUUID(u) }
func uuidOf(v datum.Value) uuid.UUID    { return uuid.UUID([]byte(v.Str)) }

func makeUUID(name, schema, help string, draw func(*uuid.Source) uuid.UUID) function {
	return function{
		name: name, schema: schema, result: datum.UUID, volatile: isVolatile, help: help,
		eval: func(x *exec, _ []datum.Value) (datum.Value, error) {
			return uuidValue(draw(sessionOf(x).server.uuids)), nil
		},
	}
}

func nameUUID(name, help string, of func(space uuid.UUID, name string) uuid.UUID) function {
	return function{
		name: name, schema: nextidSchema, args: []argument{{name: "namespace", typ: datum.UUID}, {name: "name", typ: datum.Text}},
		result: datum.UUID, help: help,
		eval: func(_ *exec, a []datum.Value) (datum.Value, error) { return uuidValue(of(uuidOf(a[0]), a[1].Str)), nil },
	}
}

func uuidConstants(constants map[string]uuid.UUID) []function {
	var out []function
	for name, u := range constants {
		out = append(out, function{
			name: name, schema: nextidSchema, result: datum.UUID, help: u.String(),
			eval: func(*exec, []datum.Value) (datum.Value, error) { return uuidValue(u), nil },
		})
	}
	return out
}

func uuidV7(x *exec, a []datum.Value) (datum.Value, error) {
	if len(a) == 0 {
		return uuidValue(sessionOf(x).server.uuids.V7()), nil
	}
	// Months and days are those of the calendar from now on.
	now := datum.TimestampTZFromTime(sessionOf(x).server.now())
	shifted, err := datum.AddIn(now, a[0], x.env())
	if err != nil {
		return datum.Value{}, err
	}
	u, err := sessionOf(x).server.uuids.V7Shifted(shifted.Int - now.Int)
	if errors.Is(err, uuid.ErrRange) {
		return datum.Value{}, sqlstate.New(sqlstate.DatetimeOverflow, "timestamp out of range for UUID version 7").
			WithHint("A UUID of version 7 holds the times from 1970 to the year 10889.")
	}
	return uuidValue(u), err
}

func uuidV8(_ *exec, a []datum.Value) (datum.Value, error) {
	if len(a[0].Str) != len(uuid.UUID{}) {
		return datum.Value{}, sqlstate.New(sqlstate.InvalidParameterValue, "a UUID has 16 bytes, not %d", len(a[0].Str))
	}
	return uuidValue(uuid.Own([16]byte([]byte(a[0].Str)))), nil
}

func uuidTime(_ *exec, a []datum.Value) (datum.Value, error) {
	t, ok := uuidOf(a[0]).Time()
	if !ok {
		return datum.Null(datum.TimestampTZ), nil
	}
	return datum.TimestampTZFromTime(t), nil
}

func uuidVersion(_ *exec, a []datum.Value) (datum.Value, error) {
	u := uuidOf(a[0])
	if !u.Standard() {
		return datum.Null(datum.Int2), nil
	}
	return datum.Value{Type: datum.Int2, Valid: true, Int: int64(u.Version())}, nil
}
