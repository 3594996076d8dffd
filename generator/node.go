package generator

import "time"

// NodeKeyPrefix is the prefix of the keys under which servers on a shared
// store tell each other that they run (package node): "node/<number>".
const NodeKeyPrefix = "node/"

// Node is a server on a shared store, as another one sees it.
type Node struct {
	Number  int    // its place in the list, which is taken again after it
	Self    bool   // the server that was asked
	State   string // NodeUp, NodeStopped or NodeLost
	Host    string
	PID     int
	Version string
	Address string // where clients find it
	Ready   bool   // should get new clients, as it last said
	Store   string // which they share, as the server that was asked calls it
	Workers string // its worker ids, "<bits>/<id>" with spaces between
	Issued  int64  // ids since its start
	Rate    float64
	Started time.Time
	Seen    time.Time // when it wrote last, by its own clock
	Until   time.Time // when it is given up, unless it writes again

	// ClockAhead is by how much its clock is ahead of ours, at least;
	// negative for behind. 0 as long as no difference is certain.
	ClockAhead time.Duration

	// StoreAhead is by how much its clock is ahead of that of the store, as
	// it last said; nil when it does not know.
	StoreAhead *time.Duration
}

// The states of a Node.
const (
	NodeUp      = "up"
	NodeStopped = "stopped" // it said that it ends
	NodeLost    = "lost"    // it wrote nothing for too long
)
