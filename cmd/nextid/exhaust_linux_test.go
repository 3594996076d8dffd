package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// dataLimit is the memory that the process may have (RLIMIT_DATA). Without an
// account of bytes each of the attacks below takes more.
const dataLimit = 1 << 30

// TestClientsCannotExhaustMemory runs many statements that need much memory at the
// same time, on a server with 1 GiB. Statements beyond the limits are refused, and
// the server goes on.
func TestClientsCannotExhaustMemory(t *testing.T) {
	s := startLimited(t)
	text := func(part string, n int) string { return strings.Repeat(part, n) }
	for _, attack := range []struct {
		name string
		sql  string
	}{
		{"count distinct", "SELECT count(DISTINCT repeat('x', 1000000) || g) FROM generate_series(1, 100000) g"},
		{"order by", "SELECT length(t) FROM (SELECT repeat('x', 1000000) || g AS t FROM generate_series(1, 100000) g ORDER BY t) a"},
		{"group by", "SELECT count(*) FROM generate_series(1, 100000) g GROUP BY repeat('x', 1000000) || g"},
		{"join", "SELECT count(*) FROM generate_series(1, 2) a JOIN (SELECT repeat('x', 1000000) || g AS t FROM generate_series(1, 100000) g) b ON true"},
		{"window", "SELECT count(*) FROM (SELECT row_number() OVER (ORDER BY repeat('x', 1000000) || g) FROM generate_series(1, 100000) g) a"},
		{"largest of each group", "SELECT count(*) FROM (SELECT max(repeat('x', 1000000)) FROM generate_series(1, 100000) g GROUP BY g) a"},
		{"many small rows", "SELECT count(*) FROM (SELECT g FROM generate_series(1, 100000000) g ORDER BY g) a"},
		{"array", "SELECT array_agg(g) FROM generate_series(1, 100000) g GROUP BY g % 10"},
		{"values in one row", "SELECT " + text("repeat('x', 1000000), ", 1000) + "1"},
		{"values of one call", "SELECT length(concat(" + text("repeat('x', 1000000), ", 5000) + "''))"},
		{"values in one array", "SELECT ARRAY[" + text("repeat('x', 1000000), ", 5000) + "'']"},
		{"format", "SELECT format('" + text("%1$s", 5000) + "', repeat('x', 1000000))"},
		{"json", "SELECT ('[' || repeat('1,', 500000) || '1]')::jsonb IS NULL"},
		{"array text", "SELECT ('{' || repeat('1,', 500000) || '1}')::int[] IS NULL"},
		{"plan", "SELECT " + text("sum(1)+", 3000) + "1"},
		{"sums", "SELECT 1 IN (0" + text(", 1+1", 200_000) + ")"},
		{"long text", "SELECT concat(" + text("1,", 400_000) + "1)"},
	} {
		t.Run(attack.name, func(t *testing.T) {
			outcome := s.together(t, 64, func(ctx context.Context, conn *pgconn.PgConn) error {
				_, err := conn.Exec(ctx, attack.sql).ReadAll()
				return err
			})
			s.alive(t, outcome)
		})
	}
	t.Run("prepared statements", func(t *testing.T) {
		outcome := s.together(t, 40, func(ctx context.Context, conn *pgconn.PgConn) error {
			for i := range 5 {
				if _, err := conn.Prepare(ctx, strconv.Itoa(i), "SELECT "+text("sum(1)+", 3000)+strconv.Itoa(i), nil); err != nil {
					return err
				}
			}
			<-ctx.Done()
			return nil
		})
		s.alive(t, outcome)
	})
	t.Run("unfinished messages", func(t *testing.T) {
		var held []net.Conn
		for range 300 {
			conn := s.connect()
			hijacked, err := conn.PgConn().Hijack()
			if err != nil {
				t.Fatal(err)
			}
			message := []byte{'Q', 0, 0x0f, 0xf0, 0} // 1 MiB less 4 KiB
			_ = hijacked.Conn.SetDeadline(time.Now().Add(2 * time.Second))
			_, _ = hijacked.Conn.Write(append(message, make([]byte, 1<<20-8<<10)...)) // refused after a while
			held = append(held, hijacked.Conn)
		}
		s.alive(t, "")
		for _, c := range held {
			_ = c.Close()
		}
	})
}

// startLimited starts a server with dataLimit.
func startLimited(t *testing.T, flags ...string) *process {
	t.Helper()
	prlimit, err := exec.LookPath("prlimit")
	if err != nil {
		t.Skip("needs prlimit(1), of the Debian package util-linux")
	}
	args := append([]string{"--data=" + strconv.Itoa(dataLimit)}, serveCommand(append([]string{"--auto-create", "off"}, flags...)...).Args...)
	return launch(t, exec.Command(prlimit, args...), nil)
}

// together runs do on many connections at once and returns how the calls ended.
func (s *process) together(t *testing.T, connections int, do func(context.Context, *pgconn.PgConn) error) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	var work sync.WaitGroup
	var refused, done, late atomic.Int64
	var example atomic.Value
	for range connections {
		conn := s.connect()
		work.Go(func() {
			var e *pgconn.PgError
			err := do(ctx, conn.PgConn())
			switch {
			case err == nil:
				done.Add(1)
			case errors.As(err, &e) && (e.Code == "53200" || e.Code == "54000" || e.Code == "54001" || e.Code == "22023"):
				refused.Add(1)
				example.Store(e.Message)
			case ctx.Err() != nil:
				late.Add(1)
			default:
				t.Errorf("%v", err)
			}
			_ = conn.PgConn().Close(context.Background())
		})
	}
	work.Wait()
	return fmt.Sprintf("%d done, %d refused, %d cut off; %v", done.Load(), refused.Load(), late.Load(), example.Load())
}

// alive checks that the server answers another user at once. The attacker may have
// to wait: cut off statements may still hold memory.
func (s *process) alive(t *testing.T, outcome string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	conn, err := pgx.Connect(ctx, "postgres://other@"+s.address+"/nextid?sslmode=disable")
	if err != nil {
		s.drainOutput()
		t.Fatalf("the server does not answer: %v (%s)\n%.2000s", err, outcome, strings.Join(s.lines, "\n"))
	}
	defer func() { _ = conn.Close(ctx) }()
	var one int
	if err := conn.QueryRow(ctx, "SELECT 1").Scan(&one); err != nil {
		t.Fatal(err)
	}
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	var memory strings.Builder
	for line := range strings.Lines(string(status)) {
		if strings.HasPrefix(line, "VmData") || strings.HasPrefix(line, "VmHWM") {
			memory.WriteString("; " + strings.Join(strings.Fields(line), " "))
		}
	}
	outcome += memory.String()
	t.Log(outcome)
}
