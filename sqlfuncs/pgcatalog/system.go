package pgcatalog

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/setting"
)

// System holds the system catalogs of one server. It implements datum.Names: the
// names and OIDs of objects. All sessions share it.
type System struct {
	known     *engine.Catalog
	users     func() map[string]bool      // users with a session, and whether each is an administrator
	relations atomic.Pointer[relationSet] // newest set
	static    sync.Map                    // rows that never change, by table
	procs     func() procIndex            // made at the first call
	sources   map[string]*source
}

// NewSystem returns the system catalogs of a server. known has their tables, see
// Tables.
func NewSystem(known *engine.Catalog, users func() map[string]bool) *System {
	s := &System{known: known, users: users, sources: sources()}
	s.procs = sync.OnceValue(s.readProcs)
	return s
}

// table returns a table of pg_catalog.
func (s *System) table(name string) *engine.Table { return s.known.Tables[engine.PGCatalog+"."+name] }

// Session declares what the catalogs call on a session. Session in package sqlfuncs
// implements it.
type Session interface {
	engine.Host
	// System returns the catalogs of the server.
	System() *System
	// Catalogs returns what the statement of an execution has read, and what its
	// transaction has; nil if each statement reads the catalogs anew.
	Catalogs(x *engine.Exec) (statement, snapshot *Cache)
	// EndOther ends another connection, or cancels only its statement. found is
	// false if there is none that the session may end.
	EndOther(pid int64, queryOnly bool) (found bool)
	// Assign sets a setting for the session, or for the transaction if local.
	Assign(def *setting.Definition, value string, local bool) error
}

// Cache keeps what a statement or a transaction has read of the catalogs.
type Cache struct {
	relations *relationSet
	rows      map[*engine.Table]*rowSet
}

// sessionOf returns the session for which a statement runs.
func sessionOf(x *engine.Exec) Session { return x.Host.(Session) }

// systemOf returns the catalogs of a statement's server.
func systemOf(x *engine.Exec) *System { return sessionOf(x).System() }

// schemas returns the schemas of search_path that exist, with pg_catalog first
// unless search_path names it.
func schemas(x *engine.Exec) []string {
	var out []string
	for _, name := range searchPath(x) {
		if schemaOIDs[name] != 0 && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	if !slices.Contains(out, engine.PGCatalog) {
		out = append([]string{engine.PGCatalog}, out...)
	}
	return out
}

// namesCatalog reports whether the setting search_path names pg_catalog.
func namesCatalog(x *engine.Exec) bool { return slices.Contains(searchPath(x), engine.PGCatalog) }

// searchPath returns the names in the setting search_path.
func searchPath(x *engine.Exec) []string {
	path, _ := x.Host.Settings().Get("search_path")
	var out []string
	for name := range strings.SplitSeq(path, ",") {
		out = append(out, strings.Trim(strings.TrimSpace(name), `"`))
	}
	return out
}
