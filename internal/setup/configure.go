package setup

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"cutroom"
	"cutroom/internal/config"
	"cutroom/internal/stage"
)

// ConfigChange is a change of one key of the user's config file.
type ConfigChange struct {
	File      string          `json:"file"`
	Key       string          `json:"key"`
	Before    json.RawMessage `json:"before"` // what the file said; null: nothing
	After     json.RawMessage `json:"after"`
	Changed   bool            `json:"changed"`
	Effective json.RawMessage `json:"effective,omitempty"` // with the workspace's file; of a single value
	From      string          `json:"from,omitempty"`      // default, user or workspace
}

// SetConfig gives a key of the user's config file a value as somebody typed it, or takes
// the key out when value is nil. It is the one way in which the program writes the file:
// only for an operator, only to what checks, whole or not at all, with comments and order
// kept. Two at once both take effect.
func SetConfig(ctx context.Context, dir, root string, who cutroom.Principal, key string, value *string) (ConfigChange, error) {
	if who.Role != cutroom.RoleOperator {
		return ConfigChange{}, cutroom.Errorf(cutroom.Denied, "an agent may not change the configuration").
			WithHint("ask the operator to run `cutroom config set` in a terminal of their own")
	}
	s, err := located(dir, root)
	if err != nil {
		return ConfigChange{}, err
	}
	if err := os.MkdirAll(s.folders.State, 0o700); err != nil {
		return ConfigChange{}, stateFault(s, err)
	}
	release, err := stage.Hold(ctx, s.folders.State, config.Name)
	if err != nil {
		return ConfigChange{}, stateFault(s, err)
	}
	defer release()
	return s.change(key, value)
}

// change edits the file. Nobody else who asks in the same way is at it.
func (s settings) change(key string, value *string) (ConfigChange, error) {
	read, readOwn := s.files()
	user, err := read()
	if err != nil {
		return ConfigChange{}, err
	}
	text, err := edited(user.Text, key, value)
	if err != nil {
		return ConfigChange{}, err
	}
	if _, err := config.Parse(text); err != nil {
		e := cutroom.AsError(err)
		return ConfigChange{}, cutroom.Errorf(e.Code, "with this the file would be wrong: %s", e.Msg).WithHint("%s", e.Hint)
	}
	c := ConfigChange{File: user.Path, Key: key, Changed: !bytes.Equal(text, user.Text)}
	if c.Before, err = config.At(user.Text, key); err != nil {
		return c, err
	}
	if c.After, err = config.At(text, key); err != nil {
		return c, err
	}
	if c.Changed {
		if err := replaceConfig(user, text); err != nil {
			return c, err
		}
	}
	if own, err := readOwn(); err == nil { // what is wrong there is said when it is read
		list, _ := config.Show(config.File{Path: user.Path, Text: text}, own)
		for _, v := range list {
			if v.Key == key {
				c.Effective, c.From = v.Value, v.From
			}
		}
	}
	return c, nil
}

func edited(text []byte, key string, value *string) ([]byte, error) {
	if value == nil {
		return config.Unset(text, key)
	}
	return config.Set(text, key, *value)
}

// replaceConfig puts a text in the place of the one that was read. A link stays one.
func replaceConfig(was config.File, text []byte) error {
	fault := func(err error) error {
		return cutroom.Errorf(cutroom.Precondition, "the config file %q cannot be written", was.Path).WithCause(err).
			WithHint("make the file and its folder yours and writable")
	}
	path, mode := was.Path, fs.FileMode(0o600)
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	} else if !errors.Is(err, fs.ErrNotExist) {
		return fault(err)
	}
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	folder := filepath.Dir(path)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fault(err)
	}
	f, err := os.CreateTemp(folder, "."+config.Name+"-*")
	if err != nil {
		return fault(err)
	}
	defer os.Remove(f.Name()) // gone once it was renamed
	_, err = f.Write(text)
	if err := errors.Join(err, f.Chmod(mode), f.Sync(), f.Close()); err != nil {
		return fault(err)
	}
	now, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) || !bytes.Equal(now, was.Text) {
		return cutroom.Errorf(cutroom.Conflict, "the config file %q changed meanwhile", was.Path).WithCause(err).WithHint("run the command again")
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return fault(err)
	}
	if d, err := os.Open(folder); err == nil {
		_ = d.Sync() // not every system can
		d.Close()
	}
	return nil
}
