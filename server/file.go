package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"nextid/generator"
	"nextid/generator/quota"
)

// Keys of the file that hold more than one text.
const (
	generatorsKey = "generators"
	quotasKey     = "quotas"
)

// sections lists the keys of the file below which there are settings.
var sections = []string{"limits", "audit"}

// file applies the configuration file. It returns an error if the file cannot be
// read, and adds what is wrong inside it to the mistakes.
func (l *loader) file(path string) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return &Error{
			What: fmt.Sprintf("read the configuration: %s", err), Err: err,
			Hint: "Check the path given with --config or " + ConfigEnv + ".",
		}
	}
	l.document(path, content)
	return nil
}

// document applies the content of a configuration file.
func (l *loader) document(path string, content []byte) {
	l.path = path
	parsed, err := parser.ParseBytes(content, 0)
	if err != nil {
		at, message := place{source: path}, err.Error()
		if y, ok := errors.AsType[yaml.Error](err); ok {
			message = y.GetMessage()
			if t := y.GetToken(); t != nil && t.Position != nil {
				at.line = t.Position.Line
			}
		}
		l.mistake(at, "", "%s", message)
		return
	}
	var bodies []ast.Node // a document of comments only has no body
	for _, one := range parsed.Docs {
		if one.Body != nil {
			bodies = append(bodies, one.Body)
		}
	}
	if len(bodies) > 1 {
		l.mistake(l.line(bodies[1]), "", "a second document begins here; one file holds one configuration")
	} else if len(bodies) == 1 && !l.refuseReferences(bodies[0]) {
		l.section("", bodies[0])
	}
}

// line returns the file and the line of a node.
func (l *loader) line(n ast.Node) place {
	if n == nil || n.GetToken() == nil || n.GetToken().Position == nil {
		return place{source: l.path}
	}
	return place{source: l.path, line: n.GetToken().Position.Line}
}

// refuseReferences reports an anchor, alias, merge key or tag as a mistake. Without
// them each value is on the line that a message names.
func (l *loader) refuseReferences(root ast.Node) bool {
	for _, t := range []ast.NodeType{ast.AnchorType, ast.AliasType, ast.MergeKeyType, ast.TagType} {
		if found := ast.Filter(t, root); len(found) > 0 {
			l.mistake(l.line(found[0]), "", "anchors, aliases, merge keys and tags are not used in this file: write the value out")
			return true
		}
	}
	return false
}

// section applies the keys of one mapping. prefix is "" or ends in a dot.
func (l *loader) section(prefix string, n ast.Node) {
	for _, p := range l.pairs(n, strings.TrimSuffix(prefix, "."), `keys and values, such as "pg: 127.0.0.1:5433"`) {
		key := prefix + strings.ReplaceAll(keyText(p.Key), "-", "_")
		text, scalar := scalarText(p.Value)
		switch {
		case l.seen[key]:
			l.mistake(l.line(p.Key), key, "is given twice")
		case slices.Contains(sections, key):
			l.section(key+".", p.Value)
		case key == generatorsKey:
			l.generators(p.Value)
		case key == quotasKey:
			l.quotas(p.Value)
		case l.config.setting(key) == nil:
			l.mistake(l.line(p.Key), key, "unknown key%s", generator.DidYouMean(key, fileKeys()))
		case !scalar:
			l.mistake(l.line(p.Key), key, "expected one value")
		default:
			l.set(key, text, l.line(p.Key))
		}
		l.seen[key] = true
	}
}

// pairs returns the pairs of a mapping. goccy has two node types for mappings.
// Another node is a mistake.
func (l *loader) pairs(n ast.Node, key, expected string) []*ast.MappingValueNode {
	switch n := n.(type) {
	case *ast.MappingNode:
		return n.Values
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{n}
	}
	l.mistake(l.line(n), key, "expected %s", expected)
	return nil
}

// generators reads the section generators: a map from names to kind and options.
func (l *loader) generators(n ast.Node) {
	for _, p := range l.pairs(n, generatorsKey, `names, each with its kind and options, such as "orders: {kind: segment, step: 1000}"`) {
		d, at := generator.Definition{Name: keyText(p.Key)}, l.line(p.Key)
		l.origin[generatorsKey+"."+d.Name] = at
		open, err := readGenerator(&d, p.Value)
		if err != nil {
			l.mistake(at, generatorsKey+"."+d.Name, "%v", err)
			continue
		}
		l.config.Generators = append(l.config.Generators, d)
		if open {
			l.config.OpenAtStart = append(l.config.OpenAtStart, d.Name)
		}
	}
}

// readGenerator reads kind and options of d.Name. The keys kind and open are not
// options; all others go to the kind.
func readGenerator(d *generator.Definition, n ast.Node) (open bool, err error) {
	switch n.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
	default:
		return false, errors.New(`expected kind and options, such as {kind: segment, step: 1000}`)
	}
	var options map[string]any
	if err := yaml.NodeToValue(n, &options); err != nil {
		if y, ok := errors.AsType[yaml.Error](err); ok {
			err = errors.New(y.GetMessage())
		}
		return false, err
	}
	kind, ok := options["kind"].(string)
	if !ok {
		return false, errors.New("kind is missing")
	}
	when, given := options["open"]
	open = when == "start"
	switch {
	case given && !open && when != "use":
		return false, errors.New("open must be start, or use, the default")
	case open && generator.IsPattern(d.Name):
		return false, errors.New("a template makes generators by first use: open is not for it")
	}
	delete(options, "kind")
	delete(options, "open")
	d.Kind = kind
	d.Options, err = json.Marshal(options)
	return open, err
}

// maxQuotas bounds the list, since every draw checks all of it.
const maxQuotas = 1000

// quotas reads the list of quotas. Each mistake names the line of its quota.
func (l *loader) quotas(n ast.Node) {
	list, ok := n.(*ast.SequenceNode)
	if !ok {
		l.mistake(l.line(n), quotasKey, "expected a list, such as \"- {user: app, ids: 1000, per: 1s}\"")
		return
	}
	if len(list.Values) > maxQuotas {
		l.mistake(l.line(n), quotasKey, "more than %d quotas", maxQuotas)
		return
	}
	l.origin[quotasKey] = l.line(n)
	for _, item := range list.Values {
		before := len(l.mistakes)
		rule := l.quota(item)
		if len(l.mistakes) > before {
			continue
		}
		if err := rule.Check(); err != nil {
			l.mistake(l.line(item), quotasKey, "%v", err)
		} else if slices.Contains(l.config.Quotas, rule) {
			l.mistake(l.line(item), quotasKey, "the same quota stands here twice")
		} else {
			l.config.Quotas = append(l.config.Quotas, rule)
		}
	}
}

// quota reads one quota. Without per its period is a second.
func (l *loader) quota(n ast.Node) quota.Rule {
	rule := quota.Rule{Per: time.Second}
	values := map[string]value{
		"user": text(&rule.User), "generator": text(&rule.Generator), "ids": count(&rule.IDs, 1, 1<<53),
		"per": duration(&rule.Per, time.Millisecond, 10_000*time.Hour), "burst": count(&rule.Burst, 1, 1<<53),
	}
	for _, p := range l.pairs(n, quotasKey, "keys and values, such as {user: app, ids: 1000, per: 1s}") {
		key := keyText(p.Key)
		content, scalar := scalarText(p.Value)
		if v, known := values[key]; !known {
			l.mistake(l.line(n), quotasKey, "unknown key %q%s", key, generator.DidYouMean(key, slices.Collect(maps.Keys(values))))
		} else if !scalar {
			l.mistake(l.line(n), quotasKey, "%s: expected one value; quote a text that begins with *, such as \"*\"", key)
		} else if err := v.Set(content); err != nil {
			l.mistake(l.line(n), quotasKey, "%s: %v", key, err)
		}
	}
	return rule
}

// quotasText returns the quotas in one line, for nextid.settings.
func quotasText(rules []quota.Rule) string {
	lines := make([]string, len(rules))
	for i, r := range rules {
		var parts []string
		if r.User != "" {
			parts = append(parts, fmt.Sprintf("user: %q", r.User))
		}
		if r.Generator != "" {
			parts = append(parts, fmt.Sprintf("generator: %q", r.Generator))
		}
		parts = append(parts, fmt.Sprintf("ids: %d, per: %s", r.IDs, formatDuration(r.Per)))
		if r.Burst > 0 {
			parts = append(parts, "burst: "+strconv.FormatInt(r.Burst, 10))
		}
		lines[i] = "{" + strings.Join(parts, ", ") + "}"
	}
	return strings.Join(lines, ", ")
}

// keyText returns a key as it was written.
func keyText(k ast.MapKeyNode) string {
	if text, ok := scalarText(k); ok {
		return text
	}
	return strings.TrimSpace(k.String())
}

// scalarText returns a plain or quoted value as it was written. The settings parse
// numbers and booleans themselves.
func scalarText(n ast.Node) (string, bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return n.GetToken().Value, true
	}
	return "", false
}

// fileKeys lists the keys of the file, for suggestions.
func fileKeys() []string {
	keys := append([]string{generatorsKey, quotasKey}, sections...)
	for _, s := range new(Config).settings() {
		keys = append(keys, s.key)
	}
	return keys
}
