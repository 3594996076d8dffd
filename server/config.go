package server

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"nextid/generator"
	"nextid/generator/audit"
	"nextid/generator/layout"
	"nextid/generator/quota"
	"nextid/generator/segment"
	"nextid/generator/snowflake"
	"nextid/generator/store/shared"
	"nextid/generator/workerid"
	"nextid/migrations/appdb"
	"nextid/sqlfuncs"
	"nextid/sqlfuncs/account"
	"nextid/sqlfuncs/ids"
	"nextid/wire"
	"nextid/wire/auth"
)

// The default ports are next to those of PostgreSQL and MySQL, so that all of them
// fit on one machine.
const (
	defaultPGPort    = 5433
	defaultMySQLPort = 3307
)

// Config holds all settings. The packages that a server is built of get plain
// values from it: they read no file, flag or variable. Each scalar has a row in
// settings.
type Config struct {
	Data            string
	PG, MySQL, HTTP Address
	Store           StoreURL
	SharedStore     StoreSettings

	AutoCreate         string // a kind that needs no options, or autoCreateOff
	AutoCreateSequence string // a kind, autoCreatePools or autoCreateSame
	AutoCreateTables   bool

	WorkerID     string        // a source of worker ids, see workerid.Check
	WorkerSlice  time.Duration // 0: the store's default
	WorkerBorrow bool
	ClockLimit   time.Duration // 0: none
	ClockJump    time.Duration // 0: any

	AllowPlaintext    bool
	Users             string // a file, UsersAuto or UsersOff
	HostRules         string // a file, "" for auth.DefaultRules
	TLSCert           string // a file, "" for plaintext only
	TLSKey            string // a file, "" for the one of TLSCert
	TLSClientCA       string // a file, "" for no client certificates
	RequireTLS        bool
	NativePassword    bool   // of MySQL's protocol
	DatabasePasswords string // a file in the format of .pgpass, "" for none

	LogLevel                 slog.Level
	LogFormat                string
	DrainDelay, DrainTimeout time.Duration

	Layout string // of snowflakes without one of their own, and of numbers that parse_id gets without a name
	Epoch  string // of snowflakes that first use creates; "" for the layout's own

	Audit    audit.Config // no audit trail without a File
	SQL      sqlfuncs.Limits
	Memory   account.Limits
	Wire     wire.Limits
	MaxNames int

	Generators  []generator.Definition // those that the file declares, in its order
	OpenAtStart []string               // those of them that are opened before the server is ready
	Quotas      []quota.Rule           // those of the file, in its order

	Once   Once             // what only this start accepts
	Origin map[string]place // where each key got its value; nil: all are defaults

	build  *Build                 // nil before Load or New
	reread func() (Config, error) // reads the configuration again; nil: Reload does not
}

// autoCreateOff is the value of auto_create that refuses unknown names.
const autoCreateOff = "off"

// Values of auto_create_sequence besides kinds. autoCreatePools stands for the kind
// of auto_create with ids at least 50 apart, autoCreateSame for exactly what
// auto_create makes.
const (
	autoCreatePools = "pools"
	autoCreateSame  = "same"
)

// pooledSegment holds the options of a sequence for clients that take 50 numbers
// from one call. Some count up from the number they get, others down. With a start
// of 51 neither takes a number below 1.
const pooledSegment = `{"increment": 50, "start": 51}`

// LogJSON is the log_format that writes one JSON object a line.
const LogJSON = "json"

// DefaultConfig returns the configuration of a server without any setting.
func DefaultConfig() Config {
	loopback := func(port int) Address { return Address("127.0.0.1:" + strconv.Itoa(port)) }
	return Config{
		Data: "./nextid-data", PG: loopback(defaultPGPort), MySQL: loopback(defaultMySQLPort), HTTP: loopback(statusPort),
		SharedStore: StoreSettings{Failover: failoverAuto, Skip: shared.DefaultSkip},
		AutoCreate:  snowflake.KindName, AutoCreateSequence: autoCreatePools, AutoCreateTables: true,
		WorkerID: workerid.Auto, ClockLimit: 5 * time.Second, ClockJump: 30 * 24 * time.Hour,
		Users:    UsersAuto,
		LogLevel: slog.LevelInfo, LogFormat: "text", DrainTimeout: 10 * time.Second,
		Layout: layout.Default,
		Audit:  audit.Config{Sample: 1, MaxSize: 100 << 20, Keep: 5, Queue: 100_000},
		SQL:    sqlfuncs.DefaultLimits, Wire: wire.DefaultLimits, MaxNames: generator.DefaultMaxNames,
	}
}

// place names the source of a value, for messages.
type place struct {
	source string // file name, "--pg" or "NEXTID_PG"; "" for a default
	line   int    // in a file, 0 elsewhere
}

func (p place) String() string {
	if p.line == 0 {
		return p.source
	}
	return p.source + ":" + strconv.Itoa(p.line)
}

// Mistake describes one error in the configuration.
type Mistake struct {
	Place place
	Key   string // YAML key, "" for none
	Text  string
}

func (m Mistake) String() string {
	var parts []string
	if m.Place.source != "" {
		parts = append(parts, m.Place.String())
	}
	if m.Key != "" && !strings.HasPrefix(m.Place.source, "--") && !strings.HasPrefix(m.Place.source, EnvPrefix) {
		parts = append(parts, m.Key)
	}
	return strings.Join(append(parts, m.Text), ": ")
}

// compare orders the mistakes of the file first, by line. The conversion to uint
// puts line 0 (flags and variables) last.
func (m Mistake) compare(o Mistake) int {
	return cmp.Compare(uint(m.Place.line-1), uint(o.Place.line-1))
}

// Mistakes holds all mistakes of a configuration as one error.
type Mistakes []Mistake

func (m Mistakes) Error() string {
	lines := make([]string, len(m))
	for i, one := range m {
		lines[i] = one.String()
	}
	return strings.Join(lines, "\n")
}

// Validate checks the settings against each other and against the kinds of the
// Build. Each setting was checked alone when it was read.
func (c *Config) Validate() Mistakes {
	var found Mistakes
	add := func(key, format string, args ...any) {
		found = append(found, Mistake{Key: key, Text: OneLine(fmt.Sprintf(format, args...))})
	}
	if c.PG.Off() && c.MySQL.Off() {
		add("pg", "off leaves nothing to serve, since mysql is off, too: give an address")
	}
	for _, a := range c.addresses() {
		if lacks := c.exposed(a.Address); lacks != "" && !c.AllowPlaintext {
			add(a.key, "%s can be reached from other machines, and this server has %s: anybody there could draw ids. "+
				"Add them (see docs/security.md), or use a loopback address such as 127.0.0.1:%d or a Unix socket, "+
				"or add --allow-plaintext (allow_plaintext: true) if you trust that network", a, lacks, a.port)
		}
	}
	for key, given := range map[string]bool{"tls_key": c.TLSKey != "", "tls_client_ca": c.TLSClientCA != "", "require_tls": c.RequireTLS} {
		if given && c.TLSCert == "" {
			add(key, "needs tls_cert")
		}
	}
	if c.HostRules != "" && c.usersFile() == "" {
		add("host_rules", "needs users: rules say how they log in. Add one with nextid passwd USER")
	}
	kinds := c.build.Kinds(Parts{Layout: c.Layout})
	if _, err := layout.Preset(c.Layout); err != nil {
		add("layout", "%v", err)
		kinds = c.build.Kinds(Parts{Layout: layout.Default})
	} else if _, err := normalize(kinds, snowflake.KindName, c.autoOptions()[snowflake.KindName]); err != nil {
		add("epoch", "%v", err)
	}
	if _, err := c.autoKind(c.AutoCreate); err != nil {
		add("auto_create", "%v", err)
	}
	if c.Wire.ReservedForSocket >= c.Wire.Connections {
		add("limits.connections_for_socket", "%d of %d connections leave none for TCP", c.Wire.ReservedForSocket, c.Wire.Connections)
	}
	memory := func(key, what string, part int64, other string, whole int64) {
		if whole > 0 && part > whole {
			add(key, "%s: what one %s may hold is more than %s (%s)", formatBytes(part), what, other, formatBytes(whole))
		}
	}
	memory("limits.memory_per_user", "user", c.Memory.User, "limits.memory", c.Memory.Server)
	memory("limits.memory_per_session", "connection", c.Memory.Session, "limits.memory", c.Memory.Server)
	memory("limits.memory_per_session", "connection", c.Memory.Session, "limits.memory_per_user", c.Memory.User)
	if err := auth.CheckGenerators(strings.Join(c.Audit.Names, ",")); err != nil {
		add("audit.names", "%v", err)
	} else if len(c.Audit.Names) > 0 && c.Audit.File == "" {
		add("audit.names", "needs audit.file, where the lines go")
	}
	seen := map[string]bool{}
	for _, d := range c.Generators {
		key := generatorsKey + "." + d.Name
		if seen[d.Name] {
			add(key, "is declared twice")
		}
		seen[d.Name] = true
		name := d.Name
		if generator.IsPattern(name) {
			name = strings.TrimSuffix(name, "*") + "_"
		}
		err := generator.CheckName(name)
		if err == nil {
			_, err = normalize(kinds, d.Kind, d.Options)
		}
		if err != nil {
			add(key, "%v", err)
		}
	}
	return found
}

// listening is an address with the setting that it comes from.
type listening struct {
	Address
	key  string // of the setting
	port int    // of the default
}

// addresses returns the addresses of all protocols, including those that are off.
func (c *Config) addresses() []listening {
	var all []listening
	for _, p := range protocols {
		all = append(all, listening{*p.address(c), p.key, p.port})
	}
	return append(all, listening{c.HTTP, "http", statusPort})
}

// port returns the TCP port by which sources of worker ids tell servers on one host
// apart, or "0".
func (c *Config) port() string {
	for _, a := range []Address{c.PG, c.MySQL} {
		if _, port, err := net.SplitHostPort(string(a)); err == nil && !a.isPath() {
			return port
		}
	}
	return "0"
}

// sequence returns the kind and the options with which nextval creates a name. The
// zero Auto stands for those of next_id.
func (c *Config) sequence() ids.Auto {
	switch {
	case c.AutoCreateSequence == autoCreateSame:
		return ids.Auto{}
	case c.AutoCreateSequence == segment.KindName || c.AutoCreate == segment.KindName:
		return ids.Auto{Kind: segment.KindName, Options: json.RawMessage(pooledSegment)}
	}
	l, err := layout.Preset(c.Layout)
	if err != nil {
		return ids.Auto{} // Validate reports it
	}
	pooled, ok := l.Pooled()
	if !ok {
		return ids.Auto{}
	}
	options := map[string]any{"layout": pooled.Layout, "fields": pooled.Fields, "unit": pooled.Unit, "epoch": pooled.Epoch}
	if c.Epoch != "" {
		options["epoch"] = c.Epoch
	}
	return ids.Auto{Kind: snowflake.KindName, Options: mustJSON(options)}
}

// mustJSON encodes texts and numbers, which never fails.
func mustJSON(options map[string]any) json.RawMessage {
	encoded, err := json.Marshal(options)
	if err != nil {
		panic(err)
	}
	return encoded
}

// autoKind checks a value of auto_create and returns the kind, or autoCreateOff. A
// kind that needs options is refused: the first use of a name gives none.
func (c *Config) autoKind(word string) (string, error) {
	var names []string
	for _, k := range c.build.Kinds(Parts{Layout: layout.Default}) {
		if _, err := k.Normalize(nil); err == nil {
			names = append(names, k.Name())
		} else if strings.EqualFold(word, k.Name()) {
			return "", fmt.Errorf("%q needs options, and a name that is created by its first use has none", word)
		}
	}
	err := choice(&word, append(names, autoCreateOff)...).Set(word)
	return word, err
}

// autoOptions returns the options of auto-created generators, by kind.
func (c *Config) autoOptions() map[string]json.RawMessage {
	if c.Epoch == "" {
		return nil
	}
	return map[string]json.RawMessage{snowflake.KindName: mustJSON(map[string]any{"epoch": c.Epoch})}
}

// normalize checks options and returns them as the kind stores them.
func normalize(kinds []generator.Kind, kind string, options json.RawMessage) (json.RawMessage, error) {
	k, err := kindNamed(kinds, kind)
	if err != nil {
		return nil, err
	}
	return k.Normalize(options)
}

func kindNamed(kinds []generator.Kind, name string) (generator.Kind, error) {
	names := make([]string, 0, len(kinds))
	for _, k := range kinds {
		if k.Name() == name {
			return k, nil
		}
		names = append(names, k.Name())
	}
	return nil, fmt.Errorf("unknown kind %q: this version has %s%s", name, strings.Join(names, ", "), generator.DidYouMean(name, names))
}

// Error is an error for the person who runs the server.
type Error = appdb.Error

// HintOf returns the hint of an Error, or else of an error of the generators.
func HintOf(err error) string {
	hint := appdb.HintOf(err)
	if e, ok := errors.AsType[*generator.Error](err); ok && hint == "" {
		hint = e.Hint
	}
	return hint
}

// OneLine joins the lines of s, so that one message is not mistaken for several.
func OneLine(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
}

// Check reads the files that the configuration names, as a starting server does,
// and compares worker_id with the layout. It returns the mistakes found together
// with those found before, in the order of the configuration file.
func (c *Config) Check(before Mistakes) Mistakes {
	var found Mistakes
	check := func(key string, err error) {
		if err == nil {
			return
		}
		text := OneLine(err.Error())
		if hint := HintOf(err); hint != "" {
			text += ". " + hint
		}
		found = append(found, Mistake{Place: c.Origin[key], Key: key, Text: text})
	}
	a := &access{config: *c, log: slog.New(slog.DiscardHandler), tls: &wire.TLS{}}
	if file := c.usersFile(); file != "" {
		_, err := readOwnUsers(file)
		check("users", err)
		_, err = a.readRules()
		check("host_rules", err)
	}
	if c.TLSCert != "" {
		a.checkTLS(check)
	}
	if read := c.databasePasswords(); read != nil {
		_, err := read()
		check("database_passwords", err)
	}
	if c.Audit.File != "" {
		dir := filepath.Dir(c.Audit.File)
		if _, err := os.Stat(dir + "/."); err != nil { // ENOTDIR for a file
			check("audit.file", readFailure("directory", dir, err))
		} else if info, err := os.Stat(c.Audit.File); err == nil && info.IsDir() {
			check("audit.file", readFailure("audit file", c.Audit.File, syscall.EISDIR))
		}
	}
	if l, err := layout.Preset(c.Layout); err == nil {
		if n, err := strconv.ParseInt(c.WorkerID, 10, 64); err == nil && n >= l.Workers() {
			check("worker_id", fmt.Errorf("%d is not from 0 to %d, the worker ids of layout %s", n, l.Workers()-1, l.Name))
		}
	}
	found = append(found, before...)
	slices.SortStableFunc(found, Mistake.compare)
	return found
}
