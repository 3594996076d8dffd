package server

import (
	"slices"
	"strings"
	"testing"
	"time"

	"nextid/generator/quota"
)

func TestQuotasAreRead(t *testing.T) {
	t.Parallel()
	read := func(text string) (Config, error) { return testBuild.load(writeFile(t, "q.yaml", text), nil, nil) }
	c, err := read("quotas:\n- user: \"*\"\n  ids: 1000\n- {user: batch, generator: o*, ids: 5, per: 24h, burst: 9}\n")
	want := []quota.Rule{{User: "*", IDs: 1000, Per: time.Second}, {User: "batch", Generator: "o*", IDs: 5, Per: 24 * time.Hour, Burst: 9}}
	if err != nil || !slices.Equal(c.Quotas, want) {
		t.Errorf("%+v, %v", c.Quotas, err)
	}
	if got := quotasText(c.Quotas); got != `{user: "*", ids: 1000, per: 1s}, {user: "batch", generator: "o*", ids: 5, per: 24h, burst: 9}` {
		t.Error(got)
	}
	for text, complaint := range map[string]string{
		"quotas: 5":                                                 "expected a list",
		"quotas: [5]":                                               "expected keys and values",
		"quotas: [{ids: 5}]":                                        "user and generator are missing",
		"quotas: [{user: a}]":                                       "ids must be 1 or more",
		"quotas: [{user: a, ids: 5, pre: 1s}]":                      `unknown key "pre"; did you mean per?`,
		"quotas: [{user: a, ids: 5, per: 1}]":                       "is not a duration",
		"quotas: [{user: a, ids: 0}]":                               "is not a whole number",
		"quotas: [{user: [a], ids: 1}]":                             "expected one value",
		"quotas:\n- {user: a, ids: 1}\n- {user: a, ids: 1}":         "3: quotas: the same quota stands here twice",
		"quotas:\n- {user: a, ids: 1}\n- {user: a**, ids: 1}":       "3: quotas: a pattern has * at its end only",
		"quotas:\n" + strings.Repeat("- {user: a, ids: 1}\n", 1001): "more than 1000 quotas",
	} {
		if _, err := read(text); err == nil || !strings.Contains(err.Error(), complaint) {
			t.Errorf("%.60s: %v, want %q", text, err, complaint)
		}
	}
}
