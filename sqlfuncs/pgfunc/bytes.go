package pgfunc

import (
	"encoding/base64"
	"encoding/hex"
	"strings"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/sqlstate"
)

var byteFunctions = []engine.Function{
	{Name: "encode", Args: engine.Args(datum.Bytea, datum.Text), Result: datum.Text, Does: engine.Eval(encodeBytes), Help: "bytes as hex or base64 text"},
	{Name: "decode", Args: engine.Args(datum.Text, datum.Text), Result: datum.Bytea, Does: engine.Eval(decodeBytes), Help: "bytes from hex or base64 text"},
	{Name: "convert_from", Args: engine.Args(datum.Bytea, datum.Name), Result: datum.Text, Volatile: engine.Stable, Does: engine.Eval(convertFrom), Help: "text from bytes in UTF-8"},
}

func encodeBytes(_ *engine.Exec, a []datum.Value) (datum.Value, error) {
	switch s := []byte(a[0].Str); strings.ToLower(a[1].Str) {
	case "hex":
		return boundedText(hex.EncodeToString(s))
	case "base64":
		return boundedText(base64.StdEncoding.EncodeToString(s))
	}
	return a[0], unknownEncoding(a[1].Str)
}

func unknownEncoding(name string) error {
	return sqlstate.New(sqlstate.InvalidParameterValue, "unrecognized encoding: %q", sqlstate.Cut(name, 64)).WithHint("Use hex or base64.")
}

func decodeBytes(_ *engine.Exec, a []datum.Value) (datum.Value, error) {
	var out []byte
	var err error
	switch strings.ToLower(a[1].Str) {
	case "hex":
		out, err = hex.DecodeString(a[0].Str)
	case "base64":
		out, err = base64.StdEncoding.DecodeString(a[0].Str)
	default:
		return a[0], unknownEncoding(a[1].Str)
	}
	if err != nil {
		return a[0], sqlstate.New(sqlstate.InvalidParameterValue, "%s", err)
	}
	return datum.MakeString(datum.Bytea, string(out)), nil
}

func convertFrom(_ *engine.Exec, a []datum.Value) (datum.Value, error) {
	switch strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(a[1].Str)) {
	case "utf8", "sqlascii":
		return datum.ParseText(datum.Text, a[0].Str, nil)
	}
	return a[0], sqlstate.New(sqlstate.InvalidParameterValue, "invalid source encoding name \"%s\"", sqlstate.Cut(a[1].Str, 64)).WithHint("Use UTF8.")
}
