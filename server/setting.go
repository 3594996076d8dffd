package server

import (
	"strings"
	"time"

	"nextid/generator/segment"
	"nextid/generator/store/shared"
)

// EnvPrefix begins the name of every environment variable of nextid.
const EnvPrefix = "NEXTID_"

// setting is one row of the configuration. The key in the file, the variable
// in the environment, the flag of serve and the line in docs/config.md all
// come from it, so they cannot drift apart.
type setting struct {
	key   string // in the YAML file; a dot leads into a section
	flag  bool   // serve has a flag for it
	arg   string // what stands for the value in help texts, "" for a switch
	help  string // one sentence without a period
	live  bool   // SIGHUP puts a change into force
	value func(c *Config) value
}

// flagName is the setting's flag without the dashes.
func (s *setting) flagName() string { return strings.ReplaceAll(s.key, "_", "-") }

// envName is the setting's environment variable.
func (s *setting) envName() string {
	return EnvPrefix + strings.ToUpper(strings.ReplaceAll(s.key, ".", "_"))
}

// Sections of the file: limitsSection holds what bounds memory, auditSection
// the audit trail.
const (
	limitsSection = "limits."
	auditSection  = "audit."
)

var sections = []string{limitsSection, auditSection}

// settings is everything that can be set by one value. Generators, which are
// a list, exist in the file only.
var settings = []setting{
	{
		key: "data", flag: true, arg: "DIR", help: "directory of the embedded store, created if missing",
		value: func(c *Config) value { return text(&c.Data) },
	},
	{
		key: "pg", flag: true, arg: "ADDR", help: "PostgreSQL protocol: HOST:PORT, a path for a Unix socket, or off",
		value: func(c *Config) value { return &c.PG },
	},
	{
		key: "mysql", flag: true, arg: "ADDR", help: "MySQL protocol: likewise",
		value: func(c *Config) value { return &c.MySQL },
	},
	{
		key: "http", flag: true, arg: "ADDR", help: "the page, the JSON API, Leaf's and Tinyid's paths, /healthz, /readyz and /metrics over HTTP; likewise",
		value: func(c *Config) value { return &c.HTTP },
	},
	{
		key: "store", flag: true, arg: "URL", help: "sqlite:FILE; postgres://…, mysql://…, redis://…, etcd://… or zookeeper://…, which several servers share; or memory:, which forgets everything (for tests)",
		value: func(c *Config) value { return storeValue{c} },
	},
	{
		key: "store_failover", flag: true, arg: "POLICY", help: "what segment generators do after a failover of the shared store: stop until recover_generator, skip store_skip numbers, or go on (lossless); auto is skip on Redis and stop elsewhere",
		value: func(c *Config) value {
			return choice(&c.SharedStore.Failover, failoverAuto, string(shared.Stop), string(shared.Skip), string(shared.Lossless))
		},
	},
	{
		key: "store_skip", arg: "N", help: "numbers that store_failover skip passes over: more than all servers can reserve of a name while a standby lags",
		value: func(c *Config) value { return count(&c.SharedStore.Skip, 1, 1<<53) },
	},
	{
		key: "store_unsafe", flag: true, arg: "LIST", help: "unsafe settings of the shared store to accept, by name, such as fsync; ids can be lost with them",
		value: func(c *Config) value { return words(&c.SharedStore.Unsafe) },
	},
	{
		key: "store_password", help: "password for the shared store, where the URL has none; best given in the environment", arg: "TEXT",
		value: func(c *Config) value { return secret(&c.SharedStore.Password) },
	},
	{
		key: "database_passwords", arg: "FILE", help: "passwords of the databases that tickets and import_generator use, in the form of PostgreSQL's .pgpass: host:port:database:user:password",
		value: func(c *Config) value { return text(&c.DatabasePasswords) },
	},
	{
		key: "auto_create", flag: true, arg: "KIND", help: "what next_id('new_name') creates: snowflake, segment or another kind that needs no options, or off",
		value: func(c *Config) value { return autoCreateValue{c} },
	},
	{
		key: "auto_create_sequence", arg: "KIND", help: "what nextval('new_name') creates: pools, the kind of auto_create with ids at least 50 apart, for clients that count on from an id; segment, numbers from 51 in steps of 50; or same, what next_id creates",
		value: func(c *Config) value {
			return choice(&c.AutoCreateSequence, autoCreatePools, segment.KindName, autoCreateSame)
		},
	},
	{
		key: "auto_create_tables", help: "whether a name in the WHERE of a table is created, as by next_id: SELECT id FROM ids WHERE name = 'new_name'; false for programs that look names up, such as Postfix: they get no row then",
		value: func(c *Config) value { return boolean(&c.AutoCreateTables) },
	},
	{
		key: "worker_id", flag: true, arg: "N", help: "worker id of snowflake ids: a number, or auto to claim a free one from the store; docs/stores.md has more ways",
		value: func(c *Config) value { return workerSource(&c.WorkerID) },
	},
	{
		key: "worker_slice", flag: true, arg: "DURATION", help: "time that is reserved ahead for snowflake ids: how long they go on without the store, and how long a crash blocks a worker id; the same on all servers; 0s is 1m on a shared store and 3s on an embedded one",
		value: func(c *Config) value { return durationOrZero(&c.WorkerSlice, time.Second, 7*24*time.Hour) },
	},
	{
		key: "worker_borrow", flag: true, help: "when no worker id is free, take one whose holder missed a renewal: ids go on at once, with times up to worker_slice ahead of the clock",
		value: func(c *Config) value { return boolean(&c.WorkerBorrow) },
	},
	{
		key: "clock_limit", flag: true, arg: "DURATION", help: "greatest difference between the clocks of this machine and of the shared store: with more a server does not start, and a running one raises an alarm; 0s for any difference",
		value: func(c *Config) value { return durationOrZero(&c.ClockLimit, 100*time.Millisecond, 24*time.Hour) },
	},
	{
		key: "clock_jump", flag: true, arg: "DURATION", help: "how far the clock may be ahead of the last use of the embedded store: with more the server does not start without --accept-clock; 0s for any time",
		value: func(c *Config) value { return durationOrZero(&c.ClockJump, time.Minute, 10*365*24*time.Hour) },
	},
	{
		key: "users", flag: true, arg: "FILE", help: "file of users and verifiers (see nextid passwd); auto for users in the data directory, if it is there; off to let everybody in",
		value: func(c *Config) value { return text(&c.Users) },
	},
	{
		key: "host_rules", flag: true, arg: "FILE", help: "who may log in from where, and how, after PostgreSQL's pg_hba.conf",
		value: func(c *Config) value { return text(&c.HostRules) },
	},
	{
		key: "tls_cert", flag: true, arg: "FILE", help: "the server's certificate in PEM form, followed by those between it and the root",
		value: func(c *Config) value { return text(&c.TLSCert) },
	},
	{
		key: "tls_key", flag: true, arg: "FILE", help: "the private key of tls_cert; without it the key is looked for in tls_cert",
		value: func(c *Config) value { return text(&c.TLSKey) },
	},
	{
		key: "tls_client_ca", flag: true, arg: "FILE", help: "authorities that may issue clients' certificates",
		value: func(c *Config) value { return text(&c.TLSClientCA) },
	},
	{
		key: "require_tls", flag: true, help: "refuse TCP connections without TLS, those from this machine too",
		value: func(c *Config) value { return boolean(&c.RequireTLS) },
	},
	{
		key: "mysql_native_password", flag: true, help: "let users log in with MySQL's old method; nextid passwd then also writes its digest, which is weak",
		value: func(c *Config) value { return boolean(&c.NativePassword) },
	},
	{
		key: "allow_plaintext", flag: true, help: "serve an address that other machines can reach, without users and TLS",
		value: func(c *Config) value { return boolean(&c.AllowPlaintext) },
	},
	{
		key: "log_level", flag: true, live: true, arg: "LEVEL", help: "least important log lines to print: debug, info, warn or error",
		value: func(c *Config) value { return level(&c.LogLevel) },
	},
	{
		key: "log_format", flag: true, arg: "FORMAT", help: "form of log lines on standard error: text or json",
		value: func(c *Config) value { return choice(&c.LogFormat, "text", LogJSON) },
	},

	{
		key: "drain_delay", flag: true, live: true, arg: "DURATION", help: "how long a stopping server still serves everybody while /readyz says 503, so that load balancers move clients",
		value: func(c *Config) value { return duration(&c.DrainDelay, 0, time.Hour) },
	},
	{
		key: "drain_timeout", live: true, arg: "DURATION", help: "how long statements and transactions may take to finish after drain_delay",
		value: func(c *Config) value { return duration(&c.DrainTimeout, 0, time.Hour) },
	},
	{
		key: "layout", arg: "NAME", help: "layout of snowflakes that name none, and of numbers that parse_id gets without a name",
		value: func(c *Config) value { return text(&c.Layout) },
	},
	{
		key: "epoch", arg: "TIME", help: "start of time of snowflakes that their first use creates, such as 2024-01-01T00:00:00Z, instead of the layout's own",
		value: func(c *Config) value { return text(&c.Epoch) },
	},

	{
		key: auditSection + "file", arg: "FILE", help: "file for the audit trail: lines of JSON for the ids of get_id and of audit.names; without it there is none",
		value: func(c *Config) value { return text(&c.Audit.File) },
	},
	{
		key: auditSection + "names", arg: "NAMES", help: "generators of which every draw is a line of the trail: names or patterns such as orders,invoice_*",
		value: func(c *Config) value { return words(&c.Audit.Names) },
	},
	{
		key: auditSection + "sample", arg: "N", help: "write one line in N, 1 for all",
		value: func(c *Config) value { return count(&c.Audit.Sample, 1, 1_000_000_000) },
	},
	{
		key: auditSection + "max_size", arg: "SIZE", help: "size of the file at which it is rotated",
		value: func(c *Config) value { return bytesOf(&c.Audit.MaxSize, 1<<10, 1<<40) },
	},
	{
		key: auditSection + "keep", arg: "N", help: "rotated files that are kept: FILE.1, the youngest, to FILE.N",
		value: func(c *Config) value { return count(&c.Audit.Keep, 0, 1000) },
	},
	{
		key: auditSection + "queue", arg: "N", help: "lines that may wait to be written; more are counted instead, since no id waits for the trail",
		value: func(c *Config) value { return count(&c.Audit.Queue, 1, 10_000_000) },
	},
	{
		key: limitsSection + "max_names", arg: "N", help: "generator names in the store, and in this server's memory; those of the file always have room",
		value: func(c *Config) value { return count(&c.MaxNames, 1, 100_000_000) },
	},
	{
		key: limitsSection + "ids_per_call", arg: "N", help: "ids in one call of next_ids, next_range or id_batch",
		value: func(c *Config) value { return count(&c.SQL.IDsPerCall, 1, 1_000_000_000) },
	},
	{
		key: limitsSection + "statements", arg: "N", help: "prepared statements of a connection",
		value: func(c *Config) value { return count(&c.SQL.Statements, 1, 1_000_000) },
	},
	{
		key: limitsSection + "portals", arg: "N", help: "open portals and cursors of a connection",
		value: func(c *Config) value { return count(&c.SQL.Portals, 1, 1_000_000) },
	},
	{
		key: limitsSection + "prepared_bytes", arg: "SIZE", help: "prepared statements and bound values of a connection together",
		value: func(c *Config) value { return bytesOf(&c.SQL.PreparedBytes, 1<<10, 1<<30) },
	},
	{
		key: limitsSection + "statements_per_query", arg: "N", help: "statements in one simple query",
		value: func(c *Config) value { return count(&c.SQL.StatementsPerQuery, 1, 1_000_000) },
	},
	{
		key: limitsSection + "statement_time", arg: "DURATION", help: "default of statement_timeout (MySQL: max_statement_time), which a session may change; 0s for no limit",
		value: func(c *Config) value { return durationOrZero(&c.SQL.StatementTime, time.Millisecond, 10_000*time.Hour) },
	},
	{
		key: limitsSection + "memory", arg: "SIZE", help: "what all connections together may hold: rows that are sorted or joined, values, plans, unfinished messages; 0 for a quarter of the memory of the machine or the container",
		value: func(c *Config) value { return bytesOf(&c.Memory.Server, 0, 1<<50) },
	},
	{
		key: limitsSection + "memory_per_user", arg: "SIZE", help: "the same for the connections of one user; 0 for half of limits.memory",
		value: func(c *Config) value { return bytesOf(&c.Memory.User, 0, 1<<50) },
	},
	{
		key: limitsSection + "memory_per_session", arg: "SIZE", help: "the same for one connection; 0 for a quarter of limits.memory",
		value: func(c *Config) value { return bytesOf(&c.Memory.Session, 0, 1<<50) },
	},
	{
		key: limitsSection + "plan_cache", arg: "N", help: "statement texts in the cache that all connections share",
		value: func(c *Config) value { return count(&c.SQL.PlanCache, 1, 10_000_000) },
	},

	{
		key: limitsSection + "connections", arg: "N", help: "connections all together",
		value: func(c *Config) value { return count(&c.Wire.Connections, 1, 10_000_000) },
	},
	{
		key: limitsSection + "connections_before_login", arg: "N", help: "connections that have not logged in; one more replaces the oldest, from the address that holds the most",
		value: func(c *Config) value { return count(&c.Wire.PreAuth, 1, 10_000_000) },
	},
	{
		key: limitsSection + "connections_per_ip", arg: "N", help: "connections from one address; four times as many from one IPv6 /64; Unix sockets do not count",
		value: func(c *Config) value { return count(&c.Wire.PerIP, 1, 10_000_000) },
	},
	{
		key: limitsSection + "connections_for_socket", arg: "N", help: "how many of the connections are kept for Unix sockets",
		value: func(c *Config) value { return count(&c.Wire.ReservedForSocket, 1, 1_000_000) },
	},
	{
		key: limitsSection + "first_byte_timeout", arg: "DURATION", help: "from accepting a connection to its first byte",
		value: func(c *Config) value { return duration(&c.Wire.FirstByte, time.Millisecond, time.Hour) },
	},
	{
		key: limitsSection + "login_timeout", arg: "DURATION", help: "from accepting a connection to the end of its login",
		value: func(c *Config) value { return duration(&c.Wire.Login, time.Millisecond, time.Hour) },
	},
	{
		key: limitsSection + "message_timeout", arg: "DURATION", help: "from the first byte of a message to its last",
		value: func(c *Config) value { return duration(&c.Wire.Message, time.Millisecond, 24*time.Hour) },
	},
	{
		key: limitsSection + "write_timeout", arg: "DURATION", help: "how long a client may leave answers unread before it is disconnected",
		value: func(c *Config) value { return duration(&c.Wire.Write, time.Millisecond, 24*time.Hour) },
	},
	{
		key: limitsSection + "idle_timeout", arg: "DURATION", help: "how long a client may be silent before it is disconnected, 0 for ever; a session may set less (idle_session_timeout)",
		value: func(c *Config) value { return duration(&c.Wire.Idle, 0, 10_000*time.Hour) },
	},
	{
		key: limitsSection + "idle_in_transaction_timeout", arg: "DURATION", help: "default of idle_in_transaction_session_timeout",
		value: func(c *Config) value { return duration(&c.Wire.IdleInTransaction, time.Millisecond, 10_000*time.Hour) },
	},
	{
		key: limitsSection + "startup_bytes", arg: "SIZE", help: "the start-up packet",
		value: func(c *Config) value { return bytesOf(&c.Wire.Startup, 100, 1<<20) },
	},
	{
		key: limitsSection + "startup_parameters", arg: "N", help: "parameters in the start-up packet",
		value: func(c *Config) value { return count(&c.Wire.StartupParams, 2, 10_000) },
	},
	{
		key: limitsSection + "login_bytes", arg: "SIZE", help: "one message of the login, such as a password",
		value: func(c *Config) value { return bytesOf(&c.Wire.Auth, 100, 1<<20) },
	},
	{
		key: limitsSection + "statement_bytes", arg: "SIZE", help: "a message with a statement or its values",
		value: func(c *Config) value { return bytesOf(&c.Wire.Statement, 1<<10, 1<<30) },
	},
	{
		key: limitsSection + "message_bytes", arg: "SIZE", help: "every other message",
		value: func(c *Config) value { return bytesOf(&c.Wire.Small, 100, 1<<20) },
	},
	{
		key: limitsSection + "parameters", arg: "N", help: "values that are bound to one statement",
		value: func(c *Config) value { return count(&c.Wire.Parameters, 1, 65535) },
	},
	{
		key: limitsSection + "result_formats", arg: "N", help: "formats of columns in one Bind",
		value: func(c *Config) value { return count(&c.Wire.ResultFormats, 1, 65535) },
	},
	{
		key: limitsSection + "flush_bytes", arg: "SIZE", help: "answers that are collected before they are sent",
		value: func(c *Config) value { return bytesOf(&c.Wire.FlushAt, 1<<10, 1<<24) },
	},
	{
		key: limitsSection + "log_statement_bytes", arg: "SIZE", help: "a client's statement in one log line",
		value: func(c *Config) value { return bytesOf(&c.Wire.LogText, 1, 1<<20) },
	},
	{
		key: limitsSection + "log_name_bytes", arg: "SIZE", help: "a client's name in one log line",
		value: func(c *Config) value { return bytesOf(&c.Wire.LogName, 1, 1<<20) },
	},
}

// settingByKey finds a setting by its YAML key, written with _ or -.
func settingByKey(key string) *setting {
	key = strings.ReplaceAll(key, "-", "_")
	for i := range settings {
		if settings[i].key == key {
			return &settings[i]
		}
	}
	return nil
}
