package sqlfuncs

import (
	"context"
	"sync/atomic"
	"time"

	"nextid/generator"
	"nextid/generator/layout"
	"nextid/generator/quota"
	"nextid/generator/uuid"
	"nextid/generator/worker"
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

	// Trail records the ids of get_id, and those of audited generators; nil: none.
	Trail ids.Trail
	// Nodes lists the servers on the store, for nextid.nodes; nil: none.
	Nodes func(context.Context) ([]generator.Node, error)
	// Own returns this server and its worker ids without asking the store, for
	// sessions with OwnOnly. It is required for those.
	Own func() (generator.Node, []generator.WorkerMark)

	// Workers has the worker ids of the server.
	Workers *worker.Pools
	// Feeds lists the sequences that the server feeds, for nextid.feeds; nil: none.
	Feeds func() []generator.Feed

	// Sequence holds what nextval makes of a name that does not exist.
	Sequence ids.Auto
	// NoTableCreate: see ids.Server.
	NoTableCreate bool

	// Parameters are the settings of the PostgreSQL dialect that the server's
	// configuration decides, by their lower-case name, as SHOW prints them:
	// port, max_connections, ssl, …
	Parameters map[string]string

	// Settings lists the configuration, for nextid.settings; nil: none.
	Settings func() []ids.Setting

	// Variables are the system variables of the MySQL dialect that the server's
	// configuration decides: port, max_connections, have_ssl, …
	Variables map[string]string

	// Counters are the values of SHOW STATUS that the connections of the MySQL
	// protocol count; nil: none.
	Counters func() map[string]string

	// Takeover finds the position of another id system and fences it, for
	// import_generator; nil: not in this server.
	Takeover ids.Takeover
}

// Limits bound what one session can make the server hold (invariant 6).
// Zero fields take the defaults of DefaultLimits.
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
}

// DefaultLimits are the limits of an unconfigured server. (A zero StatementTime
// stays zero.)
var DefaultLimits = Limits{
	IDsPerCall:         1_000_000,
	Statements:         256,
	Portals:            64,
	PreparedBytes:      1 << 20,
	StatementsPerQuery: 32,
	PlanCache:          1024,
	StatementTime:      30 * time.Second,
}

func (l Limits) withDefaults() Limits {
	or := func(v *int, d int) {
		if *v == 0 {
			*v = d
		}
	}
	if l.IDsPerCall == 0 {
		l.IDsPerCall = DefaultLimits.IDsPerCall
	}
	or(&l.Statements, DefaultLimits.Statements)
	or(&l.Portals, DefaultLimits.Portals)
	or(&l.PreparedBytes, DefaultLimits.PreparedBytes)
	or(&l.StatementsPerQuery, DefaultLimits.StatementsPerQuery)
	or(&l.PlanCache, DefaultLimits.PlanCache)
	return l
}

// Server holds what all sessions share: functions, tables, settings, plans.
type Server struct {
	registry   *generator.Registry
	memory     *account.Server
	cpus       *engine.CPUSlots
	quotas     atomic.Pointer[quota.Set] // nil: none
	catalog    *engine.Catalog
	ids        *ids.Server
	system     *pgcatalog.System
	mysql      *mysql.Dialect
	version    string
	limits     Limits
	clock      generator.Clock
	started    time.Time
	caches     [caches]statementCache
	sessions   sessionSet
	variables  map[string]string        // of MySQL, as sessions begin
	parameters map[string]string        // of PostgreSQL, likewise
	counters   func() map[string]string // of MySQL, likewise
}

// NewServer returns a Server. An unknown Config.Layout is an error.
func NewServer(cfg Config) (*Server, error) {
	if cfg.Clock == nil {
		cfg.Clock = generator.SystemClock{}
	}
	if cfg.Nodes == nil {
		cfg.Nodes = func(context.Context) ([]generator.Node, error) { return nil, nil }
	}
	if cfg.Feeds == nil {
		cfg.Feeds = func() []generator.Feed { return nil }
	}
	if cfg.Settings == nil {
		cfg.Settings = func() []ids.Setting { return nil }
	}
	if cfg.Counters == nil {
		cfg.Counters = func() map[string]string { return nil }
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
		catalog: newCatalog(cfg.Functions...), mysql: mysql.NewDialect(), cpus: engine.NewCPUSlots(), counters: cfg.Counters,
		ids: &ids.Server{
			PerCall: limits.IDsPerCall, Layout: l, UUIDs: uuid.NewSource(cfg.Clock), Sequence: cfg.Sequence, NoTableCreate: cfg.NoTableCreate,
			Trail: cfg.Trail, Nodes: cfg.Nodes, Workers: cfg.Workers, Own: cfg.Own, Feeds: cfg.Feeds, Takeover: cfg.Takeover, Settings: cfg.Settings,
		},
	}
	s.variables, s.parameters = s.mysqlVariables(cfg.Variables), s.postgresParameters(cfg.Parameters)
	s.ids.Quotas = s.Quotas
	s.system = pgcatalog.NewSystem(s.catalog, s.sessions.users)
	s.started = s.now()
	for i := range s.caches {
		s.caches[i].init(s.limits.PlanCache)
	}
	s.caches[cacheNone].init(0)
	return s, nil
}

// SetQuotas puts quotas into force, in the place of those before; see
// quota.Rule.Check. Rules that stay go on with what was drawn under them.
func (s *Server) SetQuotas(rules []quota.Rule) { s.quotas.Store(quota.New(rules, s.quotas.Load())) }

// Quotas lists them.
func (s *Server) Quotas() []quota.State { return s.quotas.Load().States() }

func (s *Server) now() time.Time { return time.Unix(0, s.clock.Wall()).UTC() }

// Agents lists those who drew ids with get_id, by name, and how many calls
// were refused because their agent is none.
func (s *Server) Agents() (all []ids.AgentCount, refused int64) { return s.ids.Agents.Counts() }

// newCatalog is all that statements can name: what the packages have, and more.
func newCatalog(more ...engine.Function) *engine.Catalog {
	return engine.NewCatalog(
		[][]engine.Function{
			ids.Functions(), pgfunc.Functions, engine.ConditionalFunctions, engine.WindowFunctions, pgcatalog.Functions(), more,
		},
		[][]engine.Table{ids.Tables(), pgcatalog.Tables()}, pgcatalog.Domains())
}
