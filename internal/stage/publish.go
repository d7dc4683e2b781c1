package stage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"cutroom"
)

// privatePrefix begins the name of a file that is on its way to a user's path.
const privatePrefix = ".cutroom-"

// Publish copies from, an open artifact of digest want, to the path dest below
// the folder root. It appears there whole or not at all.
//
// What is there already stays: with want's content the call is done, else it is a
// conflict, unless overwrite replaces a regular file in one step. dest may pass no
// link, its folder must exist, and no name of the stage's own is allowed.
func (s *Stage) Publish(ctx context.Context, from *os.File, want cutroom.Digest, root, dest string, overwrite bool) error {
	rel, err := s.destination(root, dest)
	if err != nil {
		return err
	}
	d, err := openRoot(root)
	if err != nil {
		return outputPathError(dest, err)
	}
	defer d.close()
	folder, name := within(rel)
	parent, err := d.openDir(folder)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNotFolder) {
		return cutroom.Errorf(cutroom.NotFound, "the folder of %q does not exist", dest).WithHint("make the folder first")
	}
	if err != nil {
		return outputPathError(dest, err)
	}
	defer parent.close()
	s.sweepPrivate(parent)
	done, err := s.inTheWay(ctx, parent, name, dest, want, overwrite)
	if done || err != nil {
		return err
	}
	return outputPathError(dest, s.publish(ctx, from, parent, name, overwrite))
}

// destination checks the text of dest and makes it relative to root.
func (s *Stage) destination(root, dest string) (string, error) {
	rel, err := relative(root, dest)
	if err != nil {
		return "", err
	}
	for c := range strings.SplitSeq(rel, "/") {
		if c == ".cutroom" || strings.HasPrefix(c, privatePrefix) {
			return "", cutroom.Errorf(cutroom.Denied, "%q lies in a place of the stage's own", dest).WithHint("name another output")
		}
	}
	return rel, nil
}

// inTheWay looks at what stands at the destination. done means that it is the
// wanted file itself.
func (s *Stage) inTheWay(ctx context.Context, parent *dir, name, dest string, want cutroom.Digest, overwrite bool) (done bool, err error) {
	f, err := parent.open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, outputPathError(dest, err)
	}
	defer f.Close()
	got, _, err := s.cache.Digest(ctx, f)
	switch {
	case ctx.Err() != nil:
		return false, ctx.Err()
	case err == nil && got == want:
		return true, nil
	case overwrite:
		return false, nil
	}
	return false, outputPathError(dest, fs.ErrExist)
}

// outputPathError says what is wrong with an output's path.
func outputPathError(dest string, err error) error {
	if _, ok := errors.AsType[*cutroom.Error](err); ok || err == nil {
		return err
	}
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.Is(err, fs.ErrExist):
		return cutroom.Errorf(cutroom.Conflict, "%q exists already", dest).WithHint("name another output, or pass --overwrite")
	case diskFull(err):
		return cutroom.Errorf(cutroom.Unavailable, "the disk is full: cannot write %q", dest).WithHint("free space there, then repeat the call").WithCause(err)
	case tooLarge(err):
		return cutroom.Errorf(cutroom.Limit, "%q would be larger than allowed", dest).WithCause(err)
	case errors.Is(err, errNotRegular):
		return cutroom.Errorf(cutroom.Conflict, "%q is there and is not a regular file", dest).WithHint("name another output").WithCause(err)
	case readOnly(err):
		return cutroom.Errorf(cutroom.Denied, "%q may not be written", dest).WithHint("allow your user to write there, or name another output").WithCause(err)
	}
	return inputError(dest, err)
}

// publish copies from into a private file beside the destination and moves it there.
func (s *Stage) publish(ctx context.Context, from *os.File, parent *dir, name string, overwrite bool) error {
	before, err := IdentityOf(from)
	if err != nil {
		return err
	}
	temp, private, err := privateFile(parent)
	if err != nil {
		return err
	}
	defer temp.Close()
	err = copyAll(ctx, temp, from, before.Size)
	if err == nil {
		err = temp.Sync()
	}
	if after, e := IdentityOf(from); err == nil && (e != nil || after != before) {
		err = cutroom.Errorf(cutroom.Conflict, "an artifact changed while it was published").WithHint("repeat the call")
	}
	if err == nil {
		err = settleAt(ctx, temp, parent, private, name, overwrite)
	}
	if err != nil {
		_ = parent.unlink(private)
		return err
	}
	return parent.sync()
}

// privateFile makes a file beside the destination that only its lock's holder
// owns. Its permissions are those of any new file of the user.
func privateFile(parent *dir) (*os.File, string, error) {
	for range 100 {
		name := privatePrefix + random()
		f, err := parent.create(name, 0o666)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return nil, "", err
		}
		id, err := IdentityOf(f)
		if err == nil {
			if err = tryLock(f); errors.Is(err, errUnsupported) {
				err = nil // nobody can sweep here either
			}
		}
		if err == nil && parent.same(name, id) {
			return f, name, nil
		}
		f.Close()
		if parent.same(name, id) {
			_ = parent.unlink(name)
		}
		if err != nil && err != errBusy {
			return nil, "", err
		}
		// A sweep looked at the file before it was locked: take another.
	}
	return nil, "", errBusy
}

// settleAt gives the private file its name: by a rename that replaces nothing,
// else by a link, else by a copy into a file that did not exist.
func settleAt(ctx context.Context, temp *os.File, parent *dir, private, name string, overwrite bool) error {
	err := parent.rename(private, parent, name, overwrite)
	if !errors.Is(err, errUnsupported) {
		return err
	}
	err = parent.link(private, parent, name)
	if err == nil {
		return parent.unlink(private)
	}
	if !errors.Is(err, errUnsupported) {
		return err
	}
	return copyTo(ctx, temp, parent, private, name)
}

func copyTo(ctx context.Context, temp *os.File, parent *dir, private, name string) error {
	id, err := IdentityOf(temp)
	if err != nil {
		return err
	}
	f, err := parent.create(name, 0o666)
	if err != nil {
		return err
	}
	err = copyAll(ctx, f, temp, id.Size)
	mine, e := IdentityOf(f)
	err = errors.Join(err, e, f.Sync(), f.Close())
	if err != nil {
		if parent.same(name, mine) {
			_ = parent.unlink(name)
		}
		return err
	}
	return parent.unlink(private)
}

// copyChunk is how much is copied between two looks at the context.
const copyChunk = 64 << 20

// copyAll copies size bytes; the kernel does it, sharing blocks where it can.
func copyAll(ctx context.Context, to, from *os.File, size int64) error {
	var at int64
	for at < size {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := copyRange(to, from, at, min(copyChunk, size-at))
		if errors.Is(err, errUnsupported) || (err == nil && n == 0) {
			break
		}
		if err != nil {
			return err
		}
		at += n
	}
	buf := make([]byte, min(size-at, readBlock))
	for at < size {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := from.ReadAt(buf[:min(int64(len(buf)), size-at)], at)
		if n == 0 {
			return fmt.Errorf("copy an artifact: %w", cmpEOF(err))
		}
		if _, err := to.WriteAt(buf[:n], at); err != nil {
			return err
		}
		at += int64(n)
	}
	return nil
}

func cmpEOF(err error) error {
	if err == nil || errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// sweepPrivate sets private files of crashed calls in d aside, where the disk is
// the same; elsewhere they stay, hidden and harmless.
func (s *Stage) sweepPrivate(d *dir) {
	names, err := d.names()
	if err != nil {
		return
	}
	for _, name := range names {
		id, ok := strings.CutPrefix(name, privatePrefix)
		if !ok || !hex16(id) {
			continue
		}
		s.sweepOne(d, name)
	}
}

func (s *Stage) sweepOne(d *dir, name string) {
	f, err := d.open(name)
	if err != nil {
		return
	}
	defer f.Close()
	st, err := statFile(f)
	if err != nil || tryLock(f) != nil || !d.same(name, st.Identity) {
		return
	}
	// Empty is a file that its maker is about to lock. Size is read under the lock.
	if st, err = statFile(f); err != nil || st.Size == 0 {
		return
	}
	root, err := s.madeRoot()
	if err != nil {
		return
	}
	defer root.close()
	p, err := s.newPrivate(context.Background(), root, "publish")
	if err != nil {
		return
	}
	defer p.close()
	if d.rename(name, p.dir, "output", true) != nil {
		_ = p.remove()
		return
	}
	_, _ = s.setAside(root, p.home, p.name, pendingFolder)
	s.recordLeftovers(root)
}
