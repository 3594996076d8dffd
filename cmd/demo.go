package cmd

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"nextid/generator"
	"nextid/generator/segment"
	"nextid/generator/snowflake"
	"nextid/server"
	"nextid/sqlfuncs"
)

// demoStatements are executed perSecond times a second on average.
var demoStatements = []struct {
	text      string
	perSecond float64
}{
	{"SELECT next_id('orders')", 40},
	{"SELECT nextval('invoices')", 8},
	{"SELECT next_code('vouchers')", 3},
}

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
				if !quiet {
					openPage(ctx, pageURL(c.HTTP))
				}
				drawForDemo(ctx, s.SQL())
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
		free, err := freeAddress(a.Address)
		if err != nil {
			return c, err
		}
		a.Address = free
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
		host, _, splitErr := net.SplitHostPort(address)
		if splitErr != nil {
			return "", splitErr
		}
		if l, err = net.Listen("tcp", net.JoinHostPort(host, "0")); err != nil {
			return "", err
		}
	}
	free := l.Addr().String()
	return free, l.Close()
}

func pageURL(a server.Address) string { return "http://" + a.Address + "/" }

// openPage opens a page where there is a display. Elsewhere the user finds its
// address below the ready line.
func openPage(ctx context.Context, url string) {
	name, args := "xdg-open", []string{url}
	switch runtime.GOOS {
	case "darwin":
		name = "open"
	case "windows":
		name, args = "rundll32", []string{"url.dll,FileProtocolHandler", url}
	default:
		if os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "" {
			return
		}
	}
	_ = exec.CommandContext(ctx, name, args...).Run() // the server runs without a browser, too
}

// drawForDemo draws ids until ctx ends or the server stops.
func drawForDemo(ctx context.Context, sql *sqlfuncs.Server) {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for last := time.Now(); ; {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			passed := now.Sub(last).Seconds()
			last = now
			for _, s := range demoStatements {
				for range int(passed*s.perSecond + rand.Float64()) {
					if err := demoDraw(ctx, sql, s.text); err != nil {
						return // the server stops
					}
				}
			}
		}
	}
}

// demoDraw executes one statement in a session of its own.
func demoDraw(ctx context.Context, sql *sqlfuncs.Server, text string) error {
	session, err := sql.NewSession(sqlfuncs.SessionOptions{User: "demo", Database: "nextid", Admin: true})
	if err != nil {
		return err
	}
	defer session.Close()
	st, err := session.Prepare("", text, nil)
	if err != nil {
		return err
	}
	portal, err := session.Bind(nil, st, nil, nil)
	for err == nil {
		_, err = portal.Next(ctx)
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}
