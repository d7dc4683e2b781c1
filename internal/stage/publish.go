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

// Replace is what a publication may replace; the zero value nothing.
type Replace struct {
	Asked    bool           // the caller wants what stood there to be replaced
	Identity Identity       // of the file that stood there when that was allowed; zero: none did
	Digest   cutroom.Digest // … and of its content, "" when it was not asked for
}

// still says whether what stands there is what stood there then: the same content, or,
// when that was not asked for, the same file, unchanged.
func (r Replace) still(id Identity, content cutroom.Digest) bool {
	switch {
	case !r.Asked || r.Identity == Identity{}:
		return false
	case r.Digest != "":
		return r.Digest == content
	}
	return r.Identity == id
}

// errOther is that what stands there is not what stood there when replacing it was allowed.
var errOther = errors.New("another file stands there")

// Publish copies from, an open artifact of digest want, to the path dest below
// the folder root. It appears there whole or not at all.
//
// What is there already stays: with want's content the call is done, else it is a
// conflict, unless it is the regular file that over says, which is replaced in one step.
// Whatever appears there or changes meanwhile stays, too. dest may pass no link, its
// folder must exist, and no name of the stage's own is allowed.
func (s *Stage) Publish(ctx context.Context, from *os.File, want cutroom.Digest, root, dest string, over Replace) error {
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
	stands, done, err := s.inTheWay(ctx, parent, name, want, over)
	if err == nil && !done {
		err = s.publish(ctx, from, parent, name, stands)
	}
	if over.Asked && errors.Is(err, fs.ErrExist) {
		err = errOther
	}
	return outputPathError(dest, err)
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
// wanted file itself; otherwise stands is the file to be replaced, nil for none.
func (s *Stage) inTheWay(ctx context.Context, parent *dir, name string, want cutroom.Digest, over Replace) (stands *Identity, done bool, err error) {
	f, err := parent.open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	got, id, err := s.cache.Digest(ctx, f)
	switch {
	case ctx.Err() != nil:
		return nil, false, ctx.Err()
	case err == nil && got == want:
		return nil, true, nil
	case err == nil && over.still(id, got):
		return &id, false, nil
	}
	return nil, false, fs.ErrExist
}

// outputPathError says what is wrong with an output's path.
func outputPathError(dest string, err error) error {
	if _, ok := errors.AsType[*cutroom.Error](err); ok || err == nil {
		return err
	}
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.Is(err, errOther):
		return cutroom.Errorf(cutroom.Conflict, "%q is not what stood there when the call began, and stays", dest).
			WithHint("look at what stands there now, then make the same call again, or name another output")
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

// publish copies from into a private file beside the destination and moves it there, in
// place of the file that stands there, nil for none.
func (s *Stage) publish(ctx context.Context, from *os.File, parent *dir, name string, stands *Identity) error {
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
		err = settleAt(ctx, temp, parent, private, name, stands)
	}
	if err != nil {
		if mine, e := IdentityOf(temp); e == nil && parent.same(private, mine) {
			_ = parent.unlink(private)
		}
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

// settleAt gives the private file its name: in place of the file that stands there, or,
// when none does, by a rename that replaces nothing, else by a link, else by a copy into
// a file that did not exist.
func settleAt(ctx context.Context, temp *os.File, parent *dir, private, name string, stands *Identity) error {
	if stands != nil {
		err := swap(parent, private, name, *stands)
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	err := parent.rename(private, parent, name, false)
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

// swap puts the private file in the place of the one that stands there. The two change
// places, so that what came out can be looked at: when it is another file, which was put
// there in the last moment, they change back. Where files cannot change places the look
// is the one just before. fs.ErrNotExist: nothing stands there any more.
func swap(parent *dir, private, name string, stands Identity) error {
	now, err := parent.lstat(name)
	if err != nil {
		return err
	}
	if now.Identity != stands {
		return errOther
	}
	mine, err := parent.lstat(private)
	if err != nil {
		return err
	}
	err = parent.exchange(private, name)
	if errors.Is(err, errUnsupported) {
		return parent.rename(private, parent, name, true)
	}
	if err != nil {
		return err
	}
	out, err := parent.lstat(private)
	if errors.Is(err, fs.ErrNotExist) {
		return errOther // another process took it for a leftover, and keeps it among those
	}
	if err != nil {
		return err
	}
	if stands.CtimeNS = out.CtimeNS; out.Identity != stands { // a rename is a change
		// What is put there in this very moment comes out; it is not ours and is kept.
		if parent.same(name, mine.Identity) {
			err = parent.exchange(private, name)
		}
		return errors.Join(errOther, err)
	}
	if err := parent.unlink(private); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil // another process took it for a leftover
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
