package workerid

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"nextid/dsn"
	"nextid/generator/worker"
)

// leaf is Meituan's way (Leaf, class SnowflakeZookeeperHolder). A persistent
// sequential node /snowflake/NAME/forever/IP:PORT-0000000007 in ZooKeeper holds the
// worker id of that address for ever. Nodes of a Leaf server are used as they are.
//
// Here the number is only a wish, unlike in Leaf. So three faults of Leaf only log
// a warning and repeat no id: a local file used while ZooKeeper is down, an address
// that another container got, and an ensemble that was emptied. Numbers beyond the
// worker bits wrap around.
type leaf struct {
	hosts []string
	path  string // path of the node forever
	node  string // IP:PORT of this server
	file  string // cache of the number; "" for none
	log   *slog.Logger
}

const (
	leafFile    = "nextid.leaf"
	leafTimeout = 10 * time.Second // that of Leaf's connection
)

// parseLeaf parses zookeeper://HOST:PORT,HOST:PORT/snowflake/NAME?node=IP:PORT.
func parseLeaf(text string) (opener, error) {
	u, hosts, err := dsn.Parse(text)
	if err != nil || u.Scheme != "zookeeper" || hosts[0] == "" || strings.Trim(u.Path, "/") == "" {
		return nil, errors.New("leaf is written leaf:zookeeper://HOST:2181,HOST:2181/snowflake/NAME, with Leaf's leaf.name")
	}
	l := leaf{
		hosts: dsn.WithPort(hosts, "2181"), path: "/" + strings.Trim(u.Path, "/") + "/forever",
		node: u.Query().Get("node"),
	}
	return func(cfg Config) (wisher, error) {
		l := l
		l.log = cfg.Logger
		if l.node == "" {
			ip, err := ownAddress()
			if err != nil {
				return nil, fmt.Errorf("leaf needs the address of this server, ?node=IP:PORT: %w", err)
			}
			l.node = net.JoinHostPort(ip.String(), cfg.Port)
		}
		if cfg.Dir != "" {
			l.file = filepath.Join(cfg.Dir, leafFile)
		}
		return l, nil
	}, nil
}

// ownAddress returns the first IPv4 address of this host except the loopback.
func ownAddress() (net.IP, error) {
	all, err := net.InterfaceAddrs()
	if err != nil {
		return nil, fmt.Errorf("the addresses of this host: %w", err)
	}
	for _, a := range all {
		if n, ok := a.(*net.IPNet); ok && !n.IP.IsLoopback() && n.IP.To4() != nil {
			return n.IP.To4(), nil
		}
	}
	return nil, errors.New("this host has no IPv4 address but the loopback")
}

func (l leaf) Wish(ctx context.Context, w worker.Width) (worker.Wish, error) {
	n, err := l.number(ctx)
	if err != nil {
		cached, known := l.remembered()
		if !known {
			l.log.Warn("ZooKeeper gives this server no number; any free worker id is claimed", "node", l.node, "error", err)
			return worker.Wish{ID: worker.None}, nil
		}
		n = cached
		l.log.Warn("ZooKeeper does not answer; the number of an earlier start is asked of the store",
			"node", l.node, "number", n, "file", l.file, "error", err)
	}
	return worker.Wish{ID: n % w.IDs(), Note: "with Leaf's rule both servers would have issued the same ids"}, nil
}

// number reads the number from ZooKeeper and writes it into the file.
func (l leaf) number(ctx context.Context) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, leafTimeout)
	defer cancel()
	quiet := log.New(io.Discard, "", 0) // the client returns as errors what it logs
	conn, _, err := zk.Connect(l.hosts, leafTimeout, zk.WithLogger(quiet), zk.WithEventCallback(func(zk.Event) {}))
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	// The client's calls take no context: closing the connection ends them.
	defer context.AfterFunc(ctx, conn.Close)()
	n, err := l.find(conn)
	if err != nil {
		return 0, cmp.Or(ctx.Err(), err)
	}
	l.remember(n)
	return n, nil
}

// find returns the number of this server's node. It creates a missing node.
func (l leaf) find(conn *zk.Conn) (int64, error) {
	names, _, err := conn.Children(l.path)
	if errors.Is(err, zk.ErrNoNode) {
		err = l.makeParents(conn)
		if err == nil {
			names, _, err = conn.Children(l.path)
		}
	}
	if err != nil {
		return 0, err
	}
	for _, name := range names {
		if n, ok := l.parse(name); ok {
			return n, nil
		}
	}
	// Leaf's own code uses 0 for the server that creates the parent, and ignores the
	// number that it got. So two servers that start together are both 0.
	made, err := conn.Create(l.path+"/"+l.node+"-", l.content(), zk.FlagSequence, zk.WorldACL(zk.PermAll))
	if err != nil {
		return 0, err
	}
	n, ok := l.parse(made[strings.LastIndex(made, "/")+1:])
	if !ok {
		return 0, fmt.Errorf("ZooKeeper made the node %q, which has no number", made)
	}
	return n, nil
}

// parse returns the number in the name of this server's node.
func (l leaf) parse(name string) (int64, bool) {
	digits, ok := strings.CutPrefix(name, l.node+"-")
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseUint(digits, 10, 31)
	return int64(n), err == nil
}

// makeParents creates the nodes above the nodes of the servers.
func (l leaf) makeParents(conn *zk.Conn) error {
	for i, c := range l.path + "/" {
		if i == 0 || c != '/' {
			continue
		}
		if _, err := conn.Create(l.path[:i], nil, 0, zk.WorldACL(zk.PermAll)); err != nil && !errors.Is(err, zk.ErrNodeExists) {
			return err
		}
	}
	return nil
}

// content returns the data that Leaf writes into the node (class Endpoint).
func (l leaf) content() []byte {
	host, port, err := net.SplitHostPort(l.node)
	if err != nil {
		host, port = l.node, ""
	}
	b, err := json.Marshal(struct {
		IP        string `json:"ip"`
		Port      string `json:"port"`
		Timestamp int64  `json:"timestamp"`
	}{host, port, time.Now().UnixMilli()})
	if err != nil {
		panic(err) // strings and a number always encode
	}
	return b
}

// leafNumber is the content of the file.
type leafNumber struct {
	Path   string `json:"path"`
	Node   string `json:"node"`
	Number int64  `json:"number"`
}

// remember replaces the file. A failure matters only to a start without ZooKeeper.
func (l leaf) remember(n int64) {
	if l.file == "" {
		return
	}
	b, err := json.Marshal(leafNumber{l.path, l.node, n})
	if err == nil {
		err = os.MkdirAll(filepath.Dir(l.file), 0o700)
	}
	if err == nil {
		err = os.WriteFile(l.file+".new", b, 0o600)
	}
	if err == nil {
		err = os.Rename(l.file+".new", l.file)
	}
	if err != nil {
		l.log.Warn("cannot remember the number of the node in ZooKeeper", "file", l.file, "error", err)
	}
}

// remembered returns the number of an earlier start, for a start without ZooKeeper.
func (l leaf) remembered() (n int64, known bool) {
	var m leafNumber
	b, err := os.ReadFile(l.file)
	if err != nil || json.Unmarshal(b, &m) != nil || m.Path != l.path || m.Node != l.node || m.Number < 0 {
		return 0, false // missing, of another server, or damaged
	}
	return m.Number, true
}
