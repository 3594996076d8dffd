//go:build linux

// Command nextid-bench measures servers that issue ids, and checks what nextid
// promises. It is a separate binary: the server links neither the libraries that it
// is compared with nor code that starts databases. The commands are here; what they
// measure is in benchmarks/.
package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"
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
