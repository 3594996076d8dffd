package feed_test

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"nextid/dbtest"
	"nextid/migrations/feed"
)

var (
	killsFor = flag.Duration("kills", 25*time.Second, "for how long servers and databases are killed under load")
	awayFor  = flag.Duration("away", 5*time.Second, "for how long all servers are away in the middle of that")
)

// program builds nextid for a test.
func program(t *testing.T) (file string) {
	t.Helper()
	dir := t.TempDir()
	if err := dbtest.Build(dir, "nextid/cmd/nextid"); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "nextid")
}

// nextid is a server of a shared store in a process of its own.
type nextid struct {
	t       *testing.T
	binary  string
	store   string
	address string
	cmd     *exec.Cmd
}

func (s *nextid) start() {
	s.t.Helper()
	s.cmd = exec.Command(s.binary, "serve", "--store", s.store, "--data", s.t.TempDir(), "--pg", s.address, "--mysql", "off", "--http", "off")
	s.cmd.Env = append(os.Environ(), "NEXTID_STORE_UNSAFE=synchronous_commit,fsync")
	stderr, err := s.cmd.StderrPipe()
	if err == nil {
		err = s.cmd.Start()
	}
	if err != nil {
		s.t.Fatal(err)
	}
	ready := make(chan bool, 1)
	go func() {
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			if strings.Contains(lines.Text(), "nextid ready") {
				ready <- true
			}
		}
		ready <- false
	}()
	if !<-ready {
		s.t.Fatal("nextid ended before it was ready")
	}
}

func (s *nextid) kill() {
	_ = s.cmd.Process.Kill() // it may have ended
	_ = s.cmd.Wait()
}

// TestKills feeds databases of both kinds from one generator, by servers on one
// store. Servers and databases are killed, another server starts, and for a while
// none runs. No number is drawn twice, and no sequence runs out.
func TestKills(t *testing.T) {
	t.Parallel()
	binary := program(t)
	store := dbtest.Postgres(t)
	if out, err := exec.CommandContext(t.Context(), binary, "migrate", "store", "up", "--dsn", store.URL).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var servers []*nextid
	serve := func() *nextid {
		s := &nextid{t: t, binary: binary, store: store.URL, address: dbtest.FreeAddr(t)}
		s.start()
		t.Cleanup(func() { s.kill() })
		servers = append(servers, s)
		return s
	}
	server, err := feed.OpenServer("postgres://nextid@" + serve().address + "/nextid?sslmode=disable")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	serve()

	engines := []*dbtest.Server{dbtest.Postgres(t), dbtest.MariaDB(t)}
	all := &fleet{t: t}
	var fleets []*fleet
	var ended, failed atomic.Int64
	ctx, stop := context.WithCancel(t.Context())
	var load sync.WaitGroup
	for n, e := range engines {
		f := &fleet{t: t, mysql: n == 1, address: e.Addr, server: server, block: 10_000}
		for range 3 {
			f.add([]string{
				"CREATE TABLE orders (id bigserial PRIMARY KEY, note text)",
				"CREATE SEQUENCE orders_seq; CREATE TABLE orders (id bigint PRIMARY KEY DEFAULT nextval(orders_seq), note text)",
			}[n])
		}
		fleets = append(fleets, f)
	}
	o := fleets[0].options()
	o.DSNs = append(o.DSNs, fleets[1].dsns...)
	o.Cron, o.Ahead = false, max(40*time.Second, 3**awayFor)
	if err := feed.Up(t.Context(), o); err != nil {
		t.Fatalf("up: %v\n%s", err, &fleets[0].out)
	}
	for _, f := range fleets {
		for i := range f.dbs {
			client := all.clients.Add(1)
			load.Go(func() {
				for n := 1; ctx.Err() == nil; n++ {
					ids, err := f.draw(context.WithoutCancel(ctx), i, 1+n%7)
					if err != nil {
						failed.Add(1)
						if strings.Contains(err.Error(), "maximum value") || strings.Contains(err.Error(), "run out") {
							ended.Add(1)
							t.Logf("a sequence ended: %v", err)
						}
					}
					all.record(client, ids)
					time.Sleep(5 * time.Millisecond) //nolint:forbidigo // the load has a bound
				}
			})
		}
	}
	kills, away := 0, false
	for start := time.Now(); time.Since(start) < *killsFor; kills++ {
		time.Sleep(time.Second + rand.N(3*time.Second)) //nolint:forbidigo // between kills
		switch n := rand.N(4); {
		case kills == 2:
			serve() // a further server
		case !away && time.Since(start) > (*killsFor-*awayFor)/2: // no client notices
			away = true
			for _, s := range servers {
				s.kill()
			}
			before := failed.Load()
			time.Sleep(*awayFor) //nolint:forbidigo // without nextid
			if n := failed.Load() - before; n > 0 {
				t.Errorf("%d inserts failed while nextid was away", n)
			}
			for _, s := range servers {
				s.start()
			}
		case n < 2:
			s := servers[rand.N(len(servers))]
			s.kill()
			s.start()
		case n == 2:
			e := engines[rand.N(2)]
			e.Kill()
			e.Start()
		default:
			store.Kill()
			store.Start()
		}
	}
	stop()
	load.Wait()
	all.unique(1000)
	if n := ended.Load(); n > 0 {
		t.Errorf("%d inserts met the end of a block", n)
	}
	var text strings.Builder
	for _, f := range fleets {
		for _, one := range f.feeds(server.Draw) {
			s, err := one.Read(t.Context())
			if err != nil || !s.FedBy("orders") {
				t.Errorf("%+v, %v", s, err)
			}
			fmt.Fprintf(&text, "%d-%d at %d; ", s.First, s.Last, s.Next)
		}
	}
	t.Logf("%d ids, %d kills, %d inserts failed; %s", all.log.Len(), kills, failed.Load(), &text)
}
