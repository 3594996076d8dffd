package sqlite

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// File systems whose statfs(2) names them, and not the device, so that the
// name lasts over a restart: ext4 and ZFS name the file system, btrfs its
// subvolume as well.
var namedMagics = map[uint32]bool{
	magicExt4:  true,
	magicBtrfs: true,
	magicZFS:   true,
}

// fsIOCGetUUID is FS_IOC_GETFSUUID of linux/fs.h, of Linux 6.9.
const fsIOCGetUUID = 0x80111500

// fsUUID is struct fsuuid2.
type fsUUID struct {
	length byte
	uuid   [16]byte
}

// identify names the file system of dir, and the birth of a file in it that
// no copy of the file shares. "" stands for what cannot be known.
func (f filesystem) identify(dir *os.File, file string) (volume, birth string, err error) {
	fd := int(dir.Fd())
	var st unix.Statfs_t
	if err := unix.Fstatfs(fd, &st); err != nil {
		return "", "", os.NewSyscallError("statfs", err)
	}
	var uuid fsUUID
	if namedMagics[f.magic] {
		volume = fmt.Sprintf("fsid %08x%08x", uint32(st.Fsid.Val[0]), uint32(st.Fsid.Val[1]))
	} else if f.steadyInodes {
		if _, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), fsIOCGetUUID, uintptr(unsafe.Pointer(&uuid))); e == 0 {
			volume = fmt.Sprintf("uuid %x", uuid.uuid[:min(uuid.length, 16)])
		}
	}
	var stat unix.Statx_t
	err = unix.Statx(fd, file, unix.AT_SYMLINK_NOFOLLOW, unix.STATX_BTIME, &stat)
	switch {
	case errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EPERM): // a sandbox of old
		return volume, "", nil
	case err != nil:
		return "", "", &fs.PathError{Op: "statx", Path: file, Err: err}
	case stat.Mask&unix.STATX_BTIME != 0 && (stat.Btime.Sec != 0 || stat.Btime.Nsec != 0):
		return volume, fmt.Sprintf("%d.%09d", stat.Btime.Sec, stat.Btime.Nsec), nil
	case f.magic == magicExt4: // with inodes of 128 bytes, which have no room for it
		return volume, generation(fd, file), nil
	}
	return volume, "", nil
}

// generation is the random number that ext4 gives to each file it makes. It
// is the second half of a handle of type FILEID_INO32_GEN.
func generation(dir int, file string) string {
	h, _, err := unix.NameToHandleAt(dir, file, 0)
	if err != nil || h.Type() != 1 || h.Size() != 8 {
		return ""
	}
	return fmt.Sprintf("generation %d", binary.NativeEndian.Uint32(h.Bytes()[4:]))
}

// hardwareID returns what the machine is called by its maker, or by the hypervisor
// that made it: a virtual machine that was cloned keeps its machine-id, and
// has another one. "" where there is none that this process may read, and in
// a container, which may go on elsewhere.
func hardwareID() string {
	if inContainer() {
		return ""
	}
	files := []string{
		"/sys/class/dmi/id/product_uuid", // only root may read it
		"/sys/hypervisor/uuid",           // of Xen
	}
	if vendor, err := os.ReadFile("/sys/class/dmi/id/sys_vendor"); err == nil && strings.TrimSpace(string(vendor)) == "Amazon EC2" {
		files = append(files, "/sys/class/dmi/id/board_asset_tag") // the instance
	}
	for _, file := range files {
		if id, err := os.ReadFile(file); err == nil && strings.Trim(string(id), "0f-\n") != "" {
			return strings.TrimSpace(string(id))
		}
	}
	return ""
}
