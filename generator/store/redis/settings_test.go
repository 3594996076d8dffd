package redis

import (
	"strings"
	"testing"

	"nextid/dbtest"
	"nextid/generator"
	"nextid/generator/store/shared"
)

// Each reservation reads the settings: they can change while Redis runs.
func TestEachReservationReadsTheSettings(t *testing.T) {
	t.Parallel()
	s := dbtest.Redis(t)
	e, err := open(s.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if err := e.Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	command := func(args ...any) {
		t.Helper()
		if err := e.client.Do(t.Context(), args...).Err(); err != nil {
			t.Fatal(err)
		}
	}
	epoch, err := e.Epoch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	reserve := func() error {
		ask := shared.Ask{Reservation: dbtest.Order(10), Epoch: epoch, Write: epoch, Create: true, Count: 1}
		_, err := e.Advance(t.Context(), []shared.Ask{ask})
		return err
	}
	if err := reserve(); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"appendfsync everysec always", "maxmemory-policy allkeys-lru noeviction", "appendonly no yes"} {
		set := strings.Fields(bad)
		command("CONFIG", "SET", set[0], set[1])
		dbtest.WantError(t, reserve(), generator.ErrPinned, set[0]+" = "+set[1])
		command("CONFIG", "SET", set[0], set[2])
	}
	if err := reserve(); err != nil {
		t.Error(err)
	}
}
