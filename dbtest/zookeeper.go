package dbtest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// classPath is ZooKeeper's and, for TLS, what its package forgets of Netty.
const classPath = "/usr/share/java/zookeeper.jar:/usr/share/java/netty-codec.jar:/usr/share/java/netty-resolver.jar:" +
	"/usr/share/java/netty-transport-native-unix-common.jar"

// ZooKeeper starts a ZooKeeper ensemble of n members.
func ZooKeeper(t testing.TB, n int) []*Server {
	t.Helper()
	return zooKeeper(t, n, "")
}

// zooKeeper adds settings to the configuration of each member.
func zooKeeper(t testing.TB, n int, settings string) []*Server {
	t.Helper()
	program(t, "zookeeper", "/usr/share/java/zookeeper.jar")
	java := program(t, "zookeeper", "java")
	members := make([]*Server, n)
	var ensemble strings.Builder
	for i := range members {
		dir, _ := directory(t, "")
		members[i] = &Server{Addr: FreeAddr(t), Dir: dir, t: t, name: fmt.Sprint("ZooKeeper member ", i), quit: syscall.SIGTERM}
		if n > 1 {
			fmt.Fprintf(&ensemble, "server.%d=127.0.0.1:%s:%s\n", i+1, port(FreeAddr(t)), port(FreeAddr(t)))
		}
	}
	for i, s := range members {
		config := fmt.Sprintf("tickTime=500\ninitLimit=20\nsyncLimit=10\ndataDir=%s\nclientPort=%s\nclientPortAddress=127.0.0.1\n"+
			"admin.enableServer=false\n4lw.commands.whitelist=srvr\nminSessionTimeout=1000\n%s%s", s.Dir, port(s.Addr), ensemble.String(), settings)
		file := filepath.Join(s.Dir, "zoo.cfg")
		for name, text := range map[string]string{file: config, filepath.Join(s.Dir, "myid"): strconv.Itoa(i + 1)} {
			if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		s.argv = func() []string {
			return []string{
				java, "-Xmx64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", classPath,
				"org.apache.zookeeper.server.quorum.QuorumPeerMain", file,
			}
		}
		s.ready = func() error {
			said, err := ask(s.Addr, "srvr")
			if err == nil && !strings.Contains(said, "Mode: ") && !strings.HasPrefix(said, "Zookeeper version") {
				err = errors.New(said)
			}
			return err
		}
		s.t.Cleanup(s.Kill)
		s.launch()
	}
	for _, s := range members {
		if err := s.await(); err != nil {
			t.Fatalf("dbtest: %s: %v", s.name, err)
		}
	}
	return members
}

// ZooKeeperURL is the URL of an ensemble.
func ZooKeeperURL(members []*Server) string {
	hosts := make([]string, len(members))
	for i, s := range members {
		hosts[i] = s.Addr
	}
	return "zookeeper://" + strings.Join(hosts, ",")
}
