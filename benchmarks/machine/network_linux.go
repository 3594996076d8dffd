package machine

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// ownNetwork marks a process that OwnNetwork has started.
const ownNetwork = "BENCH_OWN_NETWORK"

// OwnNetwork runs this program again with the same arguments in a network
// namespace of its own, where all TCP uses the congestion control reno: the
// machine's default may pace its packets, which costs some servers more than
// others. done says that this was the first run, and that err is the second
// one's. Only root can make a namespace; others measure in the machine's own.
func OwnNetwork() (done bool, err error) {
	switch {
	case os.Getenv(ownNetwork) != "":
		return false, setUpNetwork()
	case os.Getuid() != 0:
		return false, nil
	}
	self, err := os.Executable()
	if err != nil {
		return false, err
	}
	cmd := exec.Command(self, os.Args[1:]...)
	cmd.Env = append(os.Environ(), ownNetwork+"=own")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGTERM}
	err = cmd.Run()
	if errors.Is(err, syscall.EPERM) { // root of a container
		return false, nil
	}
	if ended := new(exec.ExitError); errors.As(err, &ended) {
		os.Exit(ended.ExitCode()) // it has said why
	}
	return true, err
}

// setUpNetwork makes a new namespace usable: the loopback is down in it.
func setUpNetwork() error {
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(socket) }()
	loopback, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	loopback.SetUint16(unix.IFF_UP)
	if err := unix.IoctlIfreq(socket, unix.SIOCSIFFLAGS, loopback); err != nil {
		return fmt.Errorf("the loopback of the namespace: %w", err)
	}
	return os.WriteFile("/proc/sys/net/ipv4/tcp_congestion_control", []byte("reno"), 0)
}

// Network names the network that measurements use.
func Network() string {
	congestion, err := os.ReadFile("/proc/sys/net/ipv4/tcp_congestion_control")
	if err != nil {
		return "the machine's network"
	}
	where := "the machine's network"
	if os.Getenv(ownNetwork) != "" {
		where = "a network namespace of its own"
	}
	return fmt.Sprintf("%s, congestion control %s", where, congestion[:max(len(congestion)-1, 0)])
}
