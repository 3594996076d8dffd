package server

import (
	"cmp"
	"slices"

	"github.com/spf13/pflag"
)

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
