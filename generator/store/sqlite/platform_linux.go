package sqlite

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// filesystem describes the file system of a directory.
type filesystem struct {
	name         string
	remote       bool // several machines can mount it at once: locks and fsync cannot be trusted
	steadyInodes bool // inode numbers are kept over a remount
	named        bool // the fsid of statfs(2) lasts over a restart; it names the file system, not the device
}

const (
	fuseMagic = 0x65735546
	ext4      = "ext4"
)

// filesystems holds the known types (f_type) of statfs(2). The fsid of btrfs names
// the subvolume as well.
var filesystems = map[uint32]filesystem{
	0x00006969: {name: "NFS", remote: true},
	0x0000517b: {name: "SMB", remote: true},
	0xff534d42: {name: "CIFS", remote: true},
	0xfe534d42: {name: "SMB 2", remote: true},
	0x5346414f: {name: "AFS", remote: true},
	0x6b414653: {name: "AFS", remote: true},
	0x73757245: {name: "Coda", remote: true},
	0x0000564c: {name: "NCP", remote: true},
	0x01021997: {name: "9P", remote: true},
	0x00c36400: {name: "Ceph", remote: true},
	0x0bd00bd0: {name: "Lustre", remote: true},
	0x47504653: {name: "GPFS", remote: true},
	0x7461636f: {name: "OCFS2", remote: true},
	0x01161970: {name: "GFS2", remote: true},
	0x20030528: {name: "OrangeFS", remote: true},
	0x19830326: {name: "BeeGFS", remote: true},
	0xa501fcf5: {name: "VxFS", remote: true},
	0x0000ef53: {name: ext4, steadyInodes: true, named: true},
	0x9123683e: {name: "btrfs", steadyInodes: true, named: true},
	0x2fc12fc1: {name: "ZFS", steadyInodes: true, named: true},
	0x58465342: {name: "XFS", steadyInodes: true},
	0xf2f52010: {name: "F2FS", steadyInodes: true},
	0xca451a4e: {name: "bcachefs", steadyInodes: true},
	0x01021994: {name: "tmpfs", steadyInodes: true},
}

// localFUSE are the FUSE file systems of one machine: folders that a virtual
// machine or Docker Desktop gets from its host, and block devices.
var localFUSE = map[string]bool{"virtiofs": true, "fuseblk": true, "fuse.grpcfuse": true, "fakeowner": true}

// filesystemOf returns the file system of dir.
func filesystemOf(dir string) (filesystem, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return filesystem{}, &os.PathError{Op: "statfs", Path: dir, Err: err}
	}
	if uint32(st.Type) != fuseMagic {
		return classify(uint32(st.Type), ""), nil
	}
	var info unix.Stat_t
	if err := unix.Stat(dir, &info); err != nil {
		return filesystem{}, &os.PathError{Op: "stat", Path: dir, Err: err}
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	return classify(fuseMagic, mountType(string(mounts), info.Dev)), err
}

// classify describes a statfs type. fuse is the type of a FUSE mount.
func classify(magic uint32, fuse string) filesystem {
	if magic == fuseMagic {
		return filesystem{name: cmp.Or(fuse, "FUSE"), remote: !localFUSE[fuse]}
	}
	if known, ok := filesystems[magic]; ok {
		return known
	}
	return filesystem{name: fmt.Sprintf("type %#x", magic)}
}

// mountType returns the type of the mount of device dev in the text of
// /proc/self/mountinfo (proc(5)): "36 35 98:0 / /mnt rw - TYPE source opts".
func mountType(mountinfo string, dev uint64) string {
	device := fmt.Sprintf("%d:%d", unix.Major(dev), unix.Minor(dev))
	for mount := range strings.Lines(mountinfo) {
		before, after, _ := strings.Cut(mount, " - ")
		fields := strings.Fields(before)
		if kind := strings.Fields(after); len(fields) > 2 && fields[2] == device && len(kind) > 0 {
			return kind[0]
		}
	}
	return ""
}

// fsIOCGetUUID is FS_IOC_GETFSUUID of linux/fs.h, since Linux 6.9.
const fsIOCGetUUID = 0x80111500

// fsUUID is struct fsuuid2.
type fsUUID struct {
	length byte
	uuid   [16]byte
}

// identify returns the id of the file system of dir, and the birth of a file in it.
// No copy of the file has the same birth. "" means unknown.
func (f filesystem) identify(dir *os.File, file string) (volume, birth string, err error) {
	fd := int(dir.Fd())
	var st unix.Statfs_t
	if err := unix.Fstatfs(fd, &st); err != nil {
		return "", "", os.NewSyscallError("statfs", err)
	}
	var uuid fsUUID
	if f.named {
		volume = fmt.Sprintf("fsid %08x%08x", uint32(st.Fsid.Val[0]), uint32(st.Fsid.Val[1]))
	} else if f.steadyInodes {
		if _, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), fsIOCGetUUID, uintptr(unsafe.Pointer(&uuid))); e == 0 {
			volume = fmt.Sprintf("uuid %x", uuid.uuid[:min(uuid.length, 16)])
		}
	}
	var stat unix.Statx_t
	err = unix.Statx(fd, file, unix.AT_SYMLINK_NOFOLLOW, unix.STATX_BTIME, &stat)
	switch {
	case errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EPERM): // an old sandbox
		return volume, "", nil
	case err != nil:
		return "", "", &fs.PathError{Op: "statx", Path: file, Err: err}
	case stat.Mask&unix.STATX_BTIME != 0 && (stat.Btime.Sec != 0 || stat.Btime.Nsec != 0):
		return volume, fmt.Sprintf("%d.%09d", stat.Btime.Sec, stat.Btime.Nsec), nil
	case f.name == ext4: // inodes of 128 bytes do not hold the birth time
		return volume, generation(fd, file), nil
	}
	return volume, "", nil
}

// generation returns the random number that ext4 gives to each new file. It is the
// second half of a handle of type FILEID_INO32_GEN.
func generation(dir int, file string) string {
	h, _, err := unix.NameToHandleAt(dir, file, 0)
	if err != nil || h.Type() != 1 || h.Size() != 8 {
		return ""
	}
	return fmt.Sprintf("generation %d", binary.NativeEndian.Uint32(h.Bytes()[4:]))
}

// machineIDs returns the id of this machine (machine-id(5)), and the id that its
// maker or the hypervisor gave to it. A clone of a virtual machine keeps the first,
// but gets another one of the second kind. An id that this process may not read is
// "". Both are "" in a container, which may be started again elsewhere: there the
// machine-id is lost with the container's file system, and some container tools
// write a new one into each container.
func machineIDs() (machine, hardware string) {
	if inContainer() {
		return "", ""
	}
	read := func(file string) string {
		id, _ := os.ReadFile(file)
		return strings.TrimSpace(string(id))
	}
	files := []string{
		"/sys/class/dmi/id/product_uuid", // only root may read it
		"/sys/hypervisor/uuid",           // of Xen
	}
	if read("/sys/class/dmi/id/sys_vendor") == "Amazon EC2" {
		files = append(files, "/sys/class/dmi/id/board_asset_tag") // id of the instance
	}
	for _, file := range files {
		if id := read(file); strings.Trim(id, "0f-") != "" {
			return read("/etc/machine-id"), id
		}
	}
	return read("/etc/machine-id"), ""
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
