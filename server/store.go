package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"nextid/dsn"
	"nextid/generator"
	"nextid/generator/store/memory"
	"nextid/generator/store/shared"
	"nextid/generator/store/sqlite"
)

// The stores that are always built in, as the part of --store before the colon.
// WithStore adds others.
const (
	storeSQLite = "sqlite"
	StoreMemory = "memory"
)

// StoreURL names a store. The zero StoreURL is the embedded store in the data
// directory.
type StoreURL struct {
	Scheme string
	File   string // of sqlite
	URL    string // of a shared store; it may hold a password
}

// StoreURL parses sqlite:FILE, memory:, or the URL of a shared store of this Build.
func (b *Build) StoreURL(s string) (StoreURL, error) {
	scheme, rest, _ := strings.Cut(s, ":")
	switch driver := b.Store(scheme); {
	case scheme == storeSQLite && rest != "":
		return StoreURL{Scheme: storeSQLite, File: rest}, nil
	case scheme == storeSQLite:
		return StoreURL{}, errors.New("sqlite: needs the name of a file: sqlite:FILE")
	case s == StoreMemory+":":
		return StoreURL{Scheme: StoreMemory}, nil
	case driver == nil: // the rest may hold a password and is not repeated
		return StoreURL{}, fmt.Errorf("this version of nextid knows the stores sqlite:FILE, memory: and %s, not %q",
			strings.Join(b.Schemes(), ", "), scheme)
	default:
		if _, _, err := dsn.Parse(s); err != nil {
			return StoreURL{}, fmt.Errorf("is not a URL such as %s", driver.Example) // the error may repeat a password
		}
		return StoreURL{Scheme: scheme, URL: s}, nil
	}
}

func (u StoreURL) String() string {
	switch {
	case u.Scheme == "":
		return "sqlite in the data directory"
	case u.Scheme == StoreMemory:
		return StoreMemory + ":"
	case u.URL != "":
		if parsed, hosts, err := dsn.Parse(u.URL); err == nil {
			return dsn.Redacted(parsed, hosts)
		}
		return "(a URL that cannot be read)"
	}
	return u.Scheme + ":" + u.File
}

// Shared reports whether several servers can use the store.
func (u StoreURL) Shared() bool { return u.URL != "" }

// WithPassword returns the URL with the password, unless the URL has one.
func (u StoreURL) WithPassword(password string) string {
	parsed, hosts, err := dsn.Parse(u.URL)
	if err != nil || password == "" {
		return u.URL
	}
	if _, has := parsed.User.Password(); has {
		return u.URL
	}
	parsed.User = url.UserPassword(parsed.User.Username(), password)
	return dsn.Text(parsed, hosts)
}

// In returns u with the file of the embedded store filled in. data is the data
// directory.
func (u StoreURL) In(data string) StoreURL {
	if u.Scheme == "" {
		u = StoreURL{Scheme: storeSQLite, File: filepath.Join(data, sqlite.DefaultFile)}
		if strings.HasPrefix(data, "./") { // show the path as the user wrote it
			u.File = "./" + u.File
		}
	}
	return u
}

// openOffline opens the store for a command beside servers. It makes no embedded
// store: a wrong directory would look like an empty one.
func (c Config) openOffline(ctx context.Context) (generator.Store, error) {
	if url := c.Store.In(c.Data); url.Shared() {
		c.Data = "" // only a server keeps high-water marks
	} else if _, err := os.Stat(url.File); errors.Is(err, fs.ErrNotExist) {
		return nil, &Error{What: fmt.Sprintf("there is no store %s", url), Hint: "Name it with --data DIR or --store sqlite:FILE.", Err: err}
	}
	return c.openStore(ctx, slog.New(slog.DiscardHandler))
}

// openStore opens the configured store. The caller closes it.
func (c Config) openStore(ctx context.Context, log *slog.Logger) (generator.Store, error) {
	if c.Store.Shared() {
		return openShared(ctx, c, log)
	}
	if c.Store.Scheme == StoreMemory {
		return memory.New(memory.Config{Exclusive: true, Seed: rand.Uint64()}), nil
	}
	embedded := sqlite.Config{Dir: c.Data, Owner: owner(), Adopt: c.Once.Adopt, AcceptClock: c.Once.Clock, ClockJump: c.ClockJump}
	if c.Store.Scheme == storeSQLite {
		embedded.Dir, embedded.File = filepath.Dir(c.Store.File), filepath.Base(c.Store.File)
	}
	return sqlite.Open(ctx, embedded)
}

// owner returns the name of this process that operators see in the store.
func owner() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown host"
	}
	return fmt.Sprintf("process %d on %s", os.Getpid(), host)
}

// StoreSettings holds the settings of a shared store besides its URL.
type StoreSettings struct {
	Password string // used if the URL has none
	Failover string // a shared.Failover, or failoverAuto
	Skip     int64
	Unsafe   []string
}

// failoverAuto stands for the default policy of the kind of store.
const failoverAuto = "auto"

// highWaterFile is the file of high-water marks in the data directory, see package
// shared.
const highWaterFile = "nextid.witness"

// openShared opens a shared store. Without a data directory it keeps no high-water
// marks.
func openShared(ctx context.Context, c Config, log *slog.Logger) (generator.Store, error) {
	driver := c.build.Store(c.Store.Scheme)
	db, err := driver.Open(ctx, c.Store.WithPassword(c.SharedStore.Password), c.SharedStore.Unsafe)
	if err != nil {
		return nil, err
	}
	config := shared.Config{
		Owner: owner(), Failover: shared.Failover(c.SharedStore.Failover), Skip: c.SharedStore.Skip, Wait: shared.WaitFor(c.WorkerSlice), Logger: log,
	}
	if config.Failover == failoverAuto {
		config.Failover = driver.Failover
	}
	if c.Data != "" {
		config.HighWater = filepath.Join(c.Data, highWaterFile)
	}
	store, err := shared.New(ctx, db, config)
	if err != nil {
		return nil, err // not a nil *shared.Store
	}
	return store, nil
}

// awaitStore opens the configured store. While a shared store does not answer,
// awaitStore tries again: after a power failure everything starts at the same time.
// Clients get wire.ErrStarting meanwhile. It returns other errors at once, and ends
// with ctx.
func (s *Server) awaitStore(ctx context.Context) (generator.Store, error) {
	const first, most = 100 * time.Millisecond, 5 * time.Second
	c := s.config
	for pause := first; ; pause = min(2*pause, most) {
		store, err := c.openStore(ctx, s.log)
		if err == nil || !c.Store.Shared() || !errors.Is(err, generator.ErrNotNow) && !errors.Is(err, generator.ErrRetry) {
			return store, err
		}
		s.answer()
		s.log.Warn("waiting for the store", "store", c.Store.String(), "error", err)
		select {
		case <-time.After(pause/2 + rand.N(pause)):
		case <-ctx.Done():
			return nil, err
		}
	}
}
