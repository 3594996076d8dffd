package pgcatalog

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/setting"
)

// System is the system catalogs of one server. It resolves the names and OIDs
// of objects (datum.Names).
type System struct {
	known     *engine.Catalog
	users     func() map[string]bool      // that are connected, and whether they are administrators
	relations atomic.Pointer[relationSet] // the latest
	static    sync.Map                    // rows that never change, by table
	procs     func() procIndex
	sources   map[string]*source
}

// NewSystem makes the system catalogs of a server. known has their tables, see Tables.
func NewSystem(known *engine.Catalog, users func() map[string]bool) *System {
	s := &System{known: known, users: users, sources: sources()}
	s.procs = sync.OnceValue(s.readProcs)
	return s
}

// table is one of the tables of pg_catalog.
func (s *System) table(name string) *engine.Table { return s.known.Tables[engine.PGCatalog+"."+name] }

// Session holds what the catalogs ask of a session.
type Session interface {
	engine.Host
	// System has the catalogs of the server.
	System() *System
	// Snapshot returns where what a transaction sees is kept until its end, nil where
	// each statement looks anew.
	Snapshot() *any
	// PreparedStatements lists the session's own, in no order.
	PreparedStatements() []PreparedStatement
	// EndOther ends another connection, or only its statement; found is false
	// where there is none that the session may end.
	EndOther(pid int64, queryOnly bool) (found bool)
	// Assign sets a setting for the session or the transaction.
	Assign(def *setting.Definition, value string, local bool) error
}

// PreparedStatement is a row of pg_prepared_statements.
type PreparedStatement struct {
	Name, Text string
	At         time.Time
	Params     []datum.OID
	SQL        bool // made by PREPARE, not by a message of the protocol
}

// sessionOf is the session for which a statement runs.
func sessionOf(x *engine.Exec) Session { return x.Host.(Session) }

// systemOf has the catalogs that a statement sees.
func systemOf(x *engine.Exec) *System { return sessionOf(x).System() }

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
