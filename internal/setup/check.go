package setup

import (
	"os"
	"path/filepath"

	"cutroom/internal/config"
)

// ConfigFile is one of the two config files.
type ConfigFile struct {
	Path   string `json:"path"`
	Exists bool   `json:"exists"`
}

// CheckConfig reads both config files as every call does and returns them, the
// user's first; the error names the file, the line and the key that is wrong.
func CheckConfig(dir, root string) ([]ConfigFile, error) {
	s, err := settle(dir, root)
	if err != nil {
		return nil, err
	}
	var files []ConfigFile
	for _, path := range []string{filepath.Join(s.folders.Config, config.Name), filepath.Join(s.workspace, config.Name)} {
		_, err := os.Stat(path)
		files = append(files, ConfigFile{path, err == nil})
	}
	return files, nil
}
