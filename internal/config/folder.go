package config

import (
	"os"
	"path/filepath"

	"cutroom"
)

// Folders are where the product keeps its files, by the XDG base directory
// specification (0.8).
type Folders struct {
	Config string // cutroom.yaml
	State  string // keys, pinned programs, caches; 0700
	Data   string // models
}

// FindFolders returns the user's folders. CUTROOM_HOME puts all three beneath one
// folder.
func FindFolders() (Folders, error) {
	if h := os.Getenv("CUTROOM_HOME"); h != "" {
		return Folders{filepath.Join(h, "config"), filepath.Join(h, "state"), filepath.Join(h, "data")}, nil
	}
	home, err := os.UserHomeDir()
	if err != nil || home == "" || home == "/" {
		home = os.Getenv("HOME")
	}
	pick := func(env, fallback string) string {
		if d := os.Getenv(env); filepath.IsAbs(d) {
			return filepath.Join(d, "cutroom")
		}
		if home == "" {
			return ""
		}
		return filepath.Join(home, fallback, "cutroom")
	}
	f := Folders{
		Config: pick("XDG_CONFIG_HOME", ".config"),
		State:  pick("XDG_STATE_HOME", ".local/state"),
		Data:   pick("XDG_DATA_HOME", ".local/share"),
	}
	if f.Config == "" || f.State == "" || f.Data == "" {
		return Folders{}, cutroom.Errorf(cutroom.Precondition, "there is no home folder to keep state in").
			WithHint("set HOME, or CUTROOM_HOME to a folder of your own")
	}
	return f, nil
}

// FindWorkspace returns the nearest folder at or above dir that holds .cutroom or
// a cutroom.yaml, else dir itself. The user's own folders are not a workspace.
func FindWorkspace(dir string) string {
	for d := dir; ; d = filepath.Dir(d) {
		for _, mark := range []string{".cutroom", Name} {
			if _, err := os.Lstat(filepath.Join(d, mark)); err == nil {
				return d
			}
		}
		if d == filepath.Dir(d) {
			return dir
		}
	}
}
