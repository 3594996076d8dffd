package sqlite_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"testing"
	"time"

	"nextid/generator"
	"nextid/generator/store/sqlite"
)

// Some tests need a second process. They start this test binary again with
// childMode in the environment; TestMain then runs the mode.
const (
	childMode = "NEXTID_TEST_CHILD"
	childDir  = "NEXTID_TEST_DIR"
	childArg  = "NEXTID_TEST_ARG"
)

func TestMain(m *testing.M) {
	mode := os.Getenv(childMode)
	if mode == "" {
		os.Exit(m.Run())
	}
	if err := runChild(mode, os.Getenv(childDir), os.Getenv(childArg)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func runChild(mode, dir, arg string) error {
	s, err := sqlite.Open(context.Background(), sqlite.Config{Dir: dir, Owner: "child " + strconv.Itoa(os.Getpid())})
	if err != nil {
		return err
	}
	switch mode {
	case "hold":
		fmt.Fprintln(os.Stdout, "open")
		for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
			if _, _, err := s.Reserve(context.Background(), generator.Reservation{Key: "k", N: 10, Limit: generator.NoLimit}); err != nil {
				return err
			}
			fmt.Fprintln(os.Stdout, "reserved")
		}
		return s.Close()
	case "reserve":
		return childReserve(s)
	case "persist":
		n, err := strconv.Atoi(arg)
		if err != nil {
			return err
		}
		return childPersist(s, n)
	default:
		return fmt.Errorf("unknown mode %q", mode)
	}
}

// childWriters is the number of goroutines that reserve in a child of mode reserve.
// Each prints what was acknowledged to it to a pipe of its own.
const childWriters = 4

// childReserve reserves until it is killed.
func childReserve(s generator.Store) error {
	var wg sync.WaitGroup
	for w := range childWriters {
		out := os.NewFile(uintptr(3+w), "acknowledged")
		wg.Go(func() {
			for i := 0; ; i++ {
				key := fmt.Sprint("key", i%3)
				lo, hi, err := s.Reserve(context.Background(), generator.Reservation{
					Key: key, N: int64(1 + i%50), Limit: generator.NoLimit,
				})
				if err != nil {
					fmt.Fprintln(os.Stderr, err)
					os.Exit(1)
				}
				if i%5 == 0 { // the second half goes back
					used := (hi - lo + 1) / 2
					_ = s.Release(context.Background(), key, hi, lo+used)
					hi = lo + used
				}
				line := appendLine(nil, key, generator.Range{First: lo, Step: 1, Count: hi - lo})
				if _, err := out.Write(line); err != nil {
					os.Exit(1)
				}
			}
		})
	}
	wg.Wait()
	return nil
}

// childPersist makes n attempts to reserve and goes on after errors. It prints a
// history line for each success to standard output, and the kind of each error to
// standard error.
func childPersist(s generator.Store, n int) error {
	fmt.Fprintln(os.Stderr, "opened")
	for range n {
		lo, hi, err := s.Reserve(context.Background(), generator.Reservation{Key: "k", N: 10, Limit: generator.NoLimit})
		var e *generator.Error
		switch {
		case errors.As(err, &e):
			fmt.Fprintf(os.Stderr, "%v: %v\n", e.Kind, e)
		case err != nil:
			return err
		default:
			os.Stdout.Write(appendLine(nil, "k", generator.Range{First: lo, Step: 1, Count: hi - lo}))
		}
	}
	return s.Close()
}

// child prepares a process that runs a mode on dir. wrap is put before its command
// line.
func child(t *testing.T, mode, dir, arg string, wrap ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	args := append(wrap, self)
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env = append(os.Environ(), childMode+"="+mode, childDir+"="+dir, childArg+"="+arg)
	return cmd
}

// holder is a child that has a store open.
type holder struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout *bufio.Reader
}

// hold starts a child that has the store of dir open. It ends with the test.
func hold(t *testing.T, dir string) *holder {
	t.Helper()
	h := &holder{cmd: child(t, "hold", dir, "")}
	h.cmd.Stderr = os.Stderr
	stdin, err := h.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	h.stdin = stdin
	stdout, err := h.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := h.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.kill)
	h.stdout = bufio.NewReader(stdout)
	h.expect(t, "open")
	return h
}

func (h *holder) expect(t *testing.T, want string) {
	t.Helper()
	if line, err := h.stdout.ReadString('\n'); err != nil || line != want+"\n" {
		t.Fatalf("the child said %q, %v", line, err)
	}
}

// reserve makes the child reserve ten numbers.
func (h *holder) reserve(t *testing.T) {
	t.Helper()
	if _, err := io.WriteString(h.stdin, "\n"); err != nil {
		t.Fatal(err)
	}
	h.expect(t, "reserved")
}

// release makes the child close the store and waits for its end.
func (h *holder) release(t *testing.T) {
	t.Helper()
	h.stdin.Close()
	if err := h.cmd.Wait(); err != nil {
		t.Errorf("child: %v", err)
	}
}

// kill ends the child at once, unless it has ended.
func (h *holder) kill() {
	if h.cmd.ProcessState == nil {
		_ = h.cmd.Process.Kill()
		_ = h.cmd.Wait()
	}
}
