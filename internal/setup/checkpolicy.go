package setup

import (
	"os"
	"path/filepath"
	"strings"

	"cutroom"
	"cutroom/internal/config"
	"cutroom/internal/policy"
	"cutroom/internal/tool"
)

// PolicyFinding is something in a config file that is wrong, or probably not meant.
type PolicyFinding struct {
	File string `json:"file"`
	policy.Finding
}

// CheckPolicy reads the user's config file, or the one given in its place, with the
// workspace's, and says what is wrong with the rules and what never decides.
func CheckPolicy(dir, root, file string, r *tool.Registry) ([]PolicyFinding, error) {
	folders, err := config.FindFolders()
	if err != nil {
		return nil, err
	}
	s := settings{folders: folders}
	if s.workspace, err = workspace(dir, root); err != nil {
		return nil, err
	}
	user, err := userFile(dir, folders, file)
	if err != nil {
		return nil, err
	}
	own, err := configFile(s.workspace, false)
	if err != nil {
		return nil, err
	}
	found := []PolicyFinding{}
	for _, f := range []config.File{user, own} {
		_, faults := config.Check(f.Text)
		for _, x := range faults {
			found = append(found, PolicyFinding{f.Path, policy.Finding{Kind: "syntax", Line: x.Line, Fault: true, Message: x.Message, Hint: x.Hint}})
		}
	}
	if len(found) > 0 {
		return found, nil // what cannot be read cannot be looked through
	}
	if s.config, s.narrower, err = config.Load(user, own); err != nil {
		return nil, err
	}
	for _, f := range s.policy().Check(known(r)) {
		from := user.Path
		if f.Layer != "" {
			from = own.Path
		}
		found = append(found, PolicyFinding{from, f})
	}
	return found, nil
}

func userFile(dir string, folders config.Folders, file string) (config.File, error) {
	if file == "" {
		return configFile(folders.Config, true)
	}
	path := file
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return config.File{}, cutroom.Errorf(cutroom.NotFound, "there is no file %q", file).WithCause(err).WithHint("name a file in the form of cutroom.yaml")
	case !info.Mode().IsRegular():
		return config.File{}, cutroom.Errorf(cutroom.Invalid, "%q is not a plain file", file).WithHint("name a file in the form of cutroom.yaml")
	case info.Size() > config.MaxFile:
		return config.File{}, cutroom.Errorf(cutroom.Limit, "%q is larger than %d bytes", file, config.MaxFile).WithHint("split what is not config out of it")
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return config.File{}, cutroom.Errorf(cutroom.NotFound, "the file %q cannot be read", file).WithCause(err).WithHint("make it a file that you may read")
	}
	return config.File{Path: strings.TrimSpace(file), Text: text}, nil
}

// known is the registry as a policy is checked against it.
func known(r *tool.Registry) policy.Known {
	var k policy.Known
	for _, t := range r.Tools() {
		k.Tools = append(k.Tools, policy.KnownTool{
			Tool: policy.Tool{Name: t.Name, Scope: t.Scope}, Kind: t.Kind, Risk: string(t.Risk), Network: t.Network && !t.Sometimes(), Writes: t.Writes(), Member: t.Member,
		})
	}
	return k
}
