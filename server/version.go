package server

import (
	"cmp"
	"runtime/debug"
)

// version is set by release builds: -ldflags "-X nextid/server.version=1.2.3".
var version string

// commit is set by make build, for builds in which Go does not look for the
// commit itself (-buildvcs=false).
var commit string

// Version is the version of this build: that of the release, else the
// module's, else "devel".
func Version() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "devel"
}

// Commit is the commit of this build, with "+changes" when the tree had
// some, or "unknown".
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
