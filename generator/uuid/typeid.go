package uuid

import (
	"strings"

	"github.com/oklog/ulid/v2"

	"nextid/generator"
)

// typeOptions are the options of kind typeid.
type typeOptions struct {
	Prefix string `json:"prefix"`
	publicOption
}

func (o *typeOptions) check() error {
	if !typePrefix(o.Prefix) {
		return generator.OptionError("TypeIDs are specified so: github.com/jetify-com/typeid, version 0.3.0.",
			"prefix must be at most 63 letters a to z and, between them, underscores, not %q", o.Prefix[:min(len(o.Prefix), 64)])
	}
	return nil
}

// typePrefix reports whether a prefix is valid. "" is valid.
func typePrefix(s string) bool {
	return len(s) <= 63 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz_") == "" &&
		!strings.HasPrefix(s, "_") && !strings.HasSuffix(s, "_")
}

// explainType explains a TypeID with a prefix.
func explainType(code string) (p generator.Parts, ok bool) {
	prefix, u, ok := parseType(code)
	return u.Explain(), ok && prefix != ""
}

// parseType parses a TypeID.
func parseType(code string) (prefix string, u UUID, ok bool) {
	suffix := code
	if i := strings.LastIndexByte(code, '_'); i >= 0 {
		if prefix, suffix = code[:i], code[i+1:]; prefix == "" {
			return "", u, false
		}
	}
	u, ok = typeSuffix(suffix)
	return prefix, u, ok && typePrefix(prefix)
}

// typeSuffix parses the part after the prefix. Upper case is invalid.
func typeSuffix(s string) (u UUID, ok bool) {
	if strings.ToLower(s) != s {
		return u, false
	}
	id, err := ulid.ParseStrict(s)
	return UUID(id), err == nil
}
