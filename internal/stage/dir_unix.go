//go:build unix

package stage

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"golang.org/x/sys/unix"
)

type dir struct{ f *os.File }

const openFolder = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_CLOEXEC | unix.O_NOCTTY

func openRoot(path string) (*dir, error) {
	fd, err := retry(func() (int, error) { return unix.Open(path, openFolder, 0) })
	if err != nil {
		return nil, plain(err)
	}
	return &dir{os.NewFile(uintptr(fd), path)}, nil
}

func (d *dir) fd() int      { return int(d.f.Fd()) }
func (d *dir) close() error { return d.f.Close() }
func (d *dir) sync() error  { return d.f.Sync() }

func (d *dir) openDir(p string) (*dir, error) {
	fd, err := d.walk(p, openFolder)
	if err != nil {
		return nil, plain(err)
	}
	return &dir{os.NewFile(uintptr(fd), p)}, nil
}

// open looks at the entry before it opens it: opening a device or a FIFO can
// have effects or hang. O_NONBLOCK covers an exchange in between.
func (d *dir) open(p string) (*os.File, error) {
	folder, name := within(p)
	at := d
	if folder != "." {
		sub, err := d.openDir(folder)
		if err != nil {
			return nil, err
		}
		defer sub.close()
		at = sub
	}
	st, err := at.lstat(name)
	if err != nil {
		return nil, err
	}
	if err := regular(st.mode); err != nil {
		return nil, err
	}
	fd, err := at.walk(name, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_NOFOLLOW|unix.O_CLOEXEC)
	if err != nil {
		return nil, plain(err)
	}
	got, err := statFD(fd)
	if err == nil {
		err = regular(got.mode)
	}
	if err == nil {
		err = unix.SetNonblock(fd, false)
	}
	if err != nil {
		unix.Close(fd)
		return nil, plain(err)
	}
	return os.NewFile(uintptr(fd), name), nil
}

func regular(mode fs.FileMode) error {
	switch {
	case mode.IsRegular():
		return nil
	case mode&fs.ModeSymlink != 0:
		return errLink
	}
	return errNotRegular
}

func (d *dir) create(name string, perm fs.FileMode) (*os.File, error) {
	return d.openNew(name, unix.O_RDWR|unix.O_CREAT|unix.O_EXCL, perm)
}

func (d *dir) openLock(name string) (*os.File, error) {
	return d.openNew(name, unix.O_RDWR|unix.O_CREAT|unix.O_NONBLOCK, 0o600)
}

func (d *dir) openNew(name string, flags int, perm fs.FileMode) (*os.File, error) {
	fd, err := retry(func() (int, error) {
		return unix.Openat(d.fd(), name, flags|unix.O_NOFOLLOW|unix.O_CLOEXEC|unix.O_NOCTTY, uint32(perm))
	})
	if err != nil {
		return nil, plain(err)
	}
	if err := unix.SetNonblock(fd, false); err != nil {
		unix.Close(fd)
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}

func (d *dir) mkdir(name string) error { return plain(unix.Mkdirat(d.fd(), name, 0o700)) }

func (d *dir) lstat(p string) (stat, error) {
	folder, name := within(p)
	if folder != "." {
		sub, err := d.openDir(folder)
		if err != nil {
			return stat{}, err
		}
		defer sub.close()
		return sub.lstat(name)
	}
	if name == ".." {
		return stat{}, errEscape
	}
	var st unix.Stat_t
	_, err := retry(func() (int, error) { return 0, unix.Fstatat(d.fd(), name, &st, unix.AT_SYMLINK_NOFOLLOW) })
	if err != nil {
		return stat{}, plain(err)
	}
	return statOf(&st), nil
}

// names reads through a descriptor of its own, so that each reading starts at the
// beginning.
func (d *dir) names() ([]string, error) {
	again, err := d.openDir(".")
	if err != nil {
		return nil, err
	}
	defer again.close()
	names, err := again.f.Readdirnames(-1)
	slices.Sort(names)
	return names, err
}

func (d *dir) rename(old string, to *dir, new string, replace bool) error {
	if replace {
		return plain(unix.Renameat(d.fd(), old, to.fd(), new))
	}
	return plain(renameNoReplace(d.fd(), old, to.fd(), new))
}

func (d *dir) exchange(a, b string) error { return plain(renameExchange(d.fd(), a, b)) }

func (d *dir) link(old string, to *dir, new string) error {
	err := unix.Linkat(d.fd(), old, to.fd(), new, 0)
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.ENOTSUP) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EMLINK) {
		return fmt.Errorf("%w: %w", errUnsupported, err)
	}
	return plain(err)
}

func (d *dir) unlink(name string) error { return plain(unix.Unlinkat(d.fd(), name, 0)) }
func (d *dir) rmdir(name string) error {
	return plain(unix.Unlinkat(d.fd(), name, unix.AT_REMOVEDIR))
}

// steps walks p one component at a time: the way for kernels without openat2.
func (d *dir) steps(p string, flags int) (int, error) {
	parts, err := components(p)
	if err != nil {
		return -1, err
	}
	if len(parts) == 0 {
		parts = []string{"."}
	}
	at, owned := d.fd(), false
	for i, c := range parts {
		how := openFolder
		if i == len(parts)-1 {
			how = flags
		}
		next, err := retry(func() (int, error) {
			return unix.Openat(at, c, how|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		})
		if errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.EMLINK) {
			err = linkOr(at, c, err)
		}
		if owned {
			unix.Close(at)
		}
		if err != nil {
			return -1, err
		}
		at, owned = next, true
	}
	return at, nil
}

// linkOr tells a link from another entry that is no folder: systems answer both
// with the same error.
func linkOr(at int, name string, err error) error {
	var st unix.Stat_t
	if unix.Fstatat(at, name, &st, unix.AT_SYMLINK_NOFOLLOW) == nil && st.Mode&unix.S_IFMT == unix.S_IFLNK {
		return errLink
	}
	return err
}

// retry repeats a call that a signal interrupted.
func retry(call func() (int, error)) (int, error) {
	for {
		n, err := call()
		if !errors.Is(err, unix.EINTR) {
			return n, err
		}
	}
}

// plain turns the system's words into those of this package.
func plain(err error) error {
	switch {
	case errors.Is(err, unix.ELOOP):
		return errLink
	case errors.Is(err, unix.ENOTDIR):
		return errNotFolder
	case errors.Is(err, unix.EXDEV):
		return errEscape
	case errors.Is(err, unix.EISDIR), errors.Is(err, unix.ENXIO):
		return errNotRegular
	}
	return err
}

func diskFull(err error) bool {
	return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT)
}

func tooLarge(err error) bool { return errors.Is(err, unix.EFBIG) }

func tooManyOpen(err error) bool { return errors.Is(err, unix.EMFILE) || errors.Is(err, unix.ENFILE) }

func readOnly(err error) bool { return errors.Is(err, unix.EROFS) || errors.Is(err, fs.ErrPermission) }

// permissionless says that a file mode tells nothing here.
const permissionless = false

func badName(err error) bool {
	return errors.Is(err, unix.ENAMETOOLONG) || errors.Is(err, unix.EINVAL)
}

// tryLock takes an exclusive flock, errBusy when another open file holds it.
func tryLock(f *os.File) error {
	_, err := retry(func() (int, error) { return 0, unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) })
	switch {
	case errors.Is(err, unix.EWOULDBLOCK):
		return errBusy
	case errors.Is(err, unix.ENOLCK), errors.Is(err, unix.ENOSYS), errors.Is(err, unix.ENOTSUP):
		return fmt.Errorf("%w: %w", errUnsupported, err)
	}
	return err
}

func statFD(fd int) (stat, error) {
	var st unix.Stat_t
	_, err := retry(func() (int, error) { return 0, unix.Fstat(fd, &st) })
	if err != nil {
		return stat{}, err
	}
	return statOf(&st), nil
}

func statFile(f *os.File) (stat, error) { return statFD(int(f.Fd())) }

func statOf(st *unix.Stat_t) stat {
	mode := fs.FileMode(st.Mode & 0o777)
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
	case unix.S_IFDIR:
		mode |= fs.ModeDir
	case unix.S_IFLNK:
		mode |= fs.ModeSymlink
	case unix.S_IFIFO:
		mode |= fs.ModeNamedPipe
	case unix.S_IFSOCK:
		mode |= fs.ModeSocket
	default:
		mode |= fs.ModeDevice
	}
	return stat{
		Identity: Identity{
			Dev: uint64(st.Dev), Ino: uint64(st.Ino), Size: st.Size,
			MtimeNS: unix.TimespecToNsec(st.Mtim), CtimeNS: unix.TimespecToNsec(st.Ctim),
		},
		mode: mode, links: uint64(st.Nlink),
	}
}

// identity is that of the folder itself.
func (d *dir) identity() (Identity, error) { return IdentityOf(d.f) }
