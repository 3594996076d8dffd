package rig

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// MariaDB is a running MariaDB.
type MariaDB struct {
	*Process
	Version string
}

// StartMariaDB starts MariaDB with a new data directory in dir and runs a
// script on it.
func StartMariaDB(dir, script string) (*MariaDB, error) {
	const daemon = "/usr/sbin/mariadbd"
	if _, err := os.Stat(daemon); err != nil {
		return nil, errors.New("MariaDB is not installed: apt-get install mariadb-server mariadb-client")
	}
	home := filepath.Join(dir, "mariadb")
	if err := os.Mkdir(home, 0o700); err != nil {
		return nil, err
	}
	as := &syscall.SysProcAttr{}
	if os.Getuid() == 0 {
		var err error
		if as.Credential, err = credential("mysql"); err != nil {
			return nil, err
		}
		if err := os.Chown(home, int(as.Credential.Uid), int(as.Credential.Gid)); err != nil {
			return nil, err
		}
	}
	data, socket := filepath.Join(home, "data"), filepath.Join(home, "s")
	install := exec.Command("mariadb-install-db", "--no-defaults", "--datadir="+data, "--auth-root-authentication-method=normal")
	install.SysProcAttr, install.Dir = as, home
	if out, err := install.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("mariadb-install-db: %w\n%s", err, out)
	}
	port, err := FreePort()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(daemon, "--no-defaults", "--datadir="+data, "--socket="+socket, "--bind-address=127.0.0.1", "--port="+port,
		"--pid-file="+filepath.Join(home, "pid"), "--log-error="+filepath.Join(home, "log"), "--max-connections=200")
	cmd.SysProcAttr, cmd.Dir = as, home
	p, err := Start(cmd, port)
	if err != nil {
		return nil, err
	}
	version, err := prepareMariaDB(socket, script)
	if err != nil {
		p.Stop()
		return nil, err
	}
	return &MariaDB{Process: p, Version: "MariaDB " + version}, nil
}

// prepareMariaDB waits until MariaDB listens, runs the script and asks for
// the version.
func prepareMariaDB(socket, script string) (version string, err error) {
	for range 100 {
		if c, err := net.Dial("unix", socket); err == nil {
			_ = c.Close() // it has served its purpose
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	out, err := exec.Command("mariadb", "--no-defaults", "-S", socket, "-u", "root", "-N", "-e", script+"; SELECT VERSION()").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("prepare MariaDB: %w\n%s", err, out)
	}
	return strings.TrimSpace(string(out)), nil
}
