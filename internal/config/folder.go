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
		return FoldersIn(h), nil
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

// FoldersIn are all three beneath one folder.
func FoldersIn(home string) Folders {
	return Folders{filepath.Join(home, "config"), filepath.Join(home, "state"), filepath.Join(home, "data")}
}

// FindWorkspace returns the nearest folder at or above dir that holds a cutroom.yaml
// or .cutroom, else dir itself.
//
// Above dir not every mark counts, since a workspace is what an agent may read. A
// folder that everyone may write to was marked by anyone. And .cutroom is made by any
// call: one stray call in the home folder or at / would make all beneath it one
// workspace. A cutroom.yaml there is somebody's intention.
func FindWorkspace(dir string) string {
	home, _ := os.UserHomeDir() // "" is no folder on the way
	for d := dir; ; d = filepath.Dir(d) {
		top := d == filepath.Dir(d)
		if marked(d, Name) && (d == dir || !open(d)) {
			return d
		}
		if marked(d, ".cutroom") && (d == dir || !open(d) && !top && d != home) {
			return d
		}
		if top {
			return dir
		}
	}
}

func marked(dir, mark string) bool {
	_, err := os.Lstat(filepath.Join(dir, mark))
	return err == nil
}

// open reports whether everyone may make files in dir, as in /tmp.
func open(dir string) bool {
	info, err := os.Stat(dir)
	return err != nil || info.Mode().Perm()&0o002 != 0
}
