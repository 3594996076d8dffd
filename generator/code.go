package generator

import (
	"context"
	"strconv"
	"time"
)

// Coder writes ids as text and reads them back (next_code, parse_code). The Coder
// of a name is the Generator itself if it implements Coder, such as one with dated
// numbers. Otherwise CoderKind.Coder makes it from the options. Without either, the
// text of an id is its decimal number.
type Coder interface {
	// AppendCode appends the text form of an id of this generator. An id without a
	// text form is ErrOption.
	AppendCode(b []byte, id int64) ([]byte, error)
	// ParseCode is the inverse of AppendCode. A text that this generator cannot have
	// written is ErrOption.
	ParseCode(code string) (int64, error)
}

// CodeGenerator is a Generator whose ids are texts, such as UUIDs and ULIDs, not
// 64-bit numbers. Its Next returns ErrWrongKind.
type CodeGenerator interface {
	Generator
	// NextCode makes one code. It may wait until ctx ends.
	NextCode(ctx context.Context) (string, error)
	// ExplainCode decodes the fields of a code. A text that this kind cannot have
	// written is ErrOption.
	ExplainCode(code string) (Parts, error)
}

// CodeBounder is a CodeGenerator that computes the least and the greatest code of
// an instant, in byte order. Kinds whose codes are not ordered by time return
// ErrWrongKind.
type CodeBounder interface {
	Bounds(t time.Time) (least, greatest string, err error)
}

// decimal is the default Coder.
type decimal struct{}

func (decimal) AppendCode(b []byte, id int64) ([]byte, error) {
	return strconv.AppendInt(b, id, 10), nil
}

func (decimal) ParseCode(code string) (int64, error) { return ParseNumber(code) }

// ParseNumber reads a decimal id. Any other text is ErrOption.
func ParseNumber(code string) (int64, error) {
	id, err := strconv.ParseInt(code, 10, 64)
	if err != nil {
		return 0, OptionError("The codes of this generator are decimal numbers.",
			"%q is not a number of 64 bits", clip(code))
	}
	return id, nil
}

// clip shortens a client's text for use in a message.
func clip(s string) string {
	const most = 64
	if len(s) > most {
		return s[:most] + "…"
	}
	return s
}
