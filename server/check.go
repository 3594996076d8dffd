package server

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"nextid/generator/layout"
	"nextid/wire"
)

// Check reads the files that a server reads when it starts, and reports why one
// would not. It adds a worker id that the layout has no bits for, and the
// mistakes that were found before.
func (c *Config) Check(before Mistakes) Mistakes {
	var found Mistakes
	check := func(key string, err error) {
		if err == nil {
			return
		}
		text := OneLine(err.Error())
		if hint := HintOf(err); hint != "" {
			text += ". " + hint
		}
		found = append(found, Mistake{Place: c.Origin[key], Key: key, Text: text})
	}
	a := &access{config: *c, log: slog.New(slog.DiscardHandler), tls: &wire.TLS{}}
	_, _, err := a.readUsers()
	check("users", err)
	if c.TLSCert != "" {
		check("tls_cert", a.readTLS())
	}
	if read := c.databasePasswords(); read != nil {
		_, err := read()
		check("database_passwords", err)
	}
	if c.Audit.File != "" {
		check("audit.file", isDirectory(filepath.Dir(c.Audit.File)))
	}
	if l, err := layout.Preset(c.Layout); err == nil {
		if n, err := strconv.ParseInt(c.WorkerID, 10, 64); err == nil && n >= l.Workers() {
			check("worker_id", fmt.Errorf("%d is not from 0 to %d, the worker ids of layout %s", n, l.Workers()-1, l.Name))
		}
	}
	found = append(found, before...)
	slices.SortStableFunc(found, Mistake.compare)
	return found
}

// isDirectory says why files cannot be made in a directory.
func isDirectory(dir string) error {
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		return readFailure("directory", dir, err)
	case !info.IsDir():
		return readFailure("directory", dir, &fs.PathError{Op: "stat", Path: dir, Err: errors.New("not a directory")})
	}
	return nil
}
