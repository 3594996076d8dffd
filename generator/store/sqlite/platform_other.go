//go:build !linux

package sqlite

import "os"

// filesystem describes the file system of a directory. Outside Linux every one
// counts as local, and the store is bound neither to an inode nor to the machine.
type filesystem struct {
	name                 string
	remote, steadyInodes bool
}

func filesystemOf(string) (filesystem, error) { return filesystem{}, nil }

func (filesystem) identify(*os.File, string) (volume, birth string, err error) { return "", "", nil }

func machineIDs() (machine, hardware string) { return "", "" }
