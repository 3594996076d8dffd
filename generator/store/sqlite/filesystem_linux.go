package sqlite

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
)

const (
	fuseMagic  = 0x65735546
	magicExt4  = 0x0000ef53
	magicBtrfs = 0x9123683e
	magicZFS   = 0x2fc12fc1
)

// remoteMagics are the statfs(2) types of file systems that several machines can
// mount at once.
var remoteMagics = map[uint32]string{
	0x00006969: "NFS",
	0x0000517b: "SMB",
	0xff534d42: "CIFS",
	0xfe534d42: "SMB 2",
	0x5346414f: "AFS",
	0x6b414653: "AFS",
	0x73757245: "Coda",
	0x0000564c: "NCP",
	0x01021997: "9P",
	0x00c36400: "Ceph",
	0x0bd00bd0: "Lustre",
	0x47504653: "GPFS",
	0x7461636f: "OCFS2",
	0x01161970: "GFS2",
	0x20030528: "OrangeFS",
	0x19830326: "BeeGFS",
	0xa501fcf5: "VxFS",
}

// steadyMagics are the types of file systems that are known to keep inode numbers
// over a remount.
var steadyMagics = map[uint32]string{
	magicExt4:  "ext4",
	0x58465342: "XFS",
	magicBtrfs: "btrfs",
	magicZFS:   "ZFS",
	0xf2f52010: "F2FS",
	0xca451a4e: "bcachefs",
	0x01021994: "tmpfs",
}

// localFUSE are the FUSE file systems of one machine: folders that a virtual
// machine or Docker Desktop gets from its host, and block devices.
var localFUSE = map[string]bool{"virtiofs": true, "fuseblk": true, "fuse.grpcfuse": true, "fakeowner": true}

// filesystemOf returns the file system of dir.
func filesystemOf(dir string) (filesystem, error) {
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		return filesystem{}, &os.PathError{Op: "statfs", Path: dir, Err: err}
	}
	magic := uint32(st.Type)
	if magic != fuseMagic {
		return classify(magic, ""), nil
	}
	var info syscall.Stat_t
	if err := syscall.Stat(dir, &info); err != nil {
		return filesystem{}, &os.PathError{Op: "stat", Path: dir, Err: err}
	}
	mounts, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return filesystem{}, err
	}
	defer mounts.Close()
	return classify(magic, mountType(mounts, info.Dev)), nil
}

// classify describes a statfs type. fuse is the type of a FUSE mount.
func classify(magic uint32, fuse string) filesystem {
	if name, ok := remoteMagics[magic]; ok {
		return filesystem{name: name, magic: magic, remote: true}
	}
	if name, ok := steadyMagics[magic]; ok {
		return filesystem{name: name, magic: magic, steadyInodes: true}
	}
	if magic == fuseMagic {
		return filesystem{name: cmp.Or(fuse, "FUSE"), magic: magic, remote: !localFUSE[fuse]}
	}
	return filesystem{name: fmt.Sprintf("type %#x", magic), magic: magic}
}

// mountType returns the type of the mount of device dev in the text of
// /proc/self/mountinfo (proc(5)): "36 35 98:0 / /mnt rw - TYPE source opts".
func mountType(mountinfo io.Reader, dev uint64) string {
	major := dev>>8&0xfff | dev>>32&^0xfff
	minor := dev&0xff | dev>>12&^0xff&0xffffffff
	device := fmt.Sprintf("%d:%d", major, minor)
	lines := bufio.NewScanner(mountinfo)
	for lines.Scan() {
		before, after, ok := strings.Cut(lines.Text(), " - ")
		fields := strings.Fields(before)
		if kind := strings.Fields(after); ok && len(fields) > 2 && fields[2] == device && len(kind) > 0 {
			return kind[0]
		}
	}
	return ""
}

// machineID returns the id of this machine (machine-id(5)), or "" if it has no
// lasting one. In a container it is "": the id is lost with the container's file
// system, and some container tools write a new one into each container.
func machineID() string {
	if inContainer() {
		return ""
	}
	id, err := os.ReadFile("/etc/machine-id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(id))
}

// inContainer reports whether this process sees another root file system than the
// machine's.
func inContainer() bool {
	root, err := filesystemOf("/")
	if err != nil || !root.steadyInodes || os.Getenv("KUBERNETES_SERVICE_HOST") != "" {
		return true
	}
	for _, sign := range []string{"/.dockerenv", "/run/.containerenv"} {
		if _, err := os.Stat(sign); err == nil {
			return true
		}
	}
	return false
}
