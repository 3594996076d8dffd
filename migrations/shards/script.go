package shards

import (
	"context"
	"regexp"
	"strings"

	"nextid/migrations/appdb"
)

// MySQL's errors for what is there already: a table, routine, trigger, key.
var erExists = []uint16{1007, 1050, 1061, 1304, 1359}

// script implements database. MySQL ends no statement when a script fails in
// its middle: those that have run before are left out.
func (s *mysqlShard) script(ctx context.Context, text string) error {
	for _, statement := range statements(text) {
		if err := s.exec(ctx, statement); err != nil && !appdb.MySQLSays(err, erExists...) {
			return explainMySQL(err)
		}
	}
	return nil
}

// pgDuplicate are PostgreSQL's SQLSTATEs for what is there already.
var pgDuplicate = []string{"42P07", "42P06", "42710", "42723"}

// script implements database. PostgreSQL runs it whole or not at all, so what
// is there already comes from an earlier run.
func (s *postgresShard) script(ctx context.Context, text string) error {
	err := s.exec(ctx, strings.TrimRight(text, "; \n"))
	if appdb.PostgresSays(err, pgDuplicate...) {
		return nil
	}
	return explainPostgres(err)
}

// block is a statement that holds others.
var block = regexp.MustCompile(`(?i)\bBEGIN\b`)

// statements cuts SQL of MySQL at its semicolons. A script with a block in it
// stays whole.
func statements(text string) []string {
	if block.MatchString(text) {
		return []string{strings.TrimRight(text, "; \n")}
	}
	var all []string
	begin := 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\'' || c == '"' || c == '`':
			for i++; i < len(text) && text[i] != c; i++ {
				if text[i] == '\\' && c != '`' {
					i++
				}
			}
		case c == '#', strings.HasPrefix(text[i:], "-- "), strings.HasPrefix(text[i:], "--\n"):
			i = after(text, i, "\n")
		case strings.HasPrefix(text[i:], "/*"):
			i = after(text, i+2, "*/")
		case c == ';':
			all = append(all, strings.TrimSpace(text[begin:i]))
			begin = i + 1
		}
	}
	if rest := strings.TrimSpace(text[min(begin, len(text)):]); rest != "" {
		all = append(all, rest)
	}
	return all
}

// after is the place of the last byte of what ends a comment.
func after(text string, from int, end string) int {
	i := strings.Index(text[min(from, len(text)):], end)
	if i < 0 {
		return len(text)
	}
	return from + i + len(end) - 1
}
