package stage

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"cutroom"
)

// TestFullDisk works on a tmpfs of 256 KiB in a mount namespace of a child's own.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	cmd := child(t, "full", filepath.Join(t.TempDir(), "disk"))
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if os.Getuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}
	}
	out, err := cmd.Output()
	t.Logf("%s", out)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(out), "all steps done") {
		t.Fatal("the child did not reach its end")
	}
}

func childFillsDisk(mount string) int {
	if err := fillDisk(mount); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Println("all steps done")
	return 0
}

func fillDisk(mount string) error {
	if err := errors.Join(
		unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""),
		os.Mkdir(mount, 0o700),
		unix.Mount("tmpfs", mount, "tmpfs", 0, "size=256k,nr_inodes=1000"),
	); err != nil {
		return err
	}
	defer unix.Unmount(mount, unix.MNT_DETACH)
	ctx := context.Background()
	s, err := Open(filepath.Join(mount, ".cutroom", "stage"), Options{Key: testKey})
	if err != nil {
		return err
	}
	if _, err := tryBuild(ctx, s, testName("before"), testFiles); err != nil {
		return fmt.Errorf("before the disk is full: %w", err)
	}
	large := map[string]string{"large": strings.Repeat("x", 300<<10)}
	_, err = tryBuild(ctx, s, testName("large"), large)
	if err := isFull("put", err); err != nil {
		return err
	}
	// Everything that fits is taken, down to the last page and inode.
	filler := filepath.Join(mount, "filler")
	for n := 128 << 10; n > 0; n /= 2 {
		if f, err := os.OpenFile(filler, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); err == nil {
			f.Write(make([]byte, n))
			f.Close()
		}
	}
	refused := 0
	for i := range 40 {
		files := map[string]string{"a": strings.Repeat("y", 100*i)}
		_, err = tryBuild(ctx, s, testName(fmt.Sprint("small", i)), files)
		if err == nil {
			continue // tmpfs gives folders and empty files away
		}
		if err := isFull("build", err); err != nil {
			return err
		}
		refused++
	}
	if refused == 0 {
		return errors.New("the disk never was full")
	}
	if _, err := s.Review(ctx, string(testName("before").Invocation), cutroom.Operator); err != nil {
		if err := isFull("review", err); err != nil {
			return err
		}
	}
	if err := publishOnFullDisk(ctx, s, mount); err != nil {
		return err
	}
	if err := noDamage(ctx, s); err != nil {
		return err
	}
	if err := os.Remove(filler); err != nil {
		return err
	}
	if _, err := tryBuild(ctx, s, testName("after"), testFiles); err != nil {
		return fmt.Errorf("after room was made: %w", err)
	}
	return noDamage(ctx, s)
}

// isFull checks the error of a call that met the full disk.
func isFull(doing string, err error) error {
	e, ok := errors.AsType[*cutroom.Error](err)
	if !ok || e.Code != cutroom.Unavailable || !strings.Contains(e.Msg, "the disk is full") || !strings.Contains(e.Msg, ".cutroom/stage") {
		return fmt.Errorf("%s on a full disk answers %v (%T)", doing, err, err)
	}
	return nil
}

func publishOnFullDisk(ctx context.Context, s *Stage, mount string) error {
	r, err := s.Lookup(ctx, testName("before"))
	if err != nil || r == nil {
		return fmt.Errorf("lookup on a full disk: %v %w", r, err)
	}
	f, err := os.CreateTemp("", "") // on another disk
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	defer f.Close()
	text := strings.Repeat("z", 64<<10)
	if _, err := f.WriteString(text); err != nil {
		return err
	}
	old := filepath.Join(mount, "old.txt")
	if err := os.WriteFile(old, nil, 0o600); err != nil {
		return err
	}
	for _, dest := range []string{"new.txt", "old.txt"} {
		err = s.Publish(ctx, f, cutroom.DigestOf([]byte(text)), mount, dest, standing(filepath.Join(mount, dest)))
		if e, ok := errors.AsType[*cutroom.Error](err); !ok || e.Code != cutroom.Unavailable {
			return fmt.Errorf("publish on a full disk answers %w", err)
		}
	}
	if _, err := os.Stat(filepath.Join(mount, "new.txt")); !os.IsNotExist(err) {
		return fmt.Errorf("half an output is visible: %w", err)
	}
	if left, _ := filepath.Glob(filepath.Join(mount, privatePrefix+"*")); len(left) != 0 {
		return fmt.Errorf("private files stayed: %v", left)
	}
	return os.Remove(old)
}

// noDamage expects every visible result to verify.
func noDamage(ctx context.Context, s *Stage) error {
	n := 0
	for r, err := range s.List(ctx) {
		if err != nil {
			return err
		}
		if err := r.Verify(ctx); err != nil {
			return err
		}
		n++
	}
	if n == 0 {
		return errors.New("the first result is gone")
	}
	left, err := s.Pending(ctx)
	fmt.Printf("%d results verify, %d leftovers\n", n, len(left))
	return err
}

// TestErrorsOfTheDisk walks what a disk can answer.
func TestErrorsOfTheDisk(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	for err, code := range map[error]cutroom.Code{
		unix.ENOSPC: cutroom.Unavailable, unix.EDQUOT: cutroom.Unavailable, unix.EFBIG: cutroom.Limit,
		unix.EROFS: cutroom.Denied, unix.EACCES: cutroom.Denied, unix.EMFILE: cutroom.Unavailable, unix.ENFILE: cutroom.Unavailable,
	} {
		wantCode(t, s.fault("write", "x", fmt.Errorf("write: %w", err)), code, ".cutroom/stage")
		wantCode(t, outputPathError("out.mp4", err), code, "out.mp4")
	}
}

// A file of /proc or /sys has no end that its size would tell, and some block for
// ever (/proc/kmsg) or cannot be read at all (/proc/self/mem).
func TestMadeUpFilesAreRefused(t *testing.T) {
	t.Parallel()
	own := "/proc/" + strconv.Itoa(os.Getpid())
	for root, path := range map[string]string{"/proc": "version", own: "mem", "/sys/kernel": "notes"} {
		if _, err := os.Stat(filepath.Join(root, path)); err != nil {
			continue // this kernel has no such file
		}
		_, err := OpenBeneath(root, path)
		wantCode(t, err, cutroom.Invalid, path)
	}
}
