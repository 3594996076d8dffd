package dbtest

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// classPath holds ZooKeeper's jar, and jars of Netty. TLS needs the latter, and
// Debian's package does not name them.
const classPath = "/usr/share/java/zookeeper.jar:/usr/share/java/netty-codec.jar:/usr/share/java/netty-resolver.jar:" +
	"/usr/share/java/netty-transport-native-unix-common.jar"

// ZooKeeper starts a ZooKeeper ensemble of n members. settings are additional lines
// of each member's zoo.cfg.
func ZooKeeper(t testing.TB, n int, settings ...string) []*Server {
	t.Helper()
	jar := Program(t, "zookeeper", "/usr/share/java/zookeeper.jar")
	java := Program(t, "zookeeper", "java")
	if real, err := filepath.EvalSymlinks(jar); err == nil {
		jar = real // zookeeper-3.8.0.jar
	}
	members := make([]*Server, n)
	var ensemble strings.Builder
	for i := range members {
		members[i] = newServer(t, "ZooKeeper "+versionPattern.FindString(filepath.Base(jar)), "", syscall.SIGTERM)
		if n > 1 {
			fmt.Fprintf(&ensemble, "server.%d=127.0.0.1:%s:%s\n", i+1, port(FreeAddr(t)), port(FreeAddr(t)))
		}
	}
	for i, s := range members {
		config := s.Write("zoo.cfg", fmt.Sprintf("tickTime=500\ninitLimit=20\nsyncLimit=10\ndataDir=%s\nclientPort=%s\nclientPortAddress=127.0.0.1\n"+
			"admin.enableServer=false\n4lw.commands.whitelist=srvr\nminSessionTimeout=1000\nmaxClientCnxns=0\n%s%s", s.Dir, s.port(), ensemble.String(), strings.Join(settings, "\n")))
		s.Write("myid", strconv.Itoa(i+1))
		s.argv = func(*Server) []string {
			return []string{
				java, "-Xmx64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", classPath,
				"org.apache.zookeeper.server.quorum.QuorumPeerMain", config,
			}
		}
		s.ready = func(s *Server) error { return answers(s.Addr, "srvr", "Zookeeper version") }
		s.urls = func(s *Server) { s.URL = "zookeeper://" + s.Addr }
	}
	beginAll(members)
	return members
}
