package server

import (
	"context"
	"errors"
	"testing"

	"nextid/generator"
)

// slowKind is a Kind whose Open calls opening and then fails.
type slowKind struct {
	generator.Kind
	opening func()
}

func (slowKind) Name() string { return "slow" }

func (k slowKind) Open(context.Context, generator.Definition) (generator.Generator, error) {
	k.opening()
	return nil, errors.New("not yet")
}

// A server that is asked to stop while it opens generators ends without an error.
func TestStopWhileGeneratorsAreOpened(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	c := testBuild.Config()
	c.Data, c.PG, c.MySQL, c.HTTP = t.TempDir(), "127.0.0.1:0", "", ""
	c.Generators, c.OpenAtStart = []generator.Definition{{Name: "orders", Kind: "slow"}}, []string{"orders"}
	slow := func(p Parts) generator.Kind {
		return slowKind{testBuild.kinds[1](p), stop}
	}
	s, err := New(c, WithKind(slow), WithOutput(t.Output()))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Run(ctx); err != nil {
		t.Error(err)
	}
	if ctx.Err() == nil {
		t.Error("the generator was not opened")
	}
}
