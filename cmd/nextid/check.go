package main

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"nextid/wire"
)

func (p *program) checkConfigCommand() *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use:   "check-config --config FILE",
		Short: "Check a configuration file",
		Long: "Check a configuration file and the files that it names (users, host rules, certificates,\n" +
			"passwords), and print everything that is wrong with them, one mistake a line, or ok. Run it\n" +
			"as the user that runs the server. Neither the environment nor the store is looked at.",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if file == "" {
				return usageFailure(cmd, "--config FILE is missing")
			}
			c, err := loadConfig(file, nil, nil)
			if err != nil {
				return err
			}
			if found := c.checkFiles(); len(found) > 0 {
				return found
			}
			_, err = fmt.Fprintln(p.stdout, "ok")
			return err
		},
	}
	cmd.Flags().StringVar(&file, "config", "", "the `FILE` to check")
	return cmd
}

// checkFiles reads the files that a server reads when it starts, and reports
// why one would not.
func (c *Config) checkFiles() Mistakes {
	var found Mistakes
	check := func(key string, err error) {
		if err == nil {
			return
		}
		text := oneLine(err.Error())
		if hint := hintOf(err); hint != "" {
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
