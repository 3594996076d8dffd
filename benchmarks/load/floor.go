package load

import (
	"encoding/binary"
	"io"
	"net"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// Floor answers every query on a TCP listener with one and the same row, as nextid
// would, until the process ends. Its speed is the limit that system calls and TCP
// set. One thread serves all clients by epoll(7). It polls for pollTime before it
// sleeps. Floor speaks PostgreSQL's protocol, or MySQL's.
func Floor(l net.Listener, mysql bool) error {
	poll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return err
	}
	failed := make(chan error)
	go func() {
		runtime.LockOSThread()
		failed <- (&floor{poll, mysql, map[int][]byte{}}).run()
	}()
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				failed <- err
				return
			}
			go welcome(conn, poll, mysql)
		}
	}()
	return <-failed
}

// welcome logs a client in, and hands it to the thread of an epoll. A client that
// leaves before has its connection closed.
func welcome(conn net.Conn, poll int, mysql bool) {
	defer func() { _ = conn.Close() }()
	if mysql {
		_, _ = io.WriteString(conn, mysqlFloorHello) // the read fails, too
	}
	login := make([]byte, 4<<10)
	if _, err := conn.Read(login); err != nil {
		return
	}
	fd, err := duplicate(conn)
	if err != nil {
		return
	}
	answer := pgFloorHello
	if mysql {
		answer = mysqlFloorWelcome
	}
	if _, err := unix.Write(fd, []byte(answer)); err != nil || watch(poll, fd, unix.EPOLLIN|unix.EPOLLET) != nil {
		_ = unix.Close(fd)
	}
}

// pollTime is longer than a client on the same machine takes between two queries.
// Waking a thread that sleeps takes longer than to answer one: with one client, a
// floor that slept at once was slower than nextid, whose runtime keeps a processor
// awake.
const pollTime = 50 * time.Microsecond

// floor is the state of the thread that answers.
type floor struct {
	poll    int
	mysql   bool
	partial map[int][]byte // incomplete messages, by descriptor
}

func (f *floor) run() error {
	events := make([]unix.EpollEvent, 256)
	buffer, out := make([]byte, 64<<10), make([]byte, 0, 1<<20)
	for {
		n, err := 0, error(nil)
		for begin := time.Now(); n == 0 && err == nil && time.Since(begin) < pollTime; {
			n, err = wait(f.poll, events, 0)
		}
		if n == 0 && err == nil {
			n, err = wait(f.poll, events, time.Hour)
		}
		if err != nil {
			return err
		}
		for _, e := range events[:n] {
			out = f.serve(int(e.Fd), buffer, out)
		}
	}
}

// serve answers what has arrived. It reads until a read is short, since epoll tells of
// input once (EPOLLET).
func (f *floor) serve(fd int, buffer, out []byte) []byte {
	for {
		n, errno := transfer(unix.SYS_RECVFROM, fd, buffer)
		if errno == unix.EAGAIN {
			return out
		}
		if errno != 0 || n == 0 {
			delete(f.partial, fd)
			_ = unix.Close(fd) // the client has left
			return out
		}
		in := buffer[:n]
		if before, ok := f.partial[fd]; ok {
			in = append(before, in...)
			delete(f.partial, fd)
		}
		out = out[:0]
		for len(in) >= 5 {
			size, answer := 1+int(binary.BigEndian.Uint32(in[1:])), pgAnswers[in[0]]
			if f.mysql {
				size, answer = 4+int(in[0])+int(in[1])<<8+int(in[2])<<16, mysqlAnswers[in[4]]
			}
			if size > len(in) {
				break
			}
			in, out = in[size:], append(out, answer...)
		}
		if len(in) > 0 {
			f.partial[fd] = slices.Clone(in)
		}
		for sent := 0; sent < len(out); {
			n, errno := transfer(unix.SYS_SENDTO, fd, out[sent:])
			if errno != 0 && errno != unix.EAGAIN {
				break // the next read fails
			}
			if errno == 0 {
				sent += n
			}
		}
		if n < len(buffer) {
			return out
		}
	}
}

// The answers of PostgreSQL's protocol: a row description, a row with
// "7123456789012345678", the end.
const (
	pgFloorColumn = "T\x00\x00\x00\x20\x00\x01next_id\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x14\x00\x08\xff\xff\xff\xff\x00\x00"
	pgFloorRow    = "D\x00\x00\x00\x1d\x00\x01\x00\x00\x00\x137123456789012345678C\x00\x00\x00\x0dSELECT 1\x00"
	pgFloorReady  = "Z\x00\x00\x00\x05I"
	pgFloorHello  = "R\x00\x00\x00\x08\x00\x00\x00\x00" +
		"S\x00\x00\x00\x18server_version\x0015.0\x00" + "S\x00\x00\x00\x19client_encoding\x00UTF8\x00" +
		"S\x00\x00\x00\x23standard_conforming_strings\x00on\x00" +
		"K\x00\x00\x00\x0c\x00\x00\x00\x01\x00\x00\x00\x02" + pgFloorReady
)

// pgAnswers holds the answers by message type.
var pgAnswers = [256]string{
	'Q': pgFloorColumn + pgFloorRow + pgFloorReady, 'P': "1\x00\x00\x00\x04", 'B': "2\x00\x00\x00\x04",
	'D': pgFloorColumn, 'E': pgFloorRow, 'S': pgFloorReady,
}

// The answers of MySQL's protocol: one column, a row in text or in binary, the end.
const (
	mysqlFloorHello = "J\x00\x00\x00\x0a8.0.11\x00\x01\x00\x00\x0012345678\x00\x0f\xa2-\x02\x00\x08\x00\x15\x00\x00\x00\x00\x00\x00\x00" +
		"\x00\x00\x00123456789012\x00mysql_native_password\x00"
	mysqlFloorWelcome = "\x07\x00\x00\x02\x00\x00\x00\x02\x00\x00\x00"

	mysqlFloorColumn = "'\x00\x00\x02\x03def\x00\x00\x00\x11next_id('orders')\x00\x0c?\x00\x14\x00\x00\x00\x08\x00\x00\x00\x00\x00"
	mysqlFloorEnd3   = "\x05\x00\x00\x03\xfe\x00\x00\x02\x00"
	mysqlFloorHead   = "\x01\x00\x00\x01\x01" + mysqlFloorColumn + mysqlFloorEnd3
	mysqlFloorEnd5   = "\x05\x00\x00\x05\xfe\x00\x00\x02\x00"
)

// mysqlAnswers holds the answers by command: COM_QUERY, COM_STMT_PREPARE and
// COM_STMT_EXECUTE.
var mysqlAnswers = [256]string{
	3:  mysqlFloorHead + "\x14\x00\x00\x04\x137123456789012345678" + mysqlFloorEnd5,
	22: "\x0c\x00\x00\x01\x00\x01\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00" + mysqlFloorColumn + mysqlFloorEnd3,
	23: mysqlFloorHead + "\x0a\x00\x00\x04\x00\x00N\xf3\xec95\x9a\xdbb" + mysqlFloorEnd5,
}
