//go:build !linux

package sqlite

import "os"

// identify knows nothing: the store is bound to less here.
func (filesystem) identify(*os.File, string) (volume, birth string, err error) { return "", "", nil }

func hardwareID() string { return "" }
