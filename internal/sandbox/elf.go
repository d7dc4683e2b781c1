package sandbox

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Shared objects are resolved by reading, not by running: `ldd` executes the loader
// on the program, and outside the sandbox nothing runs. Where the loader has a choice
// (variants of a library for newer processors), all of its candidates are pinned, so
// that whichever it takes is one that was recorded.

// loaderCache is the loader's own list of libraries (ldconfig(8)).
const loaderCache = "/etc/ld.so.cache"

// sharedObjects returns the real paths of every shared object that the ELF files at
// paths need, directly or not, and of their loader, sorted. A file that is no ELF
// file needs none.
func sharedObjects(paths ...string) ([]string, error) {
	raw, err := os.ReadFile(loaderCache)
	if err != nil {
		return nil, fmt.Errorf("read the loader's cache: %w", err)
	}
	r := resolver{cache: parseLoaderCache(raw), found: map[string]bool{}}
	// The loader's own folders are compiled in and differ by distribution; the cache
	// has libraries from each of them.
	for _, libs := range r.cache {
		for _, p := range libs {
			if dir := filepath.Dir(p); !slices.Contains(r.folders, dir) {
				r.folders = append(r.folders, dir)
			}
		}
	}
	slices.Sort(r.folders)
	for _, p := range paths {
		if err := r.visit(p, nil); err != nil {
			return nil, err
		}
	}
	var list []string
	for p := range r.found {
		list = append(list, p)
	}
	slices.Sort(list)
	return list, nil
}

// resolver walks the needs of ELF files.
type resolver struct {
	cache   map[string][]string
	folders []string // where libraries lie that the cache does not name
	found   map[string]bool
}

// needs is what the loader reads in one ELF file.
type needs struct {
	interp  string
	libs    []string
	runpath []string // own search folders: used for this file's needs only
	rpath   []string // the older kind: used for what it loads, too
	class   elf.Class
	machine elf.Machine
}

// visit adds the needs of the file at path.
func (r *resolver) visit(path string, inherited []string) error {
	n, err := readNeeds(path)
	if err != nil {
		return err
	}
	if n.interp != "" {
		if err := r.add(n.interp, nil); err != nil {
			return err
		}
	}
	rpath := append(slices.Clone(n.rpath), inherited...)
	if len(n.runpath) > 0 {
		rpath = inherited
	}
	for _, lib := range n.libs {
		candidates := r.candidates(lib, n, rpath)
		if len(candidates) == 0 {
			return fmt.Errorf("%s needs %s, which is not installed", path, lib)
		}
		for _, c := range candidates {
			if err := r.add(c, rpath); err != nil {
				return err
			}
		}
	}
	return nil
}

// add records one object and visits it.
func (r *resolver) add(path string, rpath []string) error {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return fmt.Errorf("resolve %s: %w", path, err)
	}
	if r.found[real] {
		return nil
	}
	r.found[real] = true
	return r.visit(real, rpath)
}

// candidates are the files that the loader could take for lib (ld.so(8)).
func (r *resolver) candidates(lib string, n needs, rpath []string) []string {
	if strings.Contains(lib, "/") {
		return []string{lib}
	}
	folders := slices.Concat(rpath, n.runpath)
	var list []string
	for _, dir := range folders {
		if p := filepath.Join(dir, lib); sameKind(p, n) {
			list = append(list, p)
		}
	}
	if len(list) > 0 {
		return list
	}
	for _, p := range r.cache[lib] {
		if sameKind(p, n) {
			list = append(list, p)
		}
	}
	if len(list) > 0 {
		return list
	}
	for _, dir := range append([]string{"/lib64", "/usr/lib64", "/lib", "/usr/lib"}, r.folders...) {
		if p := filepath.Join(dir, lib); sameKind(p, n) {
			list = append(list, p)
		}
	}
	return list
}

// sameKind reports whether the file at path is of n's word size and machine; the
// cache lists libraries of all.
func sameKind(path string, n needs) bool {
	f, err := elf.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	return f.Class == n.class && f.Machine == n.machine
}

// readNeeds reads the dynamic section of one file.
func readNeeds(path string) (needs, error) {
	file, err := os.Open(path)
	if err != nil {
		return needs{}, err
	}
	defer file.Close()
	magic := make([]byte, 4)
	if _, err := io.ReadFull(file, magic); err != nil || string(magic) != elf.ELFMAG {
		return needs{}, nil
	}
	f, err := elf.NewFile(file)
	if err != nil {
		return needs{}, fmt.Errorf("read %s: %w", path, err)
	}
	n := needs{class: f.Class, machine: f.Machine}
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			b, err := io.ReadAll(io.LimitReader(p.Open(), 4096))
			if err != nil {
				return needs{}, fmt.Errorf("read %s: %w", path, err)
			}
			n.interp = string(bytes.TrimRight(b, "\x00"))
		}
	}
	// An error here means that there is no dynamic section: a static program.
	n.libs, _ = f.ImportedLibraries()
	origin := filepath.Dir(path)
	n.runpath = searchFolders(f, elf.DT_RUNPATH, origin)
	n.rpath = searchFolders(f, elf.DT_RPATH, origin)
	return n, nil
}

// searchFolders reads DT_RUNPATH or DT_RPATH and puts the file's folder for $ORIGIN.
func searchFolders(f *elf.File, tag elf.DynTag, origin string) []string {
	values, err := f.DynString(tag)
	if err != nil {
		return nil
	}
	var folders []string
	for _, v := range values {
		for dir := range strings.SplitSeq(v, ":") {
			dir = strings.NewReplacer("${ORIGIN}", origin, "$ORIGIN", origin).Replace(dir)
			// A relative folder would depend on where the program is started.
			if filepath.IsAbs(dir) {
				folders = append(folders, filepath.Clean(dir))
			}
		}
	}
	return folders
}

// parseLoaderCache reads glibc's cache ("glibc-ld.so.cache1.1", alone or behind the
// older form): for each library name the files, in order of preference. What does not
// parse is left out.
func parseLoaderCache(raw []byte) map[string][]string {
	const magic, headerSize, entrySize = "glibc-ld.so.cache1.1", 48, 24
	libs := map[string][]string{}
	at := bytes.Index(raw, []byte(magic))
	if at < 0 || len(raw)-at < headerSize {
		return libs
	}
	raw = raw[at:]
	text := func(off uint32) string {
		if uint64(off) >= uint64(len(raw)) {
			return ""
		}
		s, _, ok := bytes.Cut(raw[off:], []byte{0})
		if !ok {
			return ""
		}
		return string(s)
	}
	count := binary.NativeEndian.Uint32(raw[len(magic):])
	for i := range min(uint64(count), uint64((len(raw)-headerSize)/entrySize)) {
		entry := raw[headerSize+i*entrySize:]
		name, path := text(binary.NativeEndian.Uint32(entry[4:])), text(binary.NativeEndian.Uint32(entry[8:]))
		if name != "" && filepath.IsAbs(path) && !slices.Contains(libs[name], path) {
			libs[name] = append(libs[name], path)
		}
	}
	return libs
}
