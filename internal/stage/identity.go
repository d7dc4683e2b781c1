package stage

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"cutroom"
)

// Identity is what the system says about a file without reading it. Two equal
// identities mean the same bytes, as long as the change time is not so recent
// that a write could hide in the clock's grain.
type Identity struct {
	Dev, Ino         uint64
	Size             int64 // bytes
	MtimeNS, CtimeNS int64 // nanoseconds since 1970; the change time cannot be set by a program
}

// IdentityOf returns the identity of an open file.
func IdentityOf(f *os.File) (Identity, error) {
	st, err := statFile(f)
	return st.Identity, err
}

func (id Identity) sameInode(o Identity) bool { return id.Dev == o.Dev && id.Ino == o.Ino }

// settle is how much older than the start of hashing a change time must be for
// an entry to count: file systems stamp changes with a clock of up to 2 s grain.
const settle = 2 * time.Second

// IdentityCache remembers digests by identity, one small file per inode in a
// folder of the user's state. It is safe for any number of processes. A nil
// cache hashes every time.
type IdentityCache struct {
	folder string
	now    func() time.Time
}

// NewIdentityCache returns the cache in folder, which is made on the first write.
// now is the clock, time.Now when nil.
func NewIdentityCache(folder string, now func() time.Time) *IdentityCache {
	if now == nil {
		now = time.Now
	}
	return &IdentityCache{folder: folder, now: now}
}

// Digest returns the SHA-256 of f and the identity it was found under. f's offset
// is neither used nor moved. A file that changes while it is read is a conflict.
func (c *IdentityCache) Digest(ctx context.Context, f *os.File) (cutroom.Digest, Identity, error) {
	id, err := IdentityOf(f)
	if err != nil {
		return "", id, fmt.Errorf("identify a file: %w", err)
	}
	if d, ok := c.lookup(id); ok {
		return d, id, nil
	}
	start := time.Time{}
	if c != nil {
		start = c.now()
	}
	digest, err := hashFile(ctx, f, id.Size)
	if err != nil {
		return "", id, err
	}
	after, err := IdentityOf(f)
	if err != nil {
		return "", id, fmt.Errorf("identify a file: %w", err)
	}
	if after != id {
		return "", after, cutroom.Errorf(cutroom.Conflict, "a file changed while it was read").WithHint("repeat the call when nothing writes to it")
	}
	c.remember(entry{id: id, hashed: start.UnixNano(), digest: digest})
	return digest, id, nil
}

// lookup returns what is remembered for exactly id.
func (c *IdentityCache) lookup(id Identity) (cutroom.Digest, bool) {
	if c == nil {
		return "", false
	}
	b, err := os.ReadFile(c.file(id))
	if err != nil {
		return "", false
	}
	e, err := parseEntry(string(b))
	if err != nil || e.id != id || !e.settled() {
		return "", false
	}
	return e.digest, true
}

// remember stores e when it can be trusted later. A cache that cannot be written
// costs time, not the call.
func (c *IdentityCache) remember(e entry) {
	if c == nil || !e.settled() || os.MkdirAll(c.folder, 0o700) != nil {
		return
	}
	f, err := os.CreateTemp(c.folder, "new-*") // made 0600
	if err != nil {
		return
	}
	_, err = f.WriteString(e.String())
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), c.file(e.id))
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
}

func (c *IdentityCache) file(id Identity) string {
	return filepath.Join(c.folder, fmt.Sprintf("%x-%x", id.Dev, id.Ino))
}

// entry is one line of the cache.
type entry struct {
	id     Identity
	hashed int64 // when hashing started, nanoseconds since 1970
	digest cutroom.Digest
}

func (e entry) settled() bool { return e.hashed-e.id.CtimeNS >= int64(settle) }

// String is the entry's one line: version, identity, start of hashing, digest.
func (e entry) String() string {
	return fmt.Sprintf("1 %d %d %d %d %d %d %s\n", e.id.Dev, e.id.Ino, e.id.Size, e.id.MtimeNS, e.id.CtimeNS, e.hashed, e.digest)
}

func parseEntry(line string) (entry, error) {
	w := strings.Fields(line)
	if len(w) != 8 || w[0] != "1" {
		return entry{}, errors.New("not an entry of version 1")
	}
	var e entry
	var errs [7]error
	e.id.Dev, errs[0] = strconv.ParseUint(w[1], 10, 64)
	e.id.Ino, errs[1] = strconv.ParseUint(w[2], 10, 64)
	e.id.Size, errs[2] = strconv.ParseInt(w[3], 10, 64)
	e.id.MtimeNS, errs[3] = strconv.ParseInt(w[4], 10, 64)
	e.id.CtimeNS, errs[4] = strconv.ParseInt(w[5], 10, 64)
	e.hashed, errs[5] = strconv.ParseInt(w[6], 10, 64)
	e.digest, errs[6] = cutroom.ParseDigest(w[7])
	return e, errors.Join(errs[:]...)
}

// readBlock is large enough that system calls do not count and small enough that
// a block is hashed while it is still in the processor's cache.
const readBlock = 256 << 10

// hashFile streams f through SHA-256.
func hashFile(ctx context.Context, f *os.File, size int64) (cutroom.Digest, error) {
	if size > readBlock {
		adviseSequential(f)
	}
	h := sha256.New()
	buf := make([]byte, min(size+1, readBlock))
	for off := int64(0); ; {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		n, err := f.ReadAt(buf, off)
		h.Write(buf[:n])
		off += int64(n)
		if errors.Is(err, io.EOF) {
			return cutroom.DigestSum(h), nil
		}
		if err != nil {
			return "", cutroom.Errorf(cutroom.Unavailable, "a file cannot be read to its end").
				WithHint("check the disk or the network folder that it lies on, then repeat the call").WithCause(err)
		}
	}
}
