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
// hold that ends without either makes the number available again.
type Holder interface {
	// Holds reports whether the option holds is set.
	Holds() bool
	// Hold returns a number that is not issued again for d.
	Hold(ctx context.Context, d time.Duration, by HeldBy) (int64, error)
	// Confirm ends the hold of a number and marks it used. It returns ErrNotHeld if by
	// does not hold the number.
	Confirm(ctx context.Context, n int64, by HeldBy) error
	// Void records durably that a number is not used, with the reason why and the
	// user. It returns ErrNotHeld if another holder has the number, or if it was never
	// issued.
	Void(ctx context.Context, n int64, why, user string, by HeldBy) error
}

// HeldBy identifies the holder of a number. With an empty Name, any session may
// confirm a number that is held for the first time. A number that became available
// again has had an earlier holder, whose Confirm may be late. So only its Session
// may confirm it.
type HeldBy struct {
	Name    string
	Session uint64 // random number of the session
}

// Void is the record of a number that is not used.
type Void struct {
	Name   string // generator name
	Number int64
	By     string // user
	Why    string
	At     time.Time // by the store's clock
}

const voidKeyPrefix = "void/"

// VoidKey returns the key of the record that a number is void. The Owner of its
// Mark is By, a line feed and Why.
func VoidKey(name string, n int64) string {
	return voidKeyPrefix + name + "/" + strconv.FormatInt(n, 10)
}

// HoldOwner begins the owner of a reservation that names a hold of its last number.
const HoldOwner = "hold "

// HoldKeyPrefix returns the prefix of the keys of a name's holds.
func HoldKeyPrefix(name string) string { return "hold/" + name + "/" }

// Voids lists the voided numbers, ordered by name and number.
func (r *Registry) Voids(ctx context.Context) ([]Void, error) {
	marks, err := r.cfg.Store.Reserved(ctx, voidKeyPrefix)
	voids := make([]Void, 0, len(marks))
	for _, m := range marks {
		name, number, _ := strings.Cut(strings.TrimPrefix(m.Key, voidKeyPrefix), "/")
		n, wrong := strconv.ParseInt(number, 10, 64)
		if wrong != nil {
			return nil, Errorf(ErrRegressed, "", "", "the store has a void that cannot be read: %s", m.Key)
		}
		by, why, _ := strings.Cut(m.Owner, "\n")
		voids = append(voids, Void{Name: name, Number: n, By: by, Why: why, At: m.Updated})
	}
	slices.SortFunc(voids, func(a, b Void) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), cmp.Compare(a.Number, b.Number))
	})
	return voids, err
}
