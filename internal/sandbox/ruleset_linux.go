//go:build linux && (amd64 || arm64)

package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
)

// Rights of Landlock (landlock(7)). A file takes file rights only.
const (
	readFile   = ll.AccessFSReadFile
	readFolder = ll.AccessFSReadFile | ll.AccessFSReadDir
	runFile    = ll.AccessFSReadFile | ll.AccessFSExecute
	// ownFolder: everything but executing and making links, sockets, pipes and
	// devices. Refer lets files move inside; a move from elsewhere lacks the rights
	// there.
	ownFolder = ll.AccessFSReadFile | ll.AccessFSReadDir | ll.AccessFSWriteFile | ll.AccessFSTruncate | ll.AccessFSMakeReg |
		ll.AccessFSMakeDir | ll.AccessFSRemoveFile | ll.AccessFSRemoveDir | ll.AccessFSRefer
	ownDevice = ll.AccessFSReadFile | ll.AccessFSWriteFile
)

// ruleset makes the Landlock ruleset of one run: the helper inherits it and has only
// to enter it. Rules name what is open here, by descriptor, so that nothing can be
// put in a path's place.
func (r *run) ruleset() (*os.File, error) {
	rules := []landlock.Rule{
		landlock.PathAccess(runFile, fdName(r.exe)),
		landlock.PathAccess(readFile, loaderCache).IgnoreIfMissing(),
		landlock.PathAccess(ownDevice, os.DevNull),
		landlock.PathAccess(ownFolder, fdName(r.dir)),
	}
	for _, in := range r.inputs {
		rules = append(rules, landlock.PathAccess(readFile, fdName(in)))
	}
	rules = append(rules, r.prog.rules()...)
	// V7.BestEffort: what an older kernel cannot mediate, seccomp refuses anyway.
	fd, _, err := landlock.V7.BestEffort().NewRulesetFD(rules...)
	if err != nil {
		return nil, fmt.Errorf("landlock: %w", err)
	}
	if fd < 0 {
		return nil, missingLayers([]string{"landlock: the kernel has none"})
	}
	return os.NewFile(uintptr(fd), "landlock ruleset"), nil
}

func fdName(f *os.File) string { return "/proc/self/fd/" + strconv.Itoa(int(f.Fd())) }

// rules are those of the program: its shared objects, its data and the facts of its
// table. They are plain values, made once.
func (p *program) rules() []landlock.Rule {
	p.rulesOnce.Do(func() {
		var libs, loader, files, folders []string
		for _, o := range p.pin.Objects {
			if strings.HasPrefix(filepath.Base(o.Path), "ld-") {
				loader = append(loader, o.Path)
			} else if o.Path != p.pin.Path {
				libs = append(libs, o.Path)
			}
		}
		for _, d := range p.pin.Data {
			files = append(files, d.Path)
		}
		for _, f := range p.pin.Folders {
			folders = append(folders, f)
		}
		for _, path := range p.table.Reads {
			if st, err := os.Stat(path); err == nil && st.IsDir() {
				folders = append(folders, path)
			} else if err == nil {
				files = append(files, path)
			}
		}
		for _, set := range []struct {
			rights landlock.AccessFSSet
			paths  []string
		}{{readFile, libs}, {runFile, loader}, {readFile, files}, {readFolder, folders}} {
			if len(set.paths) > 0 {
				p.ruleList = append(p.ruleList, landlock.PathAccess(set.rights, set.paths...).IgnoreIfMissing())
			}
		}
	})
	return p.ruleList
}
