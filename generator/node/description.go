package node

import (
	"encoding/json"
	"time"

	"nextid/generator"
)

// description holds what a server writes about itself. Its names are short: a
// store keeps 255 bytes for an owner.
type description struct {
	Instance string `json:"i"`
	Host     string `json:"h"`
	PID      int    `json:"p"`
	Version  string `json:"v"`
	Address  string `json:"a"`
	Workers  string `json:"w"`
	Ready    bool   `json:"r"`
	Issued   int64  `json:"n"`
	Started  int64  `json:"s"`           // Unix ms
	Seen     int64  `json:"t"`           // Unix ms
	Ahead    *int64 `json:"c,omitempty"` // of the store's clock, ms
}

// maxOwner is the shortest that the stores allow.
const maxOwner = 255

func describe(n generator.Node, instance string, now int64) description {
	d := description{
		Instance: instance, Host: n.Host, PID: n.PID, Version: n.Version, Address: n.Address, Workers: n.Workers,
		Ready: n.Ready, Issued: n.Issued, Started: n.Started.UnixMilli(), Seen: now,
	}
	if n.StoreAhead != nil {
		ms := n.StoreAhead.Milliseconds()
		d.Ahead = &ms
	}
	return d
}

// encode shortens texts until they fit, the longest of them first.
func (d description) encode() string {
	for {
		b, err := json.Marshal(d)
		if err != nil {
			panic(err) // texts and numbers always encode
		}
		if len(b) <= maxOwner {
			return string(b)
		}
		longest := &d.Host
		for _, t := range []*string{&d.Version, &d.Address, &d.Workers} {
			if len(*t) > len(*longest) {
				longest = t
			}
		}
		*longest = (*longest)[:len(*longest)-min(len(*longest), max(1, (len(b)-maxOwner)/6))]
	}
}

// decode reads what encode wrote. Of other texts the result is empty.
func decode(text string) description {
	var d description
	if json.Unmarshal([]byte(text), &d) != nil {
		return description{}
	}
	return d
}

func (d description) node() generator.Node {
	n := generator.Node{
		Host: d.Host, PID: d.PID, Version: d.Version, Address: d.Address, Workers: d.Workers,
		Ready: d.Ready, Issued: d.Issued, Started: time.UnixMilli(d.Started), Seen: time.UnixMilli(d.Seen),
	}
	if d.Ahead != nil {
		ahead := time.Duration(*d.Ahead) * time.Millisecond
		n.StoreAhead = &ahead
	}
	return n
}
