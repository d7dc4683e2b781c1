package stage

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"cutroom"
)

// keySize is the size of the MAC key in bytes: that of the hash (RFC 2104, 3).
const keySize = 32

// KeyFile returns the 32 random bytes in the file path, made on the first call,
// mode 0600. Of many processes that make it at once all get the same key. The
// file belongs in the user's state folder, outside every workspace.
func KeyFile(path string) ([]byte, error) {
	key, err := readKey(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	if err := makeKey(path); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("make the stage key: %w", err)
	}
	return readKey(path)
}

func readKey(path string) ([]byte, error) {
	folder, err := openRoot(filepath.Dir(path))
	if err != nil {
		return nil, fmt.Errorf("open the stage key's folder: %w", err)
	}
	defer folder.close()
	f, err := folder.open(filepath.Base(path))
	if err != nil {
		return nil, fmt.Errorf("open the stage key: %w", err)
	}
	defer f.Close()
	st, err := statFile(f)
	if err != nil {
		return nil, fmt.Errorf("open the stage key: %w", err)
	}
	if st.mode.Perm()&0o077 != 0 && !permissionless {
		return nil, cutroom.Errorf(cutroom.Denied, "the stage key can be read by other users").WithHint("set its mode to 0600")
	}
	key := make([]byte, keySize)
	if n, err := f.ReadAt(key, 0); st.Size != keySize || n != keySize {
		return nil, cutroom.Errorf(cutroom.Precondition, "the stage key has %d bytes, not %d: it is damaged", st.Size, keySize).WithCause(err).
			WithHint("put the file back from a copy, or remove %s: results that were recorded with it do not verify then", path)
	}
	return key, nil
}

// makeKey writes the whole key under a private name first: whoever sees the file
// sees all of it.
func makeKey(path string) error {
	folder := filepath.Dir(path)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(folder, ".key-*") // made 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	key := make([]byte, keySize)
	rand.Read(key) // never fails (crypto/rand)
	_, err = f.Write(key)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	d, err := openRoot(folder)
	if err != nil {
		return err
	}
	defer d.close()
	err = d.link(filepath.Base(f.Name()), d, filepath.Base(path))
	if errors.Is(err, errUnsupported) {
		err = d.rename(filepath.Base(f.Name()), d, filepath.Base(path), false)
	}
	return errors.Join(err, d.sync())
}
