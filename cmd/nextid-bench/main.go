//go:build linux

// Command nextid-bench measures servers that issue ids, and checks what nextid
// promises. It is a separate binary: the server links neither the libraries that it
// is compared with nor code that starts databases. The commands are here; what they
// measure is in benchmarks/.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"nextid/benchmarks/load"
	"nextid/benchmarks/report"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	context.AfterFunc(ctx, stop) // the command reports what it has; a second signal kills it
	if err := rootCommand().ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "nextid-bench:", err)
		os.Exit(1)
	}
}

func rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "nextid-bench",
		Short: "Measure servers that hand out ids, and prove what nextid promises",
		Long: "Compare nextid with what else hands out ids, on this machine, and prove that it repeats none:\n\n" +
			"  nextid-bench compare --quick --out report",
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.CompletionOptions.DisableDefaultCmd = true
	root.AddCommand(compareCommand(), sqlCommand(), floorCommand(), tortureCommand(), localCommand(), renderCommand())
	return root
}

// server returns the path of the server to measure. That is file, else nextid
// beside this program, else nextid in the PATH.
func server(file string) (string, error) {
	names := []string{file}
	if file == "" {
		self, _ := os.Executable() // without it, only the PATH counts
		names = []string{filepath.Join(filepath.Dir(self), "nextid"), "nextid"}
	}
	var missing error
	for _, name := range names {
		found, err := exec.LookPath(name)
		if err == nil {
			return filepath.Abs(found)
		}
		missing = err
	}
	return "", fmt.Errorf("no server to measure: %w\n"+
		"put nextid beside nextid-bench (make bench builds both into bin), or name it: --nextid FILE", missing)
}

// measured completes a command that starts servers, as reported does.
func measured(cmd *cobra.Command, run func(ctx context.Context, setup load.Setup, quick bool) (*report.Report, error)) *cobra.Command {
	file := ""
	reported(cmd, func(ctx context.Context, progress *log.Logger, quick bool) (*report.Report, error) {
		nextid, err := server(file)
		if err != nil {
			return nil, err
		}
		self, err := os.Executable()
		if err != nil {
			return nil, err
		}
		return run(ctx, load.Setup{Nextid: nextid, Self: self, Progress: progress}, quick)
	})
	cmd.Flags().StringVar(&file, "nextid", "", "the server's program `FILE`; by default nextid beside this program, else in the PATH")
	return cmd
}

// reported completes a command that prints a report and writes its files. After
// Ctrl-C it reports what has been measured.
func reported(cmd *cobra.Command, run func(ctx context.Context, progress *log.Logger, quick bool) (*report.Report, error)) *cobra.Command {
	quick, out := false, ""
	cmd.Flags().SortFlags = false
	cmd.Flags().BoolVar(&quick, "quick", false, "one short round: what stands out, not what is close")
	cmd.Flags().StringVar(&out, "out", "", "write report.md, report.html and report.json into `DIR`")
	cmd.Args = cobra.NoArgs
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if out != "" { // before a run of minutes
			if err := os.MkdirAll(out, 0o755); err != nil {
				return err
			}
		}
		r, err := run(cmd.Context(), log.New(cmd.ErrOrStderr(), "", log.Ltime), quick)
		if r == nil || len(r.Sections) == 0 {
			if cmd.Context().Err() != nil {
				err = errors.New("interrupted before anything was measured")
			}
			return err
		}
		r.Command = "nextid-bench " + strings.Join(os.Args[1:], " ")
		err = errors.Join(err, r.Print(cmd.OutOrStdout()))
		if out != "" {
			err = errors.Join(err, write(cmd, r, out, "report"))
		}
		return err
	}
	return cmd
}

// write writes the files of a report and prints their paths.
func write(cmd *cobra.Command, r *report.Report, dir, name string) error {
	paths, err := r.Write(dir, name)
	if err == nil {
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "\nWritten: %s\n", strings.Join(paths, ", "))
	}
	return err
}

func renderCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "render FILE...",
		Short: "Write the Markdown and the page of a report again",
		Long: "Write report.md and report.html, the page with charts, beside each report.json that is given:\n\n" +
			"  nextid-bench render benchmarks/results/*/report.json",
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, files []string) error {
			for _, file := range files {
				r, err := report.Read(file)
				if err == nil {
					err = write(cmd, r, filepath.Dir(file), strings.TrimSuffix(filepath.Base(file), ".json"))
				}
				if err != nil {
					return err
				}
			}
			return nil
		},
	}
}
