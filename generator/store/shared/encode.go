package shared

import (
	"encoding/json"
	"time"

	"nextid/generator"
)

// storedEntry is an Entry as key-value databases keep it. Options is a text,
// so that it comes back byte for byte.
type storedEntry struct {
	Kind    string `json:"kind"`
	Options string `json:"options"`
	Version int64  `json:"version"`
	Created int64  `json:"created"`
	Dropped bool   `json:"dropped"`
}

// EncodeRow is the value of a row in a key-value database.
func EncodeRow(r *Row) string { return encode(r) }

// DecodeRow reads what EncodeRow wrote.
func DecodeRow(key, text string) (*Row, error) {
	r := &Row{Key: key}
	if err := json.Unmarshal([]byte(text), r); err != nil || r.Seq < 1 || r.Hi < r.Lo {
		return nil, Damaged("reservation", key, err)
	}
	return r, nil
}

// EncodeEntry is the value of an entry in a key-value database. The same
// entry has the same value, so that it can be compared.
func EncodeEntry(e *Entry) string {
	return encode(storedEntry{e.Kind, string(e.Options), e.Version, e.Created.UnixMilli(), e.Dropped})
}

// DecodeEntry reads what EncodeEntry wrote.
func DecodeEntry(name, text string) (Entry, error) {
	var s storedEntry
	if err := json.Unmarshal([]byte(text), &s); err != nil || s.Version < 1 {
		return Entry{}, Damaged("generator", name, err)
	}
	return Entry{
		Definition: generator.Definition{
			Name: name, Kind: s.Kind, Options: json.RawMessage(s.Options), Version: s.Version, Created: time.UnixMilli(s.Created),
		},
		Dropped: s.Dropped,
	}, nil
}

func encode(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // numbers and texts always encode
	}
	return string(text)
}
