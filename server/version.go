package server

import (
	"cmp"
	"runtime/debug"
)

// version is set by release builds: -ldflags "-X nextid/server.version=1.2.3".
var version string

// commit is set by make build, where Go does not read the commit itself
// (-buildvcs=false).
var commit string

// Version returns the version of the release, else that of the module, else
// "devel".
func Version() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "devel"
}

// Commit returns the commit of this build, or "unknown". "+changes" marks a tree
// with uncommitted changes.
func Commit() string {
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
