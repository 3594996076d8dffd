package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"nextid/generator/history"
)

// These tests run nextid in a virtual machine. QEMU emulates the processor, so
// neither KVM nor root is needed. The machine starts in 15 s on an idle machine, in
// minutes on a busy one. "make test-qemu" runs these tests.

// bootPatience bounds how long a machine may take until its server answers.
const bootPatience = 10 * time.Minute

// machine is a virtual machine that runs a server and nothing else.
type machine struct {
	t       *testing.T
	dir     string // with its kernel's initrd, its disk and its monitor
	kernel  string
	address string // of the server in it, on this machine
	serial  *bytes.Buffer
	cmd     *exec.Cmd
	ended   chan struct{}
}

// initScript is the machine's init, with %s for the server's arguments. The network
// is that of QEMU's user mode: 10.0.2.2 is the host.
const initScript = `#!/bin/busybox sh
b=/bin/busybox
$b mount -t proc proc /proc
$b mount -t sysfs sys /sys
$b mount -t devtmpfs dev /dev
for m in /mod/*; do $b insmod $m; done
$b ifconfig lo 127.0.0.1 up
$b ifconfig eth0 10.0.2.15 netmask 255.255.255.0 up
$b mount -t ext4 /dev/vda /data
$b echo 0123456789abcdef0123456789abcdef > /etc/machine-id
/bin/nextid serve --data /data/store --pg 0.0.0.0:5432 --mysql off --http off --allow-plaintext %s
$b echo the server ended with $?
$b sleep 1000000
`

// qemu skips the test unless it is asked for, and returns the kernel's file.
func qemu(t *testing.T) (kernel string) {
	t.Helper()
	if os.Getenv("TEST_QEMU") == "" {
		t.Skip("takes minutes: make test-qemu")
	}
	kernels, _ := filepath.Glob("/boot/vmlinuz-*-cloud-amd64") // the pattern is right
	for _, program := range []string{"qemu-system-x86_64", "qemu-img", "mkfs.ext4", "/bin/busybox"} {
		if _, err := exec.LookPath(program); err != nil || len(kernels) == 0 {
			t.Fatal("on Debian: apt-get install qemu-system-x86 qemu-utils linux-image-cloud-amd64 busybox-static e2fsprogs")
		}
	}
	return slices.Max(kernels)
}

// newMachine makes a machine with an empty disk. The machine is off.
func newMachine(t *testing.T, serveFlags string) *machine {
	t.Helper()
	m := &machine{t: t, dir: t.TempDir(), kernel: qemu(t)}
	m.buildInitrd(serveFlags)
	raw := filepath.Join(m.dir, "raw")
	if err := errors.Join(os.WriteFile(raw, nil, 0o600), os.Truncate(raw, 64<<20)); err != nil {
		t.Fatal(err)
	}
	shell(t, "mkfs.ext4", "-q", "-F", raw)
	shell(t, "qemu-img", "convert", "-f", "raw", "-O", "qcow2", raw, filepath.Join(m.dir, "disk"))
	t.Cleanup(m.off)
	return m
}

// buildInitrd packs busybox, the program and the kernel's drivers.
func (m *machine) buildInitrd(serveFlags string) {
	m.t.Helper()
	root := filepath.Join(m.dir, "root")
	for _, dir := range []string{"bin", "mod", "proc", "sys", "dev", "data", "etc"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			m.t.Fatal(err)
		}
	}
	build := exec.CommandContext(m.t.Context(), "go", "build", "-ldflags=-s -w", "-o", filepath.Join(root, "bin", "nextid"), ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		m.t.Fatalf("%v\n%s", err, out)
	}
	shell(m.t, "cp", "/bin/busybox", filepath.Join(root, "bin"))
	for i, file := range m.drivers() {
		shell(m.t, "cp", file, filepath.Join(root, "mod", fmt.Sprintf("%02d-%s", i, filepath.Base(file)))) // in the order of loading
	}
	if err := os.WriteFile(filepath.Join(root, "init"), fmt.Appendf(nil, initScript, serveFlags), 0o755); err != nil {
		m.t.Fatal(err)
	}
	shell(m.t, "sh", "-c", fmt.Sprintf("cd %s && find . | /bin/busybox cpio -o -H newc >%s", root, filepath.Join(m.dir, "initrd")))
}

// drivers returns the kernel modules for disk, network and file system, each after
// those that it needs. Drivers that are built into the kernel have no file.
func (m *machine) drivers() (files []string) {
	m.t.Helper()
	modules := "/lib/modules/" + strings.TrimPrefix(filepath.Base(m.kernel), "vmlinuz-")
	text, err := os.ReadFile(filepath.Join(modules, "modules.dep"))
	if err != nil {
		m.t.Skip(err)
	}
	for _, name := range []string{"virtio_pci", "virtio_blk", "virtio_net", "ext4"} {
		for line := range strings.Lines(string(text)) {
			file, needs, _ := strings.Cut(line, ":")
			if filepath.Base(file) != name+".ko" {
				continue
			}
			needed := strings.Fields(needs)
			slices.Reverse(needed)
			for _, f := range append(needed, file) {
				if f = filepath.Join(modules, f); !slices.Contains(files, f) {
					files = append(files, f)
				}
			}
		}
	}
	return files
}

// on switches the machine on and waits until its server answers.
func (m *machine) on() {
	m.t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		m.t.Fatal(err)
	}
	m.address = l.Addr().String()
	l.Close()
	m.serial = &bytes.Buffer{}
	m.cmd = exec.Command("qemu-system-x86_64", "-accel", "tcg", "-m", "512", "-nodefaults", "-nographic", "-no-reboot",
		"-kernel", m.kernel, "-initrd", filepath.Join(m.dir, "initrd"), "-append", "console=ttyS0 quiet panic=-1",
		"-drive", "if=virtio,cache=writeback,file="+filepath.Join(m.dir, "disk"),
		"-netdev", "user,id=n,hostfwd=tcp:"+m.address+"-:5432", "-device", "virtio-net-pci,netdev=n,romfile=",
		"-serial", "stdio", "-monitor", "unix:"+filepath.Join(m.dir, "monitor")+",server=on,wait=off")
	m.cmd.Stdout, m.cmd.Stderr = m.serial, m.serial
	m.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := m.cmd.Start(); err != nil {
		m.t.Fatal(err)
	}
	m.ended = make(chan struct{})
	go func() {
		_ = m.cmd.Wait() // the process was killed
		close(m.ended)
	}()
	m.answers()
}

// answers waits until the server answers.
func (m *machine) answers() *pgx.Conn {
	m.t.Helper()
	began := time.Now()
	for time.Since(began) < bootPatience {
		ctx, cancel := context.WithTimeout(m.t.Context(), 20*time.Second)
		conn, err := pgx.Connect(ctx, "postgres://anybody@"+m.address+"/nextid?sslmode=disable")
		if err == nil {
			_, err = conn.Exec(ctx, "SELECT 1")
		}
		cancel()
		if err == nil {
			m.t.Logf("the server answers after %v", time.Since(began).Round(time.Second))
			m.t.Cleanup(func() { _ = conn.Close(context.Background()) }) // the machine may be off
			return conn
		}
		select {
		case <-m.ended:
			m.t.Fatalf("the machine ended:\n%s", m.serial)
		case <-time.After(200 * time.Millisecond):
		}
	}
	m.off()
	m.t.Fatalf("the server does not answer:\n%s", m.serial)
	return nil
}

// off cuts the power. All that the machine's kernel has not written is lost. Lost
// is also what QEMU keeps in memory until the machine flushes the disk: the
// allocation of new parts of the image.
func (m *machine) off() {
	if m.cmd != nil {
		_ = m.cmd.Process.Kill() // it may have ended
		<-m.ended
	}
}

// monitor sends QEMU a command and waits until it is done.
func (m *machine) monitor(command string) {
	m.t.Helper()
	conn, err := net.Dial("unix", filepath.Join(m.dir, "monitor"))
	if err != nil {
		m.t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(bootPatience))
	until := func() string {
		var said []byte
		for b := make([]byte, 1); !bytes.HasSuffix(said, []byte("(qemu) ")); said = append(said, b...) {
			if _, err := conn.Read(b); err != nil {
				m.t.Fatalf("%s: %v: %q", command, err, said)
			}
		}
		return string(said)
	}
	until()
	fmt.Fprintln(conn, command)
	if said := until(); strings.Contains(said, "Error") {
		m.t.Fatalf("%s: %q", command, said)
	}
}

// create makes the crowd's generators.
func (m *machine) create(options string) {
	m.t.Helper()
	conn := m.answers()
	for name, kind := range map[string]string{"flakes": "snowflake", "numbers": "segment"} {
		ctx, cancel := context.WithTimeout(m.t.Context(), bootPatience)
		_, err := conn.Exec(ctx, "SELECT create_generator($1, $2, $3)", name, kind, options)
		cancel()
		if err != nil {
			m.t.Fatal(err)
		}
	}
}

// drawFor lets the crowd draw.
func (m *machine) drawFor(c *crowd, d time.Duration) (stop func()) {
	ctx, cancel := context.WithTimeout(m.t.Context(), d)
	wait := c.drawFrom(ctx, m.address, 4)
	return func() {
		wait()
		cancel()
	}
}

// TestMachineIsSwitchedOff cuts the power while ids are drawn from a store on the
// machine's disk.
func TestMachineIsSwitchedOff(t *testing.T) {
	m := newMachine(t, "")
	c := &crowd{log: &history.Log{}}
	m.on()
	m.create("{}")
	for range 3 {
		drawn := c.log.Len()
		stop := m.drawFor(c, bootPatience)
		for began := time.Now(); c.log.Len() < drawn+2000 && time.Since(began) < bootPatience; {
			pause(t, 100*time.Millisecond)
		}
		m.off()
		stop()
		if c.log.Len() < drawn+2000 {
			t.Fatalf("few ids were drawn:\n%s", m.serial)
		}
		m.on()
	}
	m.drawFor(c, 5*time.Second)()
	c.judge(t)
}

// TestMachineIsSetBack: a machine goes back to a snapshot of its memory and disk,
// and so the server goes back to its reservations. Strict generators on a store
// elsewhere repeat no id. docs/failover.md describes the other generators.
func TestMachineIsSetBack(t *testing.T) {
	qemu(t)
	store := strings.Replace(prepared(t, "postgres").url, "127.0.0.1", "10.0.2.2", 1)
	m := newMachine(t, "--store '"+store+"'")
	c := &crowd{log: &history.Log{}}
	m.on()
	m.create(`{"strict":true}`)
	m.drawFor(c, 10*time.Second)()
	m.monitor("savevm before")
	m.drawFor(c, 10*time.Second)()
	for range 2 {
		m.monitor("loadvm before")
		m.answers()
		drawn := c.log.Len()
		m.drawFor(c, 20*time.Second)()
		if c.log.Len() == drawn {
			t.Errorf("it gave no id after it was set back:\n%s", m.serial)
		}
	}
	c.judge(t)
}
