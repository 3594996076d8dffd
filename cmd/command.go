// Package cmd implements the command line of nextid. Main runs it. A program that
// extends nextid calls Main with options of its own.
//
// Each larger command has a file. A program holds everything that a command may touch:
// arguments, environment, streams. Commands return errors; run prints them with a
// hint and returns the exit code. Commands need not check writes to standard output:
// run reports the first one that failed. The flags of settings come from package
// server.
package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"

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

// oneStop is the time in which signals count as one: timeout(1) and wrappers that
// pass Ctrl-C on send two.
const oneStop = 100 * time.Millisecond

// stopContext returns a context that ends with the first SIGTERM or SIGINT, which
// starts a drain. A signal after oneStop ends the process at once.
func stopContext() context.Context {
	ctx, stop := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	go func() {
		<-signals
		stop()
		for first := time.Now(); ; {
			if <-signals; time.Since(first) >= oneStop {
				os.Exit(exitFailed)
			}
		}
	}()
	return ctx
}

// program is one run of the command line, with everything that it may touch.
type program struct {
	build   *server.Build
	args    []string
	environ []string
	stdin   io.Reader
	stdout  io.Writer // in run an *output
	stderr  io.Writer

	settings *server.Flags // of serve
}

// logsJSON reports whether errors are printed as lines of JSON, for collectors of
// logs: those of serve with that log_format. Of flags that cannot be parsed, those
// before the mistake count.
func (p *program) logsJSON() bool {
	if len(p.args) == 0 || p.args[0] != "serve" {
		return false
	}
	c, _ := p.settings.Load(p.environ) // the error has been returned before
	return c.LogFormat == server.LogJSON
}

// output is a writer that keeps the error of the first write that failed.
type output struct {
	io.Writer
	failed error
}

func (o *output) Write(b []byte) (int, error) {
	n, err := o.Writer.Write(b)
	o.failed = cmp.Or(o.failed, err)
	return n, err
}

// run executes the command, prints its error and returns the exit code.
func (p *program) run(ctx context.Context) int {
	out := &output{Writer: p.stdout}
	p.stdout = out
	root := p.rootCommand()
	root.SetArgs(p.args)
	err := root.ExecuteContext(ctx)
	return p.failed(cmp.Or(err, out.failed))
}

// printf prints to standard output.
func (p *program) printf(format string, args ...any) { fmt.Fprintf(p.stdout, format, args...) }

// done prints to standard output unless err is set. It returns err.
func (p *program) done(err error, format string, args ...any) error {
	if err == nil {
		p.printf(format, args...)
	}
	return err
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
			p.printVersion()
			return nil
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
	root.AddCommand(p.serveCommand(), p.demoCommand(), p.parseCommand(), p.passwdCommand(), p.migrateCommand(), p.repairCommand(), p.checkConfigCommand(),
		&cobra.Command{Use: "version", Short: "Print the version of this program", Args: noArgs, Run: func(*cobra.Command, []string) { p.printVersion() }})
	return root
}

func (p *program) serveCommand() *cobra.Command {
	p.settings = p.build.Flags()
	var once server.Once
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
			c, err := p.settings.Load(p.environ)
			if err != nil {
				return err
			}
			c.Once = once
			return p.serve(cmd.Context(), c)
		},
	}
	p.settings.Register(cmd.Flags())
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
	go func() {
		for range reload {
			s.Reload()
		}
	}()
	defer func() { signal.Stop(reload); close(reload) }()
	signal.Ignore(syscall.SIGPIPE) // the reader of the log may end
	return s.Run(ctx)
}

func (p *program) checkConfigCommand() *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use:   "check-config --config FILE",
		Short: "Check a configuration file",
		Long: "Check a configuration file and the files that it names (users, host rules, certificates,\n" +
			"passwords), and print everything that is wrong with them, one mistake a line, or ok. Run it\n" +
			"as the user that runs the server. It reads neither the environment nor the store.",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if file == "" {
				return usageFailure(cmd, "--config FILE is missing")
			}
			c, err := p.build.LoadFile(file)
			mistakes, wrong := errors.AsType[server.Mistakes](err)
			if err != nil && !wrong {
				return err
			}
			if found := c.Check(mistakes); len(found) > 0 {
				return found
			}
			p.printf("ok\n")
			return nil
		},
	}
	cmd.Flags().StringVar(&file, "config", "", "the `FILE` to check")
	return cmd
}

func (p *program) printVersion() {
	p.printf("nextid %s (%s, %s/%s, commit %s)\n", server.Version(), runtime.Version(), runtime.GOOS, runtime.GOARCH, server.Commit())
}

// noArgs refuses arguments. It suggests a command instead of an unknown one.
func noArgs(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return nil
	case !cmd.HasSubCommands():
		return usageFailure(cmd, fmt.Sprintf("unexpected argument %q", args[0]))
	}
	var known []string
	for _, c := range cmd.Commands() {
		known = append(known, c.Name())
	}
	return usageFailure(cmd, fmt.Sprintf("unknown command %q%s", args[0], generator.DidYouMean(args[0], known)))
}

// usageFailure returns the error of a command line that cannot be parsed.
func usageFailure(cmd *cobra.Command, what string) error {
	return &server.Error{What: what, Hint: fmt.Sprintf("See %s -h.", cmd.CommandPath()), Err: errUsage}
}

// Exit codes of the program.
const (
	exitOK     = 0
	exitFailed = 1 // the command failed
	exitUsage  = 2 // the command line could not be parsed
)

// errUsage is the cause of the error of a command line that cannot be parsed.
var errUsage = errors.New("usage")

// failed reports err and returns the exit code. Each mistake in the configuration
// gets a line of its own.
func (p *program) failed(err error) int {
	if err == nil {
		return exitOK
	}
	var log *slog.Logger // nil: plain lines
	if p.logsJSON() {
		log = slog.New(slog.NewJSONHandler(p.stderr, nil))
	}
	if mistakes, ok := errors.AsType[server.Mistakes](err); ok {
		for _, m := range mistakes {
			if log != nil {
				log.Error("the configuration has a mistake", "error", m.String())
			} else {
				fmt.Fprintf(p.stderr, "nextid: %s\n", m)
			}
		}
		return exitFailed
	}
	code := exitFailed
	if errors.Is(err, errUsage) {
		code = exitUsage
	}
	text, hint := server.OneLine(err.Error()), server.OneLine(server.HintOf(err))
	switch {
	case log != nil:
		log.Error("nextid ends", "error", text, "hint", hint)
	case hint != "":
		fmt.Fprintf(p.stderr, "nextid: %s\nhint: %s\n", text, hint)
	default:
		fmt.Fprintf(p.stderr, "nextid: %s\n", text)
	}
	return code
}
