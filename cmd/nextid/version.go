package main

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is set by release builds: -ldflags "-X main.version=1.2.3".
var version string

// commit is set by make build, for builds in which Go does not look for the
// commit itself (-buildvcs=false).
var commit string

// buildVersion is the version of this build: that of the release, else the
// module's, else "devel".
func buildVersion() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "devel"
}

// buildCommit is the commit of this build, with "+changes" when the tree had
// some, or "unknown".
func buildCommit() string {
	revision, changes := "", ""
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			switch {
			case s.Key == "vcs.revision":
				revision = s.Value
			case s.Key == "vcs.modified" && s.Value == "true":
				changes = "+changes"
			}
		}
	}
	if revision == "" {
		return cmp.Or(commit, "unknown")
	}
	return revision + changes
}

func (p *program) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of this program",
		Args:  noArgs,
		RunE:  func(*cobra.Command, []string) error { return p.printVersion() },
	}
}

func (p *program) printVersion() error {
	_, err := fmt.Fprintf(p.stdout, "nextid %s (%s, %s/%s, commit %s)\n",
		buildVersion(), runtime.Version(), runtime.GOOS, runtime.GOARCH, buildCommit())
	return err
}
