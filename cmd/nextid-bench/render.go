package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"nextid/benchmarks/report"
)

func (p *program) renderCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "render FILE...",
		Short: "Write the Markdown and the page of a report again",
		Long: "Write report.md and report.html, the page with charts, beside each report.json that is given:\n\n" +
			"  nextid-bench render benchmarks/results/*/report.json",
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, files []string) error {
			for _, file := range files {
				r, err := report.Read(file)
				if err != nil {
					return &failure{what: err.Error(), hint: "Give the report.json of a run of nextid-bench.", cause: err}
				}
				paths, err := r.Write(filepath.Dir(file), strings.TrimSuffix(filepath.Base(file), ".json"))
				if err != nil {
					return err
				}
				if _, err := fmt.Fprintf(p.stdout, "Written: %s\n", strings.Join(paths, ", ")); err != nil {
					return err
				}
			}
			return nil
		},
	}
}
