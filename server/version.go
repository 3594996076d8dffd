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
	info, _ := debug.ReadBuildInfo()
	if version != "" || info == nil || info.Main.Version == "(devel)" {
		return cmp.Or(version, "devel")
	}
	return cmp.Or(info.Main.Version, "devel")
}

// Commit returns the commit of this build, or "unknown". "+changes" marks a tree
// with uncommitted changes.
func Commit() string {
	values := map[string]string{}
	info, _ := debug.ReadBuildInfo()
	for _, s := range cmp.Or(info, &debug.BuildInfo{}).Settings {
		values[s.Key] = s.Value
	}
	revision := values["vcs.revision"]
	if revision != "" && values["vcs.modified"] == "true" {
		revision += "+changes"
	}
	return cmp.Or(revision, commit, "unknown")
}
