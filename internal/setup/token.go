package setup

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"cutroom"
)

// Token returns the bearer token of this user's doors over HTTP, and the file that
// holds it. It is made when there is none.
func (i *Installation) Token() (token, file string, err error) {
	file = filepath.Join(i.Folders.State, "keys", "http.token")
	fault := func(err error) (string, string, error) {
		return "", file, cutroom.Errorf(cutroom.Precondition, "the token file %s cannot be used", file).WithCause(err).
			WithHint("remove it, and a new one is made; its folder has to be yours")
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	switch {
	case err == nil:
		_, werr := f.WriteString(rand.Text() + "\n")
		if err := errors.Join(werr, f.Close()); err != nil {
			return fault(err)
		}
	case !errors.Is(err, fs.ErrExist):
		return fault(err)
	}
	info, err := os.Lstat(file)
	if err != nil || !info.Mode().IsRegular() || info.Mode().Perm()&0o077 != 0 {
		return fault(err)
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		return fault(err)
	}
	if token = strings.TrimSpace(string(raw)); len(token) < 16 {
		return fault(errors.New("the token is too short"))
	}
	return token, file, nil
}
