package main

import (
	"context"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"nextid/benchmarks/report"
)

// reportFlags are the flags of the benchmarks that end in a report.
type reportFlags struct {
	out      string
	baseline string
	quick    bool
	server   *serverFlag // nil: no server is measured
}

func (f *reportFlags) register(cmd *cobra.Command) {
	cmd.Flags().SortFlags = false
	cmd.Flags().BoolVar(&f.quick, "quick", false, "one short round: what stands out, not what is close")
	cmd.Flags().StringVar(&f.out, "out", "", "write report.md, report.html and report.json into `DIR`")
	cmd.Flags().StringVar(&f.baseline, "baseline", "", "show what changed since an earlier report.json, given as `FILE`")
	if f.server != nil {
		cmd.Flags().StringVar(&f.server.file, "nextid", "", "the server's program `FILE`; by default nextid beside this program, else in the PATH")
	}
}

// report runs a benchmark, prints its tables and writes the files. After
// Ctrl-C it reports what there is.
func (p *program) report(cmd *cobra.Command, f *reportFlags, run func(context.Context, *report.Progress) (*report.Report, error)) error {
	var earlier *report.Report
	if f.baseline != "" { // before the work, not after it
		var err error
		if earlier, err = report.Read(f.baseline); err != nil {
			return &failure{what: err.Error(), hint: "--baseline takes the report.json of an earlier run of the same command.", cause: err}
		}
	}
	progress := report.NewProgress(p.stderr)
	r, err := run(cmd.Context(), progress)
	progress.End()
	switch {
	case err != nil && cmd.Context().Err() != nil:
		return &failure{what: "interrupted before anything was measured", cause: err}
	case err != nil:
		return err
	}
	r.Command = "nextid-bench " + strings.Join(withoutSecrets(p.args), " ")
	if earlier != nil {
		r.Compare(filepath.Base(f.baseline), earlier)
	}
	r.Print(p.stdout)
	if f.out == "" {
		return nil
	}
	paths, err := r.Write(f.out, "report")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.stdout, "\nWritten: %s\n", strings.Join(paths, ", "))
	return err
}

// withoutSecrets are arguments as they may be shown: URLs without passwords.
func withoutSecrets(args []string) []string {
	shown := slices.Clone(args)
	for i, arg := range shown {
		if scheme, _, ok := strings.Cut(arg, "://"); ok {
			begin := strings.LastIndexByte(scheme, '=') + 1 // --dsn=URL
			shown[i] = arg[:begin] + withoutSecret(arg[begin:])
		}
	}
	return shown
}

// withoutSecret is a URL without the passwords in it.
func withoutSecret(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return "(a URL that cannot be read)"
	}
	query := u.Query()
	for key := range query {
		if slices.Contains([]string{"password", "sslpassword"}, strings.ToLower(key)) {
			query.Set(key, "xxxxx")
			u.RawQuery = query.Encode()
		}
	}
	return u.Redacted()
}
