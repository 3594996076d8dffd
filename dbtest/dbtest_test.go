package dbtest

import (
	"strings"
	"testing"
)

func TestAServerIsKilledAndStartsAgain(t *testing.T) {
	t.Parallel()
	s := Postgres(t, "fsync=off")
	s.Kill()
	if s.Running() || listens(s.Addr) == nil {
		t.Fatal("it still runs")
	}
	s.Start()
	s.Stop()
	if s.Running() {
		t.Fatal("it still runs")
	}
}

func TestTheSharedServerOutlivesTheTestThatStartedIt(t *testing.T) {
	t.Cleanup(StopShared)
	var dsn string
	t.Run("first", func(t *testing.T) { dsn = SharedPostgres(t) })
	if again := SharedPostgres(t); again != dsn {
		t.Errorf("a second server at %s, the first is at %s", again, dsn)
	}
	addr := strings.TrimSuffix(strings.TrimPrefix(dsn, "postgres://postgres@"), "/postgres?sslmode=disable")
	if err := listens(addr); err != nil {
		t.Error(err)
	}
	if StopShared(); listens(addr) == nil {
		t.Error("it still runs")
	}
}
