package load

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"github.com/jackc/pgx/v5/pgconn"
	"golang.org/x/sys/unix"

	"nextid/dsn"
)

// Link is a connection to a server. It owns its file descriptor, which does not
// block.
type Link struct {
	protocol protocol
	fd       int
	in       []byte // in[:filled] was received and not scanned
	filled   int
	ids      []ID  // of the present answers: the first column of each row, or the number that an INSERT generated
	failed   error // of the present answer: an error that the server has sent
	traffic  int64 // bytes sent and received
}

// Dial connects to postgres://, mysql://, mariadb:// or redis://. A Unix socket
// is named as ?host=DIRECTORY for PostgreSQL, ?socket=FILE for MySQL.
// Connections with TLS cannot be measured. MySQL's user has no password.
func Dial(ctx context.Context, target string) (l *Link, err error) {
	scheme, _, _ := strings.Cut(target, "://")
	switch scheme {
	case "postgres", "postgresql":
		conn, err := pgconn.Connect(ctx, target)
		if err != nil {
			return nil, err
		}
		hijacked, err := conn.Hijack()
		if err != nil {
			return nil, err
		}
		return takeOver(hijacked.Conn, pgProtocol{})
	case "mysql", "mariadb":
		config, wrong := dsn.MySQL(target)
		if wrong != nil {
			return nil, wrong
		}
		if l, err = connect(ctx, config.Net, config.Addr, &mysqlProtocol{part: mysqlGreeting}); err != nil {
			return nil, err
		}
		if _, err = l.Exchange(ctx, nil, 1); err == nil {
			const capabilities = 1 | 1<<3 | 1<<9 | 1<<13 | 1<<15 | 1<<19 // long passwords, a database, 4.1, transactions, a nonce, a plug-in
			body := binary.LittleEndian.AppendUint32(nil, 1<<24)         // the largest packet
			body = append(append(body, 45), make([]byte, 23)...)         // utf8mb4
			body = append(body, config.User+"\x00\x00"+config.DBName+"\x00mysql_native_password\x00"...)
			login := binary.LittleEndian.AppendUint32(nil, capabilities)
			request := mysqlPacket(nil, login[0], string(login[1:])+string(body))
			request[3] = 1 // sequence id after the greeting's 0
			_, err = l.Exchange(ctx, request, 1)
		}
	case "redis":
		u, wrong := url.Parse(target)
		if wrong != nil || u.Host == "" {
			return nil, errors.New("not a URL of Redis: redis://HOST:PORT")
		}
		if l, err = connect(ctx, "tcp", u.Host, redisProtocol{}); err != nil {
			return nil, err
		}
		_, err = l.Exchange(ctx, l.Query(nil, "PING"), 1)
	default:
		return nil, fmt.Errorf("%q is no URL that begins with postgres://, mysql://, mariadb:// or redis://", scheme)
	}
	if err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

// connect opens a connection without a login.
func connect(ctx context.Context, network, address string, p protocol) (*Link, error) {
	conn, err := new(net.Dialer).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return takeOver(conn, p)
}

// takeOver makes a Link of a connection, which it closes. The Link has a duplicate
// of its descriptor, which is not registered with the runtime's poller.
func takeOver(conn net.Conn, p protocol) (*Link, error) {
	fd, err := duplicate(conn)
	if err != nil {
		return nil, err
	}
	return &Link{protocol: p, fd: fd, in: make([]byte, 64<<10)}, nil
}

// duplicate closes a connection and returns a duplicate of its descriptor. On
// loopback it sets reno, the cheapest congestion control, for all servers alike.
func duplicate(conn net.Conn) (fd int, err error) {
	defer func() { _ = conn.Close() }() // the duplicate stays open
	sc, ok := conn.(syscall.Conn)
	if !ok {
		return 0, errors.New("connections with TLS cannot be measured: add sslmode=disable, or the like")
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return 0, err
	}
	var dup error
	err = raw.Control(func(original uintptr) {
		fd, dup = unix.FcntlInt(original, unix.F_DUPFD_CLOEXEC, 0)
		if a, ok := conn.RemoteAddr().(*net.TCPAddr); ok && a.IP.IsLoopback() {
			_ = unix.SetsockoptString(int(original), unix.IPPROTO_TCP, unix.TCP_CONGESTION, "reno") // best effort
		}
	})
	return fd, cmp.Or(err, dup)
}

// Close closes the connection.
func (l *Link) Close() { _ = unix.Close(l.fd) }

// Query appends the request of one statement.
func (l *Link) Query(dst []byte, sql string) []byte { return l.protocol.query(dst, sql) }

// Prepare prepares the statement that Execute runs. A Link has only one.
func (l *Link) Prepare(ctx context.Context, sql string) error {
	_, err := l.Exchange(ctx, l.protocol.prepare(nil, sql), 1)
	return err
}

// Execute appends the request that runs the prepared statement. Only PostgreSQL's
// statements may have parameters.
func (l *Link) Execute(dst []byte, args ...string) []byte { return l.protocol.execute(dst, args...) }

// Exec runs a statement and returns the ids in its result. After an error they are
// those that came before it. After a server's error the connection can be used if
// the server keeps it open.
func (l *Link) Exec(ctx context.Context, sql string) ([]ID, error) {
	ids, err := l.Exchange(ctx, l.Query(nil, sql), 1)
	if err != nil && len(sql) > 100 {
		sql = sql[:100] + " …"
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", sql, err)
	}
	return ids, err
}

// Exchange sends a request and waits for its answers. After an error it returns the
// ids that came before it.
func (l *Link) Exchange(ctx context.Context, request []byte, answers int) ([]ID, error) {
	err := l.send(request)
	for answers > 0 && err == nil {
		if err = ctx.Err(); err == nil && l.ready(unix.POLLIN) {
			var n int
			n, err = l.receive()
			answers -= n
		}
	}
	return l.ids, err
}

// send sends a request, whose answers are next. It waits while the socket is full.
func (l *Link) send(request []byte) error {
	l.ids = l.ids[:0]
	l.traffic += int64(len(request))
	for began := time.Now(); len(request) > 0; {
		n, errno := transfer(unix.SYS_SENDTO, l.fd, request)
		if errno == 0 {
			request = request[n:]
		} else if err := again(errno); err != nil {
			return err
		} else if !l.ready(unix.POLLOUT) && time.Since(began) > answerTimeout {
			return errNoAnswer
		}
	}
	return nil
}

// ready waits up to 100 ms until the socket can receive or send.
func (l *Link) ready(events int16) bool {
	n, err := unix.Poll([]unix.PollFd{{Fd: int32(l.fd), Events: events}}, 100)
	return err == nil && n > 0 // an error is EINTR
}

// receive receives once, and returns the number of answers that are complete.
func (l *Link) receive() (answers int, err error) {
	n, errno := transfer(unix.SYS_RECVFROM, l.fd, l.in[l.filled:])
	if errno != 0 {
		return 0, again(errno)
	}
	if n == 0 {
		return 0, cmp.Or(l.failed, io.ErrUnexpectedEOF)
	}
	l.filled += n
	l.traffic += int64(n)
	used := 0
	for {
		size, ends := l.protocol.scan(l.in[used:l.filled], l)
		if size == 0 {
			break
		}
		used += size
		if ends {
			answers++
		}
	}
	l.filled = copy(l.in, l.in[used:l.filled])
	if l.filled == len(l.in) { // a message is larger than the buffer
		l.in = append(l.in, make([]byte, len(l.in))...)
	}
	if answers > 0 {
		err, l.failed = l.failed, nil
	}
	return answers, err
}

// transfer sends or receives on a socket that does not block. A raw system call does
// not notify Go's scheduler, which saves processor time: the server runs on the same
// machine.
func transfer(call uintptr, fd int, b []byte) (int, syscall.Errno) {
	n, _, errno := syscall.RawSyscall6(call, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)), unix.MSG_NOSIGNAL, 0, 0)
	return int(n), errno
}

// again returns nil if a system call that does not block should be repeated later,
// else its error.
func again(errno syscall.Errno) error {
	if errno == unix.EAGAIN || errno == unix.EINTR {
		return nil
	}
	return errno
}

// wait waits for events of epoll, until the timeout. With a timeout of 0 it uses a
// raw system call, as transfer does.
func wait(poll int, events []unix.EpollEvent, timeout time.Duration) (int, error) {
	limit, at := unix.NsecToTimespec(int64(timeout)), unsafe.Pointer(unsafe.SliceData(events))
	var n uintptr
	var errno syscall.Errno
	if timeout == 0 {
		n, _, errno = syscall.RawSyscall6(unix.SYS_EPOLL_PWAIT2, uintptr(poll), uintptr(at), uintptr(len(events)), uintptr(unsafe.Pointer(&limit)), 0, 0)
	} else {
		n, _, errno = syscall.Syscall6(unix.SYS_EPOLL_PWAIT2, uintptr(poll), uintptr(at), uintptr(len(events)), uintptr(unsafe.Pointer(&limit)), 0, 0)
	}
	if errno != 0 {
		return 0, again(errno)
	}
	return int(n), nil
}

// watch adds a descriptor to those of epoll.
func watch(poll, fd int, events uint32) error {
	return unix.EpollCtl(poll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: events, Fd: int32(fd)})
}
