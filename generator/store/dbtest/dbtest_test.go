package dbtest

import "testing"

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
