//go:build linux && (amd64 || arm64)

package sandbox

import (
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"cutroom"
)

// PinOptions are what PinProgram is told besides the program.
type PinOptions struct {
	// Data are files or folders that the program is given, by the name that argv.Data
	// uses. Shared objects among them are pinned with what they need.
	Data map[string]string
	// Also are further ELF files whose shared objects the program loads at run time.
	Also []string
}

// PinProgram reads the program at path, its shared objects and its data, and records
// them. Nothing is run. An empty path pins our own binary as the program name: not
// its bytes, which are the running ones, but everything that it loads.
func PinProgram(name, path string, o PinOptions) (Pin, error) {
	p := Pin{Name: name}
	roots := append([]string{"/proc/self/exe"}, o.Also...)
	if path != "" {
		real, err := filepath.EvalSymlinks(path)
		if err != nil {
			return Pin{}, cutroom.Errorf(cutroom.MissingDependency, "%s is not at %s", name, path).WithCause(err)
		}
		p.Path, roots[0] = real, real
		if err := p.addObject(real); err != nil {
			return Pin{}, err
		}
	}
	for _, n := range sortedKeys(o.Data) {
		if err := p.addData(n, o.Data[n]); err != nil {
			return Pin{}, err
		}
	}
	for _, d := range p.Data {
		roots = append(roots, d.Path)
	}
	objects, err := sharedObjects(roots...)
	if err != nil {
		return Pin{}, cutroom.Errorf(cutroom.MissingDependency, "%s cannot be pinned: %w", name, err)
	}
	for _, obj := range objects {
		if err := p.addObject(obj); err != nil {
			return Pin{}, err
		}
	}
	p.Fingerprint = p.fingerprint()
	return p, nil
}

func (p *Pin) addObject(path string) error {
	o, err := hashObject(path)
	if err != nil {
		return err
	}
	p.Objects = append(p.Objects, o)
	return nil
}

// addData pins a file, or every file beneath a folder.
func (p *Pin) addData(name, path string) error {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return cutroom.Errorf(cutroom.MissingDependency, "%s: no file for %s at %s", p.Name, name, path).WithCause(err)
	}
	st, err := os.Stat(real)
	if err != nil {
		return fmt.Errorf("stat %s: %w", real, err)
	}
	if p.Data == nil {
		p.Data = map[string]Object{}
	}
	if !st.IsDir() {
		p.Data[name], err = hashObject(real)
		return err
	}
	if p.Folders == nil {
		p.Folders = map[string]string{}
	}
	p.Folders[name] = real
	return filepath.WalkDir(real, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		target, err := filepath.EvalSymlinks(file)
		if err != nil {
			return err
		}
		if st, err := os.Stat(target); err != nil || !st.Mode().IsRegular() {
			return err
		}
		o, err := hashObject(target)
		p.Data[name+"/"+strings.TrimPrefix(file, real+"/")] = o
		return err
	})
}

// hashObject reads a file of no links and records it.
func hashObject(path string) (Object, error) {
	f, err := os.Open(path)
	if err != nil {
		return Object{}, fmt.Errorf("pin: %w", err)
	}
	defer f.Close()
	began := time.Now()
	before, err := identityOf(f)
	if err != nil {
		return Object{}, err
	}
	digest, err := hashFile(f)
	if err != nil {
		return Object{}, err
	}
	if after, err := identityOf(f); err != nil || after != before {
		return Object{}, cutroom.Errorf(cutroom.Conflict, "%s changes while it is read", path).WithHint("try again")
	}
	return Object{Path: path, Identity: before, Hashed: began.UnixNano(), SHA256: digest}, nil
}

func hashFile(f *os.File) (cutroom.Digest, error) {
	h := sha256.New()
	if _, err := io.Copy(h, io.NewSectionReader(f, 0, 1<<62)); err != nil {
		return "", fmt.Errorf("hash %s: %w", f.Name(), err)
	}
	return cutroom.DigestSum(h), nil
}

// Find looks for a program by name in the standard folders and on PATH, in this
// order, and returns every place once. Setup alone uses it.
func Find(name string) []string {
	if name == "" || strings.ContainsRune(name, '/') {
		return nil
	}
	folders := []string{"/usr/bin", "/usr/local/bin", "/bin", "/opt/homebrew/bin", "/snap/bin"}
	folders = append(folders, filepath.SplitList(os.Getenv("PATH"))...)
	var found []string
	seen := map[string]bool{}
	for _, dir := range folders {
		if !filepath.IsAbs(dir) {
			continue
		}
		real, err := filepath.EvalSymlinks(filepath.Join(dir, name))
		if err != nil || seen[real] {
			continue
		}
		if st, err := os.Stat(real); err == nil && st.Mode().IsRegular() && st.Mode()&0o111 != 0 {
			seen[real] = true
			found = append(found, real)
		}
	}
	return found
}
