package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"nextid/generator/store/sqlstore"
)

// The stores of this build, as the part of --store before the colon.
const (
	storeSQLite = "sqlite"
	storeMemory = "memory"
)

// StoreURL names a store. The zero StoreURL is the embedded store in the data
// directory.
type StoreURL struct {
	Scheme string
	File   string // of sqlite
}

// Set reads sqlite:FILE or memory:.
func (u *StoreURL) Set(s string) error {
	scheme, rest, _ := strings.Cut(s, ":")
	switch {
	case scheme == storeSQLite && rest != "":
		*u = StoreURL{Scheme: storeSQLite, File: rest}
	case scheme == storeSQLite:
		return errors.New("sqlite: needs the name of a file: sqlite:FILE")
	case s == storeMemory+":":
		*u = StoreURL{Scheme: storeMemory}
	default:
		// The rest may hold a password and is not repeated.
		return fmt.Errorf("this version of nextid knows the stores sqlite:FILE and memory:, not %q", scheme)
	}
	return nil
}

func (u StoreURL) String() string {
	switch u.Scheme {
	case "":
		return "sqlite in the data directory"
	case storeMemory:
		return storeMemory + ":"
	}
	return u.Scheme + ":" + u.File
}

// in fills in the file of the zero StoreURL.
func (u StoreURL) in(data string) StoreURL {
	if u.Scheme == "" {
		return StoreURL{Scheme: storeSQLite, File: joinDir(data, sqlstore.DefaultFile)}
	}
	return u
}

// joinDir joins like filepath.Join but keeps a leading "./", so that messages
// show the path as the user wrote it.
func joinDir(dir, file string) string {
	joined := filepath.Join(dir, file)
	if strings.HasPrefix(dir, "./") && !filepath.IsAbs(joined) {
		return "./" + joined
	}
	return joined
}
