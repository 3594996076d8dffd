//go:build unix

package attack

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// attack is one way to be a bad client. do is called again and again by a
// number of attackers.
type attack struct {
	name      string
	attackers int
	pause     time.Duration // after each
	do        func(ctx context.Context, a *attacker) error
}

// attacker is where an attack goes.
type attacker struct {
	cfg     *pgx.ConnConfig
	address string
}

var attacks = []attack{
	{"connections that say nothing", 64, 20 * time.Millisecond, func(ctx context.Context, a *attacker) error {
		conn, err := a.dial(ctx)
		if err != nil {
			return err
		}
		time.AfterFunc(time.Second, func() { _ = conn.Close() })
		return nil
	}},
	{"TLS handshakes", 16, 50 * time.Millisecond, func(ctx context.Context, a *attacker) error {
		conn, err := a.dial(ctx)
		if err != nil {
			return err
		}
		defer func() { _ = conn.Close() }()
		if _, err := conn.Write([]byte{0, 0, 0, 8, 4, 210, 22, 47}); err != nil { // SSLRequest
			return err
		}
		if _, err := io.ReadFull(conn, make([]byte, 1)); err != nil {
			return err
		}
		return tls.Client(conn, &tls.Config{InsecureSkipVerify: true}).HandshakeContext(ctx) //nolint:gosec // its own server, on loopback
	}},
	{"passwords", 32, 0, func(ctx context.Context, a *attacker) error {
		cfg := a.cfg.Copy()
		cfg.Password = "wrong"
		conn, err := pgx.ConnectConfig(ctx, cfg)
		if err == nil {
			_ = conn.Close(ctx)
		}
		return nil
	}},
	{"unfinished messages", 64, 100 * time.Millisecond, func(ctx context.Context, a *attacker) error {
		return a.hijacked(ctx, func(conn net.Conn) error {
			_, err := conn.Write(append([]byte{'Q', 0, 0x0f, 0xf0, 0}, make([]byte, 1<<20-8<<10)...))
			time.Sleep(time.Second)
			return err
		})
	}},
	{"large statements", 16, 0, func(ctx context.Context, a *attacker) error {
		conn, err := pgx.ConnectConfig(ctx, a.cfg)
		if err != nil {
			return err
		}
		defer leave(conn)
		for ctx.Err() == nil {
			_, err = conn.Exec(ctx, "SELECT count(*) FROM (SELECT repeat('x', 1000) || g AS t FROM generate_series(1, 20000) g ORDER BY t) a WHERE t ~ '(x{1,40}){1,10}y'", pgx.QueryExecModeSimpleProtocol)
			if _, refused := errors.AsType[*pgconn.PgError](err); err != nil && !refused && ctx.Err() == nil {
				return err
			}
		}
		return nil
	}},
	{"large texts", 16, 0, func(ctx context.Context, a *attacker) error {
		conn, err := pgx.ConnectConfig(ctx, a.cfg)
		if err != nil {
			return err
		}
		defer leave(conn)
		text := "SELECT 1 IN (0" + strings.Repeat(", 1+1", 20_000) + ")"
		for ctx.Err() == nil {
			_, err = conn.Exec(ctx, text, pgx.QueryExecModeSimpleProtocol)
			if _, refused := errors.AsType[*pgconn.PgError](err); err != nil && !refused && ctx.Err() == nil {
				return err
			}
		}
		return nil
	}},
	{"readers that do not read", 64, 100 * time.Millisecond, func(ctx context.Context, a *attacker) error {
		return a.hijacked(ctx, func(conn net.Conn) error {
			q := "SELECT repeat('x', 1000) FROM generate_series(1, 10000000)\x00"
			n := len(q) + 4
			_, err := conn.Write(append([]byte{'Q', 0, 0, byte(n >> 8), byte(n)}, q...))
			time.Sleep(2 * time.Second)
			return err
		})
	}},
}

func (a *attacker) dial(ctx context.Context) (net.Conn, error) {
	return (&net.Dialer{Timeout: 5 * time.Second}).DialContext(ctx, "tcp", a.address)
}

// hijacked logs in and does something with the bare connection.
func (a *attacker) hijacked(ctx context.Context, do func(net.Conn) error) error {
	conn, err := pgx.ConnectConfig(ctx, a.cfg)
	if err != nil {
		return err
	}
	bare, err := conn.PgConn().Hijack()
	if err != nil {
		return err
	}
	defer func() { _ = bare.Conn.Close() }()
	_ = bare.Conn.SetDeadline(time.Now().Add(5 * time.Second))
	return do(bare.Conn)
}

// leave closes a connection, and waits until the statement that it was in the middle
// of has been told to end: the next measurement must not share the machine with it.
func leave(conn *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	_ = conn.Close(ctx)
	select {
	case <-conn.PgConn().CleanupDone():
	case <-ctx.Done():
	}
}

// Be attacks until the context ends and returns what was done.
func Be(ctx context.Context, name, at string) (string, error) {
	if err := yield(); err != nil {
		return "", err
	}
	cfg, err := pgx.ParseConfig(at)
	if err != nil {
		return "", err
	}
	u, err := url.Parse(at)
	if err != nil {
		return "", err
	}
	a := &attacker{cfg: cfg, address: u.Host}
	var done, failed atomic.Int64
	var work sync.WaitGroup
	for _, attack := range attacks {
		if attack.name != name {
			continue
		}
		for range attack.attackers {
			work.Go(func() {
				for ctx.Err() == nil {
					if err := attack.do(ctx, a); err != nil {
						failed.Add(1)
						time.Sleep(10 * time.Millisecond)
					} else {
						done.Add(1)
					}
					time.Sleep(attack.pause)
				}
			})
		}
	}
	work.Wait()
	return fmt.Sprintf("%d, %d refused", done.Load(), failed.Load()), nil
}
