// Package cmd implements the command line of nextid. Main runs it. A program that
// extends nextid calls Main with options of its own.
//
// Each file holds one command. A program holds everything that a command may touch:
// arguments, environment, streams. Commands return errors; run prints them with a
// hint (failure.go) and returns the exit code. The flags of settings come from
// package server.
package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"nextid/generator"
	"nextid/server"
)

// Main runs the command line of this process and returns the exit code. The options
// are the parts of the server.
func Main(options ...server.Option) int {
	p := &program{
		build: server.NewBuild(options...),
		args:  os.Args[1:], environ: os.Environ(), stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr,
	}
	return p.run(stopContext())
}

// stopContext returns a context that ends with the first SIGTERM or SIGINT, which
// starts a drain. The second signal ends the process at once.
func stopContext() context.Context {
	ctx, stop := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	go func() {
		<-signals
		stop()
		<-signals
		os.Exit(exitFailed)
	}()
	return ctx
}

// program is one run of the command line, with everything that it may touch.
type program struct {
	build   *server.Build
	args    []string
	environ []string
	stdin   io.Reader
	stdout  io.Writer
	stderr  io.Writer

	logFormat string // of a server, once its configuration has been read
}

// logsJSON reports whether errors are printed as lines of JSON, for collectors of
// logs. If the flags of serve cannot be parsed, their --log-format still counts.
func (p *program) logsJSON() bool {
	if p.logFormat != "" {
		return p.logFormat == server.LogJSON
	}
	format := server.LookupEnv(p.environ, server.EnvPrefix+"LOG_FORMAT")
	for i, arg := range p.args {
		if text, ok := strings.CutPrefix(arg, "--log-format="); ok {
			format = text
		} else if arg == "--log-format" && i+1 < len(p.args) {
			format = p.args[i+1]
		}
	}
	return len(p.args) > 0 && p.args[0] == "serve" && strings.EqualFold(format, server.LogJSON)
}

// run executes the command, prints its error and returns the exit code.
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
	flags, once := p.build.Flags(), server.Once{}
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
			c, err := flags.Load(p.environ)
			if p.logFormat = c.LogFormat; err != nil {
				return err
			}
			c.Once = once
			return p.serve(cmd.Context(), c)
		},
	}
	flags.Register(cmd.Flags())
	// These are not settings: what is accepted once must not be accepted forever.
	cmd.Flags().BoolVar(&once.Adopt, "adopt", false, "accept, this once, a store that was copied, moved or restored: see docs/stores.md")
	cmd.Flags().BoolVar(&once.Clock, "accept-clock", false, "accept, this once, a clock that is further ahead of the embedded store than clock_jump")
	return cmd
}

// serve runs a server until ctx ends. On SIGHUP the server reads its configuration
// again.
func (p *program) serve(ctx context.Context, c server.Config) error {
	s, err := server.New(c)
	if err != nil {
		return err
	}
	reload := make(chan os.Signal, 1)
	signal.Notify(reload, syscall.SIGHUP)
	defer signal.Stop(reload)
	go func() {
		for {
			select {
			case <-reload:
				s.Reload()
			case <-ctx.Done():
				return
			}
		}
	}()
	return s.Run(ctx)
}

// noArgs refuses arguments. It suggests a command instead of an unknown one.
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

// usageFailure returns the error of a command line that cannot be parsed.
func usageFailure(cmd *cobra.Command, what string) error {
	return &usageError{what, fmt.Sprintf("See %s -h.", cmd.CommandPath())}
}
