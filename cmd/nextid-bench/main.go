// Command nextid-bench measures servers that hand out ids, and proves what
// nextid promises. It is a program of its own, so that the server links
// neither the libraries that it is compared with nor code that starts
// databases. What its commands do is in benchmarks/.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
)

func main() {
	ctx, stop := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	go func() {
		<-signals
		stop() // ends the run, which reports what it has
		<-signals
		os.Exit(exitFailed)
	}()
	p := &program{args: os.Args[1:], stdout: os.Stdout, stderr: os.Stderr}
	os.Exit(p.run(ctx))
}

// Exit codes of the program.
const (
	exitOK     = 0
	exitFailed = 1 // it was understood and did not work
	exitUsage  = 2 // the command line was not understood
)

// program is one run of the command line.
type program struct {
	args   []string
	stdout io.Writer
	stderr io.Writer
}

// run executes the command and returns the exit code.
func (p *program) run(ctx context.Context) int {
	root := p.rootCommand()
	root.SetArgs(p.args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	fmt.Fprintf(p.stderr, "nextid-bench: %s\n", oneLine(err.Error()))
	f, ok := errors.AsType[*failure](err)
	if ok && f.hint != "" {
		fmt.Fprintf(p.stderr, "hint: %s\n", oneLine(f.hint))
	}
	if ok && f.usage {
		return exitUsage
	}
	return exitFailed
}

func (p *program) rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "nextid-bench",
		Short: "Measure servers that hand out ids, and prove what nextid promises",
		Long: "Compare nextid with what else hands out ids, on this machine, and prove that it repeats none:\n\n" +
			"  nextid-bench compare --quick --out report",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          noArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetOut(p.stdout)
	root.SetErr(p.stderr)
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetHelpCommand(&cobra.Command{Hidden: true})
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return usageFailure(cmd, err.Error()) })
	root.AddCommand(append(p.serverCommands(), p.localCommand(), p.renderCommand())...)
	return root
}

// failure is an error for the person at the terminal: what went wrong in one
// line, and what to do about it.
type failure struct {
	what  string
	hint  string
	cause error
	usage bool // the command line is wrong
}

func (f *failure) Error() string { return f.what }
func (f *failure) Unwrap() error { return f.cause }

// usageFailure is a command line that cannot be understood.
func usageFailure(cmd *cobra.Command, what string) error {
	return &failure{what: what, usage: true, hint: fmt.Sprintf("See %s -h.", cmd.CommandPath())}
}

func noArgs(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return nil
	case cmd.HasSubCommands():
		return usageFailure(cmd, fmt.Sprintf("unknown command %q", args[0]))
	}
	return usageFailure(cmd, fmt.Sprintf("unexpected argument %q", args[0]))
}

// oneLine keeps a message from being mistaken for several.
func oneLine(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
}

// serverFlag is the server to measure: the flag --nextid, which by default is
// the nextid that lies beside this program, else the one in the PATH.
type serverFlag struct{ file string }

// find returns the server's program as a path that holds in every directory.
func (f *serverFlag) find() (string, error) {
	if f.file != "" {
		return executable(f.file)
	}
	name := "nextid"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	if self, err := os.Executable(); err == nil {
		if file, err := executable(filepath.Join(filepath.Dir(self), name)); err == nil {
			return file, nil
		}
	}
	return executable(name)
}

func executable(file string) (string, error) {
	found, err := exec.LookPath(file)
	if err == nil {
		found, err = filepath.Abs(found)
	}
	if err != nil {
		return "", &failure{
			what: fmt.Sprintf("no server to measure: %v", err), cause: err,
			hint: "Put nextid beside nextid-bench (make bench builds both into bin), or name it: --nextid FILE.",
		}
	}
	return found, nil
}
