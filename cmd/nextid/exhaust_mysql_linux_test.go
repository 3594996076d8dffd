package main

import (
	"context"
	"database/sql"
	byteorder "encoding/binary"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
)

// TestMySQLClientsCannotExhaustMemory is TestClientsCannotExhaustMemory in the
// MySQL protocol.
func TestMySQLClientsCannotExhaustMemory(t *testing.T) {
	s := startLimited(t, "--mysql", "127.0.0.1:0")
	text := func(part string, n int) string { return strings.Repeat(part, n) }
	const rows = " FROM generate_series(1, 100000) g"
	for _, attack := range []struct{ name, sql string }{
		{"count distinct", "SELECT count(DISTINCT concat(repeat('x', 1000000), g))" + rows},
		{"order by", "SELECT t = '' FROM (SELECT concat(repeat('x', 1000000), g) AS t" + rows + " ORDER BY t) a"},
		{"group by", "SELECT count(*)" + rows + " GROUP BY concat(repeat('x', 1000000), g)"},
		{"join", "SELECT count(*) FROM generate_series(1, 2) a JOIN (SELECT concat(repeat('x', 1000000), g) AS t" + rows + ") b ON true"},
		{"union", "SELECT concat(repeat('x', 1000000), g)" + rows + " UNION SELECT 'a'"},
		{"largest of each group", "SELECT count(*) FROM (SELECT max(repeat('x', 1000000))" + rows + " GROUP BY g) a"},
		{"many small rows", "SELECT count(*) FROM (SELECT g FROM generate_series(1, 100000000) g ORDER BY g) a"},
		{"values in one row", "SELECT " + text("repeat('x', 1000000), ", 1000) + "1"},
		{"values of one call", "SELECT concat(" + text("repeat('x', 1000000), ", 5000) + "'') = ''"},
		{"variables", "SET " + manyVariables(2000)},
		{"list", "SELECT 1 IN (" + text("1,", 500_000) + "1)"},
		{"plan", "SELECT " + text("sum(1)+", 3000) + "1"},
		{"long text", "SELECT concat(" + text("1,", 400_000) + "1)"},
	} {
		t.Run(attack.name, func(t *testing.T) {
			outcome := s.togetherMySQL(t, 64, func(ctx context.Context, conn *sql.Conn, _ net.Conn) error {
				rows, err := conn.QueryContext(ctx, attack.sql)
				if err != nil {
					return err
				}
				defer rows.Close()
				for rows.Next() {
				}
				return rows.Err()
			})
			s.alive(t, outcome)
		})
	}
	t.Run("prepared statements", func(t *testing.T) {
		outcome := s.togetherMySQL(t, 40, func(ctx context.Context, conn *sql.Conn, _ net.Conn) error {
			for i := range 5 {
				if _, err := conn.PrepareContext(ctx, fmt.Sprint("SELECT "+text("sum(1)+", 3000), i)); err != nil {
					return err
				}
			}
			<-ctx.Done()
			return nil
		})
		s.alive(t, outcome)
	})
	t.Run("unfinished messages", func(t *testing.T) {
		outcome := s.togetherMySQL(t, 300, func(ctx context.Context, _ *sql.Conn, raw net.Conn) error {
			_ = raw.SetDeadline(time.Now().Add(2 * time.Second))
			_, _ = raw.Write(append([]byte{0, 0xf0, 0x0f, 0, 3}, make([]byte, 1<<20-8<<10)...)) // refused after a while
			<-ctx.Done()
			return ctx.Err()
		})
		s.alive(t, outcome)
	})
	t.Run("long data", func(t *testing.T) {
		// Parameters that are sent in pieces, of statements that are never run.
		outcome := s.togetherMySQL(t, 64, func(ctx context.Context, conn *sql.Conn, raw net.Conn) error {
			for range 100 {
				if _, err := conn.PrepareContext(ctx, "SELECT ? = ''"); err != nil {
					return err
				}
			}
			_ = raw.SetDeadline(time.Now().Add(2 * time.Second))
			for statement := range uint32(100) {
				packet := append([]byte{0, 0, 0, 0, 0x18}, make([]byte, 6+1_000_000)...)
				byteorder.LittleEndian.PutUint32(packet[5:], statement+1)
				size := len(packet) - 4
				packet[0], packet[1], packet[2] = byte(size), byte(size>>8), byte(size>>16)
				if _, err := raw.Write(packet); err != nil {
					return ctx.Err() // the server closed the connection
				}
			}
			<-ctx.Done()
			return ctx.Err()
		})
		s.alive(t, outcome)
	})
}

// manyVariables assigns a large value to each of n user variables.
func manyVariables(n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf("@v%d = repeat('x', 1000000)", i)
	}
	return strings.Join(all, ", ")
}

// togetherMySQL is together for the MySQL protocol. do may also use the socket.
func (s *process) togetherMySQL(t *testing.T, connections int, do func(context.Context, *sql.Conn, net.Conn) error) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	var work sync.WaitGroup
	var refused, done, late atomic.Int64
	var example atomic.Value
	for range connections {
		conn, raw := s.connectMySQL(t)
		work.Go(func() {
			var e *mysql.MySQLError
			err := do(ctx, conn, raw)
			switch {
			case err == nil:
				done.Add(1)
			case errors.As(err, &e):
				// 1041: out of memory; 1153, 1301, 1436: too long, too large, too complex
				refused.Add(1)
				example.Store(e.Error())
				if e.Number == 1105 {
					t.Error(err)
				}
			case ctx.Err() != nil:
				late.Add(1)
			default:
				t.Errorf("%v", err)
			}
			_ = raw.Close()
		})
	}
	work.Wait()
	return fmt.Sprintf("%d done, %d refused, %d cut off; %.100v", done.Load(), refused.Load(), late.Load(), example.Load())
}

// connectMySQL opens a connection in the MySQL protocol. It also returns the
// socket.
func (s *process) connectMySQL(t *testing.T) (*sql.Conn, net.Conn) {
	t.Helper()
	cfg := mysql.NewConfig()
	cfg.User, cfg.Net, cfg.Addr, cfg.MultiStatements = "anybody", "tcp", s.mysql, true
	var raw net.Conn
	cfg.DialFunc = func(ctx context.Context, network, address string) (c net.Conn, err error) {
		c, err = (&net.Dialer{}).DialContext(ctx, network, address)
		raw = c
		return c, err
	}
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(connector)
	t.Cleanup(func() { _ = db.Close() }) // the socket is closed
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	conn, err := db.Conn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return conn, raw
}
