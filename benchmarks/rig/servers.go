package rig

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	_ "github.com/go-sql-driver/mysql" // the driver of MariaDB
	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"
)

// connections is how many clients the servers admit.
const connections = "1200"

// PostgreSQL starts the newest installed PostgreSQL. Its superuser postgres
// needs no password.
func (r *Rig) PostgreSQL(ctx context.Context) (*Server, error) {
	daemon, err := find("postgresql", "/usr/lib/postgresql/*/bin/postgres", "postgres")
	if err != nil {
		return nil, fmt.Errorf("PostgreSQL is %w", err)
	}
	return r.start(ctx, &program{
		name: "PostgreSQL", owner: "postgres",
		stop: syscall.SIGINT, quit: syscall.SIGQUIT, // both without waiting for clients
		create: func(home string) *exec.Cmd {
			return exec.Command(filepath.Join(filepath.Dir(daemon), "initdb"), "-D", filepath.Join(home, "data"), "-U", "postgres",
				"-A", "trust", "-E", "UTF8", "--locale=C")
		},
		command: func(data, home, port string) *exec.Cmd {
			return exec.Command(daemon, "-D", data, "-p", port, "-k", home, "-c", "listen_addresses=127.0.0.1", "-c", "max_connections="+connections)
		},
		urls: func(home, port string) (string, string) {
			return "postgres://postgres@127.0.0.1:" + port + "/postgres?sslmode=disable",
				"postgres://postgres@/postgres?sslmode=disable&host=" + url.QueryEscape(home) + "&port=" + port
		},
		answers: postgresVersion,
	}, "")
}

func postgresVersion(ctx context.Context, dsn string) (version string, err error) {
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return "", err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	err = conn.QueryRow(ctx, "SHOW server_version").Scan(&version)
	version, _, _ = strings.Cut(version, " ")
	return version, err
}

// MariaDB starts MariaDB. Its account root needs no password, and the
// database test exists.
func (r *Rig) MariaDB(ctx context.Context, options ...string) (*Server, error) {
	daemon, err := find("mariadb-server", "mariadbd", "/usr/sbin/mariadbd")
	if err != nil {
		return nil, fmt.Errorf("MariaDB is %w", err)
	}
	install, err := find("mariadb-server", "mariadb-install-db")
	if err != nil {
		return nil, fmt.Errorf("MariaDB is %w", err)
	}
	return r.start(ctx, &program{
		name: "MariaDB", owner: "mysql", stop: syscall.SIGTERM,
		create: func(home string) *exec.Cmd {
			return exec.Command(install, "--no-defaults", "--datadir="+filepath.Join(home, "data"), "--tmpdir="+home, "--auth-root-authentication-method=normal")
		},
		command: func(data, home, port string) *exec.Cmd {
			return exec.Command(daemon, append([]string{
				"--no-defaults", "--datadir=" + data, "--socket=" + filepath.Join(home, "s"),
				"--bind-address=127.0.0.1", "--port=" + port, "--pid-file=" + filepath.Join(home, "pid"), "--tmpdir=" + home,
				"--max-connections=" + connections,
			}, options...)...)
		},
		urls: func(home, port string) (string, string) {
			return "mysql://root@127.0.0.1:" + port + "/test", "mysql://root@/test?socket=" + url.QueryEscape(filepath.Join(home, "s"))
		},
		answers: mariadbVersion,
	}, "")
}

func mariadbVersion(ctx context.Context, dsn string) (version string, err error) {
	u, err := url.Parse(dsn)
	if err != nil {
		return "", err
	}
	db, err := sql.Open("mysql", u.User.String()+"@tcp("+u.Host+")"+u.Path)
	if err != nil {
		return "", err
	}
	defer func() { _ = db.Close() }()
	err = db.QueryRowContext(ctx, "SELECT VERSION()").Scan(&version)
	version, _, _ = strings.Cut(version, "-")
	return version, err
}

// Redis starts Redis with the settings of its package: snapshots, no log.
func (r *Rig) Redis(ctx context.Context) (*Server, error) { return r.redis(ctx) }

// DurableRedis starts a Redis that writes every change to disk before it
// answers.
func (r *Rig) DurableRedis(ctx context.Context) (*Server, error) {
	return r.redis(ctx, "--appendonly", "yes", "--appendfsync", "always", "--save", "")
}

func (r *Rig) redis(ctx context.Context, options ...string) (*Server, error) {
	daemon, err := find("redis-server", "redis-server")
	if err != nil {
		return nil, fmt.Errorf("Redis is %w", err)
	}
	return r.start(ctx, &program{
		name: "Redis", stop: syscall.SIGTERM,
		command: func(data, home, port string) *exec.Cmd {
			return exec.Command(daemon, append([]string{
				"--port", port, "--bind", "127.0.0.1", "--dir", data, "--unixsocket", filepath.Join(home, "s"),
			}, options...)...)
		},
		urls: func(_, port string) (string, string) { return "redis://127.0.0.1:" + port, "" },
		answers: func(ctx context.Context, dsn string) (string, error) {
			options, err := redis.ParseURL(dsn)
			if err != nil {
				return "", err
			}
			c := redis.NewClient(options)
			defer func() { _ = c.Close() }()
			info, err := c.Info(ctx, "server").Result()
			if err != nil {
				return "", err
			}
			_, after, _ := strings.Cut(info, "redis_version:")
			version, _, _ := strings.Cut(after, "\r")
			return version, nil
		},
	}, "")
}

// Nextid is a running nextid. URL and Socket speak the PostgreSQL protocol.
type Nextid struct {
	*Server
	MySQL string // the URL of its MySQL protocol
}

// Nextid starts a nextid on TCP.
func (r *Rig) Nextid(ctx context.Context, binary string, args ...string) (*Nextid, error) {
	return r.nextid(ctx, binary, false, nil, args)
}

// NextidWith starts a nextid on TCP with variables of its environment.
func (r *Rig) NextidWith(ctx context.Context, binary string, env ...string) (*Nextid, error) {
	return r.nextid(ctx, binary, false, env, nil)
}

// NextidOnSockets starts a nextid on Unix sockets: URL is Socket.
func (r *Rig) NextidOnSockets(ctx context.Context, binary string, args ...string) (*Nextid, error) {
	return r.nextid(ctx, binary, true, nil, args)
}

func (r *Rig) nextid(ctx context.Context, binary string, sockets bool, env, args []string) (*Nextid, error) {
	var onMySQL string
	s, err := r.start(ctx, &program{
		name: "nextid", stop: syscall.SIGTERM,
		command: func(data, home, port string) *exec.Cmd {
			pg, my := filepath.Join(home, ".s.PGSQL."+port), filepath.Join(home, "my")
			onMySQL = "mysql://bench@/test?socket=" + url.QueryEscape(my)
			if second, err := FreePort(); err == nil && !sockets {
				pg, my = "127.0.0.1:"+port, "127.0.0.1:"+second
				onMySQL = "mysql://bench@" + my + "/test"
			}
			cmd := exec.Command(binary, append([]string{"serve", "--data", data, "--pg", pg, "--mysql", my, "--http", "off"}, args...)...)
			cmd.Env = append(os.Environ(), env...)
			return cmd
		},
		urls: func(home, port string) (string, string) {
			if sockets {
				socket := "postgres://bench@/nextid?sslmode=disable&host=" + url.QueryEscape(home) + "&port=" + port
				return socket, socket
			}
			return "postgres://bench@127.0.0.1:" + port + "/nextid?sslmode=disable", ""
		},
		answers: func(ctx context.Context, dsn string) (string, error) {
			_, err := postgresVersion(ctx, dsn) // which is that of the PostgreSQL it stands for
			if err != nil {
				return "", err
			}
			out, err := exec.CommandContext(ctx, binary, "version").Output()
			_, version, _ := strings.Cut(strings.TrimSpace(string(out)), " ")
			return version, err
		},
	}, "")
	if err != nil {
		return nil, err
	}
	return &Nextid{s, onMySQL}, nil
}

// Floor starts nextid-bench floor, which answers every query with the same bytes.
func (r *Rig) Floor(ctx context.Context, binary string) (*Server, error) {
	return r.start(ctx, &program{
		name: "floor", stop: syscall.SIGKILL,
		command: func(_, _, port string) *exec.Cmd { return exec.Command(binary, "floor", "127.0.0.1:"+port) },
		urls: func(_, port string) (string, string) {
			return "postgres://bench@127.0.0.1:" + port + "/bench?sslmode=disable", ""
		},
		answers: func(ctx context.Context, dsn string) (string, error) {
			conn, err := pgx.Connect(ctx, dsn)
			if err != nil {
				return "", err
			}
			return "", conn.Close(ctx)
		},
	}, "")
}

// FloorMySQL is Floor for MySQL's protocol.
func (r *Rig) FloorMySQL(ctx context.Context, binary string) (*Server, error) {
	return r.start(ctx, &program{
		name: "floor", stop: syscall.SIGKILL,
		command: func(_, _, port string) *exec.Cmd {
			return exec.Command(binary, "floor", "--mysql", "127.0.0.1:"+port)
		},
		urls: func(_, port string) (string, string) { return "mysql://bench@127.0.0.1:" + port + "/bench", "" },
		answers: func(ctx context.Context, dsn string) (string, error) {
			_, err := mariadbVersion(ctx, dsn) // which is a number, too
			return "", err
		},
	}, "")
}
