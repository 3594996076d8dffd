package cmd

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"nextid/generator"
	"nextid/generator/segment"
	"nextid/generator/snowflake"
	"nextid/server"
)

// demoDraws maps what the demo requests below /api/v1/generators to the share of
// ticks, every demoTick, at which it does.
var demoDraws = map[string]float64{"orders/ids": 0.8, "invoices/ids": 0.16, "vouchers/codes": 0.06}

const demoTick = 20 * time.Millisecond

func (p *program) demoCommand() *cobra.Command {
	quiet := false
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Run a server in memory, with a little traffic, and open its page",
		Long: "Run a server in memory with three generators, draw from them a few times a second, and open the\n" +
			"page. It takes the default addresses, or others where those are in use. Ctrl-C ends it. It stores\n" +
			"nothing: a later demo can issue the same ids.",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := demoConfig(p.build)
			if err != nil {
				return err
			}
			s, err := server.New(c)
			if err != nil {
				return err
			}
			ctx, cancel := context.WithCancel(cmd.Context())
			defer cancel()
			go func() {
				select {
				case <-s.Ready():
				case <-ctx.Done():
					return
				}
				page := "http://" + c.HTTP.String() + "/"
				if !quiet {
					go openPage(ctx, page) // may last as long as the browser
				}
				drawForDemo(page)
			}()
			return s.Run(ctx)
		},
	}
	cmd.Flags().BoolVar(&quiet, "no-page", false, "do not open the page in a browser")
	return cmd
}

// demoConfig returns the configuration of a demo. It writes nothing to disk.
func demoConfig(b *server.Build) (server.Config, error) {
	c := b.Config()
	c.Store, c.Users = server.StoreURL{Scheme: server.StoreMemory}, server.UsersOff
	for _, a := range []*server.Address{&c.PG, &c.MySQL, &c.HTTP} {
		free, err := freeAddress(a.String())
		if err != nil {
			return c, err
		}
		*a = server.Address(free)
	}
	c.Generators = []generator.Definition{
		{Name: "orders", Kind: snowflake.KindName},
		{Name: "invoices", Kind: segment.KindName, Options: json.RawMessage(`{"start": 1000}`)},
		{Name: "vouchers", Kind: segment.KindName, Options: json.RawMessage(`{"text": "base32", "prefix": "V-", "pad": 6, "scatter": true}`)},
	}
	return c, nil
}

// freeAddress returns address, or the same host with a free port if the port is
// taken.
func freeAddress(address string) (string, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		host, _, _ := net.SplitHostPort(address) // a default address has both
		if l, err = net.Listen("tcp", net.JoinHostPort(host, "0")); err != nil {
			return "", err
		}
	}
	return l.Addr().String(), l.Close()
}

// openPage opens a page where there is a display. Elsewhere the user finds its
// address below the ready line.
func openPage(ctx context.Context, url string) {
	command := []string{"xdg-open", url}
	switch {
	case runtime.GOOS == "darwin":
		command[0] = "open"
	case runtime.GOOS == "windows":
		command = []string{"rundll32", "url.dll,FileProtocolHandler", url}
	case os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "":
		return
	}
	_ = exec.CommandContext(ctx, command[0], command[1:]...).Run() // the server runs without a browser, too
}

// drawForDemo draws ids until the server stops.
func drawForDemo(page string) {
	for range time.Tick(demoTick) {
		for path, share := range demoDraws {
			if rand.Float64() >= share {
				continue
			}
			answer, err := http.Post(page+"api/v1/generators/"+path, "", nil)
			if err != nil {
				return // the server stops
			}
			_ = answer.Body.Close()
		}
	}
}
