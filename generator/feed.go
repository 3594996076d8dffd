package generator

import (
	"context"
	"net/url"
	"strings"
	"time"
)

// FeedOption configures how servers feed the sequence of one column of an
// application's database from a generator. See package migrations/feed.
type FeedOption struct {
	Ahead Duration `json:"ahead"`           // how long a block should last
	Block int64    `json:"block,omitempty"` // least numbers in a block; 0: the default of migrations/feed
}

// maxFeeds is the greatest number of feeds of one generator.
const maxFeeds = 300

// CheckFeeds checks the option feeds. Each key is the URL of a database, a space
// and the name of a column.
func CheckFeeds(feeds map[string]*FeedOption) error {
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

// Feed describes a sequence that this server feeds, for nextid.feeds.
type Feed struct {
	Name, Database, Column string
	First, Last, Next      int64 // the block, and the next number to draw; 0: not read yet
	Left                   int64
	Lasts                  time.Duration // at the rate since the last move
	Moved, Looked          time.Time     // by the database's clock; by this server's clock
	Moves, Failures        int64         // by this server
	Error                  string        // of the latest read; "" for none
	ErrorAt                time.Time
}

// BlockGenerator is a Generator that can draw consecutive numbers.
type BlockGenerator interface {
	// NextBlock draws n consecutive numbers that are greater than above. It reserves
	// them for this call.
	NextBlock(ctx context.Context, above, n int64) (Range, error)
}

// NextBlock draws n consecutive numbers above a number; see BlockGenerator.
func (e *Entry) NextBlock(ctx context.Context, above, n int64) (r Range, err error) {
	err = e.use(ctx, n, func(l *live) (err error) {
		g, ok := l.gen.(BlockGenerator)
		if !ok {
			return Errorf(ErrWrongKind, e.name, "Use a segment generator with increment 1 and without scatter.",
				"generator %q has no blocks of consecutive numbers", e.name)
		}
		r, err = g.NextBlock(ctx, above, n)
		return err
	})
	return r, err
}
