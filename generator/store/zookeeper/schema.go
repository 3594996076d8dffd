package zookeeper

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-zookeeper/zk"
)

// Schema prepares an ensemble for use as a store. It then has the parent nodes and
// a marker, without which servers refuse it.
type Schema struct{ e *Engine }

// OpenSchema returns the Schema of an ensemble.
func OpenSchema(cfg Config) (*Schema, error) {
	e, err := Open(cfg)
	if err != nil {
		return nil, err
	}
	return &Schema{e}, nil
}

// paths returns the nodes that Up creates, parents first.
func (s *Schema) paths() []string {
	var all []string
	for i, c := range s.e.root {
		if c == '/' && i > 0 {
			all = append(all, s.e.root[:i])
		}
	}
	return append(all, s.e.root, s.e.rows(), s.e.names(), s.e.marker())
}

// Up creates the nodes. It changes nothing that exists.
func (s *Schema) Up(ctx context.Context) error {
	for _, path := range s.paths() {
		_, err := ask(ctx, s.e, func() (string, error) { return s.e.conn().Create(path, []byte(format), 0, s.e.acl) })
		if err != nil && !errors.Is(err, zk.ErrNodeExists) {
			return s.e.failure(ctx, err)
		}
	}
	return nil
}

// Down removes all nodes of the store. The marker goes first, so that servers stop.
func (s *Schema) Down(ctx context.Context) error {
	remove := func(path string) error {
		_, err := ask(ctx, s.e, func() (struct{}, error) { return struct{}{}, s.e.conn().Delete(path, -1) })
		if errors.Is(err, zk.ErrNoNode) {
			return nil
		}
		return s.e.failure(ctx, err)
	}
	if err := remove(s.e.marker()); err != nil {
		return err
	}
	for _, parent := range []string{s.e.rows(), s.e.names()} {
		names, err := ask(ctx, s.e, func() ([]string, error) {
			names, _, err := s.e.conn().Children(parent)
			return names, err
		})
		if err != nil && !errors.Is(err, zk.ErrNoNode) {
			return s.e.failure(ctx, err)
		}
		for _, name := range names {
			if err := remove(parent + "/" + name); err != nil {
				return err
			}
		}
		if err := remove(parent); err != nil {
			return err
		}
	}
	if err := remove(s.e.clock()); err != nil {
		return err
	}
	return remove(s.e.root)
}

// Status reports whether the ensemble is prepared, and counts its nodes.
func (s *Schema) Status(ctx context.Context) (text string, complete bool, err error) {
	marker, err := s.e.read(ctx, s.e.marker())
	if err != nil {
		return "", false, err
	}
	if marker.Version == 0 {
		return "not prepared", false, nil
	}
	names, err := s.e.Names(ctx)
	if err != nil {
		return "", false, err
	}
	rows, err := s.e.Rows(ctx, "")
	return fmt.Sprintf("prepared; %d generators, %d keys", len(names), len(rows)), err == nil, err
}

// Print returns the commands of Up.
func (s *Schema) Print() (string, error) {
	var out strings.Builder
	for _, path := range s.paths() {
		fmt.Fprintf(&out, "create %s %s\n", path, format)
	}
	return out.String(), nil
}

// Close closes the connection.
func (s *Schema) Close() error { return s.e.Close() }
