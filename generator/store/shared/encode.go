package shared

import (
	"encoding/json"
	"time"

	"nextid/generator"
)

// storedRow is a Row as key-value databases keep it.
type storedRow struct {
	Lo      int64  `json:"lo"`
	Hi      int64  `json:"hi"`
	Seq     int64  `json:"seq"`
	Epoch   string `json:"stamp"`
	Owner   string `json:"owner"`
	Updated int64  `json:"updated"`
}

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
func EncodeRow(r *Row) string {
	return encode(storedRow{r.Lo, r.Hi, r.Seq, r.Epoch, r.Owner, r.Updated})
}

// DecodeRow reads what EncodeRow wrote.
func DecodeRow(key, text string) (*Row, error) {
	var s storedRow
	if err := json.Unmarshal([]byte(text), &s); err != nil || s.Seq < 1 || s.Hi < s.Lo {
		return nil, Damaged("reservation", key, err)
	}
	return &Row{Key: key, Lo: s.Lo, Hi: s.Hi, Seq: s.Seq, Epoch: s.Epoch, Owner: s.Owner, Updated: s.Updated}, nil
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
