package server

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"

	"nextid/generator/layout"
	"nextid/wire"
)

// Check reads the files that the configuration names, as a starting server does,
// and compares worker_id with the layout. It returns the mistakes found together
// with those found before, in the order of the configuration file.
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
	if file := c.usersFile(); file != "" {
		_, err := readOwnUsers(file)
		check("users", err)
		_, err = a.readRules()
		check("host_rules", err)
	}
	if c.TLSCert != "" {
		a.checkTLS(check)
	}
	if read := c.databasePasswords(); read != nil {
		_, err := read()
		check("database_passwords", err)
	}
	if c.Audit.File != "" {
		dir := filepath.Dir(c.Audit.File)
		if _, err := os.Stat(dir + "/."); err != nil { // ENOTDIR for a file
			check("audit.file", readFailure("directory", dir, err))
		} else if info, err := os.Stat(c.Audit.File); err == nil && info.IsDir() {
			check("audit.file", readFailure("audit file", c.Audit.File, syscall.EISDIR))
		}
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
