package generator

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Holder is a Generator whose numbers can be held, and confirmed or voided later. A
// hold whose time is over comes back as the next number.
type Holder interface {
	// Holds reports whether numbers may be held already: the option holds.
	Holds() bool
	// Hold returns a number that is not handed out again for d.
	Hold(ctx context.Context, d time.Duration, by HeldBy) (int64, error)
	// Confirm ends the hold of a number, which is used from now on. ErrNotHeld: by
	// does not hold it.
	Confirm(ctx context.Context, n int64, by HeldBy) error
	// Void notes for good that a number is not used, and why, and that user said so.
	// ErrNotHeld: the number is held, and not by by, or was never given.
	Void(ctx context.Context, n int64, why, user string, by HeldBy) error
}

// HeldBy names who holds a number. Without a Name it is any session for a number that
// is held for the first time. A number that came back has had a holder before, whose
// Confirm may be late: it is held by the Session.
type HeldBy struct {
	Name    string
	Session uint64 // random
}

// Void is a number that is not used.
type Void struct {
	Name   string // of the generator
	Number int64
	By     string // who said so
	Why    string
	At     time.Time // by the store's clock
}

const voidKeyPrefix = "void/"

// VoidKey is the key that notes that a number is void. Its owner is By, a line feed,
// and Why.
func VoidKey(name string, n int64) string {
	return voidKeyPrefix + name + "/" + strconv.FormatInt(n, 10)
}

// HoldKeyPrefix is the prefix of the keys of a name's holds.
func HoldKeyPrefix(name string) string { return "hold/" + name + "/" }

// Voids lists the numbers that are not used, by name and number.
func (r *Registry) Voids(ctx context.Context) ([]Void, error) {
	marks, err := r.cfg.Store.Reserved(ctx, voidKeyPrefix)
	voids := make([]Void, 0, len(marks))
	for _, m := range marks {
		name, number, _ := strings.Cut(strings.TrimPrefix(m.Key, voidKeyPrefix), "/")
		n, wrong := strconv.ParseInt(number, 10, 64)
		if wrong != nil {
			return nil, &Error{Kind: ErrRegressed, Message: "the store has a void that cannot be read: " + m.Key}
		}
		by, why, _ := strings.Cut(m.Owner, "\n")
		voids = append(voids, Void{Name: name, Number: n, By: by, Why: why, At: m.Updated})
	}
	slices.SortFunc(voids, func(a, b Void) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), cmp.Compare(a.Number, b.Number))
	})
	return voids, err
}
