package code

import (
	"encoding/json"
	"strconv"
)

// Reader undoes the text form and scatter of stored options without a running
// generator.
type Reader struct {
	text    *Text        // nil: none
	scatter *permutation // nil: none
}

// NewReader returns the Reader of stored options.
func NewReader(stored json.RawMessage) (Reader, error) {
	o, _, err := read(stored)
	return o.reader(), err
}

func (o options) reader() Reader {
	r := Reader{text: o.Text}
	if o.Scatter != nil {
		r.scatter = o.Scatter.permutation()
	}
	return r
}

// Number returns the number that the generator's kind made for an id or a code. Any
// other text is ErrOption.
func (r Reader) Number(id string) (int64, error) {
	n, err := strconv.ParseInt(id, 10, 64)
	if r.text != nil {
		if v, wrong := r.text.ParseCode(id); wrong == nil {
			n, err = v, nil
		} else if err != nil {
			return 0, wrong
		}
	}
	if err != nil || n < 0 && r.scatter != nil {
		return 0, optionError("%q is not an id: those are whole numbers below 2^63", id[:min(len(id), maxCode)])
	}
	if r.scatter == nil {
		return n, nil
	}
	if !r.scatter.Holds(n) {
		return 0, optionError("%d has more bits than the ids of this generator", n)
	}
	return r.scatter.Unscatter(n), nil
}
