package generator

import "time"

// NodeKeyPrefix is the prefix of the keys "node/<number>". Servers of a shared
// store write them to announce that they run; see package node.
const NodeKeyPrefix = "node/"

// Node is a server of a shared store, as this server last read it.
type Node struct {
	Number  int    // key number; another server may use it later
	Self    bool   // this server
	State   string // NodeUp, NodeStopped or NodeLost
	Host    string
	PID     int
	Version string
	Address string // for clients
	Ready   bool   // whether it should get new clients, by its own last report
	Store   string // name of the shared store
	Workers string // its worker ids, as "<bits>/<id>" separated by spaces
	Issued  int64  // ids since it started
	Rate    float64
	Started time.Time
	Seen    time.Time // its last write, by its own clock
	Until   time.Time // when it counts as lost, unless it writes again

	// StoreAhead is by how much its clock is ahead of the store's, by its own last
	// report. nil: not known.
	StoreAhead *time.Duration
}

// The states of a Node.
const (
	NodeUp      = "up"
	NodeStopped = "stopped" // it announced its end
	NodeLost    = "lost"    // it has not written for too long
)
