package stage

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// walk opens p below d in one openat2: the kernel itself refuses to leave d or to
// pass a link (openat2(2), RESOLVE_BENEATH). Kernels and containers without the
// call walk step by step.
func (d *dir) walk(p string, flags int) (int, error) {
	parts, err := components(p)
	if err != nil {
		return -1, err
	}
	if len(parts) == 0 {
		p = "."
	}
	how := unix.OpenHow{
		Flags:   uint64(flags | unix.O_CLOEXEC),
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS,
	}
	fd, err := retry(func() (int, error) { return unix.Openat2(d.fd(), p, &how) })
	switch {
	case errors.Is(err, unix.ENOSYS), errors.Is(err, unix.EPERM), errors.Is(err, unix.EAGAIN):
		return d.steps(p, flags)
	case errors.Is(err, unix.ENOTDIR) && len(parts) > 0:
		// O_DIRECTORY on a link answers ENOTDIR: walk again for the precise reason.
		return d.steps(p, flags)
	}
	return fd, err
}

func renameNoReplace(from int, old string, to int, new string) error {
	err := unix.Renameat2(from, old, to, new, unix.RENAME_NOREPLACE)
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EINVAL) {
		return fmt.Errorf("%w: %w", errUnsupported, err)
	}
	return err
}

func renameExchange(in int, a, b string) error {
	err := unix.Renameat2(in, a, in, b, unix.RENAME_EXCHANGE)
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EINVAL) {
		return fmt.Errorf("%w: %w", errUnsupported, err)
	}
	return err
}

// adviseSequential asks for long read-ahead. It is advice: failure means nothing.
func adviseSequential(f *os.File) {
	_ = unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_SEQUENTIAL)
}

// startWriting begins to write f's pages back without waiting, so that the fsyncs
// of many files wait for the disk once instead of each in turn.
func startWriting(f *os.File) {
	_ = unix.SyncFileRange(int(f.Fd()), 0, 0, unix.SYNC_FILE_RANGE_WRITE)
}

// copyRange copies n bytes at off inside the kernel (copy_file_range(2)).
func copyRange(to, from *os.File, off, n int64) (int64, error) {
	in, out := off, off
	done, err := retry(func() (int, error) {
		return unix.CopyFileRange(int(from.Fd()), &in, int(to.Fd()), &out, int(n), 0)
	})
	switch {
	case errors.Is(err, unix.EXDEV), errors.Is(err, unix.ENOSYS), errors.Is(err, unix.EINVAL), errors.Is(err, unix.ENOTSUP), errors.Is(err, unix.EPERM):
		return 0, errUnsupported
	}
	return int64(done), err
}

// madeUp reports whether f lies in a file system whose files the kernel makes up
// when they are read: their size says nothing, and reading may never end.
func madeUp(f *os.File) bool {
	var st unix.Statfs_t
	if _, err := retry(func() (int, error) { return 0, unix.Fstatfs(int(f.Fd()), &st) }); err != nil {
		return false
	}
	switch int64(st.Type) {
	case unix.PROC_SUPER_MAGIC, unix.SYSFS_MAGIC, unix.DEBUGFS_MAGIC, unix.TRACEFS_MAGIC, unix.SECURITYFS_MAGIC,
		unix.CGROUP_SUPER_MAGIC, unix.CGROUP2_SUPER_MAGIC, unix.BPF_FS_MAGIC, unix.PSTOREFS_MAGIC, unix.SELINUX_MAGIC:
		return true
	}
	return false
}
