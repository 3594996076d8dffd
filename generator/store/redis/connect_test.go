package redis

import (
	"errors"
	"testing"

	"github.com/redis/go-redis/v9"

	"nextid/generator"
)

// A failed query for a setting is an error of the connection and not an unsafe
// setting: the next query may succeed.
func TestAnErrorIsNoSetting(t *testing.T) {
	e := &engine{settings: settings(nil, false)}
	found := make([]*redis.StringSliceCmd, len(e.settings))
	for i := range found {
		found[i] = redis.NewStringSliceCmd(t.Context())
		found[i].SetErr(errors.New("LOADING Redis is loading the dataset in memory"))
	}
	err := e.failure(t.Context(), e.checkSettings(found))
	if !errors.Is(err, generator.ErrNotNow) || errors.Is(err, generator.ErrPinned) {
		t.Error(err)
	}
}

func TestURLs(t *testing.T) {
	for text, bad := range map[string]string{
		"redis://h": "", "rediss://u:p@h:1/2?namespace=x&wait=1": "", "redis+cluster://a,b:1/0": "", "redis+sentinel://a,b/ids/3": "",
		"redis://a,b":               "several hosts need redis+sentinel:// or redis+cluster://",
		"redis+cluster://a/1":       "a Redis Cluster has no numbered databases",
		"redis+sentinel://a":        "the URL lacks the name of the master: redis+sentinel://HOST:26379/MASTER",
		"redis+sentinel://a/ids/x":  `"x" is not the number of a Redis database`,
		"redis://h?wait=many":       "wait=many is not a number of replicas",
		"rediss://h?ca=/none/there": "open /none/there: no such file or directory",
		"h":                         "not a URL",
	} {
		_, err := parse(text)
		if said := errorText(err); said != bad {
			t.Errorf("%s: %q, want %q", text, said, bad)
		}
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
