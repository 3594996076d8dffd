package sqlfuncs

import (
	"cmp"
	"fmt"
	"sync/atomic"
	"time"

	"nextid/generator"
	"nextid/generator/layout"
	"nextid/generator/quota"
	"nextid/generator/uuid"
	"nextid/sqlfuncs/account"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/ids"
	"nextid/sqlfuncs/mysql"
	"nextid/sqlfuncs/pgcatalog"
	"nextid/sqlfuncs/pgfunc"
)

// Config configures a Server. Registry is required.
type Config struct {
	Registry *generator.Registry
	Version  string // of nextid, for version()
	Limits   Limits
	Memory   account.Limits  // of all sessions together, see package account
	Clock    generator.Clock // nil: the system's
	Layout   string          // default layout of parse_id(number); "": twitter

	// Functions are SQL functions besides those of nextid and the dialects.
	Functions []engine.Function

	// IDs configures nextid's own functions and tables.
	IDs ids.Config

	// Parameters holds the PostgreSQL settings that the configuration determines,
	// by lower-case name, with values as SHOW prints them: port, max_connections,
	// ssl, …
	Parameters map[string]string

	// Variables holds the MySQL system variables that the configuration determines:
	// port, max_connections, have_ssl, …
	Variables map[string]string

	// Counters returns the values of SHOW STATUS that the MySQL protocol's
	// connections count; nil: none.
	Counters func() map[string]string
}

// Limits limits what one session can make the server hold. Zero fields take the
// values of DefaultLimits, except StatementTime.
type Limits struct {
	IDsPerCall         int64 // next_ids, next_range and id_batch in one call
	Statements         int   // prepared statements of a session
	Portals            int   // open portals (cursors) of a session
	PreparedBytes      int   // text of all prepared statements and bound values of a session
	StatementsPerQuery int   // statements in one simple query
	PlanCache          int   // statements in the server-wide cache

	// StatementTime is the default of PostgreSQL's statement_timeout and of
	// MariaDB's max_statement_time; a session may change it. 0: no limit.
	StatementTime time.Duration

	// IdleInTransaction is the default of PostgreSQL's
	// idle_in_transaction_session_timeout and of MariaDB's idle_transaction_timeout; a
	// session may change it.
	IdleInTransaction time.Duration
}

// DefaultLimits holds the limits of a server without a configuration.
var DefaultLimits = Limits{
	IDsPerCall:         1_000_000,
	Statements:         256,
	Portals:            64,
	PreparedBytes:      1 << 20,
	StatementsPerQuery: 32,
	PlanCache:          1024,
	StatementTime:      30 * time.Second,
	IdleInTransaction:  time.Minute,
}

// withDefaults returns l with DefaultLimits in place of zero fields. A StatementTime
// of 0 means no limit and stays.
func (l Limits) withDefaults() Limits {
	d := DefaultLimits
	return Limits{
		IDsPerCall: cmp.Or(l.IDsPerCall, d.IDsPerCall), Statements: cmp.Or(l.Statements, d.Statements), Portals: cmp.Or(l.Portals, d.Portals),
		PreparedBytes: cmp.Or(l.PreparedBytes, d.PreparedBytes), StatementsPerQuery: cmp.Or(l.StatementsPerQuery, d.StatementsPerQuery),
		PlanCache: cmp.Or(l.PlanCache, d.PlanCache), StatementTime: l.StatementTime,
		IdleInTransaction: cmp.Or(l.IdleInTransaction, d.IdleInTransaction),
	}
}

// Server holds what all sessions share: functions, tables, settings, plans. Any
// goroutine may use it.
type Server struct {
	registry *generator.Registry
	memory   *account.Server
	cpus     *engine.CPUSlots
	quotas   atomic.Pointer[quota.Set] // nil: none
	catalog  *engine.Catalog
	ids      *ids.Server
	system   *pgcatalog.System // names and oids of pg_catalog
	version  string
	limits   Limits
	clock    generator.Clock
	started  time.Time
	caches   [caches]statementCache
	sessions sessionSet
	dialects [2]dialect           // by syntax.Dialect
	defaults [2]map[string]string // settings at the start of a session, by syntax.Dialect
}

// NewServer returns a Server. An unknown Config.Layout is an error, and so are
// Functions that CheckFunctions refuses.
func NewServer(cfg Config) (*Server, error) {
	if err := CheckFunctions(cfg.Functions); err != nil {
		return nil, err
	}
	if cfg.Clock == nil {
		cfg.Clock = generator.SystemClock{}
	}
	if cfg.Layout == "" {
		cfg.Layout = layout.Default
	}
	l, err := layout.Preset(cfg.Layout)
	if err != nil {
		return nil, err
	}
	limits := cfg.Limits.withDefaults()
	s := &Server{
		registry: cfg.Registry, memory: account.NewServer(cfg.Memory), version: cfg.Version, limits: limits, clock: cfg.Clock,
		catalog: newCatalog(cfg.Functions...), dialects: [2]dialect{postgres{}, newMySQLDialect(mysql.NewDialect(cfg.Counters))}, cpus: engine.NewCPUSlots(),
		sessions: sessionSet{all: map[*Session]struct{}{}},
		ids:      &ids.Server{Config: cfg.IDs, PerCall: limits.IDsPerCall, Layout: l, UUIDs: uuid.NewSource(cfg.Clock)},
	}
	s.defaults = [2]map[string]string{s.postgresParameters(cfg.Parameters), s.mysqlVariables(cfg.Variables)}
	s.ids.Quotas = s.Quotas
	s.system = pgcatalog.NewSystem(s.catalog, s.sessions.users)
	s.started = s.now()
	for i := range s.caches {
		s.caches[i].init(s.limits.PlanCache)
	}
	s.caches[cacheNone].init(0)
	return s, nil
}

// SetQuotas replaces the quotas. Rules that stay keep the counts of what was drawn
// under them. See quota.Rule.Check.
func (s *Server) SetQuotas(rules []quota.Rule) { s.quotas.Store(quota.New(rules, s.quotas.Load())) }

// Quotas returns the quotas with their counts.
func (s *Server) Quotas() []quota.State { return s.quotas.Load().States() }

// now returns the time of the server's clock, in UTC.
func (s *Server) now() time.Time { return time.Unix(0, s.clock.Wall()).UTC() }

// Agents returns the agents of get_id by name, and the number of calls refused for
// an invalid agent.
func (s *Server) Agents() (all []ids.AgentCount, refused int64) { return s.ids.Agents.Counts() }

// CheckFunctions returns an error for a function that a statement could not call: it
// does nothing, or has no name, or that of a function of nextid or of a dialect.
func CheckFunctions(functions []engine.Function) error {
	if len(functions) == 0 {
		return nil
	}
	known, own := newCatalog().Functions, mysql.NewDialect(nil).Own
	for _, f := range functions {
		switch {
		case f.Name == "" || known[f.Name] != nil || own[f.Name] != nil:
			return fmt.Errorf("%q cannot be the name of an SQL function, or nextid has a function of this name", f.Name)
		case f.Does == nil:
			return fmt.Errorf("the SQL function %q does nothing", f.Name)
		}
	}
	return nil
}

// newCatalog joins the functions and tables of all packages, and the functions of
// Config.Functions.
func newCatalog(more ...engine.Function) *engine.Catalog {
	return engine.NewCatalog(
		[][]engine.Function{
			ids.Functions(), pgfunc.Functions, engine.ConditionalFunctions, engine.WindowFunctions, pgcatalog.Functions(), more,
		},
		[][]engine.Table{ids.Tables(), pgcatalog.Tables()}, pgcatalog.Domains())
}
