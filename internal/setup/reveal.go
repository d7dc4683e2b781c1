package setup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/zalando/go-keyring"

	"cutroom"
	"cutroom/internal/config"
)

// Reveal returns the secrets that a key of the config refers to, in their order: one
// reference may lead to several, with commas between. Each is known to the redactor from
// here on. The error names the key and the reference, never a value.
func (i *Installation) Reveal(key, references string) ([]string, error) {
	values, err := revealAll(key, references)
	for _, v := range values {
		i.redact.Learn(v)
	}
	return values, err
}

// secretOf is the one secret that a key refers to; "" when it says nothing.
func secretOf(key, reference string) (string, error) {
	list, ok := config.Secrets(reference)
	if !ok || len(list) > 1 {
		return "", notReference(key)
	}
	if len(list) == 0 {
		return "", nil
	}
	value, err := reveal(list[0], keyringTime)
	if err != nil {
		return "", unrevealed(key, list[0], err)
	}
	return value, nil
}

func revealAll(key, references string) ([]string, error) {
	list, ok := config.Secrets(references)
	if !ok {
		return nil, notReference(key)
	}
	var values []string
	for _, s := range list {
		value, err := reveal(s, keyringTime)
		if err != nil {
			return nil, unrevealed(key, s, err)
		}
		values = append(values, split(value)...)
	}
	return values, nil
}

func notReference(key string) error {
	return cutroom.Errorf(cutroom.Invalid, "%s is not a reference to a secret", key).
		WithHint("write env:NAME, file:/PATH or keyring:NAME in cutroom.yaml; `cutroom config check` says which key is wrong")
}

// unrevealed says what to do about a secret that is not where the config says.
func unrevealed(key string, s config.Secret, cause error) error {
	e := cutroom.Errorf(cutroom.Precondition, "%s: there is no secret at %s", key, shown(s)).WithCause(cause)
	switch {
	case s.From == config.Env:
		return e.WithHint("set the variable %s where cutroom starts", s.Name)
	case s.From == config.PlainFile:
		return e.WithHint("write the secret to that file, which only you may read")
	case errors.Is(cause, errNoKeyring):
		return cutroom.Errorf(cutroom.Precondition, "%s: no keyring answers here, and the secret is at %s", key, shown(s)).WithCause(cause).
			WithHint("start one (gnome-keyring or KWallet, with a D-Bus session), or use env:NAME or file:/PATH instead")
	case errors.Is(cause, errLocked):
		return cutroom.Errorf(cutroom.Precondition, "%s: the keyring did not answer within %v, and the secret is at %s", key, keyringTime, shown(s)).WithCause(cause).
			WithHint("unlock the keyring, then repeat the command")
	}
	return e.WithHint("store it as %s", storing(s.Name))
}

// shown is a reference as errors may say it: of a file its name alone.
func shown(s config.Secret) string {
	if s.From == config.PlainFile {
		return "file:…/" + filepath.Base(s.Name)
	}
	return s.String()
}

// keyringService is under what our entries are kept.
const keyringService = "cutroom"

func storing(name string) string {
	if runtime.GOOS == "linux" {
		return fmt.Sprintf("secret-tool store --label=%s service %s username %s", keyringService, keyringService, name)
	}
	return fmt.Sprintf("the entry %q of the service %q", name, keyringService)
}

// reveal reads one secret. patience bounds the waiting for a keyring, which may ask a
// person to unlock it.
func reveal(s config.Secret, patience time.Duration) (string, error) {
	value, err := "", error(nil)
	switch s.From {
	case config.Env:
		value = os.Getenv(s.Name)
	case config.PlainFile:
		value, err = plainSecret(s.Name)
	case config.Keyring:
		value, err = fromKeyring(s.Name, patience)
	}
	if value = strings.TrimSpace(value); value == "" && err == nil {
		err = errors.New("there is nothing")
	}
	return value, err
}

// plainSecret reads a small plain file.
func plainSecret(path string) (string, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return "", err
	case !info.Mode().IsRegular() || info.Size() > maxSecretFile:
		return "", errors.New("this is no small plain file")
	}
	raw, err := os.ReadFile(path)
	return string(raw), err
}

var (
	errNoKeyring = errors.New("no keyring answers")
	errLocked    = errors.New("the keyring did not answer in time")
)

// How long the keyring may take for whoever needs a secret, and for whoever only wants
// to know it.
const (
	keyringTime   = 20 * time.Second
	keyringGlance = 2 * time.Second
)

// fromKeyring asks the keyring of this user's session.
func fromKeyring(name string, patience time.Duration) (string, error) {
	// Where there is no session the library would start one, a program outside the sandbox.
	if runtime.GOOS == "linux" && !session() {
		return "", errNoKeyring
	}
	type answer struct {
		value string
		err   error
	}
	// The library cannot be stopped; whoever waits no longer leaves it behind.
	got := make(chan answer, 1)
	go func() {
		value, err := keyring.Get(keyringService, name)
		got <- answer{value, err}
	}()
	select {
	case a := <-got:
		if a.err != nil && !errors.Is(a.err, keyring.ErrNotFound) {
			return "", fmt.Errorf("%w: %w", errNoKeyring, a.err)
		}
		return a.value, a.err
	case <-time.After(patience):
		return "", errLocked
	}
}

// session says whether there is a D-Bus session, by what the library looks for.
func session() bool {
	if a := os.Getenv("DBUS_SESSION_BUS_ADDRESS"); a != "" && a != "autolaunch:" {
		return true
	}
	own := filepath.Join("/run/user", strconv.Itoa(os.Getuid()))
	if _, err := os.Stat(filepath.Join(own, "bus")); err == nil {
		return true
	}
	raw, err := os.ReadFile(filepath.Join(own, "dbus-session"))
	return err == nil && strings.HasPrefix(string(raw), "DBUS_SESSION_BUS_ADDRESS=")
}

// split takes the secrets of one value apart.
func split(value string) []string {
	var list []string
	for one := range strings.SplitSeq(value, ",") {
		if one = strings.TrimSpace(one); one != "" {
			list = append(list, one)
		}
	}
	return list
}
