package redis

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"nextid/dbtest"
	"nextid/generator"
	"nextid/generator/store/shared"
)

// Each reservation reads the settings: in one command, or one by one from servers
// before version 7.
func TestSettingsAreAskedForTogetherOrOneByOne(t *testing.T) {
	t.Parallel()
	s := dbtest.Redis(t)
	schema, err := Open(s.RedisURL(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer schema.Close()
	if err := schema.Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	e, err := Open(s.RedisURL(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	command := func(args ...any) string {
		t.Helper()
		reply, err := schema.client.Do(t.Context(), args...).Text()
		if err != nil {
			t.Fatal(err)
		}
		return reply
	}
	_, version, _ := strings.Cut(command("INFO", "server"), "redis_version:")
	version, _, _ = strings.Cut(version, "\r")
	epoch, err := e.Epoch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if e.several.Load() != answersSeveral(version) {
		t.Errorf("several names at once: %t for version %s", e.several.Load(), version)
	}
	reserve := func() error {
		ask := shared.Ask{Reservation: dbtest.Order(10), Epoch: epoch, Write: epoch, Create: true, Count: 1}
		_, err := e.Advance(t.Context(), []shared.Ask{ask})
		return err
	}
	if err := reserve(); err != nil { // loads the scripts
		t.Fatal(err)
	}
	questions := map[bool]int{false: len(e.settings)}
	if answersSeveral(version) {
		questions[true] = 1
	}
	for several, want := range questions {
		e.several.Store(several)
		command("CONFIG", "RESETSTAT")
		if err := reserve(); err != nil {
			t.Fatal(err)
		}
		if stats := command("INFO", "commandstats"); !strings.Contains(stats, fmt.Sprintf("cmdstat_config|get:calls=%d,", want)) {
			t.Errorf("several at once: %t; %s", several, stats)
		}
		for _, bad := range []string{"appendfsync everysec always", "maxmemory-policy allkeys-lru noeviction", "appendonly no yes"} {
			set := strings.Fields(bad)
			command("CONFIG", "SET", set[0], set[1])
			dbtest.WantError(t, reserve(), generator.ErrPinned, set[0]+" = "+set[1])
			command("CONFIG", "SET", set[0], set[2])
		}
	}

	// As after a failover to an older Redis: one reservation fails.
	e.several.Store(true)
	said := redis.NewStringSliceCmd(t.Context())
	said.SetErr(errors.New("ERR wrong number of arguments for 'config|get' command"))
	if err := e.checkSettings([]*redis.StringSliceCmd{said}); err == nil || e.several.Load() {
		t.Errorf("a question that the server did not understand: %v, several names at once: %t", err, e.several.Load())
	}
}

func TestVersionsThatAnswerSeveral(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]bool{"6.2.14": false, "7.0.15": true, "8.2.1": true, "10.0.0": true, "7": true, "": false, "unstable": false} {
		if answersSeveral(version) != want {
			t.Errorf("%s: %t", version, !want)
		}
	}
}
