package setup

import (
	"fmt"
	"os"
	"path/filepath"

	"cutroom"
	"cutroom/internal/config"
)

// ConfigFile is one of the two config files.
type ConfigFile struct {
	Path   string `json:"path"`
	Exists bool   `json:"exists"`
}

// ConfigFinding is something in a config file that is wrong, or probably not meant.
type ConfigFinding struct {
	File  string `json:"file"`
	Wrong bool   `json:"fault"` // false: a remark
	config.Fault
}

// CheckConfig reads both config files, or another in the place of the user's, and lists
// the files, the user's first, with all that is wrong with them, and secrets that are not
// where they say.
func CheckConfig(dir, root, file string) ([]ConfigFile, []ConfigFinding, error) {
	s, err := located(dir, root)
	if err != nil {
		return nil, nil, err
	}
	user, err := userFile(dir, s.folders, file)
	if err != nil {
		return nil, nil, err
	}
	own, err := configFile(s.workspace, false)
	if err != nil {
		return nil, nil, err
	}
	var files []ConfigFile
	found := []ConfigFinding{}
	for _, f := range []config.File{user, own} {
		_, faults := config.Check(f.Text)
		for _, x := range faults {
			found = append(found, ConfigFinding{f.Path, true, x})
		}
		_, err := os.Stat(f.Path)
		files = append(files, ConfigFile{f.Path, err == nil || f.Path == file})
	}
	if len(found) > 0 {
		return files, found, nil
	}
	if _, _, err := config.Load(user, own); err != nil { // what a workspace may not say
		e := cutroom.AsError(err)
		return files, []ConfigFinding{{own.Path, true, config.Fault{Message: e.Msg, Hint: e.Hint}}}, nil
	}
	for _, f := range append(config.Remarks(user.Text), secretRemarks(user.Text)...) {
		found = append(found, ConfigFinding{user.Path, false, f})
	}
	return files, found, nil
}

// secretRemarks says which secrets are not where the file says, or lie open.
func secretRemarks(text []byte) []config.Fault {
	var all []config.Fault
	for _, r := range config.Referring(text) {
		list, _ := config.Secrets(r.Text)
		for _, s := range list {
			if _, err := reveal(s, keyringGlance); err != nil {
				e := cutroom.AsError(unrevealed(r.Key, s, err))
				all = append(all, config.Fault{Line: r.Line, Message: e.Msg, Hint: e.Hint})
				continue
			}
			if info, err := os.Stat(s.Name); s.From == config.PlainFile && err == nil && info.Mode().Perm()&0o077 != 0 {
				all = append(all, config.Fault{Line: r.Line, Message: fmt.Sprintf("%s: others may read %s", r.Key, shown(s)), Hint: "chmod 600 " + filepath.Base(s.Name)})
			}
		}
	}
	return all
}

// ShowConfig lists every key with what it amounts to and where that comes from, and the
// two files, the user's first.
func ShowConfig(dir, root string) ([]config.Value, []ConfigFile, error) {
	s, err := located(dir, root)
	if err != nil {
		return nil, nil, err
	}
	read, readOwn := s.files()
	user, err := read()
	if err != nil {
		return nil, nil, err
	}
	own, err := readOwn()
	if err != nil {
		return nil, nil, err
	}
	list, err := config.Show(user, own)
	return list, []ConfigFile{{user.Path, user.Text != nil}, {own.Path, own.Text != nil}}, err
}
