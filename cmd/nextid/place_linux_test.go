package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// disk is a file system in an image file of its own.
type disk struct {
	t     *testing.T
	kind  string // of mkfs
	image string
	path  string // where it is mounted
}

// newDisk makes and mounts a file system, or skips the test.
func newDisk(t *testing.T, kind string) *disk {
	t.Helper()
	d := &disk{t: t, kind: kind, image: filepath.Join(t.TempDir(), kind+".img")}
	f, err := os.Create(d.image)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Truncate(320 << 20); err != nil { // the least that mkfs.xfs takes is 300 MiB
		t.Fatal(err)
	}
	f.Close()
	if os.Getuid() != 0 {
		t.Skip("only root can mount")
	}
	if _, err := exec.LookPath("mkfs." + kind); err != nil {
		t.Skipf("mkfs.%s is not installed", kind)
	}
	shell(t, "mkfs."+kind, map[string]string{"ext4": "-q", "xfs": "-q", "btrfs": "-q"}[kind], d.image)
	d.mount()
	return d
}

func (d *disk) mount() {
	d.t.Helper()
	path, err := os.MkdirTemp("", "nextid-disk")
	if err != nil {
		d.t.Fatal(err)
	}
	if out, err := exec.Command("mount", "-o", "loop", d.image, path).CombinedOutput(); err != nil {
		os.Remove(path)
		d.t.Skipf("mount is not allowed here: %v %s", err, out)
	}
	d.path = path
	d.t.Cleanup(func() {
		if d.path == path {
			d.unmount()
		}
	})
}

func (d *disk) unmount() {
	d.t.Helper()
	if err := syscall.Unmount(d.path, 0); err != nil {
		d.t.Errorf("unmount %s: %v", d.path, err)
	}
	os.Remove(d.path)
	d.path = ""
}

// shell runs a program that must succeed.
func shell(t *testing.T, program string, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), program, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", program, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// serves checks that a server with a data directory starts and issues an id.
func serves(t *testing.T, data string) {
	t.Helper()
	s := startServer(t, nil, "--data", data)
	draw(t, s.connect(), "orders")
	s.signal(syscall.SIGTERM)
	if code := s.wait(); code != exitOK {
		t.Fatalf("exit code %d\n%s", code, strings.Join(s.lines, "\n"))
	}
}

// refused checks that no server starts with a data directory, and that the error
// contains why.
func refused(t *testing.T, data, why string) {
	t.Helper()
	s := spawn(t, serveCommand("--data", data), nil)
	line := s.waitLine("nextid") // of a refusal, or the ready line
	if strings.Contains(line, "nextid ready") {
		t.Errorf("a server started with %s", data)
		s.kill9()
		return
	}
	if code := s.wait(); code != exitFailed || !strings.Contains(line, why) {
		t.Errorf("%s: exit code %d and %q, want %q", data, code, line, why)
	}
}

// TestCopiesOnFileSystemsOfTheirOwn: a copy on another file system is refused, even
// on the same machine and with the same inode number.
func TestCopiesOnFileSystemsOfTheirOwn(t *testing.T) {
	for _, kind := range []string{"ext4", "xfs", "btrfs"} {
		t.Run(kind, func(t *testing.T) {
			first, second := newDisk(t, kind), newDisk(t, kind)
			data := filepath.Join(first.path, "data")
			serves(t, data)

			shell(t, "cp", "-a", data, second.path)
			if a, b := inode(t, filepath.Join(data, "nextid.db")), inode(t, filepath.Join(second.path, "data", "nextid.db")); a != b {
				t.Logf("the inode numbers differ: %d and %d", a, b)
			}
			refused(t, filepath.Join(second.path, "data"), "is a copy")

			// The store itself starts, also after a remount or a rename.
			first.unmount()
			first.mount()
			data = filepath.Join(first.path, "data")
			serves(t, data)
			if err := os.Rename(data, data+"2"); err != nil {
				t.Fatal(err)
			}
			serves(t, data+"2")
			bound := t.TempDir()
			shell(t, "mount", "--bind", first.path, bound)
			t.Cleanup(func() { _ = syscall.Unmount(bound, 0) })
			serves(t, filepath.Join(bound, "data2"))
		})
	}
}

// TestCopyOfADiskWithAnIdOfItsOwn copies a disk image and gives the copy's file
// system a new id, as administrators do: one machine cannot mount both otherwise.
func TestCopyOfADiskWithAnIdOfItsOwn(t *testing.T) {
	for kind, renew := range map[string][]string{
		"ext4": {"tune2fs", "-f", "-U", "random"}, "xfs": {"xfs_admin", "-U", "generate"}, "btrfs": {"btrfstune", "-f", "-u"},
	} {
		t.Run(kind, func(t *testing.T) {
			d := newDisk(t, kind)
			serves(t, filepath.Join(d.path, "data"))
			d.unmount()
			if kind == "ext4" { // tune2fs requires a check; exit code 1 stands for a repair
				shell(t, "sh", "-c", `e2fsck -fy "$0" || [ $? = 1 ]`, d.image)
			}
			shell(t, renew[0], append(renew[1:], d.image)...)
			d.mount()
			refused(t, filepath.Join(d.path, "data"), "is a copy")
		})
	}
}

func TestSnapshotOfBtrfs(t *testing.T) {
	d := newDisk(t, "btrfs")
	live := filepath.Join(d.path, "live")
	shell(t, "btrfs", "subvolume", "create", live)
	serves(t, filepath.Join(live, "data"))
	shell(t, "btrfs", "subvolume", "snapshot", live, filepath.Join(d.path, "snapshot"))
	refused(t, filepath.Join(d.path, "snapshot", "data"), "is a copy")
	serves(t, filepath.Join(live, "data"))
}

// TestStoreInTheImageOfContainers: a store in an image is refused in its containers.
// Each of them would go on from the same reservations.
func TestStoreInTheImageOfContainers(t *testing.T) {
	d := newDisk(t, "ext4")
	in := func(name string) string { return filepath.Join(d.path, name) }
	serves(t, filepath.Join(in("image"), "data"))
	container := func(n string) string {
		for _, name := range []string{"upper", "work", "root"} {
			if err := os.MkdirAll(in(name+n), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		shell(t, "mount", "-t", "overlay", "overlay", "-o",
			"lowerdir="+in("image")+",upperdir="+in("upper"+n)+",workdir="+in("work"+n), in("root"+n))
		t.Cleanup(func() { _ = syscall.Unmount(in("root"+n), 0) })
		return filepath.Join(in("root"+n), "data")
	}
	for _, n := range []string{"1", "2"} {
		refused(t, container(n), "is a copy")
	}
	// A store that a container makes exists as long as its layer.
	own := filepath.Join(in("root1"), "own")
	serves(t, own)
	if err := syscall.Unmount(in("root1"), 0); err != nil {
		t.Fatal(err)
	}
	container("1")
	serves(t, own)
}

func TestCopyOnTmpfs(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can mount")
	}
	var paths []string
	for range 2 {
		path := t.TempDir()
		if out, err := exec.Command("mount", "-t", "tmpfs", "tmpfs", path).CombinedOutput(); err != nil {
			t.Skipf("mount is not allowed here: %v %s", err, out)
		}
		t.Cleanup(func() { _ = syscall.Unmount(path, 0) })
		paths = append(paths, path)
	}
	serves(t, filepath.Join(paths[0], "data"))
	shell(t, "cp", "-a", filepath.Join(paths[0], "data"), paths[1])
	refused(t, filepath.Join(paths[1], "data"), "is a copy")
	serves(t, filepath.Join(paths[0], "data"))
}

func inode(t *testing.T, file string) uint64 {
	t.Helper()
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	return info.Sys().(*syscall.Stat_t).Ino
}
