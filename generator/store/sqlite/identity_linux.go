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

// namedMagics are the file systems whose fsid of statfs(2) lasts over a restart. It
// names the file system, not the device. On btrfs it names the subvolume as well.
var namedMagics = map[uint32]bool{
	magicExt4:  true,
	magicBtrfs: true,
	magicZFS:   true,
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
	case errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EPERM): // an old sandbox
		return volume, "", nil
	case err != nil:
		return "", "", &fs.PathError{Op: "statx", Path: file, Err: err}
	case stat.Mask&unix.STATX_BTIME != 0 && (stat.Btime.Sec != 0 || stat.Btime.Nsec != 0):
		return volume, fmt.Sprintf("%d.%09d", stat.Btime.Sec, stat.Btime.Nsec), nil
	case f.magic == magicExt4: // inodes of 128 bytes do not hold the birth time
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

// hardwareID returns the id that the maker or the hypervisor gave to the machine. A
// clone of a virtual machine keeps its machine-id, but gets another id of this
// kind. It is "" if this process may read none, and in a container, which may be
// started again elsewhere.
func hardwareID() string {
	if inContainer() {
		return ""
	}
	files := []string{
		"/sys/class/dmi/id/product_uuid", // only root may read it
		"/sys/hypervisor/uuid",           // of Xen
	}
	if vendor, err := os.ReadFile("/sys/class/dmi/id/sys_vendor"); err == nil && strings.TrimSpace(string(vendor)) == "Amazon EC2" {
		files = append(files, "/sys/class/dmi/id/board_asset_tag") // id of the instance
	}
	for _, file := range files {
		if id, err := os.ReadFile(file); err == nil && strings.Trim(string(id), "0f-\n") != "" {
			return strings.TrimSpace(string(id))
		}
	}
	return ""
}
