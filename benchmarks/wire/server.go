package main

import (
	"fmt"
	"os/exec"
	"path/filepath"

	"nextid/benchmarks/rig"
)

// start starts the contestants: floor, nextid, PostgreSQL, in this order.
func (b *bench) start() error {
	for _, f := range []func() (*server, error){b.startFloor, b.startNextid, b.startPostgres} {
		s, err := f()
		if err != nil {
			return err
		}
		b.servers = append(b.servers, s)
	}
	return nil
}

func (b *bench) stop() {
	for _, s := range b.servers {
		s.Stop()
	}
}

const nextID = "SELECT next_id('orders')"

func (b *bench) startFloor() (*server, error) {
	port, err := rig.FreePort()
	if err != nil {
		return nil, err
	}
	p, err := rig.Start(exec.Command(filepath.Join(b.dir, "floor"), port, "1"), port)
	if err != nil {
		return nil, err
	}
	return &server{p, "floor", nextID}, rig.WaitFor(port)
}

func (b *bench) startNextid() (*server, error) {
	p, err := rig.StartNextid(filepath.Join(b.dir, "nextid"), b.dir)
	if err != nil {
		return nil, err
	}
	overMySQL := *p.Process
	overMySQL.Port = p.MySQLPort
	b.mysql = &server{&overMySQL, "nextid", nextID}
	return &server{p.Process, "nextid", nextID}, nil
}

func (b *bench) startPostgres() (*server, error) {
	p, err := rig.StartPostgreSQL(b.dir)
	if err != nil {
		return nil, err
	}
	b.postgresVersion = p.Version
	out, err := exec.Command("psql", "-h", "127.0.0.1", "-p", p.Port, "-U", "postgres", "-Xc", "CREATE SEQUENCE orders CACHE 1").CombinedOutput()
	if err != nil {
		p.Stop()
		return nil, fmt.Errorf("create sequence: %w\n%s", err, out)
	}
	return &server{p.Process, "postgresql", "SELECT nextval('orders')"}, nil
}
