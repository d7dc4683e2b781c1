package approval

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/crypto/argon2"

	"cutroom"
)

// Keys is the folder of the signing key: the private half in approval.key, wrapped by
// the operator's passphrase when one is set, the public half in approval.pub. It lies
// in the user's state folder, never in a workspace.
type Keys struct{ Folder string }

const (
	privateName = "approval.key"
	publicName  = "approval.pub"
)

// MinPassphrase is the least length of a passphrase, in characters.
const MinPassphrase = 8

// keyFile is the form of approval.key. Exactly one of Seed and Sealed is there.
type keyFile struct {
	Version int    `json:"version"`
	Seed    []byte `json:"seed,omitempty"` // 32 bytes (RFC 8032)
	Sealed  []byte `json:"sealed,omitempty"`
	Salt    []byte `json:"salt,omitempty"`
	Nonce   []byte `json:"nonce,omitempty"`
	// Argon2id (RFC 9106): passes, memory in KiB, lanes.
	Passes uint32 `json:"passes,omitempty"`
	Memory uint32 `json:"memory_kib,omitempty"`
	Lanes  uint8  `json:"lanes,omitempty"`
}

// The cost of a guess: the second recommended choice of RFC 9106, 4. A file that asks
// for more than ten times that is damaged.
const (
	passes    = 3
	memoryKiB = 64 << 10
	lanes     = 4
)

// Signer is the private key, unlocked.
type Signer struct{ private ed25519.PrivateKey }

// Public is the key that verifies.
func (s *Signer) Public() ed25519.PublicKey { return s.private.Public().(ed25519.PublicKey) }

// Present says whether a key was made already, and whether a passphrase wraps it.
func (k Keys) Present() (present, wrapped bool, err error) {
	f, err := k.read()
	if errors.Is(err, fs.ErrNotExist) {
		return false, false, nil
	}
	return err == nil, len(f.Sealed) > 0, err
}

// Public returns the key that verifies; fs.ErrNotExist when nothing was ever signed.
func (k Keys) Public() (ed25519.PublicKey, error) {
	raw, err := readPrivate(filepath.Join(k.Folder, publicName))
	if err != nil {
		return nil, err
	}
	key, err := hex.DecodeString(string(raw))
	if err != nil || len(key) != ed25519.PublicKeySize {
		return nil, damaged(publicName).WithCause(err)
	}
	return key, nil
}

// Unlock returns the signing key, which is made when there is none. A wrong passphrase
// is denied; one that is not needed is not looked at.
func (k Keys) Unlock(passphrase []byte) (*Signer, error) {
	f, err := k.read()
	if errors.Is(err, fs.ErrNotExist) {
		if err := k.first(); err != nil {
			return nil, err
		}
		f, err = k.read()
	}
	if err != nil {
		return nil, err
	}
	seed, err := f.open(passphrase)
	if err != nil {
		return nil, err
	}
	s := &Signer{ed25519.NewKeyFromSeed(seed)}
	known, err := k.Public()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		// A crash between the two files.
		if err := k.write(publicName, []byte(hex.EncodeToString(s.Public())), false); err != nil {
			return nil, err
		}
	case err != nil:
		return nil, err
	case !known.Equal(s.Public()):
		return nil, cutroom.Errorf(cutroom.Conflict, "the two halves of the approval key do not belong together").
			WithHint("somebody changed a file of the state folder (`cutroom doctor` names it): put keys/%s and keys/%s back from a copy, or make a new key with `cutroom approvals passphrase --reset`", privateName, publicName)
	}
	return s, nil
}

// SetPassphrase wraps the key by a passphrase, or takes the wrapping off when next is
// empty. What was signed stays valid.
func (k Keys) SetPassphrase(old, next []byte) error {
	if n := len([]rune(string(next))); n > 0 && n < MinPassphrase {
		return cutroom.Errorf(cutroom.Invalid, "the passphrase has %d characters", n).WithHint("use at least %d", MinPassphrase)
	}
	s, err := k.Unlock(old)
	if err != nil {
		return err
	}
	f := keyFile{Version: 1, Seed: s.private.Seed()}
	if len(next) > 0 {
		if f, err = seal(s.private.Seed(), next); err != nil {
			return err
		}
	}
	return k.write(privateName, []byte(encode(f)), true)
}

// first makes the key where there never was one.
func (k Keys) first() error {
	m := marks{filepath.Join(k.Folder, "approval")}
	known := m.any()
	if _, err := os.Lstat(filepath.Join(k.Folder, publicName)); err == nil {
		known = true
	}
	if _, err := k.read(); known && errors.Is(err, fs.ErrNotExist) { // looked at again: another process may have made it just now
		return lostKey()
	}
	return k.create()
}

func lostKey() error {
	return cutroom.Errorf(cutroom.Precondition, "the key of approvals is gone, and there was one").
		WithHint("put keys/%s and keys/%s of the state folder back from a copy, or make a new key with `cutroom approvals passphrase --reset`: nothing that was approved before counts then", privateName, publicName)
}

func (k Keys) create() error {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return err
	}
	err = k.write(privateName, []byte(encode(keyFile{Version: 1, Seed: private.Seed()})), false)
	if errors.Is(err, fs.ErrExist) {
		return nil // another process was first
	}
	if err != nil {
		return err
	}
	_, err = marks{filepath.Join(k.Folder, "approval")}.use(keyMark, time.Time{})
	return err
}

func (k Keys) read() (keyFile, error) {
	var f keyFile
	raw, err := readPrivate(filepath.Join(k.Folder, privateName))
	if err != nil {
		return f, err
	}
	if err := json.Unmarshal(raw, &f); err != nil || f.Version != 1 || !f.sound() {
		return f, damaged(privateName).WithCause(err)
	}
	return f, nil
}

func (f keyFile) sound() bool {
	if len(f.Sealed) == 0 {
		return len(f.Seed) == ed25519.SeedSize
	}
	return len(f.Seed) == 0 && len(f.Salt) >= 16 && len(f.Salt) <= 64 && len(f.Nonce) == 12 &&
		f.Passes >= 1 && f.Passes <= 10*passes && f.Memory >= 8 && f.Memory <= 10*memoryKiB && f.Lanes >= 1 && f.Lanes <= 64
}

func (f keyFile) open(passphrase []byte) ([]byte, error) {
	if len(f.Sealed) == 0 {
		return f.Seed, nil
	}
	if len(passphrase) == 0 {
		return nil, cutroom.Errorf(cutroom.Denied, "approving takes the operator's passphrase").
			WithHint("run `cutroom approve ID` on a terminal; it asks for it")
	}
	aead, err := cipherOf(argon2.IDKey(passphrase, f.Salt, f.Passes, f.Memory, f.Lanes, 32))
	if err != nil {
		return nil, err
	}
	seed, err := aead.Open(nil, f.Nonce, f.Sealed, []byte(wrapping))
	if err != nil || len(seed) != ed25519.SeedSize {
		return nil, cutroom.Errorf(cutroom.Denied, "that is not the passphrase").WithHint("try again; a lost one means a new key: `cutroom approvals passphrase --reset`")
	}
	return seed, nil
}

// wrapping is what the sealed seed is authenticated with: no other sealed text is one.
const wrapping = "key of approvals, 1"

func seal(seed, passphrase []byte) (keyFile, error) {
	f := keyFile{Version: 1, Salt: make([]byte, 16), Nonce: make([]byte, 12), Passes: passes, Memory: memoryKiB, Lanes: lanes}
	rand.Read(f.Salt) // never fails (crypto/rand)
	rand.Read(f.Nonce)
	aead, err := cipherOf(argon2.IDKey(passphrase, f.Salt, f.Passes, f.Memory, f.Lanes, 32))
	if err != nil {
		return f, err
	}
	f.Sealed = aead.Seal(nil, f.Nonce, seed, []byte(wrapping))
	return f, nil
}

func cipherOf(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

// Reset makes a new key without a passphrase: nothing that the old one signed counts
// any more.
func (k Keys) Reset() error {
	for _, name := range []string{privateName, publicName} {
		if err := os.Remove(filepath.Join(k.Folder, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := k.create(); err != nil {
		return err
	}
	_, err := k.Unlock(nil)
	return err
}

// write puts a whole file in place, readable by this user alone. Whoever sees the file
// sees all of it; without replace the first of several writers wins.
func (k Keys) write(name string, data []byte, replace bool) error {
	if err := os.MkdirAll(k.Folder, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(k.Folder, ".approval-*") // made 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(data)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if replace {
		return os.Rename(f.Name(), filepath.Join(k.Folder, name))
	}
	return os.Link(f.Name(), filepath.Join(k.Folder, name))
}

// maxKeyFile bounds a file of the key, in bytes.
const maxKeyFile = 4 << 10

// readPrivate reads a small file that is this user's alone.
func readPrivate(path string) ([]byte, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, damaged(filepath.Base(path))
	}
	if info.Mode().Perm()&0o077 != 0 && filepath.Separator == '/' {
		return nil, cutroom.Errorf(cutroom.Denied, "%s can be read by other users", filepath.Base(path)).WithHint("set its mode to 0600 (`cutroom doctor` names the state folder)")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxKeyFile))
}

func damaged(name string) *cutroom.Error {
	return cutroom.Errorf(cutroom.Precondition, "%s is damaged", name).
		WithHint("put it back from a copy, or make a new key with `cutroom approvals passphrase --reset`: what was approved before does not count then")
}

// fingerprint names a public key.
func fingerprint(key ed25519.PublicKey) string {
	sum := sha256.Sum256(key)
	return fmt.Sprintf("%x", sum[:8])
}
