package counter

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"nextid/generator"
)

// A hold keeps a number for one holder until it is confirmed, voided, or until its
// time has passed. Holds are rows of the store, and no crash can separate them from
// their number:
//
//   - The reservation of a number names the hold in its owner: slot, version of the
//     slot, end and holder.
//   - The server writes that hold into its slot at once. If it is killed before that,
//     the server that reserves the next number does so first (settle). So the hold is
//     in its slot before the reservation is overwritten. Reservations are
//     compare-and-set: AtLeast and Limit permit one number only.
//   - A number that no client received when the server stops has a slot of its own,
//     which no reservation names.
//   - A slot is a key of its own, whose number is its version. Every change is a
//     compare-and-set of the version. So if two servers confirm a hold and give it
//     to another client at the same time, one of them fails.
//
// A generator caches the slots. It reads them again once a second, if a change finds
// another version, and if a number is not among them.

// Limits of holds.
const (
	maxHold  = 30 * 24 * time.Hour
	maxHolds = 10_000      // of one generator at a time
	maxWho   = 64          // bytes of a holder or user
	maxWhy   = 150         // bytes of a reason
	reread   = time.Second // longest age of the cache
	attempts = 100         // limits compare-and-set loops against other servers
)

// States of a slot.
const (
	slotFree = "free"
	slotHeld = "held"
	slotVoid = "void" // to be written to VoidKey, then free
)

// hold is the content of a slot. In the store it is the words state, number, until
// (Unix ms) and by. by is the holder, or a session, or "" for anybody. In the state
// void, by is the text for VoidKey.
type hold struct {
	state   string
	number  int64
	until   int64
	by      string
	version int64
}

// free reports whether a slot may take another hold.
func (h hold) free() bool { return h.state == "" || h.state == slotFree }

// heldBy reports whether h is a hold by by.
func (h hold) heldBy(by generator.HeldBy) bool {
	return h.by == by.Name || by.Name == "" && h.by == session(by)
}

// session returns the value of by for a holder without a name. No name has a line
// feed.
func session(by generator.HeldBy) string { return "\n" + strconv.FormatUint(by.Session, 36) }

func (h hold) String() string {
	return fmt.Sprintf("%s %d %d %s", h.state, h.number, h.until, h.by)
}

// parseHold parses the text of hold.String.
func parseHold(text string, version int64) (h hold, ok bool) {
	words := strings.SplitN(text, " ", 4)
	if len(words) < 4 {
		return h, false
	}
	n, err1 := strconv.ParseInt(words[1], 10, 64)
	until, err2 := strconv.ParseInt(words[2], 10, 64)
	return hold{words[0], n, until, words[3], version}, errors.Join(err1, err2) == nil
}

// holds caches the slots of a generator. Queue.ask guards it.
type holds struct {
	slots   map[string]hold
	read    time.Duration // monotonic time of the last reading; 0: never
	settled int64         // end of the number line up to which all holds are in their slots
}

// errMoved makes the caller read the slots again and repeat the change.
var errMoved = errors.New("another server has changed the slot")

// Holds implements generator.Holder.
func (g *Generator) Holds() bool { return g.source.options.Holds }

// Hold implements generator.Holder.
func (g *Generator) Hold(ctx context.Context, d time.Duration, by generator.HeldBy) (n int64, err error) {
	if d <= 0 || d > maxHold {
		return 0, generator.OptionError("Write: hold_id('"+g.source.name+"', '10 minutes').", "a number can be held for more than nothing and at most %d days", maxHold/(24*time.Hour))
	}
	if err := checkWord("the holder", by.Name, maxWho); err != nil {
		return 0, err
	}
	err = g.ask(ctx, func(ctx context.Context) error {
		n, err = g.source.hold(ctx, slotHeld, d, by)
		return err
	})
	return n, err
}

// Confirm implements generator.Holder.
func (g *Generator) Confirm(ctx context.Context, n int64, by generator.HeldBy) error {
	return g.ask(ctx, func(ctx context.Context) error {
		return g.source.change(ctx, n, func(h hold) (hold, error) {
			if !h.heldBy(by) || h.state != slotHeld || h.until <= g.source.now() {
				return h, g.source.notHeld(n)
			}
			return hold{state: slotFree}, nil
		}, func() error { return g.source.notHeld(n) })
	})
}

// Void implements generator.Holder.
func (g *Generator) Void(ctx context.Context, n int64, why, user string, by generator.HeldBy) error {
	if err := errors.Join(checkWord("the reason", why, maxWhy), checkWord("the user", user, maxWho)); err != nil {
		return err
	}
	s := g.source
	return g.ask(ctx, func(ctx context.Context) error {
		return s.change(ctx, n, func(h hold) (hold, error) {
			if h.state == slotHeld && h.until > s.now() && !h.heldBy(by) {
				return h, s.notHeld(n)
			}
			return hold{state: slotVoid, number: n, by: user + "\n" + why}, nil
		}, func() error {
			if p := g.Place(n); p.Number == 0 || n >= s.holds.settled {
				return s.notHeld(n)
			}
			err := s.note(ctx, n, user+"\n"+why)
			if errors.Is(err, errMoved) {
				err = s.notHeld(n)
			}
			return err
		})
	})
}

// checkWord checks a text of a user. It must fit the owner of a row. Control
// characters are refused: a line feed marks sessions, and separates user and reason.
func checkWord(what, text string, most int) error {
	if len(text) > most || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' }) {
		return generator.OptionError("Keep the long form in your own tables.", "%s must have at most %d bytes, without control characters", what, most)
	}
	return nil
}

func (s *source) notHeld(n int64) error {
	return generator.Errorf(generator.ErrNotHeld, s.name,
		fmt.Sprintf("It was confirmed, voided or never given, or its hold ended, or it is held by another holder or session. "+
			"Give both calls a holder of your own: hold_id('%s', '10 minutes', 'holder'), confirm_id('%[1]s', %d, 'holder').", s.name, n),
		"number %d of generator %q is not held", n, s.name)
}

func (s *source) now() int64 { return s.clock.Wall() / int64(time.Millisecond) }

// hold returns the least number whose hold has ended, else a new number. state is
// its new state: held for d, or free if it is issued at once.
func (s *source) hold(ctx context.Context, state string, d time.Duration, by generator.HeldBy) (int64, error) {
	return s.retry(func() (int64, error) {
		line, err := s.settle(ctx)
		if err != nil {
			return 0, err
		}
		if err := s.list(ctx, false); err != nil {
			return 0, err
		}
		now, over := s.now(), ""
		for slot, h := range s.holds.slots {
			if h.state == slotHeld && h.until <= now && (over == "" || h.number < s.holds.slots[over].number) {
				over = slot
			}
		}
		next := hold{state: state, until: now + max(1, d.Milliseconds()), by: by.Name}
		switch {
		case over != "":
			next.number = s.holds.slots[over].number
			if by.Name == "" {
				next.by = session(by)
			}
			if err := s.write(ctx, over, next); err != nil {
				return 0, err
			}
			return next.number, s.stopped(ctx, line)
		case state == slotFree:
			return s.take(ctx, s.options.Start, s.owner)
		}
		return s.takeInto(ctx, next)
	})
}

// stopped returns ErrRegressed if the store was failed over or restored, until the
// generator is recovered: an earlier Confirm of a number whose hold has ended may be
// lost. line is the end of the number line, so nothing is reserved.
func (s *source) stopped(ctx context.Context, line int64) error {
	_, _, err := s.store.Reserve(ctx, generator.Reservation{Key: generator.NameKey(s.name), AtLeast: line, N: 1, Limit: line, Owner: s.owner})
	if errors.Is(err, generator.ErrExhausted) {
		return nil
	}
	return err
}

// giveUp frees all slots. The numbers in them are not issued again.
func (s *source) giveUp(ctx context.Context) error {
	_, err := s.retry(func() (int64, error) {
		if err := s.list(ctx, true); err != nil {
			return 0, err
		}
		for slot, h := range s.holds.slots {
			if h.free() {
				continue
			}
			if err := s.write(ctx, slot, hold{state: slotFree}); err != nil {
				return 0, err
			}
		}
		return 0, nil
	})
	return err
}

// retry calls f until another server has not moved first.
func (s *source) retry(f func() (int64, error)) (int64, error) {
	for range attempts {
		if n, err := f(); !errors.Is(err, errMoved) {
			return n, err
		}
	}
	return 0, s.contended()
}

// contended returns the error after too many attempts against other servers.
func (s *source) contended() error {
	return generator.Errorf(generator.ErrRetry, s.name, "Try again.",
		"other servers hold numbers of generator %q at the same time", s.name)
}

// takeInto reserves the next number, and names its hold in the reservation.
func (s *source) takeInto(ctx context.Context, h hold) (int64, error) {
	line, err := s.settle(ctx)
	if err != nil {
		return 0, err
	}
	slot := ""
	for i := 0; i < maxHolds && slot == ""; i++ {
		if name := strconv.Itoa(i); s.holds.slots[name].free() {
			slot = name
		}
	}
	if slot == "" {
		return 0, generator.Errorf(generator.ErrTooMany, s.name, "Confirm or void them, or hold them for a shorter time.",
			"%d numbers of generator %q are held", maxHolds, s.name)
	}
	// Read after the line: a slot that is free now stays free until a reservation
	// names it.
	m, _, err := s.store.Mark(ctx, s.slotKey(slot))
	if err != nil {
		return 0, err
	}
	if m.Hi != s.holds.slots[slot].version {
		s.holds.read = 0
		return 0, errMoved
	}
	h.number, err = s.takeAt(ctx, line, s.options.Start, fmt.Sprintf("%s%s %d %d %s", generator.HoldOwner, slot, m.Hi, h.until, h.by))
	if err != nil {
		return 0, err
	}
	// A server that opened the generator before it had holds does not settle. After an
	// error the hold is in the reservation alone, as if this server had been killed.
	if err := s.write(ctx, slot, h); err == nil || errors.Is(err, errMoved) {
		s.holds.settled = max(s.holds.settled, h.number+1)
	}
	return h.number, nil
}

// take reserves the next number at or above atLeast, without a hold.
func (s *source) take(ctx context.Context, atLeast int64, owner string) (int64, error) {
	return s.retry(func() (int64, error) {
		line, err := s.settle(ctx)
		if err != nil {
			return 0, err
		}
		return s.takeAt(ctx, line, atLeast, owner)
	})
}

// takeAt reserves the next number if no server has made a reservation since the
// number line ended at line.
func (s *source) takeAt(ctx context.Context, line, atLeast int64, owner string) (int64, error) {
	n, ok := s.align(max(line, atLeast))
	if !ok || n >= s.limit {
		return 0, s.errExhausted()
	}
	_, hi, err := s.store.Reserve(ctx, generator.Reservation{Key: generator.NameKey(s.name), AtLeast: n, N: 1, Limit: n + 1, Owner: owner})
	if errors.Is(err, generator.ErrExhausted) {
		return 0, errMoved
	}
	if err != nil {
		return 0, err
	}
	s.end.Store(hi)
	return n, nil
}

// settle writes the hold that the last reservation names into its slot, and returns
// the end of the number line.
func (s *source) settle(ctx context.Context) (line int64, err error) {
	m, ok, err := s.store.Mark(ctx, generator.NameKey(s.name))
	if err != nil {
		return 0, err
	}
	if !ok {
		return s.options.Start, nil
	}
	rest, held := strings.CutPrefix(m.Owner, generator.HoldOwner)
	if !held || m.Hi <= s.holds.settled {
		s.holds.settled = max(s.holds.settled, m.Hi)
		return m.Hi, nil
	}
	words := strings.SplitN(rest, " ", 4)
	var version, until int64
	if len(words) == 4 {
		_, err = fmt.Sscan(words[1]+" "+words[2], &version, &until)
	}
	if err != nil || len(words) < 4 {
		return 0, s.unreadable(m)
	}
	slot := words[0]
	s.holds.slots[slot] = hold{version: version}
	err = s.write(ctx, slot, hold{state: slotHeld, number: m.Hi - 1, until: until, by: words[3]})
	if errors.Is(err, errMoved) { // another server wrote it
		err = nil
	}
	if err == nil {
		s.holds.settled = m.Hi
	}
	return m.Hi, err
}

func (s *source) slotKey(slot string) string { return generator.HoldKeyPrefix(s.name) + slot }

func (s *source) unreadable(m generator.Mark) error {
	return generator.Errorf(generator.ErrRegressed, s.name, "", "a hold of generator %q cannot be read: %s %q", s.name, m.Key, m.Owner)
}

// write changes a slot that still has the known version. Otherwise it returns
// errMoved. After any other error the slots are read again.
func (s *source) write(ctx context.Context, slot string, h hold) error {
	key, was := s.slotKey(slot), s.holds.slots[slot].version
	lo, hi, err := s.store.Reserve(ctx, generator.Reservation{Key: key, AtLeast: was, N: 1, Limit: was + 1, Owner: h.String()})
	switch {
	case err == nil && lo == was:
		h.version = hi
		s.holds.slots[slot] = h
		return nil
	case !errors.Is(err, generator.ErrExhausted):
		s.holds.read = 0
		return err
	}
	s.holds.read = 0
	m, _, err := s.store.Mark(ctx, key)
	if err == nil && m.Hi <= was { // refused, although the version is unchanged
		err = s.contended()
	}
	if err == nil {
		err = errMoved
	}
	return err
}

// list reads the slots unless the cache is new enough, or if now is set. It
// completes the voids of servers that were killed.
func (s *source) list(ctx context.Context, now bool) error {
	at := s.clock.Monotonic()
	if !now && s.holds.read > 0 && at-s.holds.read < reread {
		return nil
	}
	prefix := generator.HoldKeyPrefix(s.name)
	marks, err := s.store.Reserved(ctx, prefix)
	if err != nil {
		return err
	}
	slots := make(map[string]hold, len(marks))
	for _, m := range marks {
		h, ok := parseHold(m.Owner, m.Hi)
		if !ok {
			return s.unreadable(m)
		}
		slots[strings.TrimPrefix(m.Key, prefix)] = h
	}
	s.holds.slots, s.holds.read = slots, max(at, 1)
	for i, h := range slots {
		if h.state == slotVoid {
			if err := s.void(ctx, i); err != nil && !errors.Is(err, errMoved) {
				return err
			}
		}
	}
	return nil
}

// void writes the void of a slot to VoidKey, and frees the slot.
func (s *source) void(ctx context.Context, slot string) error {
	h := s.holds.slots[slot]
	if err := s.note(ctx, h.number, h.by); err != nil && !errors.Is(err, errMoved) {
		return err
	}
	return s.write(ctx, slot, hold{state: slotFree})
}

// note writes a void. It returns errMoved if the number has one.
func (s *source) note(ctx context.Context, n int64, text string) error {
	_, _, err := s.store.Reserve(ctx, generator.Reservation{Key: generator.VoidKey(s.name, n), N: 1, Limit: 1, Owner: text})
	if errors.Is(err, generator.ErrExhausted) {
		err = errMoved
	}
	return err
}

// change replaces the slot of a number by the result of to. If no slot has the
// number, it returns the result of none.
func (s *source) change(ctx context.Context, n int64, to func(hold) (hold, error), none func() error) error {
	for try := range attempts {
		if _, err := s.settle(ctx); err != nil {
			return err
		}
		slot, known := s.find(n)
		if !known {
			if err := s.list(ctx, true); err != nil {
				return err
			}
			if slot, known = s.find(n); !known {
				return none()
			}
		}
		h, err := to(s.holds.slots[slot])
		if err != nil && try == 0 { // another server may have changed the hold
			if err = s.list(ctx, true); err == nil {
				continue
			}
		}
		if err == nil {
			err = s.write(ctx, slot, h)
		}
		if err == nil && h.state == slotVoid {
			err = s.void(ctx, slot)
		} else if errors.Is(err, errMoved) {
			if err = s.list(ctx, true); err == nil {
				continue
			}
		}
		if errors.Is(err, errMoved) { // another server completed the void
			err = nil
		}
		return err
	}
	return s.contended()
}

// find returns the slot of a held number in the cache.
func (s *source) find(n int64) (slot string, ok bool) {
	for slot, h := range s.holds.slots {
		if !h.free() && h.number == n {
			return slot, true
		}
	}
	return "", false
}

// giveBack makes a number that no client received the next one to be issued.
func (s *source) giveBack(ctx context.Context, n int64) error {
	if err := s.list(ctx, true); err != nil {
		return err
	}
	return s.write(ctx, "n"+strconv.FormatInt(n, 10), hold{state: slotHeld, number: n})
}
