package approval

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"cutroom"
)

// TestPassphrase: the key stays the same, is sealed by the passphrase and by nothing
// else, and its file holds nothing of it.
func TestPassphrase(t *testing.T) {
	t.Parallel()
	k := Keys{filepath.Join(t.TempDir(), "keys")}
	if present, wrapped, err := k.Present(); present || wrapped || err != nil {
		t.Errorf("%v %v %v", present, wrapped, err)
	}
	plain, err := k.Unlock(nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := k.SetPassphrase(nil, []byte("short")); cutroom.AsError(err).Code != cutroom.Invalid {
		t.Errorf("%v", err)
	}
	if err := k.SetPassphrase(nil, []byte("correct horse")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{privateName, publicName} {
		info, err := os.Stat(filepath.Join(k.Folder, name))
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
	raw, err := os.ReadFile(filepath.Join(k.Folder, privateName))
	if err != nil {
		t.Fatal(err)
	}
	var f keyFile
	if err := json.Unmarshal(raw, &f); err != nil || len(f.Seed) != 0 || bytes.Contains(raw, []byte(encode(plain.private.Seed()))) {
		t.Errorf("%s", raw)
	}
	for _, wrong := range []string{"", "wrong", "correct hors", "correct horse "} {
		if _, err := k.Unlock([]byte(wrong)); cutroom.AsError(err).Code != cutroom.Denied {
			t.Errorf("%q: %v", wrong, err)
		}
	}
	if err := k.SetPassphrase([]byte("wrong"), nil); cutroom.AsError(err).Code != cutroom.Denied {
		t.Errorf("%v", err)
	}
	s, err := k.Unlock([]byte("correct horse"))
	if err != nil || !s.Public().Equal(plain.Public()) {
		t.Fatal(err)
	}
	if err := k.SetPassphrase([]byte("correct horse"), nil); err != nil {
		t.Fatal(err)
	}
	if s, err := k.Unlock(nil); err != nil || !s.Public().Equal(plain.Public()) {
		t.Error(err)
	}
}

// TestKeyFiles: what is damaged, exchanged or open to others is refused, and named.
func TestKeyFiles(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		change func(k Keys) error
		code   cutroom.Code
	}{
		"not JSON":   {func(k Keys) error { return k.write(privateName, []byte("x"), true) }, cutroom.Precondition},
		"short seed": {func(k Keys) error { return k.write(privateName, []byte(`{"version":1,"seed":"AAAA"}`), true) }, cutroom.Precondition},
		"a guess that costs all memory": {func(k Keys) error {
			f, err := seal(make([]byte, 32), []byte("x"))
			f.Memory = 1 << 31
			if err != nil {
				return err
			}
			return k.write(privateName, []byte(encode(f)), true)
		}, cutroom.Precondition},
		"another public half": {func(k Keys) error {
			other := Keys{k.Folder + "-other"}
			if _, err := other.Unlock(nil); err != nil {
				return err
			}
			return os.Rename(filepath.Join(other.Folder, publicName), filepath.Join(k.Folder, publicName))
		}, cutroom.Conflict},
		"open to others": {func(k Keys) error { return os.Chmod(filepath.Join(k.Folder, privateName), 0o644) }, cutroom.Denied},
		"a link": {func(k Keys) error {
			at := filepath.Join(k.Folder, privateName)
			if err := os.Rename(at, at+".real"); err != nil {
				return err
			}
			return os.Symlink(at+".real", at)
		}, cutroom.Precondition},
	} {
		k := Keys{filepath.Join(t.TempDir(), "keys")}
		if _, err := k.Unlock(nil); err != nil {
			t.Fatal(err)
		}
		if err := row.change(k); err != nil {
			t.Fatal(err)
		}
		if _, err := k.Unlock(nil); err == nil || cutroom.AsError(err).Code != row.code {
			t.Errorf("%s: %v", name, err)
		}
	}
}
