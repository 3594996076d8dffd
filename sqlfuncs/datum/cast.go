package datum

import (
	"math"
	"strconv"

	"nextid/sqlfuncs/sqlstate"
)

// CastContext is when a cast happens by itself, as pg_cast.castcontext.
type CastContext uint8

// The contexts. A cast that is allowed in one is allowed in the ones above it.
const (
	NoCast         CastContext = iota // there is no cast
	ExplicitCast                      // only CAST(x AS t) and x::t
	AssignmentCast                    // also when a value is stored
	ImplicitCast                      // also wherever the type is needed
)

// CastAllowed reports in which context a value of type from is converted to type
// to.
func CastAllowed(from, to OID) CastContext {
	if from == to || from == Unknown {
		return ImplicitCast
	}
	if c, ok := casts[castPair{from, to}]; ok {
		return c
	}
	source, target := lookup(from), lookup(to)
	if source == nil || target == nil {
		return NoCast
	}
	if (isArray(source) || isVector(from)) && isArray(target) {
		if c := CastAllowed(source.Elem, target.Elem); c != NoCast {
			return c
		}
	}
	switch {
	case to == AnyArray && source.Category == 'A':
		return ImplicitCast
	case isVectorOf(source, target):
		return ImplicitCast
	case target.Category == 'S':
		return AssignmentCast
	case source.Category == 'S' || from == CString:
		return ExplicitCast
	}
	return NoCast
}

// isVectorOf reports whether a vector stands in for the array of its elements.
func isVectorOf(source, target *Info) bool {
	return isVector(source.OID) && isArray(target) && source.Elem == target.Elem
}

// isArray reports whether t is a true array type.
func isArray(t *Info) bool { return t.Category == 'A' && t.Elem != Invalid && !isVector(t.OID) }

type castPair struct{ from, to OID }

// casts is pg_cast between the types of this package.
var casts = func() map[castPair]CastContext {
	m := map[castPair]CastContext{
		{RegProc, RegProcedure}: ImplicitCast, {RegProcedure, RegProc}: ImplicitCast,
	}
	for _, t := range regTypes {
		m[castPair{t, Oid}], m[castPair{t, Int8}], m[castPair{t, Int4}] = ImplicitCast, AssignmentCast, AssignmentCast
	}
	for _, row := range castTable {
		for _, to := range row.implicit {
			m[castPair{row.from, to}] = ImplicitCast
		}
		for _, to := range row.assignment {
			m[castPair{row.from, to}] = AssignmentCast
		}
		for _, to := range row.explicit {
			m[castPair{row.from, to}] = ExplicitCast
		}
	}
	return m
}()

var regTypes = []OID{RegProc, RegClass, RegType, RegNamespace, RegRole, RegProcedure, RegOperator}

var castTable = []struct {
	from                           OID
	implicit, assignment, explicit []OID
}{
	{Bool, nil, []OID{Text, BPChar, Varchar}, []OID{Int4}},
	{Char, []OID{Text}, []OID{BPChar, Varchar}, nil},
	{Name, []OID{Text}, []OID{BPChar, Varchar}, nil},
	{Int2, append([]OID{Int8, Int4, Oid, Float4, Float8, Numeric}, regTypes...), nil, nil},
	{Int4, append([]OID{Int8, Oid, Float4, Float8, Numeric}, regTypes...), []OID{Int2}, []OID{Bool}},
	{Int8, append([]OID{Oid, Float4, Float8, Numeric}, regTypes...), []OID{Int2, Int4}, nil},
	{Oid, regTypes, []OID{Int8, Int4}, nil},
	{Text, []OID{Name, BPChar, Varchar, RegClass}, []OID{Char}, nil},
	{BPChar, []OID{Name, Text, Varchar}, []OID{Char}, nil},
	{Varchar, []OID{Name, Text, BPChar, RegClass}, []OID{Char}, nil},
	{PgNodeTree, []OID{Text}, nil, nil},
	{Bit, nil, nil, []OID{Int4, Int8}},
	{JSON, nil, []OID{JSONB}, nil},
	{JSONB, nil, []OID{JSON}, []OID{Bool, Int2, Int4, Int8, Float4, Float8, Numeric}},
	{Float4, []OID{Float8}, []OID{Int2, Int4, Int8, Numeric}, nil},
	{Float8, nil, []OID{Int2, Int4, Int8, Float4, Numeric}, nil},
	{Numeric, []OID{Float4, Float8}, []OID{Int2, Int4, Int8}, nil},
	{Date, []OID{Timestamp, TimestampTZ}, nil, nil},
	{Timestamp, []OID{TimestampTZ}, []OID{Date}, nil},
	{TimestampTZ, nil, []OID{Date, Timestamp}, nil},
}

// Cast converts a value as CAST(v AS to) does. An array stays as it is when to
// is AnyArray, which stands for all of them. Errors: 42846 when there is no
// such cast, else what the conversion says, 22003, 22P02, ….
func Cast(v Value, to OID, env *Env) (Value, error) {
	if v.Type == to || to == AnyArray && category(v.Type) == 'A' {
		return v, nil
	}
	if CastAllowed(v.Type, to) == NoCast {
		return Value{}, CannotCast(v.Type, to)
	}
	if !v.Valid {
		return Null(to), nil
	}
	if _, listed := casts[castPair{v.Type, to}]; listed {
		return castListed(v, to, env)
	}
	if source, target := lookup(v.Type), lookup(to); source != nil && target != nil && source.Elem != 0 && target.Category == 'A' {
		return castArray(v, target, env)
	}
	if isStringLike(to) {
		return castToString(v, to, env)
	}
	return ParseText(to, v.Str, env)
}

// CannotCast returns the error for a missing cast.
func CannotCast(from, to OID) error {
	return sqlstate.New(sqlstate.CannotCoerce, "cannot cast type %s to %s", display(from), display(to))
}

// isStringLike reports whether a type is only its text.
func isStringLike(t OID) bool {
	switch t {
	case Text, Varchar, BPChar, Name, Char, Unknown, CString, PgNodeTree:
		return true
	}
	return false
}

// castArray converts the elements.
func castArray(v Value, target *Info, env *Env) (Value, error) {
	out := MakeArray(target.OID, make([]Value, len(v.Elems)))
	for i, e := range v.Elems {
		err := env.work(elementWork + len(e.Str))
		if err != nil {
			return Value{}, err
		}
		if out.Elems[i], err = Cast(e, target.Elem, env); err != nil {
			return Value{}, err
		}
	}
	return out, nil
}

// castToString is the cast to a string type: the text form, except that a
// boolean is a word.
func castToString(v Value, to OID, env *Env) (Value, error) {
	var s string
	switch {
	case v.Type == Bool && to != Name:
		s = strconv.FormatBool(v.Int != 0)
	case isStringLike(v.Type) && v.Type != Char:
		s = v.Str
	default: // also a "char", which may be a byte that is no character
		s = string(AppendText(nil, v, env))
	}
	return MakeString(to, fitString(to, s)), nil
}

// castListed does the casts of castTable.
func castListed(v Value, to OID, env *Env) (Value, error) {
	switch {
	case v.Type == Bit && !isStringLike(to):
		return intOfBits(v, to)
	case isStringLike(to):
		return castToString(v, to, env)
	case to == RegClass && isStringLike(v.Type):
		return parseRegName(to, v.Str, env)
	case to == JSON:
		return MakeString(JSON, v.Str), nil
	case to == JSONB:
		return parseJSONB(v.Str, env)
	case v.Type == JSONB:
		return castJSONB(v, to)
	case NumberRank[to] > NumberRank[Int8] || NumberRank[v.Type] > NumberRank[Int8]:
		return castNumber(v, to)
	case category(v.Type) == 'D':
		return castTime(v, to, env)
	}
	return castInt(v, to)
}

// castJSONB converts a scalar jsonb to a number or boolean, as in
// (parse_id(x) -> 'worker')::int.
func castJSONB(v Value, to OID) (Value, error) {
	switch c := v.Str[0]; {
	case to == Bool && (c == 't' || c == 'f'):
		return MakeBool(c == 't'), nil
	case to != Bool && (c == '-' || isDigit(c)):
		return Cast(MakeString(Numeric, v.Str), to, nil)
	}
	return Value{}, sqlstate.New(sqlstate.InvalidParameterValue, "cannot cast jsonb %s to type %s", clip(v.Str), display(to))
}

// castInt converts between integers, booleans, oids and reg types.
func castInt(v Value, to OID) (Value, error) {
	n := v.Int
	switch {
	case to == Bool:
		return MakeBool(n != 0), nil
	case to == Oid || IsReg(to):
		if v.Type == Int8 && n != int64(uint32(n)) {
			return Value{}, sqlstate.New(sqlstate.NumericOutOfRange, "OID out of range")
		}
		return makeUint32(to, uint32(n)), nil
	case to == Int4 && (v.Type == Oid || IsReg(v.Type)):
		n = int64(int32(n)) // the same 32 bits
	}
	n, err := checkInt(to, n)
	return Value{Type: to, Valid: true, Int: n}, err
}

// castNumber converts to or from floating point and numeric.
func castNumber(v Value, to OID) (Value, error) {
	switch to {
	case Numeric:
		if v.Type == Float4 || v.Type == Float8 {
			return numericFromFloat(v.Float, v.Type)
		}
		return decimalOf(v).Value()
	case Float4, Float8:
		if v.Type == Float4 { // exactly
			v.Type = Float8
		}
		return parseFloat(to, string(AppendText(nil, v, nil)))
	}
	if v.Type == Numeric {
		n, err := numericToInt(v, to)
		return Value{Type: to, Valid: true, Int: n}, err
	}
	f := math.RoundToEven(v.Float)
	if f < math.MinInt64 || f >= -math.MinInt64 {
		return Value{}, outOfRange(to)
	}
	n, err := checkInt(to, int64(f))
	return Value{Type: to, Valid: true, Int: n}, err
}

// CommonType finds the type of UNION, CASE, COALESCE, VALUES and the like
// (PostgreSQL's chapter 10.5): all inputs of one type keep it; unknown
// literals follow the others and are text among themselves; else the types
// must share a category, and the one wins to which the others convert
// implicitly. Errors: 42804 with the message "types integer and text cannot
// be matched", in front of which the caller puts the construct.
func CommonType(types []OID) (OID, error) {
	chosen := Unknown
	for _, t := range types {
		if t == Unknown || t == chosen {
			continue
		}
		if chosen == Unknown {
			chosen = t
			continue
		}
		if category(chosen) != category(t) {
			return Invalid, sqlstate.New(sqlstate.DatatypeMismatch, "types %s and %s cannot be matched", display(chosen), display(t))
		}
		if !preferred(chosen) && CastAllowed(chosen, t) == ImplicitCast && CastAllowed(t, chosen) != ImplicitCast {
			chosen = t
		}
	}
	if chosen == Unknown {
		return Text, nil
	}
	return chosen, nil
}

func preferred(oid OID) bool {
	t := lookup(oid)
	return t != nil && t.Preferred
}
