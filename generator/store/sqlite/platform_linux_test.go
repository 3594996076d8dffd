package sqlite

import "testing"

func TestClassifyFileSystems(t *testing.T) {
	for _, c := range []struct {
		name   string
		magic  uint32
		fuse   string
		remote bool
		steady bool
	}{
		{name: "ext4", magic: 0xef53, steady: true},
		{name: "xfs", magic: 0x58465342, steady: true},
		{name: "btrfs", magic: 0x9123683e, steady: true},
		{name: "tmpfs", magic: 0x01021994, steady: true},
		{name: "overlay", magic: 0x794c7630},
		{name: "NFS", magic: 0x6969, remote: true},
		{name: "CIFS", magic: 0xff534d42, remote: true},
		{name: "SMB 2", magic: 0xfe534d42, remote: true},
		{name: "9P", magic: 0x01021997, remote: true},
		{name: "Ceph", magic: 0x00c36400, remote: true},
		{name: "sshfs", magic: fuseMagic, fuse: "fuse.sshfs", remote: true},
		{name: "an unknown FUSE", magic: fuseMagic, remote: true},
		{name: "a folder of the host", magic: fuseMagic, fuse: "virtiofs"},
		{name: "NTFS", magic: fuseMagic, fuse: "fuseblk"},
	} {
		got := classify(c.magic, c.fuse)
		if got.remote != c.remote || got.steadyInodes != c.steady || got.name == "" {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}

func TestMountTypeFindsTheDevice(t *testing.T) {
	const text = `22 27 0:20 / /sys rw,nosuid shared:7 - sysfs sysfs rw
27 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
90 27 0:51 / /mnt/with\040space rw,relatime shared:44 master:3 - fuse.sshfs host:/x rw,user_id=0
91 27 0:60 / /host rw - virtiofs share rw
broken line
`
	for dev, want := range map[uint64]string{
		0<<8 | 51: "fuse.sshfs", 0<<8 | 60: "virtiofs", 254 << 8: "ext4", 0<<8 | 99: "",
	} {
		if got := mountType(text, dev); got != want {
			t.Errorf("mountType(%#x) = %q, want %q", dev, got, want)
		}
	}
}

func TestFilesystemOfThisMachine(t *testing.T) {
	if fs, err := filesystemOf("/proc"); err != nil || fs.remote || fs.name != "type 0x9fa0" {
		t.Errorf("/proc is %+v, %v", fs, err)
	}
	if _, err := filesystemOf(t.TempDir() + "/missing"); err == nil {
		t.Error("a missing directory has a file system")
	}
}
