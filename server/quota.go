package server

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"nextid/generator/quota"

	"nextid/generator"
)

// quotasKey is the key of the list of quotas in the file.
const quotasKey = "quotas"

// maxQuotas bounds the list, since every draw checks all of it.
const maxQuotas = 1000

// quotas reads the list of quotas. Each mistake names the line of its quota.
func (d *document) quotas(n ast.Node) {
	list, ok := n.(*ast.SequenceNode)
	if !ok {
		d.mistake(d.line(n), quotasKey, "expected a list, such as \"- {user: app, ids: 1000, per: 1s}\"")
		return
	}
	if len(list.Values) > maxQuotas {
		d.mistake(d.line(n), quotasKey, "more than %d quotas", maxQuotas)
		return
	}
	d.origin[quotasKey] = d.line(n)
	for _, item := range list.Values {
		rule, err := parseQuota(item)
		if err == nil {
			err = rule.Check()
		}
		switch {
		case err != nil:
			d.mistake(d.line(item), quotasKey, "%s", OneLine(err.Error()))
		case slices.Contains(d.config.Quotas, rule):
			d.mistake(d.line(item), quotasKey, "the same quota stands here twice")
		default:
			d.config.Quotas = append(d.config.Quotas, rule)
		}
	}
}

// parseQuota reads one quota. Without per its period is a second.
func parseQuota(n ast.Node) (quota.Rule, error) {
	rule := quota.Rule{Per: time.Second}
	pairs, ok := mapping(n)
	if !ok {
		return rule, errors.New("expected keys and values, such as {user: app, ids: 1000, per: 1s}")
	}
	values := map[string]value{
		"user": text(&rule.User), "generator": text(&rule.Generator), "ids": count(&rule.IDs, 1, 1<<53),
		"per": duration(&rule.Per, time.Millisecond, 10_000*time.Hour), "burst": count(&rule.Burst, 1, 1<<53),
	}
	for _, p := range pairs {
		key := keyText(p.Key)
		content, scalar := scalarText(p.Value)
		v, known := values[key]
		switch {
		case !known:
			return rule, fmt.Errorf("unknown key %q%s", key, generator.DidYouMean(key, []string{"user", "generator", "ids", "per", "burst"}))
		case !scalar:
			return rule, fmt.Errorf("%s: expected one value; quote a text that begins with *, such as \"*\"", key)
		}
		if err := v.Set(content); err != nil {
			return rule, fmt.Errorf("%s: %w", key, err)
		}
	}
	return rule, nil
}

// quotasText returns the quotas in one line, for nextid.settings.
func quotasText(rules []quota.Rule) string {
	lines := make([]string, len(rules))
	for i, r := range rules {
		var b strings.Builder
		for _, p := range []struct{ key, pattern string }{{"user", r.User}, {"generator", r.Generator}} {
			if p.pattern != "" {
				fmt.Fprintf(&b, "%s: %q, ", p.key, p.pattern)
			}
		}
		fmt.Fprintf(&b, "ids: %d, per: %s", r.IDs, formatDuration(r.Per))
		if r.Burst > 0 {
			b.WriteString(", burst: " + strconv.FormatInt(r.Burst, 10))
		}
		lines[i] = "{" + b.String() + "}"
	}
	return strings.Join(lines, ", ")
}
