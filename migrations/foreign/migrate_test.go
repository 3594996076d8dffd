package foreign_test

import (
	"testing"

	"nextid/migrations/foreign"
)

func config(t *testing.T, s *server) foreign.Config {
	t.Helper()
	return foreign.Config{Server: parseServer(t, s.url()), Grant: []string{"PUBLIC"}}
}
