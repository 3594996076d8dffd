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
	for i := range settings {
		s := &settings[i]
		marks := ""
		if s.flag {
			marks += " ⚑"
		}
		if s.live {
			marks += " ↻"
		}
		shown := s.value(&defaults).String()
		if shown != "" {
			shown = "`" + shown + "`"
		}
		fmt.Fprintf(&b, "| `%s`%s | %s | %s |\n", s.key, marks, shown, s.help)
	}
	return b.String()
}
