package server

import (
	"fmt"
	"strings"
)

// configTable returns the table of settings in docs/config.md.
func configTable() string {
	var b strings.Builder
	b.WriteString("| key | default | meaning |\n|---|---|---|\n")
	defaults := DefaultConfig()
	for _, s := range defaults.settings() {
		marks := ""
		if s.is&flagged != 0 {
			marks += " ⚑"
		}
		if s.is&live != 0 {
			marks += " ↻"
		}
		shown := s.String()
		if shown != "" {
			shown = "`" + shown + "`"
		}
		fmt.Fprintf(&b, "| `%s`%s | %s | %s |\n", s.key, marks, shown, s.help)
	}
	return b.String()
}
