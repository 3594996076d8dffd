package generator

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"
)

// FeedOption says how servers feed the sequence of one column of an
// application's database from a generator; see package migrations/feed.
type FeedOption struct {
	Ahead Duration `json:"ahead"`           // for how long a block lasts
	Block int64    `json:"block,omitempty"` // numbers in a block at least; 0: as migrations/feed has it
}

// maxFeeds bounds the feeds of one generator.
const maxFeeds = 300

// CheckFeeds checks the option feeds: columns by the URL of their database and,
// behind a space, their name.
func CheckFeeds(feeds map[string]FeedOption) error {
	const hint = "nextid migrate feed up writes this option."
	if len(feeds) > maxFeeds {
		return OptionError(hint, "%d feeds are more than %d", len(feeds), maxFeeds)
	}
	for key, f := range feeds {
		text, column, _ := strings.Cut(key, " ")
		u, err := url.Parse(text)
		switch {
		case err != nil || u.Host == "" || u.Scheme == "" || column == "":
			return OptionError(hint, "feeds: not the URL of a database, a space and a column")
		case u.Query().Has("password"):
			return OptionError(hint, "feeds: a URL holds a password, which would be shown")
		case f.Ahead < Duration(time.Second) || f.Block < 0:
			return OptionError(hint, "feeds: ahead must be 1s or more, block 0 or more")
		}
		if _, secret := u.User.Password(); secret {
			return OptionError(hint, "feeds: a URL holds a password, which would be shown")
		}
	}
	return nil
}

// Feed describes how a server sees a sequence that it feeds, for nextid.feeds.
type Feed struct {
	Name, Database, Column string
	First, Last, Next      int64 // the block, and the number that is drawn next; 0: not seen yet
	Left                   int64
	Lasts                  time.Duration // at the rate since the last move
	Moved, Looked          time.Time     // by the database's clock, and by the server's
	Moves, Failures        int64         // by this server
	Error                  string        // of the last look; "" for none
	ErrorAt                time.Time
}

// BlockGenerator is a Generator that can draw numbers in one run.
type BlockGenerator interface {
	// NextBlock draws n consecutive numbers, which it reserves for that.
	NextBlock(ctx context.Context, n int64) (Range, error)
}

// NextBlock draws n consecutive numbers.
func (e *Entry) NextBlock(ctx context.Context, n int64) (Range, error) {
	for {
		l, err := e.open(ctx)
		if err != nil {
			return Range{}, err
		}
		g, ok := l.gen.(BlockGenerator)
		if !ok {
			return Range{}, &Error{
				Kind: ErrWrongKind, Name: e.name, Message: fmt.Sprintf("generator %q has no blocks of consecutive numbers", e.name),
				Hint: "Use a segment generator with increment 1 and without scatter.",
			}
		}
		r, err := g.NextBlock(ctx, n)
		if err = e.judge(ctx, l, err); !errors.Is(err, errGone) {
			return r, err
		}
	}
}
