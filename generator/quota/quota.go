// Package quota limits how many ids users may draw, and names may issue, in a time.
// It uses token buckets that are full at the start. A draw that would exceed a
// quota is refused as a whole and uses no id. Each server counts for itself.
package quota

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Rule is one quota. Each user that User matches has a bucket of its own, or each
// name that Generator matches; with both, each pair. A pattern is a name, or the
// beginning of one with * at the end. "" means one bucket for all.
type Rule struct {
	User      string
	Generator string
	IDs       int64         // ids in each Per, at least 1
	Per       time.Duration // above 0
	Burst     int64         // greatest number of ids at once, after a pause; 0: IDs
}

// Check returns why a rule is not valid, or nil.
func (r Rule) Check() error {
	switch {
	case r.User == "" && r.Generator == "":
		return errors.New("a quota is of a user, a generator or both: user and generator are missing")
	case r.IDs < 1:
		return errors.New("ids must be 1 or more")
	case r.Per < time.Millisecond:
		return errors.New("per must be 1ms or more")
	case r.Burst < 0:
		return errors.New("burst must be 1 or more")
	}
	for _, pattern := range []string{r.User, r.Generator} {
		if strings.Contains(strings.TrimSuffix(pattern, "*"), "*") {
			return errors.New("a pattern has * at its end only, such as app_*")
		}
	}
	return nil
}

func matches(pattern, name string) bool {
	start, open := strings.CutSuffix(pattern, "*")
	return pattern == "" || name == pattern || open && strings.HasPrefix(name, start)
}

// Set holds the quotas of a server. It is safe for concurrent use.
type Set struct{ limits []*limit }

// limit is a rule with its buckets.
type limit struct {
	rule    Rule
	refused atomic.Int64

	mu      sync.Mutex
	buckets map[owner]*bucket // buckets that may not be full
	sweepAt int               // number of buckets at which full ones are dropped
}

// owner identifies a bucket.
type owner struct{ user, generator string }

// bucket holds one token for each id that may be drawn. Tokens come back with time.
type bucket struct {
	tokens float64
	at     time.Duration // monotonic time of that number
}

// leastSweep is the number of buckets below which none is dropped.
const leastSweep = 1024

// New returns a Set of rules that Check accepts, or nil for none. A rule that
// before has, too, keeps its buckets.
func New(rules []Rule, before *Set) *Set {
	if len(rules) == 0 {
		return nil
	}
	s := &Set{}
	for _, r := range rules {
		r.Burst = cmp.Or(r.Burst, r.IDs)
		l := &limit{rule: r, buckets: map[owner]*bucket{}, sweepAt: leastSweep}
		if before != nil {
			for _, old := range before.limits {
				if old.rule == r {
					l = old
				}
			}
		}
		s.limits = append(s.limits, l)
	}
	return s
}

// Concerns reports whether any quota may limit a user's draws.
func (s *Set) Concerns(user string) bool {
	for _, l := range s.limits {
		if matches(l.rule.User, user) {
			return true
		}
	}
	return false
}

// Take counts n ids of a name for a user. If a quota is exceeded it counts nothing
// and returns an *Exceeded. now is the monotonic clock.
func (s *Set) Take(user, generator string, n int64, now time.Duration) error {
	l, lacks := s.take(user, generator, n, now)
	if l == nil {
		return nil
	}
	l.refused.Add(1)
	err := &Exceeded{Message: l.rule.exceeded(user, generator)}
	if n > l.rule.Burst {
		err.Hint = fmt.Sprintf("The quota allows no more than %d ids at once: ask for fewer.", l.rule.Burst)
		return err
	}
	err.Retry = roundUp(time.Duration(min(lacks*float64(l.rule.Per)/float64(l.rule.IDs), math.MaxInt64/2)))
	err.Hint = fmt.Sprintf("Try again in %s. Quotas stand in the configuration of the server.", spell(err.Retry))
	return err
}

// Exceeded is returned when a quota does not allow a draw.
type Exceeded struct {
	Message, Hint string
	Retry         time.Duration // time until there are enough ids; 0: never
}

func (e *Exceeded) Error() string { return e.Message }

// TryTake is Take without an error. If it returns false, the caller calls Take for
// the error.
func (s *Set) TryTake(user, generator string, n int64, now time.Duration) bool {
	l, _ := s.take(user, generator, n, now)
	return l == nil
}

// take takes n from all buckets. If one has too few, it takes nothing and returns
// that bucket's limit.
func (s *Set) take(user, generator string, n int64, now time.Duration) (full *limit, lacks float64) {
	for i, l := range s.limits {
		if lacks := l.take(user, generator, n, now); lacks > 0 {
			for _, taken := range s.limits[:i] {
				taken.give(user, generator, n)
			}
			return l, lacks
		}
	}
	return nil, 0
}

// Give returns n ids that were counted and not drawn.
func (s *Set) Give(user, generator string, n int64) {
	for _, l := range s.limits {
		l.give(user, generator, n)
	}
}

// ownerOf returns the bucket from which a draw takes. ok is false if the rule does
// not concern the draw.
func (r Rule) ownerOf(user, generator string) (o owner, ok bool) {
	if r.User != "" {
		o.user = user
	}
	if r.Generator != "" {
		o.generator = generator
	}
	return o, matches(r.User, user) && matches(r.Generator, generator)
}

// take takes n, or takes nothing and returns how many are lacking.
func (l *limit) take(user, generator string, n int64, now time.Duration) (lacks float64) {
	o, ok := l.rule.ownerOf(user, generator)
	if !ok {
		return 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.buckets[o]
	if b == nil {
		l.sweep(now)
		o.user, o.generator = strings.Clone(o.user), strings.Clone(o.generator)
		b = &bucket{tokens: float64(l.rule.Burst), at: now}
		l.buckets[o] = b
	}
	b.refill(l.rule, now)
	if lacks = float64(n) - b.tokens; lacks > 0 {
		return lacks
	}
	b.tokens -= float64(n)
	return 0
}

func (l *limit) give(user, generator string, n int64) {
	o, ok := l.rule.ownerOf(user, generator)
	l.mu.Lock()
	defer l.mu.Unlock()
	if b := l.buckets[o]; ok && b != nil { // a dropped bucket was full
		b.tokens = min(b.tokens+float64(n), float64(l.rule.Burst))
	}
}

// refill adds the tokens that came back since the last refill.
func (b *bucket) refill(r Rule, now time.Duration) {
	back := float64(now-b.at) * float64(r.IDs) / float64(r.Per)
	b.tokens, b.at = min(b.tokens+back, float64(r.Burst)), now
}

// sweep drops full buckets, so that users and names of the past use no memory. A
// missing bucket counts as full.
func (l *limit) sweep(now time.Duration) {
	if len(l.buckets) < l.sweepAt {
		return
	}
	for o, b := range l.buckets {
		if b.refill(l.rule, now); b.tokens >= float64(l.rule.Burst) {
			delete(l.buckets, o)
		}
	}
	l.sweepAt = max(leastSweep, 2*len(l.buckets))
}

// exceeded describes the user and the generator of the quota, for messages.
func (r Rule) exceeded(user, generator string) string {
	var whose string
	switch {
	case r.Generator == "":
		whose = fmt.Sprintf("user %q", user)
	case r.User == "":
		whose = fmt.Sprintf("generator %q", generator)
	default:
		whose = fmt.Sprintf("user %q for generator %q", user, generator)
	}
	return fmt.Sprintf("quota of %s exceeded: %d ids in %s", whose, r.IDs, spell(r.Per))
}

// roundUp rounds a waiting time up to seconds, unless it is short.
func roundUp(d time.Duration) time.Duration {
	unit := time.Second
	if d < 10*time.Second {
		unit = time.Millisecond
	}
	return d.Truncate(unit) + unit
}

// spell formats a duration like String, without zero minutes and seconds.
func spell(d time.Duration) string {
	s := d.String()
	if head, ok := strings.CutSuffix(s, "m0s"); ok {
		s = head + "m"
	}
	if head, ok := strings.CutSuffix(s, "h0m"); ok {
		s = head + "h"
	}
	return s
}

// State is the state of one quota, for operators.
type State struct {
	Rule
	Refused int64 // number of refused statements
}

// States lists the quotas in their order. It returns none for a nil Set.
func (s *Set) States() []State {
	if s == nil {
		return nil
	}
	states := make([]State, len(s.limits))
	for i, l := range s.limits {
		states[i] = State{l.rule, l.refused.Load()}
	}
	return states
}
