package rig

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Etcd starts an etcd of one member.
func (r *Rig) Etcd(ctx context.Context) (*Server, error) {
	daemon, err := find("etcd-server", "etcd")
	if err != nil {
		return nil, fmt.Errorf("etcd is %w", err)
	}
	return r.start(ctx, &program{
		name: "etcd", stop: syscall.SIGTERM,
		command: func(data, _, port string) *exec.Cmd {
			clients := "http://127.0.0.1:" + port
			peers := "http://127.0.0.1:0" // a cluster of one has no peers
			return exec.Command(daemon, "--name", "one", "--data-dir", data, "--listen-client-urls", clients, "--advertise-client-urls", clients,
				"--listen-peer-urls", peers, "--initial-advertise-peer-urls", peers, "--initial-cluster", "one="+peers, "--log-level", "warn")
		},
		urls: func(_, port string) (string, string) { return "etcd://127.0.0.1:" + port, "" },
		answers: func(ctx context.Context, url string) (string, error) {
			at := "http://" + strings.TrimPrefix(url, "etcd://")
			if _, err := ask(ctx, http.MethodPost, at+"/v3/kv/range", `{"key":"AA=="}`); err != nil { // through a leader
				return "", err
			}
			said, err := ask(ctx, http.MethodGet, at+"/version", "")
			var version struct {
				Server string `json:"etcdserver"`
			}
			if err == nil {
				err = json.Unmarshal(said, &version)
			}
			return version.Server, err
		},
	}, "")
}

// ask sends an HTTP request.
func ask(ctx context.Context, method, url, body string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	said, err := io.ReadAll(response.Body)
	if closed := response.Body.Close(); err == nil {
		err = closed
	}
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", response.Status, said)
	}
	return said, err
}

// ZooKeeper starts a ZooKeeper of one member.
func (r *Rig) ZooKeeper(ctx context.Context) (*Server, error) {
	const library = "/usr/share/java/zookeeper.jar"
	if _, err := os.Stat(library); err != nil {
		return nil, errors.New("ZooKeeper is not installed: on Debian, apt-get install zookeeper")
	}
	java, err := find("default-jre-headless", "java")
	if err != nil {
		return nil, fmt.Errorf("Java is %w", err)
	}
	return r.start(ctx, &program{
		name: "ZooKeeper", stop: syscall.SIGTERM,
		command: func(data, home, port string) *exec.Cmd {
			config := filepath.Join(home, "zoo.cfg")
			text := fmt.Sprintf("tickTime=500\ndataDir=%s\nclientPort=%s\nclientPortAddress=127.0.0.1\nadmin.enableServer=false\n"+
				"4lw.commands.whitelist=srvr\nmaxClientCnxns=0\n", data, port)
			_ = os.WriteFile(config, []byte(text), 0o600) // ZooKeeper says what is wrong
			return exec.Command(java, "-Xmx256m", "-XX:+UseSerialGC", "-cp", library, "org.apache.zookeeper.server.quorum.QuorumPeerMain", config)
		},
		urls: func(_, port string) (string, string) { return "zookeeper://127.0.0.1:" + port, "" },
		answers: func(ctx context.Context, url string) (string, error) {
			said, err := srvr(ctx, strings.TrimPrefix(url, "zookeeper://"))
			if err != nil || !strings.Contains(said, "Mode: ") {
				return "", fmt.Errorf("not ready: %w: %s", err, said)
			}
			_, after, _ := strings.Cut(said, "version: ")
			version, _, _ := strings.Cut(after, "-")
			return version, nil
		},
	}, "")
}

// srvr asks a ZooKeeper for its state.
func srvr(ctx context.Context, address string) (string, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return "", err
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(2 * time.Second)) // a TCP connection has deadlines
	if _, err := conn.Write([]byte("srvr")); err != nil {
		return "", err
	}
	said, err := io.ReadAll(conn)
	return string(said), err
}
