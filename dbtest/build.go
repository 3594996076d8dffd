package dbtest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Build builds programs of this module into dir. args are flags and, after them,
// packages. The flags of make build are added, so nextid is compiled once for all
// tests. Programs that make test has built ($DBTEST_PROGRAMS) are linked instead.
func Build(dir string, args ...string) error {
	if built := os.Getenv("DBTEST_PROGRAMS"); built != "" && !strings.HasPrefix(args[0], "-") {
		for _, pkg := range args {
			if pkg == "." {
				pkg, _ = os.Getwd()
			}
			if err := os.Symlink(filepath.Join(built, filepath.Base(pkg)), filepath.Join(dir, filepath.Base(pkg))); err != nil {
				return err
			}
		}
		return nil
	}
	build := exec.Command("go", slices.Concat([]string{"build", "-trimpath", "-ldflags=-s -w", "-o", dir + string(filepath.Separator)}, args)...)
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w\n%s", args[len(args)-1], err, out)
	}
	return nil
}
