package server

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"nextid/generator"
)

// ConfigEnv is the variable with the path of the configuration file. The path has
// no key in the file itself.
const ConfigEnv = EnvPrefix + "CONFIG"

// Variables with the passwords of commands other than serve. A password has no
// flag: every user of a machine can read the arguments of its processes.
const (
	ForeignPasswordEnv    = EnvPrefix + "FOREIGN_PASSWORD"     // migrate foreign
	ShardsPasswordEnv     = EnvPrefix + "SHARDS_PASSWORD"      // migrate shards
	FeedPasswordEnv       = EnvPrefix + "FEED_PASSWORD"        // migrate feed, for the databases
	FeedServerPasswordEnv = EnvPrefix + "FEED_SERVER_PASSWORD" // migrate feed, for the server
)

// otherEnvs lists the variables of nextid that are no settings.
var otherEnvs = []string{ConfigEnv, ForeignPasswordEnv, ShardsPasswordEnv, FeedPasswordEnv, FeedServerPasswordEnv}

// serviceLink matches the variables that Kubernetes sets in every pod for a Service
// whose name begins with "nextid" (NEXTID_PORT_5433_TCP_ADDR, …). They are not
// meant for this program and are ignored.
var serviceLink = regexp.MustCompile(
	`^NEXTID(_.+)?_(SERVICE_HOST|SERVICE_PORT(_.+)?|PORT(_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)$`)

// loader builds a Config from defaults, file, environment and flags. Each source
// overrides those before it. Loading goes on after a mistake, so that one start
// reports all of them.
type loader struct {
	config   Config
	origin   map[string]place // where a key got its value
	mistakes Mistakes

	path string          // of the file
	seen map[string]bool // keys of the file so far
}

func newLoader(b *Build) *loader {
	return &loader{config: b.Config(), origin: map[string]place{}, seen: map[string]bool{}}
}

// load reads the file (none if file is ""), the environment ("NAME=value") and the
// flags. With an error it also returns the configuration as far as it was read, for
// Check and for the format of the log.
func (b *Build) load(file string, environ []string, given []givenFlag) (Config, error) {
	l := newLoader(b)
	var unread error
	if file != "" {
		unread = l.file(file)
	}
	l.environment(environ)
	for _, f := range given {
		l.set(f.key, f.text, place{source: "--" + f.flagName()})
	}
	if unread != nil {
		return l.config, unread
	}
	for _, m := range l.config.Validate() {
		m.Place = l.origin[m.Key]
		l.mistakes = append(l.mistakes, m)
	}
	slices.SortStableFunc(l.mistakes, Mistake.compare)
	l.config.Origin = l.origin
	if len(l.mistakes) > 0 {
		return l.config, l.mistakes
	}
	return l.config, nil
}

func (l *loader) mistake(at place, key, format string, args ...any) {
	l.mistakes = append(l.mistakes, Mistake{Place: at, Key: key, Text: OneLine(fmt.Sprintf(format, args...))})
}

// set reads text into the setting of a key and records where it came from.
func (l *loader) set(key, text string, at place) {
	if err := l.config.setting(key).Set(text); err != nil {
		l.mistake(at, key, "%v", err)
		return
	}
	l.origin[key] = at
}

// environment applies the NEXTID_ variables.
func (l *loader) environment(environ []string) {
	for _, pair := range slices.Sorted(slices.Values(environ)) {
		name, text, ok := strings.Cut(pair, "=")
		if !ok || !strings.HasPrefix(name, EnvPrefix) || slices.Contains(otherEnvs, name) || serviceLink.MatchString(name) {
			continue
		}
		all := l.config.settings()
		if i := slices.IndexFunc(all, func(s setting) bool { return s.envName() == name }); i >= 0 {
			l.set(all[i].key, text, place{source: name})
		} else {
			l.mistake(place{source: name}, "", "is not a variable of nextid%s", generator.DidYouMean(name, EnvNames()))
		}
	}
}

// LookupEnv returns the value of a variable in environ, or "".
func LookupEnv(environ []string, name string) string {
	for _, pair := range environ {
		if text, ok := strings.CutPrefix(pair, name+"="); ok {
			return text
		}
	}
	return ""
}

// EnvNames returns the names of all variables that serve reads.
func EnvNames() []string {
	names := []string{ConfigEnv}
	for _, s := range new(Config).settings() {
		names = append(names, s.envName())
	}
	return names
}

// Flags holds the flags that come from settings. They only record their texts. Load
// reads them, so that one run reports the mistakes of flags, file and environment
// together.
type Flags struct {
	build  *Build
	config string
	given  []givenFlag
}

// givenFlag is one flag of the command line, with its text.
type givenFlag struct {
	*setting
	text string
}

// Flags returns the flags of a server with this Build.
func (b *Build) Flags() *Flags { return &Flags{build: b} }

// Register adds --config and the flags of the named settings, or of all settings if
// none is named.
func (f *Flags) Register(set *pflag.FlagSet, keys ...string) {
	set.SortFlags = false
	set.StringVar(&f.config, "config", "", "configuration `FILE` in YAML")
	defaults := DefaultConfig()
	for _, s := range defaults.settings() {
		if s.is&flagged == 0 || len(keys) > 0 && !slices.Contains(keys, s.key) {
			continue
		}
		flag := set.VarPF(&flagRecorder{f, &s}, s.flagName(), "", s.help)
		flag.DefValue = s.String()
		if s.arg == "" {
			flag.NoOptDefVal = "true"
		}
	}
}

// Load reads the configuration file (--config, or NEXTID_CONFIG), the environment
// and the flags. The error is Mistakes if values are wrong. Reload of a server with
// this Config reads them again.
func (f *Flags) Load(environ []string) (Config, error) {
	file := cmp.Or(f.config, LookupEnv(environ, ConfigEnv))
	read := func() (Config, error) { return f.build.load(file, environ, f.given) }
	c, err := read()
	c.reread = read
	return c, err
}

// LoadFile reads a configuration file without environment and flags.
func (b *Build) LoadFile(file string) (Config, error) { return b.load(file, nil, nil) }

// flagRecorder is the pflag.Value of one setting. It records the text for Load.
type flagRecorder struct {
	flags   *Flags
	setting *setting
}

func (r *flagRecorder) Set(text string) error {
	r.flags.given = append(r.flags.given, givenFlag{r.setting, text})
	return nil
}

// String returns nothing: the default is in DefValue.
func (r *flagRecorder) String() string { return "" }

// Type returns what the help text shows for the value; "bool" stands for nothing.
func (r *flagRecorder) Type() string { return cmp.Or(r.setting.arg, "bool") }
