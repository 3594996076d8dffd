package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"nextid/generator"
)

// program is one run of the command line, with everything it may touch.
type program struct {
	args    []string
	environ []string
	stdin   io.Reader
	stdout  io.Writer
	stderr  io.Writer
	reload  <-chan os.Signal // asks a server to read its users and certificates again

	logFormat string // of a server whose configuration was read
}

// logsJSON reports whether errors are to be lines of JSON: a collector of logs
// reads them, those of a command line that cannot be understood as well.
func (p *program) logsJSON() bool {
	if p.logFormat != "" {
		return p.logFormat == logJSON
	}
	format := lookupEnv(p.environ, envPrefix+"LOG_FORMAT")
	for i, arg := range p.args {
		if text, ok := strings.CutPrefix(arg, "--log-format="); ok {
			format = text
		} else if arg == "--log-format" && i+1 < len(p.args) {
			format = p.args[i+1]
		}
	}
	return len(p.args) > 0 && p.args[0] == "serve" && strings.EqualFold(format, logJSON)
}

// run executes the command and returns the exit code.
func (p *program) run(ctx context.Context) int {
	root := p.rootCommand()
	root.SetArgs(p.args)
	err := root.ExecuteContext(ctx)
	if err != nil && p.logsJSON() {
		return logFailure(p.stderr, err)
	}
	return printFailure(p.stderr, err)
}

func (p *program) rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "nextid",
		Short: "Unique ids in SQL",
		Long: "nextid is a server that speaks the PostgreSQL and the MySQL protocol and hands out unique ids:\n\n" +
			"  nextid serve\n  psql -h 127.0.0.1 -p 5433 -c \"SELECT next_id('orders')\"\n" +
			"  mysql -h 127.0.0.1 -P 3307 -e \"SELECT next_id('orders')\"",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          noArgs,
	}
	version := root.Flags().Bool("version", false, "print the version of this program")
	root.RunE = func(cmd *cobra.Command, _ []string) error {
		if *version {
			return p.printVersion()
		}
		return cmd.Help()
	}
	root.SetOut(p.stdout)
	root.SetErr(p.stderr)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		missing, ok := errors.AsType[*pflag.NotExistError](err)
		if !ok {
			return usageFailure(cmd, err.Error())
		}
		var known []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, "--"+f.Name) })
		return usageFailure(cmd, err.Error()+generator.DidYouMean("--"+missing.GetSpecifiedName(), known))
	})
	root.AddCommand(p.serveCommand(), p.demoCommand(), p.parseCommand(), p.passwdCommand(), p.migrateCommand(), p.repairCommand(), p.checkConfigCommand(), p.versionCommand())
	return root
}

func (p *program) serveCommand() *cobra.Command {
	flags, once := &settingFlags{}, Once{}
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the server",
		Long: "Run the server until SIGTERM or Ctrl-C. Running statements finish then, and unused\n" +
			"reservations are given back; a second signal ends the process at once.\n\n" +
			"Every flag is also a variable in the environment (--auto-create: NEXTID_AUTO_CREATE) and a\n" +
			"key in the configuration file (auto_create). Flags win over the environment, the\n" +
			"environment over the file. The file knows more keys: see docs/config.md.",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			m := &Main{Once: once, Stderr: p.stderr, Reload: p.reload}
			m.Reread = func() (Config, error) { return loadConfig(flags.file(p.environ), p.environ, flags.given) }
			var err error
			m.Config, err = m.Reread()
			if p.logFormat = m.Config.LogFormat; err != nil {
				return err
			}
			return m.Run(cmd.Context())
		},
	}
	flags.register(cmd.Flags())
	// Not settings: what is accepted once must not be accepted forever.
	cmd.Flags().BoolVar(&once.Adopt, "adopt", false, "accept, this once, a store that was copied, moved or restored: see docs/operations.md")
	cmd.Flags().BoolVar(&once.Clock, "accept-clock", false, "accept, this once, a clock that is further ahead of the embedded store than clock_jump")
	return cmd
}

// settingFlags are the flags that come from settings. They only record what
// was given: loader reads the texts, as it does with those of the file and
// the environment, so that one run reports the mistakes of all three.
type settingFlags struct {
	config string
	given  []givenFlag
}

// register adds --config and the flags of the named settings, of all if none
// is named.
func (f *settingFlags) register(set *pflag.FlagSet, keys ...string) {
	set.SortFlags = false
	set.StringVar(&f.config, "config", "", "configuration `FILE` in YAML")
	defaults := DefaultConfig()
	for i := range settings {
		s := &settings[i]
		if !s.flag || len(keys) > 0 && !slices.Contains(keys, s.key) {
			continue
		}
		flag := set.VarPF(&flagRecorder{flags: f, setting: s}, s.flagName(), "", s.help)
		flag.DefValue = s.value(&defaults).String()
		if s.arg == "" {
			flag.NoOptDefVal = "true"
		}
	}
}

// file is the configuration file: the flag, or NEXTID_CONFIG.
func (f *settingFlags) file(environ []string) string {
	if f.config != "" {
		return f.config
	}
	return lookupEnv(environ, configEnv)
}

// flagRecorder is the pflag.Value of one setting.
type flagRecorder struct {
	flags   *settingFlags
	setting *setting
}

// Set implements pflag.Value.
func (r *flagRecorder) Set(text string) error {
	r.flags.given = append(r.flags.given, givenFlag{r.setting, text})
	return nil
}

// String implements pflag.Value. pflag compares it with "" to see whether
// there is a default worth printing.
func (r *flagRecorder) String() string { return "" }

// Type implements pflag.Value; it is what the help text shows for the value,
// where "bool" stands for none.
func (r *flagRecorder) Type() string {
	if r.setting.arg == "" {
		return "bool"
	}
	return r.setting.arg
}

func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if cmd.HasSubCommands() {
		var known []string
		for _, c := range cmd.Commands() {
			known = append(known, c.Name())
		}
		return usageFailure(cmd, fmt.Sprintf("unknown command %q%s", args[0], generator.DidYouMean(args[0], known)))
	}
	return usageFailure(cmd, fmt.Sprintf("unexpected argument %q", args[0]))
}

// usageFailure is a command line that cannot be understood.
func usageFailure(cmd *cobra.Command, what string) error {
	return &failure{
		what: what, usage: true,
		hint: fmt.Sprintf("See %s -h.", cmd.CommandPath()),
	}
}
