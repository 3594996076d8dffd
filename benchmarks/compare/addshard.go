package compare

import (
	"context"
	"fmt"
	"time"

	"nextid/benchmarks/load"
	"nextid/benchmarks/rig"
)

// addedShard is what it took to go from N shards to N+1.
type addedShard struct {
	name       string
	ours       bool
	changed    int           // servers whose settings changed
	statements int           // on them
	pause      time.Duration // during which nobody may write
	reconnect  bool          // clients must connect again
	skipped    uint64        // numbers that will never be given
	duplicates int           // found afterwards, over all shards
}

// measureAddingShards adds a shard under each scheme, with rows in all.
func (s *stage) measureAddingShards(ctx context.Context, n *notebook) []addedShard {
	var all []addedShard
	for _, c := range contestants(len(s.servers[mariadb])) {
		if !c.sharded || s.missing(c) != nil || len(s.servers[c.engine]) < 2 {
			continue
		}
		added, err := s.addShard(ctx, c)
		if ctx.Err() != nil {
			return all
		}
		if err != nil {
			n.once("one more shard, %s: %v", c.name, err)
			continue
		}
		all = append(all, added)
	}
	return append(all, addedShard{name: "UUIDs"})
}

// addShard treats the last server as the new one.
func (s *stage) addShard(ctx context.Context, c *contestant) (a addedShard, err error) {
	all := s.servers[c.engine]
	old := len(all) - 1
	a = addedShard{name: c.name, ours: c.ours}
	defer func() { s.servers[c.engine] = all }()
	s.servers[c.engine] = all[:old]
	if err := s.create(ctx, c, table); err != nil {
		return a, err
	}
	var ids []load.ID
	if err := s.fillShards(ctx, c, old, old, &ids); err != nil {
		return a, err
	}
	begin := time.Now()
	if c.from == nil { // the ids come from the shards: all have to make room
		if err := s.makeRoom(ctx, c, &a); err != nil {
			return a, err
		}
		a.pause, a.reconnect = time.Since(begin), c.engine == mariadb
	}
	s.servers[c.engine] = all
	if err := s.joinShard(ctx, c, old, &a); err != nil {
		return a, err
	}
	if err := s.fillShards(ctx, c, old+1, old+1, &ids); err != nil {
		return a, err
	}
	a.duplicates = duplicates(ids)
	return a, nil
}

// shardRows is how many rows are written to each shard before and after.
const shardRows = 200

// fillShards writes rows to shards that share the numbers by so many.
func (s *stage) fillShards(ctx context.Context, c *contestant, shards, clients int, ids *[]load.ID) error {
	for i := range clients {
		links, err := s.links(ctx, c, i)
		if err != nil {
			return err
		}
		j := &journal{keep: true}
		client := load.Client{Links: links, Work: &inserter{c: c, journal: j, table: table, links: links, n: uint64(shards+i) << 40}}
		for range shardRows {
			if err = load.Once(ctx, []load.Client{client}); err != nil {
				break
			}
		}
		client.Close()
		if err != nil {
			return err
		}
		*ids = append(*ids, j.ids...)
	}
	return nil
}

// makeRoom moves the shards that exist to the step of one more: each begins
// again above the greatest number of all, so nobody may write meanwhile.
func (s *stage) makeRoom(ctx context.Context, c *contestant, a *addedShard) error {
	servers := s.servers[c.engine]
	step := uint64(len(servers) + 1)
	var greatest, sum uint64
	for _, server := range servers {
		id, err := s.one(ctx, server, "SELECT MAX(id) FROM "+table)
		if err != nil {
			return err
		}
		greatest, sum = max(greatest, id.Lo), sum+id.Lo
		a.statements++
	}
	base := (greatest/step + 1) * step
	for i, server := range servers {
		statements := restart(c.engine, base+uint64(i)+1, step, i)
		if err := s.exec(ctx, server.URL, statements...); err != nil {
			return err
		}
		a.statements += len(statements)
		a.changed++
	}
	a.skipped = base - uint64(len(servers)*shardRows)
	return nil
}

// restart lets a shard go on at a number with a step.
func restart(e engine, at, step uint64, i int) []string {
	if e == postgres {
		return []string{fmt.Sprintf("ALTER TABLE %s ALTER id SET START %d SET INCREMENT %d RESTART", table, at, step)}
	}
	return []string{
		fmt.Sprintf("SET GLOBAL auto_increment_increment = %d", step),
		fmt.Sprintf("SET GLOBAL auto_increment_offset = %d", i+1),
		fmt.Sprintf("ALTER TABLE %s AUTO_INCREMENT = %d", table, at),
	}
}

// joinShard makes the table on the new shard.
func (s *stage) joinShard(ctx context.Context, c *contestant, at int, a *addedShard) error {
	first := s.servers[c.engine][at]
	alone := *s
	alone.servers = map[engine][]*rig.Server{c.engine: {first}}
	if err := alone.create(ctx, c, table); err != nil || c.from != nil {
		return err
	}
	step := uint64(at + 1)
	greatest, err := s.one(ctx, s.servers[c.engine][0], "SELECT MAX(id) FROM "+table)
	if err != nil {
		return err
	}
	// Above what the others had, in the place that they left.
	return s.exec(ctx, first.URL, restart(c.engine, (greatest.Lo/step+2)*step+uint64(at)+1, step, at)...)
}

// one asks for one number.
func (s *stage) one(ctx context.Context, server *rig.Server, sql string) (load.ID, error) {
	link, err := load.Dial(ctx, server.URL)
	if err != nil {
		return load.ID{}, err
	}
	defer link.Close()
	ids, err := link.Exec(ctx, sql)
	if err != nil || len(ids) == 0 {
		return load.ID{}, err
	}
	return ids[0], nil
}
