package workerid

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"nextid/dbtest"
	"nextid/generator/worker"
)

// logged returns a Logger and its output.
func logged() (*slog.Logger, *strings.Builder) {
	var b strings.Builder
	return slog.New(slog.NewTextHandler(&b, nil)), &b
}

// TestRedisCounterWrapsAround checks that the counter wraps around, and that there is no wish
// without Redis.
func TestRedisCounterWrapsAround(t *testing.T) {
	t.Parallel()
	server := dbtest.Redis(t)
	log, text := logged()
	s, err := Open(server.URL+"?key=ids", Config{Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []int64{0, 1, 2, 3, 0, 1} {
		if got := wish(t, s, worker.Width{Worker: 2}); got.ID != want || got.Firm || !got.Again {
			t.Errorf("%+v, want %d", got, want)
		}
	}
	server.Kill()
	if got := wish(t, s, worker.Width{Worker: 2}); got.ID != worker.None || !strings.Contains(text.String(), "Redis hands out no worker id") {
		t.Errorf("without Redis: %+v\n%s", got, text)
	}
}

// TestLeafNodes checks that the nodes have Leaf's form, and that a server gets its
// number again. While ZooKeeper is down, the file has it.
func TestLeafNodes(t *testing.T) {
	t.Parallel()
	server := dbtest.ZooKeeper(t, 1)[0]
	log, text := logged()
	start := func(node, dir string) worker.Source {
		t.Helper()
		s, err := Open("leaf:zookeeper://"+server.Addr+"/snowflake/my-leaf?node="+node, Config{Dir: dir, Logger: log})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	dir := t.TempDir()
	width := worker.Width{Worker: 10}
	if a, b := wish(t, start("10.0.0.1:8080", dir), width).ID, wish(t, start("10.0.0.2:8080", ""), width).ID; a != 0 || b != 1 {
		t.Errorf("the first two servers are %d and %d", a, b)
	}
	if again := wish(t, start("10.0.0.1:8080", dir), width).ID; again != 0 {
		t.Errorf("the first server again is %d", again)
	}
	conn, _, err := zk.Connect([]string{server.Addr}, 5*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	data, _, err := conn.Get("/snowflake/my-leaf/forever/10.0.0.2:8080-0000000001")
	if err != nil || !strings.HasPrefix(string(data), `{"ip":"10.0.0.2","port":"8080","timestamp":17`) {
		t.Errorf("the node holds %s, %v", data, err)
	}
	for range 3 { // other servers that run Leaf
		if _, err := conn.Create("/snowflake/my-leaf/forever/10.0.0.9:1-", nil, zk.FlagSequence, zk.WorldACL(zk.PermAll)); err != nil {
			t.Fatal(err)
		}
	}
	if got := wish(t, start("10.0.0.3:8080", ""), worker.Width{Worker: 2}); got.ID != 5%4 || got.Firm {
		t.Errorf("number 5 in two bits: %+v", got)
	}
	server.Kill()
	s := start("10.0.0.1:8080", dir)
	if got := wish(t, s, width); got.ID != 0 || !strings.Contains(text.String(), "the number of an earlier start") {
		t.Errorf("without ZooKeeper, with the file: %+v\n%s", got, text)
	}
	if err := os.WriteFile(filepath.Join(dir, leafFile), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := wish(t, s, width); got.ID != worker.None {
		t.Errorf("without ZooKeeper, with a damaged file: %+v", got)
	}
}
