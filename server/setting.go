package server

import (
	"strings"
	"time"

	"nextid/generator/segment"
	"nextid/generator/store/shared"
)

// EnvPrefix begins the name of every environment variable of nextid.
const EnvPrefix = "NEXTID_"

// setting is one row of the table of settings. The key in the file, the variable in
// the environment, the flag of serve and the line in docs/config.md all come from
// it.
type setting struct {
	key  string // in the YAML file; the part before a dot is a section
	arg  string // placeholder of the value in help texts, "" for a switch
	is   traits
	help string // one sentence without a period
	value
}

// traits is a set of bits.
type traits int

const (
	flagged traits = 1 << iota // serve has a flag for it
	live                       // SIGHUP puts a change into force
)

// flagName returns the setting's flag without the dashes.
func (s *setting) flagName() string { return strings.ReplaceAll(s.key, "_", "-") }

// envName returns the setting's environment variable.
func (s *setting) envName() string {
	return EnvPrefix + strings.ToUpper(strings.ReplaceAll(s.key, ".", "_"))
}

// settings returns a row for each value of c that one text can set. Generators and
// quotas are lists and exist in the file only.
func (c *Config) settings() []setting {
	return []setting{
		{"data", "DIR", flagged, "directory of the embedded store, created if missing", text(&c.Data)},
		{"pg", "ADDR", flagged, "PostgreSQL protocol: HOST:PORT, a path for a Unix socket, or off", valueOf(&c.PG, parseAddress, Address.String)},
		{"mysql", "ADDR", flagged, "MySQL protocol: likewise", valueOf(&c.MySQL, parseAddress, Address.String)},
		{"http", "ADDR", flagged, "the page, the JSON API, Leaf's and Tinyid's paths, /healthz, /readyz and /metrics over HTTP; likewise", valueOf(&c.HTTP, parseAddress, Address.String)},
		{"store", "URL", flagged, "sqlite:FILE; postgres://…, mysql://…, redis://…, etcd://… or zookeeper://…, which several servers share; or memory:, which keeps nothing (for tests)", valueOf(&c.Store, c.build.StoreURL, StoreURL.String)},
		{"store_failover", "POLICY", flagged, "what segment generators do after a failover of the shared store: stop until recover_generator, skip store_skip numbers, or go on (lossless); auto is skip on Redis and stop elsewhere", choice(&c.SharedStore.Failover, failoverAuto, string(shared.Stop), string(shared.Skip), string(shared.Lossless))},
		{"store_skip", "N", 0, "numbers that store_failover skip passes over: more than all servers can reserve of a name while a standby lags", count(&c.SharedStore.Skip, 1, 1<<53)},
		{"store_unsafe", "LIST", flagged, "unsafe settings of the shared store to accept, by name, such as fsync; ids can be lost with them", words(&c.SharedStore.Unsafe)},
		{"store_password", "TEXT", 0, "password for the shared store, where the URL has none; best given in the environment", secret(&c.SharedStore.Password)},
		{"database_passwords", "FILE", 0, "passwords of the databases that tickets, feeds and import_generator use, in the form of PostgreSQL's .pgpass: host:port:database:user:password", text(&c.DatabasePasswords)},
		{"auto_create", "KIND", flagged, "what next_id('new_name') creates: snowflake, segment or another kind that needs no options, or off", valueOf(&c.AutoCreate, c.autoKind, same)},
		{"auto_create_sequence", "KIND", 0, "what nextval('new_name') creates: pools, the kind of auto_create with ids at least 50 apart, for clients that take 50 ids from one call; segment, numbers from 51 in steps of 50; or same, what next_id creates", choice(&c.AutoCreateSequence, autoCreatePools, segment.KindName, autoCreateSame)},
		{"auto_create_tables", "", 0, "whether a name in the WHERE of a table is created, as by next_id: SELECT id FROM ids WHERE name = 'new_name'; false for programs that look names up, such as Postfix: they get no row then", boolean(&c.AutoCreateTables)},
		{"worker_id", "N", flagged, "worker id of snowflake ids: a number, or auto to claim a free one from the store; docs/stores.md has more ways", workerSource(&c.WorkerID)},
		{"worker_slice", "DURATION", flagged, "time that is reserved ahead for snowflake ids: how long they go on without the store, and how long a crash blocks a worker id; the same on all servers; 0s is 1m on a shared store and 3s on an embedded one", duration(&c.WorkerSlice, time.Second, 7*24*time.Hour, 0)},
		{"worker_borrow", "", flagged, "when no worker id is free, take one whose holder missed a renewal: ids go on at once, with times up to worker_slice ahead of the clock", boolean(&c.WorkerBorrow)},
		{"clock_limit", "DURATION", flagged, "greatest difference between the clocks of this machine and of the shared store: with more a server does not start, and a running one raises an alarm; 0s for any difference", duration(&c.ClockLimit, 100*time.Millisecond, 24*time.Hour, 0)},
		{"clock_jump", "DURATION", flagged, "how far the clock may be ahead of the last use of the embedded store: with more the server does not start without --accept-clock; 0s for any time", duration(&c.ClockJump, time.Minute, 10*365*24*time.Hour, 0)},
		{"users", "FILE", flagged, "file of users and verifiers (see nextid passwd); auto for users in the data directory, if it is there; off to accept every login", text(&c.Users)},
		{"host_rules", "FILE", flagged, "who may log in from where, and how, after PostgreSQL's pg_hba.conf", text(&c.HostRules)},
		{"tls_cert", "FILE", flagged, "the server's certificate in PEM form, followed by those between it and the root", text(&c.TLSCert)},
		{"tls_key", "FILE", flagged, "the private key of tls_cert; without it the key is looked for in tls_cert", text(&c.TLSKey)},
		{"tls_client_ca", "FILE", flagged, "authorities that may issue clients' certificates", text(&c.TLSClientCA)},
		{"require_tls", "", flagged, "refuse TCP connections without TLS, those from this machine too", boolean(&c.RequireTLS)},
		{"mysql_native_password", "", flagged, "let users log in with MySQL's old method; nextid passwd then also writes its digest, which is weak", boolean(&c.NativePassword)},
		{"allow_plaintext", "", flagged, "serve an address that other machines can reach, without users and TLS", boolean(&c.AllowPlaintext)},
		{"log_level", "LEVEL", flagged | live, "least important log lines to print: debug, info, warn or error", level(&c.LogLevel)},
		{"log_format", "FORMAT", flagged, "form of log lines on standard error: text or json", choice(&c.LogFormat, "text", LogJSON)},
		{"drain_delay", "DURATION", flagged | live, "how long a stopping server still serves everybody while /readyz says 503, so that load balancers move clients", duration(&c.DrainDelay, 0, time.Hour)},
		{"drain_timeout", "DURATION", live, "how long statements and transactions may take to finish after drain_delay", duration(&c.DrainTimeout, 0, time.Hour)},
		{"layout", "NAME", 0, "layout of snowflakes that name none, and of numbers that parse_id gets without a name", text(&c.Layout)},
		{"epoch", "TIME", 0, "start of time of snowflakes that their first use creates, such as 2024-01-01T00:00:00Z, instead of the layout's own", text(&c.Epoch)},
		{"audit.file", "FILE", 0, "file for the audit trail: lines of JSON for the ids of get_id and of audit.names; without it there is none", text(&c.Audit.File)},
		{"audit.names", "NAMES", 0, "generators of which every draw is a line of the trail: names or patterns such as orders,invoice_*", words(&c.Audit.Names)},
		{"audit.sample", "N", 0, "write one line in N, 1 for all", count(&c.Audit.Sample, 1, 1_000_000_000)},
		{"audit.max_size", "SIZE", 0, "size of the file at which it is rotated", bytesOf(&c.Audit.MaxSize, 1<<10, 1<<40)},
		{"audit.keep", "N", 0, "rotated files that are kept: FILE.1, the youngest, to FILE.N", count(&c.Audit.Keep, 0, 1000)},
		{"audit.queue", "N", 0, "lines that may wait to be written; more are counted instead, since no id waits for the trail", count(&c.Audit.Queue, 1, 10_000_000)},
		{"limits.max_names", "N", 0, "generator names in the store and in this server's memory; names of the configuration file are always accepted", count(&c.MaxNames, 1, 100_000_000)},
		{"limits.ids_per_call", "N", 0, "ids in one call of next_ids, next_range or id_batch", count(&c.SQL.IDsPerCall, 1, 1_000_000_000)},
		{"limits.statements", "N", 0, "prepared statements of a connection", count(&c.SQL.Statements, 1, 1_000_000)},
		{"limits.portals", "N", 0, "open portals and cursors of a connection", count(&c.SQL.Portals, 1, 1_000_000)},
		{"limits.prepared_bytes", "SIZE", 0, "prepared statements and bound values of a connection together", bytesOf(&c.SQL.PreparedBytes, 1<<10, 1<<30)},
		{"limits.statements_per_query", "N", 0, "statements in one simple query", count(&c.SQL.StatementsPerQuery, 1, 1_000_000)},
		{"limits.statement_time", "DURATION", 0, "default of statement_timeout (MySQL: max_statement_time), which a session may change; 0s for no limit", duration(&c.SQL.StatementTime, time.Millisecond, 10_000*time.Hour, 0)},
		{"limits.memory", "SIZE", 0, "what all connections together may hold: rows that are sorted or joined, values, plans, unfinished messages; 0 for a quarter of the memory of the machine or the container", bytesOf(&c.Memory.Server, 0, 1<<50)},
		{"limits.memory_per_user", "SIZE", 0, "the same for the connections of one user; 0 for half of limits.memory", bytesOf(&c.Memory.User, 0, 1<<50)},
		{"limits.memory_per_session", "SIZE", 0, "the same for one connection; 0 for a quarter of limits.memory", bytesOf(&c.Memory.Session, 0, 1<<50)},
		{"limits.plan_cache", "N", 0, "statement texts in the cache that all connections share", count(&c.SQL.PlanCache, 1, 10_000_000)},
		{"limits.connections", "N", 0, "connections of each protocol", count(&c.Wire.Connections, 1, 10_000_000)},
		{"limits.connections_before_login", "N", 0, "connections that have not logged in; one more replaces the oldest, from the address that holds the most", count(&c.Wire.PreAuth, 1, 10_000_000)},
		{"limits.connections_per_ip", "N", 0, "connections of each protocol from one address; four times as many from one IPv6 /64; Unix sockets do not count", count(&c.Wire.PerIP, 1, 10_000_000)},
		{"limits.connections_for_socket", "N", 0, "how many connections of each protocol are kept for Unix sockets", count(&c.Wire.ReservedForSocket, 1, 1_000_000)},
		{"limits.first_byte_timeout", "DURATION", 0, "from accepting a connection to its first byte", duration(&c.Wire.FirstByte, time.Millisecond, time.Hour)},
		{"limits.login_timeout", "DURATION", 0, "from accepting a connection to the end of its login", duration(&c.Wire.Login, time.Millisecond, time.Hour)},
		{"limits.message_timeout", "DURATION", 0, "from the first byte of a message to its last", duration(&c.Wire.Message, time.Millisecond, 24*time.Hour)},
		{"limits.write_timeout", "DURATION", 0, "how long a client may leave answers unread before it is disconnected", duration(&c.Wire.Write, time.Millisecond, 24*time.Hour)},
		{"limits.idle_timeout", "DURATION", 0, "how long a client may be silent before it is disconnected, 0 for ever; a session may set less (idle_session_timeout)", duration(&c.Wire.Idle, 0, 10_000*time.Hour)},
		{"limits.idle_in_transaction_timeout", "DURATION", 0, "default of idle_in_transaction_session_timeout", duration(&c.SQL.IdleInTransaction, time.Millisecond, 10_000*time.Hour)},
		{"limits.startup_bytes", "SIZE", 0, "the start-up packet", bytesOf(&c.Wire.Startup, 100, 1<<20)},
		{"limits.startup_parameters", "N", 0, "parameters in the start-up packet", count(&c.Wire.StartupParams, 2, 10_000)},
		{"limits.login_bytes", "SIZE", 0, "one message of the login, such as a password", bytesOf(&c.Wire.Auth, 100, 1<<20)},
		{"limits.statement_bytes", "SIZE", 0, "a message with a statement or its values", bytesOf(&c.Wire.Statement, 1<<10, 1<<30)},
		{"limits.message_bytes", "SIZE", 0, "every other message", bytesOf(&c.Wire.Small, 100, 1<<20)},
		{"limits.parameters", "N", 0, "values that are bound to one statement", count(&c.Wire.Parameters, 1, 65535)},
		{"limits.result_formats", "N", 0, "formats of columns in one Bind", count(&c.Wire.ResultFormats, 1, 65535)},
		{"limits.flush_bytes", "SIZE", 0, "answers that are collected before they are sent", bytesOf(&c.Wire.FlushAt, 1<<10, 1<<24)},
		{"limits.log_statement_bytes", "SIZE", 0, "a client's statement in one log line", bytesOf(&c.Wire.LogText, 1, 1<<20)},
		{"limits.log_name_bytes", "SIZE", 0, "a client's name in one log line", bytesOf(&c.Wire.LogName, 1, 1<<20)},
	}
}

// setting returns the setting of a key, or nil.
func (c *Config) setting(key string) *setting {
	for _, s := range c.settings() {
		if s.key == key {
			return &s
		}
	}
	return nil
}
