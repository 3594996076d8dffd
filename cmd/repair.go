package cmd

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"nextid/generator/worker"
	"nextid/server"
)

// aheadTolerance bounds how far the time of ids may be ahead of the clock without a
// repair. Crashes and time slices account for seconds.
const aheadTolerance = time.Minute

func (p *program) repairCommand() *cobra.Command {
	flags, dryRun := p.build.Flags(), false
	cmd := &cobra.Command{
		Use:   "repair [--data DIR | --store sqlite:FILE]",
		Short: "Make an embedded store usable again that a wrong clock has led into the future",
		Long: "Make an embedded store usable again after its server ran with a clock that was far ahead.\n" +
			"Stop the server and set the clock right first.\n\n" +
			"Ids never go back in time. Without a repair snowflakes would carry that future time, or none\n" +
			"would be left. repair gives up the worker ids that have reached it: no server will use the\n" +
			"rest of their time. Servers go on at the present time with worker ids that were never used.\n" +
			"No id is repeated, since an id contains its worker id.",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			config, err := flags.Load(p.environ)
			if err != nil {
				return err
			}
			return p.repair(cmd.Context(), config, dryRun)
		},
	}
	flags.Register(cmd.Flags(), "data", "store")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "only say what would be done")
	return cmd
}

// repair gives up the worker ids that are ahead, checks that none is ahead any more,
// and prints how ids go on. In a dry run it only prints the worker ids.
func (p *program) repair(ctx context.Context, config server.Config, dryRun bool) error {
	if config.Store.Shared() || config.Store.Scheme == server.StoreMemory {
		return &server.Error{
			Message: "only an embedded store is repaired: " + config.Store.String() + " is none",
			Hint:    "On a shared store a server with a wrong clock does not start, and others go on with other worker ids.",
		}
	}
	config.ClockJump = 0
	store, err := config.OpenStore(ctx, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	defer store.Close()
	ahead, err := worker.FindAhead(ctx, store, time.Now(), aheadTolerance)
	if err != nil {
		return err
	}
	if len(ahead) == 0 {
		p.printf("nothing to repair: no worker id is ahead of %s\n", time.Now().UTC().Format(time.RFC3339))
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
		p.printf("worker id %d of %d bits: its ids reach %s. %s\n", a.Worker, a.Bits, a.Until.Format(time.RFC3339), done)
	}
	if dryRun {
		return nil
	}
	left, err := worker.FindAhead(ctx, store, time.Now(), aheadTolerance)
	if err != nil {
		return err
	}
	if len(left) > 0 {
		return &server.Error{Message: fmt.Sprintf("worker id %d of %d bits is still ahead", left[0].Worker, left[0].Bits), Hint: "Run the command again."}
	}
	widths := map[int]bool{}
	for _, a := range ahead {
		if !widths[a.Bits] {
			widths[a.Bits] = true
			p.printf("%d bits: ids go on at the present time with one of %d worker ids that were never used: no id is repeated\n", a.Bits, a.Left)
		}
	}
	p.printf("ids from now on are smaller than those that were given while the clock was wrong\n")
	return nil
}
