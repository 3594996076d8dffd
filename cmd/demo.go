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

// demoStatements are drawn from in turn, each about so often a second.
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
		Short: "Run a server that forgets everything, with a little traffic, and open its page",
		Long: "Run a server in memory with three generators, draw from them a few times a second, and open the\n" +
			"page. It takes the default addresses, or others where those are in use. Ctrl-C ends it, and with\n" +
			"it all it knew: its ids are for looking at.",
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

// demoConfig is the configuration of a demo. Nothing of it touches the disk.
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

// freeAddress is an address, or the same with another port if it is taken.
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

// openPage opens a page where there is a screen; elsewhere its address stands
// in the ready message.
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
	_ = exec.CommandContext(ctx, name, args...).Run() // without a browser the server is still there
}

// drawForDemo draws until its context ends.
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
						return // it stops, and this is no client who would be told
					}
				}
			}
		}
	}
}

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
