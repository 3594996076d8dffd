package server

import (
	"context"
	"fmt"
	"io"
	"time"

	"nextid/generator/worker"
)

// aheadTolerance bounds how far the time of ids may be ahead of the clock without a
// repair. Crashes and time slices account for seconds.
const aheadTolerance = time.Minute

// Repair gives up the worker ids of the embedded store whose ids are ahead of the
// clock, checks that none is ahead any more, and writes to w how ids go on. In a dry
// run it only lists the worker ids. No server may run on the store.
func (c Config) Repair(ctx context.Context, w io.Writer, dryRun bool) error {
	if c.Store.Shared() || c.Store.Scheme == StoreMemory {
		return &Error{
			What: "only an embedded store is repaired: " + c.Store.String() + " is none",
			Hint: "On a shared store a server with a wrong clock does not start, and others go on with other worker ids.",
		}
	}
	c.ClockJump = 0
	store, err := c.openOffline(ctx)
	if err != nil {
		return err
	}
	defer store.Close()
	printf := func(format string, args ...any) { fmt.Fprintf(w, format, args...) }
	ahead, err := worker.FindAhead(ctx, store, time.Now(), aheadTolerance)
	if err != nil {
		return err
	}
	if len(ahead) == 0 {
		printf("nothing to repair: no worker id is ahead of %s\n", time.Now().UTC().Format(time.RFC3339))
		return nil
	}
	done := "It would be given up"
	if !dryRun {
		done = "It is given up: no server will use the rest of its time"
		if err := worker.Repair(ctx, store, ahead); err != nil {
			return err
		}
	}
	for _, a := range ahead {
		printf("worker id %d of %d bits: its ids reach %s. %s\n", a.Worker, a.Bits, a.Until.Format(time.RFC3339), done)
	}
	if dryRun {
		return nil
	}
	left, err := worker.FindAhead(ctx, store, time.Now(), aheadTolerance)
	if err != nil {
		return err
	}
	if len(left) > 0 {
		return &Error{What: fmt.Sprintf("worker id %d of %d bits is still ahead", left[0].Worker, left[0].Bits), Hint: "Run the command again."}
	}
	widths := map[int]bool{}
	for _, a := range ahead {
		if !widths[a.Bits] {
			widths[a.Bits] = true
			printf("%d bits: ids go on at the present time with one of %d worker ids that were never used: no id is repeated\n", a.Bits, a.Left)
		}
	}
	printf("ids from now on are smaller than those that were given while the clock was wrong\n")
	return nil
}
