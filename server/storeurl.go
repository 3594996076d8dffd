package server

import (
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"nextid/dsn"
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
		return redacted(u.URL)
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

// secretParameters lists the URL parameters with secret values.
var secretParameters = []string{"password", "sslpassword", "passwd", "secret", "token"}

// redacted returns a URL for messages: its secrets are replaced by xxxxx.
func redacted(text string) string {
	u, hosts, err := dsn.Parse(text)
	if err != nil {
		return "(a URL that cannot be read)"
	}
	query := u.Query()
	for key := range query {
		if slices.Contains(secretParameters, strings.ToLower(key)) {
			query.Set(key, "xxxxx")
			u.RawQuery = query.Encode()
		}
	}
	if _, has := u.User.Password(); has {
		u.User = url.UserPassword(u.User.Username(), "xxxxx")
	}
	return dsn.Text(u, hosts)
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
