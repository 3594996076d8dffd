package server

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"time"

	"nextid/generator"
	"nextid/generator/store/shared"
	"nextid/generator/store/sqlite"
)

// StoreSettings holds the settings of a shared store besides its URL.
type StoreSettings struct {
	Password string // used if the URL has none
	Failover string // a shared.Failover, or failoverAuto
	Skip     int64
	Unsafe   []string
}

// failoverAuto stands for the default policy of the kind of store.
const failoverAuto = "auto"

// highWaterFile is the file of high-water marks in the data directory, see package
// shared.
const highWaterFile = "nextid.witness"

// openShared opens a shared store. Without a data directory it keeps no high-water
// marks.
func openShared(ctx context.Context, c Config, log *slog.Logger) (generator.Store, error) {
	kind := c.build.Store(c.Store.Scheme)
	failover := shared.Failover(c.SharedStore.Failover)
	if failover == failoverAuto {
		failover = kind.Failover
	}
	engine, err := kind.Open(ctx, c.Store.WithPassword(c.SharedStore.Password), c.SharedStore.Unsafe)
	if err != nil {
		return nil, err
	}
	highWater := ""
	if c.Data != "" {
		highWater = filepath.Join(c.Data, highWaterFile)
	}
	store, err := shared.New(ctx, engine, shared.Config{
		Owner: owner(), Failover: failover, Skip: c.SharedStore.Skip, Wait: shared.WaitFor(c.WorkerSlice),
		HighWater: highWater, Logger: log,
	})
	if err != nil {
		return nil, err
	}
	return store, nil
}

// lockData locks the data directory of a server on a shared store. Its high-water
// marks belong to one server: two would each take the other for a store that went
// back. An embedded store locks its directory itself.
func lockData(c Config) (io.Closer, error) {
	if !c.Store.Shared() || c.Data == "" {
		return io.NopCloser(nil), nil
	}
	return sqlite.Lock(c.Data)
}

// awaitStore opens the configured store. While a shared store does not answer,
// awaitStore tries again and refuses clients: after a power failure everything
// starts at the same time. It returns other errors at once, and ends with ctx.
func awaitStore(ctx context.Context, c Config, endpoints endpoints, log *slog.Logger) (generator.Store, error) {
	const most = 5 * time.Second
	waiting := false
	for pause := 100 * time.Millisecond; ; pause = min(2*pause, most) {
		store, err := c.OpenStore(ctx, log)
		if err == nil || !c.Store.Shared() || !errors.Is(err, generator.ErrNotNow) && !errors.Is(err, generator.ErrRetry) {
			return store, err
		}
		if !waiting {
			waiting = true
			defer endpoints.refuse()()
		}
		log.Warn("waiting for the store", "store", c.Store.String(), "error", err)
		select {
		case <-time.After(pause/2 + rand.N(pause)):
		case <-ctx.Done():
			return nil, err
		}
	}
}
