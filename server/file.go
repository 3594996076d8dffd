package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"nextid/generator"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// maxConfigBytes bounds the size of the configuration file.
const maxConfigBytes = 4 << 20

// generatorsKey is the section of the file that declares generators.
const generatorsKey = "generators"

// file applies the configuration file. It returns an error if the file cannot be
// read, and adds what is wrong inside it to the mistakes.
func (l *loader) file(path string) error {
	content, err := readConfigFile(path)
	if err != nil {
		return &Error{
			Message: fmt.Sprintf("read the configuration: %s", err), Cause: err,
			Hint: "Check the path given with --config or " + ConfigEnv + ".",
		}
	}
	l.document(path, content)
	return nil
}

// readConfigFile reads a file of at most maxConfigBytes.
func readConfigFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, maxConfigBytes+1))
	if err == nil && len(content) > maxConfigBytes {
		err = fmt.Errorf("%s is larger than %s", path, formatBytes(maxConfigBytes))
	}
	return content, err
}

// document applies the content of a configuration file.
func (l *loader) document(path string, content []byte) {
	parsed, err := parser.ParseBytes(content, 0)
	if err != nil {
		l.syntaxMistake(path, err)
		return
	}
	d := &document{loader: l, path: path, seen: map[string]bool{}}
	var bodies []ast.Node // a document of comments only has no body
	for _, one := range parsed.Docs {
		if one.Body != nil {
			bodies = append(bodies, one.Body)
		}
	}
	if len(bodies) > 1 {
		l.mistake(d.line(bodies[1]), "", "a second document begins here; one file holds one configuration")
		return
	}
	if len(bodies) == 0 || d.refuseReferences(bodies[0]) {
		return
	}
	d.section("", bodies[0])
}

// syntaxMistake adds an error of the YAML parser to the mistakes.
func (l *loader) syntaxMistake(path string, err error) {
	at, message := place{source: path}, err.Error()
	if y, ok := errors.AsType[yaml.Error](err); ok {
		message = y.GetMessage()
		if t := y.GetToken(); t != nil && t.Position != nil {
			at.line = t.Position.Line
		}
	}
	l.mistake(at, "", "%s", OneLine(message))
}

// document is the configuration file that is being applied.
type document struct {
	*loader
	path string
	seen map[string]bool // keys so far
}

// line returns the file and the line of a node.
func (d *document) line(n ast.Node) place {
	if n == nil || n.GetToken() == nil || n.GetToken().Position == nil {
		return place{source: d.path}
	}
	return place{source: d.path, line: n.GetToken().Position.Line}
}

// refuseReferences reports the first anchor, alias, merge key or tag as a mistake.
// Without them each value is on the line that a message names.
func (d *document) refuseReferences(root ast.Node) bool {
	v := &referenceFinder{}
	ast.Walk(v, root)
	if v.found == nil {
		return false
	}
	d.mistake(d.line(v.found), "", "anchors, aliases, merge keys and tags are not used in this file: write the value out")
	return true
}

// referenceFinder finds the first node whose type is in references.
type referenceFinder struct{ found ast.Node }

var references = []ast.NodeType{ast.AnchorType, ast.AliasType, ast.MergeKeyType, ast.TagType}

// Visit implements ast.Visitor.
func (f *referenceFinder) Visit(n ast.Node) ast.Visitor {
	if f.found == nil && slices.Contains(references, n.Type()) {
		f.found = n
	}
	if f.found != nil {
		return nil
	}
	return f
}

// section applies the keys of one mapping. prefix is "" or ends in a dot.
func (d *document) section(prefix string, n ast.Node) {
	pairs, ok := mapping(n)
	if !ok {
		d.mistake(d.line(n), strings.TrimSuffix(prefix, "."), "expected keys and values, such as \"pg: 127.0.0.1:5433\"")
		return
	}
	for _, p := range pairs {
		key := prefix + strings.ReplaceAll(keyText(p.Key), "-", "_")
		if d.seen[key] {
			d.mistake(d.line(p.Key), key, "is given twice")
			continue
		}
		d.seen[key] = true
		d.pair(key, p)
	}
}

// pair applies one key with its value.
func (d *document) pair(key string, p *ast.MappingValueNode) {
	s := d.config.setting(key)
	switch {
	case slices.Contains(sections, key):
		d.section(key+".", p.Value)
	case key == generatorsKey:
		d.generators(p.Value)
	case key == quotasKey:
		d.quotas(p.Value)
	case s == nil:
		d.mistake(d.line(p.Key), key, "unknown key%s", generator.DidYouMean(key, fileKeys()))
	default:
		text, ok := scalarText(p.Value)
		if !ok {
			d.mistake(d.line(p.Key), key, "expected one value")
			return
		}
		d.set(key, text, d.line(p.Key))
	}
}

// generators reads the section generators: a map from names to kind and options.
func (d *document) generators(n ast.Node) {
	pairs, ok := mapping(n)
	if !ok {
		d.mistake(d.line(n), generatorsKey, "expected names, each with its kind and options, such as \"orders: {kind: segment, step: 1000}\"")
		return
	}
	for _, p := range pairs {
		key := generatorsKey + "." + keyText(p.Key)
		d.origin[key] = d.line(p.Key)
		definition, open, err := declaredGenerator(keyText(p.Key), p.Value)
		if err != nil {
			d.mistake(d.line(p.Key), key, "%s", OneLine(err.Error()))
			continue
		}
		d.config.Generators = append(d.config.Generators, definition)
		if open && generator.IsPattern(definition.Name) {
			d.mistake(d.line(p.Key), key, "a template makes generators by first use: open is not for it")
		} else if open {
			d.config.OpenAtStart = append(d.config.OpenAtStart, definition.Name)
		}
	}
}

// declaredGenerator reads the definition of one name. The keys kind and open are
// not options; all others go to the kind.
func declaredGenerator(name string, n ast.Node) (d generator.Definition, open bool, err error) {
	if _, ok := mapping(n); !ok {
		return d, false, errors.New(`expected kind and options, such as {kind: segment, step: 1000}`)
	}
	var options map[string]any
	if err := yaml.NodeToValue(n, &options); err != nil {
		if y, ok := errors.AsType[yaml.Error](err); ok {
			err = errors.New(y.GetMessage())
		}
		return d, false, err
	}
	kind, ok := options["kind"].(string)
	if !ok {
		return d, false, errors.New("kind is missing")
	}
	delete(options, "kind")
	if when, ok := options["open"]; ok {
		if when != "start" && when != "use" {
			return d, false, errors.New("open must be start, or use, the default")
		}
		open = when == "start"
		delete(options, "open")
	}
	encoded, err := json.Marshal(options)
	if err != nil {
		return d, false, err
	}
	return generator.Definition{Name: name, Kind: kind, Options: encoded}, open, nil
}

// mapping returns the pairs of a mapping. goccy has two node types for mappings.
func mapping(n ast.Node) ([]*ast.MappingValueNode, bool) {
	switch n := n.(type) {
	case *ast.MappingNode:
		return n.Values, true
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{n}, true
	}
	return nil, false
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
