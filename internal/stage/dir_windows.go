package stage

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"

	"golang.org/x/sys/windows"
)

// dir stands on os.Root, which walks by handles and stays inside; links are
// looked for at every component besides.
type dir struct{ r *os.Root }

func openRoot(p string) (*dir, error) {
	r, err := os.OpenRoot(p)
	if err != nil {
		return nil, err
	}
	return &dir{r}, nil
}

func (d *dir) close() error { return d.r.Close() }
func (d *dir) sync() error  { return nil }

// clear returns p as a clean path with no link on the way, the last component
// excepted.
func (d *dir) clear(p string) (string, error) {
	parts, err := components(p)
	if err != nil {
		return "", err
	}
	if len(parts) == 0 {
		return ".", nil
	}
	for i := 1; i < len(parts); i++ {
		info, err := d.r.Lstat(path.Join(parts[:i]...))
		switch {
		case err != nil:
			return "", err
		case info.Mode()&(fs.ModeSymlink|fs.ModeIrregular) != 0:
			return "", errLink
		case !info.IsDir():
			return "", errNotFolder
		}
	}
	return path.Join(parts...), nil
}

func (d *dir) openDir(p string) (*dir, error) {
	st, err := d.lstat(p)
	switch {
	case err != nil:
		return nil, err
	case st.mode&(fs.ModeSymlink|fs.ModeIrregular) != 0:
		return nil, errLink
	case !st.mode.IsDir():
		return nil, errNotFolder
	}
	p, err = d.clear(p)
	if err != nil {
		return nil, err
	}
	r, err := d.r.OpenRoot(p)
	if err != nil {
		return nil, err
	}
	return &dir{r}, nil
}

func (d *dir) open(p string) (*os.File, error) {
	st, err := d.lstat(p)
	switch {
	case err != nil:
		return nil, err
	case st.mode&(fs.ModeSymlink|fs.ModeIrregular) != 0:
		return nil, errLink
	case !st.mode.IsRegular():
		return nil, errNotRegular
	}
	p, err = d.clear(p)
	if err != nil {
		return nil, err
	}
	return d.r.Open(p)
}

func (d *dir) create(name string, perm fs.FileMode) (*os.File, error) {
	return d.r.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, perm)
}

func (d *dir) openLock(name string) (*os.File, error) {
	return d.r.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
}

func (d *dir) mkdir(name string) error { return d.r.Mkdir(name, 0o700) }

func (d *dir) lstat(p string) (stat, error) {
	p, err := d.clear(p)
	if err != nil {
		return stat{}, err
	}
	info, err := d.r.Lstat(p)
	if err != nil {
		return stat{}, err
	}
	if !info.Mode().IsRegular() {
		return stat{mode: info.Mode(), links: 1}, nil
	}
	f, err := d.r.Open(p)
	if err != nil {
		return stat{}, err
	}
	defer f.Close()
	return statFile(f)
}

func (d *dir) names() ([]string, error) {
	f, err := d.r.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	slices.Sort(names)
	return names, err
}

// rename works inside one root: both folders are opened below the stage's root
// and compared by their full names.
func (d *dir) rename(old string, to *dir, new string, replace bool) error {
	from, target := d.r.Name()+`\`+old, to.r.Name()+`\`+new
	if !replace {
		if _, err := to.r.Lstat(new); !errors.Is(err, fs.ErrNotExist) {
			return fs.ErrExist
		}
	}
	return os.Rename(from, target)
}

func (d *dir) exchange(string, string) error   { return errUnsupported }
func (d *dir) link(string, *dir, string) error { return errUnsupported }
func (d *dir) unlink(name string) error        { return d.r.Remove(name) }
func (d *dir) rmdir(name string) error         { return d.r.Remove(name) }

func diskFull(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL)
}

func tooLarge(error) bool        { return false }
func tooManyOpen(err error) bool { return errors.Is(err, windows.ERROR_TOO_MANY_OPEN_FILES) }
func readOnly(err error) bool    { return errors.Is(err, fs.ErrPermission) }

// permissionless says that a file mode tells nothing here: access lists do.
const permissionless = true

func badName(err error) bool { return errors.Is(err, windows.ERROR_INVALID_NAME) }

// tryLock takes an exclusive lock, errBusy when another handle holds it.
func tryLock(f *os.File) error {
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &windows.Overlapped{})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return errBusy
	}
	return err
}

func statFile(f *os.File) (stat, error) {
	var facts windows.ByHandleFileInformation
	if err := windows.GetFileInformationByHandle(windows.Handle(f.Fd()), &facts); err != nil {
		return stat{}, err
	}
	info, err := f.Stat()
	if err != nil {
		return stat{}, err
	}
	return stat{
		Identity: Identity{
			Dev:     uint64(facts.VolumeSerialNumber),
			Ino:     uint64(facts.FileIndexHigh)<<32 | uint64(facts.FileIndexLow),
			Size:    info.Size(),
			MtimeNS: facts.LastWriteTime.Nanoseconds(),
			CtimeNS: facts.LastWriteTime.Nanoseconds(),
		},
		mode: info.Mode(), links: uint64(facts.NumberOfLinks),
	}, nil
}

func adviseSequential(*os.File) {}
func startWriting(*os.File)     {}

// identity is that of the folder itself.
func (d *dir) identity() (Identity, error) {
	f, err := d.r.Open(".")
	if err != nil {
		return Identity{}, err
	}
	defer f.Close()
	return IdentityOf(f)
}

func copyRange(*os.File, *os.File, int64, int64) (int64, error) { return 0, errUnsupported }

func madeUp(*os.File) bool { return false }
