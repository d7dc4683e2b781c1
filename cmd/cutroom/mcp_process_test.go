package main_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// process is one that runs, told from a later one under the same number by when it
// began.
type process struct {
	pid   int
	began string
}

// stat reads what /proc says of a process.
func stat(pid int) (parent int, state, began string, ok bool) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, "", "", false
	}
	// The name stands in brackets and may hold anything.
	f := strings.Fields(string(raw[strings.LastIndexByte(string(raw), ')')+1:]))
	if len(f) < 20 {
		return 0, "", "", false
	}
	parent, err = strconv.Atoi(f[1])
	return parent, f[0], f[19], err == nil
}

// alive says whether the process is there and more than an entry in a table.
func (p process) alive() bool {
	_, state, began, ok := stat(p.pid)
	return ok && began == p.began && state != "Z" && state != "X"
}

// descendants are the processes beneath one, however deep.
func descendants(root int) []process {
	children := map[int][]process{}
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, d := range dirs {
		pid, err := strconv.Atoi(filepath.Base(d))
		if err != nil {
			continue
		}
		if parent, _, began, ok := stat(pid); ok {
			children[parent] = append(children[parent], process{pid, began})
		}
	}
	var list []process
	for queue := []int{root}; len(queue) > 0; queue = queue[1:] {
		for _, c := range children[queue[0]] {
			list = append(list, c)
			queue = append(queue, c.pid)
		}
	}
	return list
}

// allGone waits for the end of processes and returns how long it took, and what is
// left after the longest that it waits.
func allGone(list []process, longest time.Duration) (time.Duration, []process) {
	started := time.Now()
	for {
		list = slices.DeleteFunc(slices.Clone(list), func(p process) bool { return !p.alive() })
		if took := time.Since(started); len(list) == 0 || took > longest {
			return took, list
		}
		<-time.After(5 * time.Millisecond)
	}
}

// idle waits for a server to have no child.
func (s *mcpServer) idle(longest time.Duration) (time.Duration, []process) {
	started := time.Now()
	for {
		list := slices.DeleteFunc(descendants(s.cmd.Process.Pid), func(p process) bool { return !p.alive() })
		if took := time.Since(started); len(list) == 0 || took > longest {
			return took, list
		}
		<-time.After(5 * time.Millisecond)
	}
}

// child is what was seen of a process that a server started.
type child struct {
	command, environment, net string
}

// watcher looks at the children of a server while it works.
type watcher struct {
	stop  chan struct{}
	ended sync.WaitGroup
	seen  map[string]child // by process, command and environment
}

// watch begins to look.
func (s *mcpServer) watch() *watcher {
	w := &watcher{stop: make(chan struct{}), seen: map[string]child{}}
	pid := s.cmd.Process.Pid
	self, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	w.ended.Go(func() {
		for {
			for _, p := range descendants(pid) {
				w.look(p, string(self))
			}
			select {
			case <-w.stop:
				return
			case <-time.After(2 * time.Millisecond):
			}
		}
	})
	return w
}

// look notes one child. Between fork and exec a child has its parent's memory yet,
// and with it the words that the parent was started with: it is not looked at then.
func (w *watcher) look(p process, parent string) {
	dir := fmt.Sprintf("/proc/%d/", p.pid)
	before, _ := os.ReadFile(dir + "cmdline")
	env, err := os.ReadFile(dir + "environ")
	after, _ := os.ReadFile(dir + "cmdline")
	net, _ := os.Readlink(dir + "ns/net")
	if err != nil || string(before) != string(after) || string(after) == parent || len(after) == 0 {
		return
	}
	c := child{strings.ReplaceAll(string(after), "\x00", " "), string(env), net}
	w.seen[fmt.Sprint(p, c.command, c.environment)] = c
}

// done ends the look and returns what was seen.
func (w *watcher) done() []child {
	close(w.stop)
	w.ended.Wait()
	var list []child
	for _, c := range w.seen {
		list = append(list, c)
	}
	return list
}
