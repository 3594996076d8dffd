package etcd

import (
	"context"
	"fmt"

	"nextid/generator/store/shared"
)

// Schema prepares a cluster for use as a store. The cluster then has a marker,
// without which servers refuse it.
type Schema struct{ e *Engine }

// OpenSchema returns the Schema of a cluster.
func OpenSchema(cfg Config) (*Schema, error) {
	e, err := Open(cfg)
	if err != nil {
		return nil, err
	}
	return &Schema{e}, nil
}

// Up creates the marker. It changes nothing that exists.
func (s *Schema) Up(ctx context.Context) error {
	key := []byte(s.e.marker())
	_, err := s.e.c.txn(ctx, txnRequest{
		Compare: []compare{{Key: key, Target: "CREATE", Result: "EQUAL", CreateRevision: "0"}},
		Success: []operation{{Put: &putRequest{Key: key, Value: []byte(format)}}},
	})
	return s.e.failure(ctx, err)
}

// Down removes all keys of the store.
func (s *Schema) Down(ctx context.Context) error {
	var answer struct{}
	err := s.e.c.call(ctx, "kv/deleterange",
		deleteRequest{Key: []byte(s.e.prefix), RangeEnd: []byte(shared.PrefixEnd(s.e.prefix))}, &answer)
	return s.e.failure(ctx, err)
}

// Status reports whether the cluster is prepared, and counts its keys.
func (s *Schema) Status(ctx context.Context) (text string, complete bool, err error) {
	found, err := s.e.c.get(ctx, s.e.marker(), "")
	if err != nil {
		return "", false, s.e.failure(ctx, err)
	}
	if len(found.KVs) == 0 {
		return "not prepared", false, nil
	}
	names, err := s.e.Names(ctx)
	if err != nil {
		return "", false, err
	}
	rows, err := s.e.Rows(ctx, "")
	return fmt.Sprintf("prepared; %d generators, %d keys", len(names), len(rows)), true, err
}

// Print returns the commands of Up.
func (s *Schema) Print() (string, error) {
	return fmt.Sprintf("put %s %s (unless it exists)\n", s.e.marker(), format), nil
}

// Close closes the connections.
func (s *Schema) Close() error { return s.e.Close() }
