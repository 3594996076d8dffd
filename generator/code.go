package generator

import (
	"context"
	"strconv"
	"time"
)

// Coder writes ids as text and reads them back (next_code, parse_code). A
// Generator that is a Coder has a text form of its own, as dated numbers do;
// for others CoderKind.Coder makes one of the options. Without either, the text of
// an id is its decimal number.
type Coder interface {
	// AppendCode appends the text form of an id of this generator. An id
	// that has none is ErrOption.
	AppendCode(b []byte, id int64) ([]byte, error)
	// ParseCode undoes AppendCode. A text that is no code of this generator
	// is ErrOption.
	ParseCode(code string) (int64, error)
}

// CodeGenerator is a Generator whose ids are no 64-bit numbers but texts:
// UUIDs, ULIDs and the like. Its Next answers ErrWrongKind.
type CodeGenerator interface {
	Generator
	// NextCode makes one code. It may wait until ctx ends.
	NextCode(ctx context.Context) (string, error)
	// ExplainCode takes a code apart. A text that is no code of this kind is
	// ErrOption.
	ExplainCode(code string) (Parts, error)
}

// CodeBounder is a CodeGenerator that can say between which codes, in the order
// of their bytes, those of an instant lie. Kinds whose codes are not in the
// order of time answer ErrWrongKind.
type CodeBounder interface {
	Bounds(t time.Time) (least, greatest string, err error)
}

// decimal is the Coder of generators that have no other.
type decimal struct{}

func (decimal) AppendCode(b []byte, id int64) ([]byte, error) {
	return strconv.AppendInt(b, id, 10), nil
}

func (decimal) ParseCode(code string) (int64, error) {
	id, err := strconv.ParseInt(code, 10, 64)
	if err != nil {
		return 0, &Error{
			Kind: ErrOption, Message: strconv.Quote(clip(code)) + " is not a number of 64 bits",
			Hint: "The codes of this generator are decimal numbers.",
		}
	}
	return id, nil
}

// clip bounds what of a client's text a message repeats.
func clip(s string) string {
	const most = 64
	if len(s) > most {
		return s[:most] + "…"
	}
	return s
}
