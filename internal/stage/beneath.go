package stage

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"cutroom"
)

// OpenBeneath opens the regular file path below the folder root, for reading.
// path is relative to root, or absolute and spelled with root's own text in front.
//
// A path that passes a link or holds ".." is denied; a folder, FIFO, socket or
// device is invalid, and opening it is never tried, so nothing hangs; so is a file
// that the kernel makes up as it is read (/proc, /sys), which has no end or blocks;
// a missing file is not_found. Errors repeat only the text of path.
func OpenBeneath(root, path string) (*os.File, error) {
	rel, err := relative(root, path)
	if err != nil {
		return nil, err
	}
	d, err := openRoot(root)
	if err != nil {
		return nil, cutroom.Errorf(cutroom.NotFound, "the root folder of %q cannot be opened", path).WithCause(err)
	}
	defer d.close()
	f, err := d.open(rel)
	if err == nil && madeUp(f) {
		f.Close()
		err = errNotStored
	}
	if err != nil {
		return nil, inputError(path, err)
	}
	return f, nil
}

// relative checks the text of path and makes it relative to root.
func relative(root, path string) (string, error) {
	if path == "" {
		return "", cutroom.Errorf(cutroom.Invalid, "a path is empty").WithHint("name a file")
	}
	if strings.ContainsRune(path, 0) {
		return "", cutroom.Errorf(cutroom.Invalid, "path %q holds a NUL character", path)
	}
	rel := filepath.ToSlash(path)
	if filepath.IsAbs(path) {
		below, ok := strings.CutPrefix(rel, strings.TrimSuffix(filepath.ToSlash(root), "/")+"/")
		if !ok {
			return "", inputError(path, errEscape)
		}
		rel = below
	}
	parts, err := components(rel)
	if err != nil {
		return "", inputError(path, err)
	}
	if len(parts) == 0 || strings.HasSuffix(rel, "/") {
		return "", inputError(path, errNotRegular)
	}
	return strings.Join(parts, "/"), nil
}

// maxShown is how much of a path an error repeats, in bytes.
const maxShown = 512

// inputError says what is wrong with a path, repeating only the caller's text.
func inputError(path string, err error) error {
	if len(path) > maxShown {
		path = strings.ToValidUTF8(path[:maxShown], "") + "…"
	}
	var e *cutroom.Error
	switch {
	case errors.Is(err, errEscape):
		e = cutroom.Errorf(cutroom.Denied, "%q leads out of the folder that may be read", path).WithHint("use a path below the root, without `..`")
	case errors.Is(err, errLink):
		e = cutroom.Errorf(cutroom.Denied, "%q is a symbolic link or passes through one", path).WithHint("name the file itself")
	case errors.Is(err, errNotStored):
		e = cutroom.Errorf(cutroom.Invalid, "%q is made up by the system and stored nowhere", path).WithHint("name a file on a disk")
	case errors.Is(err, errNotRegular):
		e = cutroom.Errorf(cutroom.Invalid, "%q is not a regular file", path).WithHint("name a file, not a folder, pipe or device")
	case strings.Contains(path, "://") && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNotFolder)):
		e = cutroom.Errorf(cutroom.NotFound, "%q is an address, not a file", path).WithHint("fetch it by other means, put it into the workspace and name the file")
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, errNotFolder):
		e = cutroom.Errorf(cutroom.NotFound, "no such file: %q", path).WithHint("check the name: a relative one counts from the folder of the call")
	case errors.Is(err, fs.ErrPermission):
		e = cutroom.Errorf(cutroom.Denied, "%q may not be read", path).WithHint("allow your user to read it")
	case badName(err):
		e = cutroom.Errorf(cutroom.Invalid, "%q is not a usable path", path).WithHint("rename the file: letters, digits, spaces and signs will do")
	default:
		e = cutroom.Errorf(cutroom.Unavailable, "%q cannot be opened", path).WithHint("see whether its disk is there, and call again")
	}
	return e.WithCause(err)
}
