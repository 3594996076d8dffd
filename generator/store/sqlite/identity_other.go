//go:build !linux

package sqlite

import "os"

// identify returns "" for both: outside Linux the store is not bound to them.
func (filesystem) identify(*os.File, string) (volume, birth string, err error) { return "", "", nil }

// hardwareID returns "": it is not read outside Linux.
func hardwareID() string { return "" }
