package sqlite_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"nextid/generator"
	"nextid/generator/store/sqlite"
)

// shell runs a command on $DIR, the data directory, and $BAK, its backup.
func shell(t *testing.T, dir, backup, command string) {
	t.Helper()
	if name := strings.Fields(command)[0]; name == "rsync" || name == "setfattr" {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("install the package %s", map[string]string{"rsync": "rsync", "setfattr": "attr"}[name])
		}
	}
	cmd := exec.Command("sh", "-ec", command)
	cmd.Env = append(os.Environ(), "DIR="+dir, "BAK="+backup)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", command, err, out)
	}
}

// TestBackupThatIsPutBackInPlaceIsNoticed restores a directory with the usual
// programs, over the files that are there.
func TestBackupThatIsPutBackInPlaceIsNoticed(t *testing.T) {
	t.Parallel()
	for _, restore := range []struct {
		command string
		stopped bool // detected after a clean stop only
	}{
		{command: "cp -a $BAK/. $DIR/"},
		{command: "cp -r $BAK/. $DIR/"},
		{command: "rsync -a $BAK/ $DIR/"},
		{command: "rsync -a --inplace $BAK/ $DIR/"},
		{command: "rsync -a --delete $BAK/ $DIR/"},
		{command: "rsync -a --inplace --delete $BAK/ $DIR/", stopped: true},
		{command: "tar c -C $BAK . | tar x -C $DIR"},
		{command: "tar c -C $BAK . | tar x --overwrite -C $DIR"},
		{command: "for f in nextid.db nextid.db.id; do cat $BAK/$f > $DIR/$f; done"},
		{command: "cat $BAK/nextid.db > $DIR/nextid.db"},
	} {
		for _, life := range []string{"backup while stopped, kill -9", "backup while running, stop", "backup while running, kill -9"} {
			killed := strings.HasSuffix(life, "kill -9")
			if killed && restore.stopped {
				continue
			}
			t.Run(restore.command+" after "+life, func(t *testing.T) {
				t.Parallel()
				dir := used(t)
				backup := dir + ".bak"
				if strings.Contains(life, "while stopped") {
					shell(t, dir, backup, "cp -a $DIR $BAK")
				}
				server := hold(t, dir)
				server.reserve(t)
				if strings.Contains(life, "while running") {
					shell(t, dir, backup, "cp -a $DIR $BAK")
				}
				server.reserve(t)
				if killed {
					server.kill()
				} else {
					server.release(t)
				}
				shell(t, dir, backup, "touch -d '1 hour ago' $BAK/*") // rsync skips files of the same second
				shell(t, dir, backup, restore.command)

				cfg := sqlite.Config{Dir: dir}
				wantRefused(t, cfg, generator.ErrRegressed, "--adopt")
				cfg.Adopt = true
				s, err := sqlite.Open(t.Context(), cfg)
				if err != nil {
					t.Fatal(err)
				}
				reserve(t, s, "k", 1)
				mustClose(t, s)
				reserve(t, open(t, dir), "k", 1) // Adopt is needed once only
			})
		}
	}
}

// TestFileMaintenanceIsNoRestore changes the files as packages, administrators and
// backups do that restore nothing.
func TestFileMaintenanceIsNoRestore(t *testing.T) {
	t.Parallel()
	for _, command := range []string{
		"chmod -R u+rw,g-w $DIR",
		"chown -R $(id -u):$(id -g) $DIR",
		"touch $DIR/*",
		"touch -d '2001-01-01' $DIR/*",
		"touch -d '2101-01-01' $DIR/*",
		"setfattr -n user.label -v x $DIR/nextid.db $DIR/nextid.db.id",
		"ln $DIR/nextid.db $DIR.link",
		"cp -a $DIR $BAK",
		"rsync -aHAX $DIR/ $BAK/",
		"tar cf $BAK -C $DIR .",
		"mv $DIR $DIR.moved && mv $DIR.moved $DIR",
		"rm $DIR/nextid.db.id",
		"rm $DIR/nextid.db.id-*",
		"rm $DIR/nextid.db.lock",
		": > $DIR/nextid.db.id",
		"sync",
	} {
		for _, killed := range []bool{false, true} {
			t.Run(command+map[bool]string{false: " after a stop", true: " after kill -9"}[killed], func(t *testing.T) {
				t.Parallel()
				dir := used(t)
				server := hold(t, dir)
				server.reserve(t)
				if killed {
					server.kill()
				} else {
					server.release(t)
				}
				shell(t, dir, filepath.Join(t.TempDir(), "backup"), command)
				if lo, _ := reserve(t, open(t, dir), "k", 1); lo != 110 {
					t.Errorf("the key stands at %d, want 110", lo)
				}
			})
		}
	}
}
