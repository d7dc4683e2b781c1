package attestation

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	strict "github.com/go-json-experiment/json"

	"cutroom"
)

// Ring is this user's keys: one that signs, and those that did. It lies in a folder of
// the state folder. Each change is a new version of one file, which only one writer can
// make; so a change happens wholly or not at all, and none gets lost.
type Ring struct {
	dir string
	now func() time.Time
}

// NewRing returns the keys in a folder, which is made when the first key is. now nil is
// time.Now.
func NewRing(dir string, now func() time.Time) *Ring {
	if now == nil {
		now = time.Now
	}
	return &Ring{dir, now}
}

// ring is one version of the file.
type ring struct {
	Version int     `json:"version"` // of the form: 1
	Keys    []entry `json:"keys"`    // the oldest first
}

type entry struct {
	ID      string    `json:"key_id"`
	Public  string    `json:"public_key"` // PEM
	Created time.Time `json:"created"`
	Retired time.Time `json:"retired,omitzero"`
	Revoked time.Time `json:"revoked,omitzero"`
}

// key returns the entry as a key.
func (e entry) key() (PublicKey, error) {
	keys, err := ParsePublic([]byte(e.Public))
	if err != nil || len(keys) != 1 || keys[0].ID() != e.ID {
		return PublicKey{}, damaged(err)
	}
	k := keys[0]
	k.Created, k.Retired, k.Revoked = e.Created, e.Retired, e.Revoked
	return k, nil
}

func damaged(err error) error {
	return cutroom.Errorf(cutroom.Precondition, "the list of attestation keys is damaged").WithCause(err).
		WithHint("put the folder keys/attestation of the state folder back from a copy; `cutroom doctor` names it")
}

// Keys lists every key, the oldest first; none when none was made.
func (r *Ring) Keys() ([]PublicKey, error) {
	_, v, err := r.read()
	if err != nil {
		return nil, err
	}
	keys := []PublicKey{}
	for _, e := range v.Keys {
		k, err := e.key()
		if err != nil {
			return nil, err
		}
		keys = append(keys, k)
	}
	return keys, nil
}

// Signer returns the key that signs, made when there is none.
func (r *Ring) Signer() (PrivateKey, error) {
	for range attempts {
		_, v, err := r.read()
		if err != nil {
			return PrivateKey{}, err
		}
		if i := v.current(); i >= 0 {
			k, err := r.private(v.Keys[i].ID)
			if _, now, _ := r.read(); err != nil && now.current() != i {
				continue // rotated meanwhile
			}
			return k, err
		}
		if _, err := r.Rotate(); err != nil {
			return PrivateKey{}, err
		}
	}
	return PrivateKey{}, busy()
}

// Rotate makes a new key that signs from now on, and retires the one that did. What that
// signed still verifies.
func (r *Ring) Rotate() (PublicKey, error) {
	k, err := NewKey()
	if err != nil {
		return PublicKey{}, err
	}
	if err := r.store(k); err != nil {
		return PublicKey{}, err
	}
	now := r.stamp()
	err = r.change(func(v *ring) error {
		if i := v.current(); i >= 0 {
			v.Keys[i].Retired = now
		}
		v.Keys = append(v.Keys, entry{ID: k.Public().ID(), Public: string(k.Public().PEM()), Created: now})
		return nil
	})
	if err != nil {
		os.Remove(r.keyFile(k.Public().ID()))
		return PublicKey{}, err
	}
	r.tidy()
	p := k.Public()
	p.Created = now
	return p, nil
}

// Revoke makes everything that a key signed worthless. The id may be its first digits,
// eight or more. When it was the one that signs, the next signature makes a new one.
func (r *Ring) Revoke(id string) (PublicKey, error) {
	var revoked entry
	err := r.change(func(v *ring) error {
		i, err := v.find(id)
		if err != nil {
			return err
		}
		if v.Keys[i].Revoked.IsZero() {
			v.Keys[i].Revoked = r.stamp()
		}
		revoked = v.Keys[i]
		return nil
	})
	if err != nil {
		return PublicKey{}, err
	}
	r.tidy()
	return revoked.key()
}

func (r *Ring) stamp() time.Time { return r.now().UTC().Truncate(time.Microsecond) }

// current is the index of the key that signs, -1 when there is none.
func (v ring) current() int {
	i := len(v.Keys) - 1
	if i >= 0 && v.Keys[i].Retired.IsZero() && v.Keys[i].Revoked.IsZero() {
		return i
	}
	return -1
}

func (v ring) find(id string) (int, error) {
	found := -1
	for i, e := range v.Keys {
		if len(id) >= 8 && strings.HasPrefix(e.ID, id) {
			if found >= 0 {
				return 0, cutroom.Errorf(cutroom.Invalid, "two keys begin with %q", id).WithHint("give more digits of the key's id")
			}
			found = i
		}
	}
	if found < 0 {
		return 0, cutroom.Errorf(cutroom.NotFound, "there is no key %q", short(id)).WithHint("`cutroom keys list` shows the keys; give 8 digits or more")
	}
	return found, nil
}

// attempts bounds how often a change is made again because another writer was first.
const attempts = 50

func busy() error {
	return cutroom.Errorf(cutroom.Unavailable, "the list of attestation keys is changed by others all the time").WithHint("repeat the command")
}

// change makes the next version of the list. Of several writers of one version the first
// wins, and the others begin again with what it wrote.
func (r *Ring) change(edit func(*ring) error) error {
	for range attempts {
		n, v, err := r.read()
		if err != nil {
			return err
		}
		if err := edit(&v); err != nil {
			return err
		}
		v.Version = 1
		text, err := json.MarshalIndent(v, "", "  ")
		if err != nil {
			return err
		}
		err = r.write(r.versionFile(n+1), append(text, '\n'))
		if !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return busy()
}

func (r *Ring) versionFile(n int) string { return filepath.Join(r.dir, fmt.Sprintf("ring.%d.json", n)) }
func (r *Ring) keyFile(id string) string { return filepath.Join(r.dir, id+".key") }

// read returns the newest version and its number, 0 when there is none. One that went
// away meanwhile was not the newest any more.
func (r *Ring) read() (n int, v ring, err error) {
	for range attempts {
		if n, v, err = r.newest(); !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	return n, v, err
}

func (r *Ring) newest() (int, ring, error) {
	entries, err := os.ReadDir(r.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, ring{}, nil
	}
	if err != nil {
		return 0, ring{}, r.fault(err)
	}
	newest := 0
	for _, e := range entries {
		text, ok := strings.CutPrefix(e.Name(), "ring.")
		if n, err := strconv.Atoi(strings.TrimSuffix(text, ".json")); ok && err == nil {
			newest = max(newest, n)
		}
	}
	if newest == 0 {
		return 0, ring{}, nil
	}
	text, err := readPrivate(r.versionFile(newest))
	if err != nil {
		return 0, ring{}, r.fault(err)
	}
	var v ring
	if err := strict.Unmarshal(text, &v, strict.RejectUnknownMembers(true)); err != nil || v.Version != 1 {
		return 0, ring{}, damaged(err)
	}
	return newest, v, nil
}

// private reads the private part of a key.
func (r *Ring) private(id string) (PrivateKey, error) {
	text, err := readPrivate(r.keyFile(id))
	if err != nil {
		return PrivateKey{}, r.fault(err)
	}
	k, err := parsePrivate(text)
	if err == nil && k.Public().ID() != id {
		err = damaged(nil)
	}
	return k, err
}

func (r *Ring) store(k PrivateKey) error {
	text, err := k.pem()
	if err != nil {
		return err
	}
	return r.write(r.keyFile(k.Public().ID()), text)
}

// write makes a new file whole, for this user alone; fs.ErrExist when it is there.
func (r *Ring) write(path string, data []byte) error {
	if err := os.MkdirAll(r.dir, 0o700); err != nil {
		return r.fault(err)
	}
	f, err := os.CreateTemp(r.dir, ".new-") // made 0600
	if err != nil {
		return r.fault(err)
	}
	defer os.Remove(f.Name())
	_, err = f.Write(data)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return r.fault(err)
	}
	err = os.Link(f.Name(), path)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return r.fault(err)
	}
	return err
}

// tidy removes private keys that sign no more, and old versions of the list. What cannot
// be removed stays for the next time.
func (r *Ring) tidy() {
	n, v, err := r.read()
	if err != nil {
		return
	}
	i := v.current()
	for j, e := range v.Keys {
		if j != i {
			os.Remove(r.keyFile(e.ID))
		}
	}
	for old := n - keepVersions; old > 0; old-- {
		if os.Remove(r.versionFile(old)) != nil {
			return
		}
	}
}

// keepVersions is how many old versions of the list stay. A folder that is read while it
// changes may lack the newest: a writer that follows an older one has to find the version
// after it there, or it would write what nobody reads.
const keepVersions = 64

func (r *Ring) fault(err error) error {
	if cutroom.AsError(err).Code != cutroom.Internal { // it says itself what is wrong
		return err
	}
	return cutroom.Errorf(cutroom.Precondition, "the attestation keys cannot be used").WithCause(err).
		WithHint("the folder keys/attestation of the state folder has to be yours, and 0700; `cutroom doctor` names the state folder")
}

// readPrivate reads a plain file that only its owner can read.
func readPrivate(path string) ([]byte, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is no plain file")
	}
	if info.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows" { // which has no such modes
		return nil, cutroom.Errorf(cutroom.Denied, "the attestation keys can be read by other users").WithHint("set the modes of the files in keys/attestation of the state folder to 0600")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, 1<<20))
}

// Public returns the key with that id, or its first digits, eight or more; "" is the one
// that signs, made when there is none.
func (r *Ring) Public(id string) (PublicKey, error) {
	if id == "" {
		k, err := r.Signer()
		if err != nil {
			return PublicKey{}, err
		}
		id = k.Public().ID()
	}
	_, v, err := r.read()
	if err != nil {
		return PublicKey{}, err
	}
	i, err := v.find(id)
	if err != nil {
		return PublicKey{}, err
	}
	return v.Keys[i].key()
}
