package sqlfuncs

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/setting"
)

// system is the system catalogs of one server. It resolves the names and OIDs
// of objects (datum.Names).
type system struct {
	known     *engine.Catalog
	clients   func() []*engine.Client     // that are connected
	relations atomic.Pointer[relationSet] // the latest
	static    sync.Map                    // rows that never change, by table
	procs     func() procIndex
	sources   map[string]*catalogSource
}

// newSystem makes the system catalogs of a server. known has their tables, see
// catalogTables.
func newSystem(known *engine.Catalog, clients func() []*engine.Client) *system {
	s := &system{known: known, clients: clients, sources: catalogSources()}
	s.procs = sync.OnceValue(s.readProcs)
	return s
}

// table is one of the tables of pg_catalog.
func (s *system) table(name string) *engine.Table { return s.known.Tables[engine.PGCatalog+"."+name] }

// catalogSession is what the catalogs ask of a session.
type catalogSession interface {
	engine.Host
	// System has the catalogs of the server.
	System() *system
	// Snapshot is where what a transaction sees is kept until its end, nil where
	// each statement looks anew.
	Snapshot() *any
	// Prepared and Cursors list what the session has open, by name.
	Prepared() []preparedStatement
	Cursors() []cursor
	// EndOther ends another connection, or only its statement; found is false
	// where there is none that the session may end.
	EndOther(pid int64, queryOnly bool) (found bool)
	// Assign sets a setting for the session or the transaction.
	Assign(def *setting.Definition, value string, local bool) error
}

// preparedStatement is a row of pg_prepared_statements.
type preparedStatement struct {
	name, text string
	params     []datum.OID
}

// cursor is a row of pg_cursors.
type cursor struct {
	name, text               string
	hold, binary, scrollable bool
}

// catalogSessionOf is the session for which a statement runs.
func catalogSessionOf(x *engine.Exec) catalogSession { return x.Host.(catalogSession) }

// systemOf has the catalogs that a statement sees.
func systemOf(x *engine.Exec) *system { return catalogSessionOf(x).System() }

// schemas are the schemas of the setting search_path that exist, with
// pg_catalog in front unless it is named.
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

func searchPath(x *engine.Exec) []string {
	path, _ := x.Host.Settings().Get("search_path")
	var out []string
	for name := range strings.SplitSeq(path, ",") {
		out = append(out, strings.Trim(strings.TrimSpace(name), `"`))
	}
	return out
}
