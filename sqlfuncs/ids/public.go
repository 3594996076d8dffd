package ids

import (
	"strings"

	"nextid/generator"
	"nextid/generator/uuid"
	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/sqlstate"
)

// formFunctions are UUIDs in other forms: codes, and public UUIDs.
var formFunctions = []engine.Function{
	codeFunction("int8"), codeFunction("uuid"), codeFunction("text"),
	reading("code_uuid(code text, by text?) uuid", "the UUID of a code; by is a generator's name, else a form",
		func(x *engine.Exec, a []datum.Value) (datum.Value, error) {
			if len(a) == 1 {
				u, err := uuid.ParseText(a[0].Str)
				return datum.MakeUUID(u), err
			}
			f, err := uuidForm(x, a[1].Str)
			if err != nil {
				return datum.Value{}, err
			}
			u, err := f.UUID(a[0].Str)
			return datum.MakeUUID(u), err
		}),
	cipherFunction("public_uuid", "the UUID of version 4 by which outsiders may know one of version 7", uuid.Cipher.Public),
	cipherFunction("private_uuid", "undoes public_uuid", uuid.Cipher.Private),
}

// codeFunction is to_code for one type of id. A bare $1 is a number, as that of
// parse_id.
func codeFunction(t string) engine.Function {
	f := reading("to_code(id "+t+":int8, name text) text", "the text form of an id of the generator; of a UUID, by may be a form", toCode)
	f.Args[0].AnyID, f.Length = true, codeLength
	return f
}

func toCode(x *engine.Exec, a []datum.Value) (datum.Value, error) {
	id, name := a[0], a[1].Str
	if id.Type == datum.Text {
		as := datum.Int8
		if _, ok := uuid.Parse(id.Str); ok && len(id.Str) > MaxIDDigits {
			as = datum.UUID
		}
		var err error
		if id, err = datum.ParseText(as, id.Str, nil); err != nil {
			return datum.Value{}, err
		}
	}
	if id.Type == datum.UUID {
		f, err := uuidForm(x, name)
		return datum.MakeText(f.Code(UUIDOf(id))), err
	}
	coder, err := coder(x, name)
	if err != nil {
		return datum.Value{}, err
	}
	b, err := coder.AppendCode(nil, id.Int)
	return datum.MakeText(string(b)), err
}

// uuidForm returns the form of a generator's codes or, if there is none of the name,
// the form of that name.
func uuidForm(x *engine.Exec, by string) (uuid.Form, error) {
	_, gen, err := find(x, by)
	if err != nil {
		return uuid.Form{}, err
	}
	if gen != nil {
		f, ok := uuid.FormFor(gen)
		if !ok {
			return f, notUUIDs(by)
		}
		return f, nil
	}
	f, ok := uuid.FormOf(strings.ToLower(by))
	if !ok {
		return f, generator.Errorf(generator.ErrUnknown, by,
			"Use the name of a generator of UUIDs, TypeIDs or ULIDs, or a form: "+uuid.FormNames+".",
			`generator "%s" does not exist`, sqlstate.Cut(by, 64))
	}
	return f, nil
}

func notUUIDs(name string) error {
	return sqlstate.New(sqlstate.FeatureNotSupported, "the ids of generator %q are no UUIDs", name).
		WithHint("Create one of kind uuid, or use next_id or next_code.")
}

func cipherFunction(name, help string, does func(uuid.Cipher, uuid.UUID) (uuid.UUID, error)) engine.Function {
	return reading(name+"(u uuid, name text) uuid", help, func(x *engine.Exec, a []datum.Value) (datum.Value, error) {
		_, gen, err := opened(x, a[1].Str, allowed)
		if err != nil {
			return datum.Value{}, err
		}
		if _, ok := uuid.FormFor(gen); !ok {
			return datum.Value{}, notUUIDs(a[1].Str)
		}
		c, ok := uuid.CipherFor(gen)
		if !ok {
			return datum.Value{}, sqlstate.New(sqlstate.NotPrerequisite, "generator %q has no key for public UUIDs", a[1].Str).
				WithHint("Give it one: SELECT alter_generator('%s', '{\"public\": true}').", a[1].Str)
		}
		u, err := does(c, UUIDOf(a[0]))
		return datum.MakeUUID(u), err
	})
}
