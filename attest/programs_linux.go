package main

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"time"
)

// watcher looks at the processes beneath one, from outside.
type watcher struct {
	root   int
	server string
	end    chan struct{}
	done   chan struct{}
	seen   map[int]*sighting
}

// watchPrograms watches what the server beneath a process starts, until stop.
func watchPrograms(root int, server string) *watcher {
	w := &watcher{root: root, server: server, end: make(chan struct{}), done: make(chan struct{}), seen: map[int]*sighting{}}
	go func() {
		defer close(w.done)
		tick := time.NewTicker(lookEvery)
		defer tick.Stop()
		for {
			w.look()
			select {
			case <-w.end:
				w.look()
				return
			case <-tick.C:
			}
		}
	}()
	return w
}

func (w *watcher) stop() []sighting {
	close(w.end)
	<-w.done
	var list []sighting
	for _, s := range w.seen {
		list = append(list, *s)
	}
	return list
}

// process is what /proc/PID/stat says.
type process struct {
	parent int
	zombie bool
}

func (w *watcher) look() {
	all := processes()
	for pid, p := range all {
		// Between fork and exec a child is still the server, environment and all.
		if !p.zombie && w.isProgram(pid, all) && !w.isServer(pid) {
			w.saw(pid)
		}
	}
}

// isProgram says whether a process descends from a server that descends from root.
func (w *watcher) isProgram(pid int, all map[int]process) bool {
	served := false
	for at := all[pid].parent; at > 1; at = all[at].parent {
		served = served || w.isServer(at)
		if at == w.root {
			return served
		}
	}
	return false
}

func (w *watcher) isServer(pid int) bool {
	line, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
	return err == nil && bytes.HasPrefix(line, []byte(w.server+"\x00mcp\x00"))
}

func (w *watcher) saw(pid int) {
	now := time.Now()
	s := w.seen[pid]
	if s == nil {
		s = &sighting{first: now}
		w.seen[pid] = s
	}
	s.last = now
	dir := "/proc/" + strconv.Itoa(pid)
	if name, err := os.ReadFile(dir + "/comm"); err == nil {
		s.name = strings.TrimSpace(string(name)) // the last name: a helper becomes the program
	}
	if env, err := os.ReadFile(dir + "/environ"); err == nil {
		s.read = true
		s.leaked = s.leaked || bytes.Contains(env, []byte(canary))
	}
}

// processes reads the parents of all processes.
func processes() map[int]process {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	all := map[int]process{}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		stat, err := os.ReadFile("/proc/" + e.Name() + "/stat")
		if err != nil {
			continue // it ended meanwhile
		}
		// The name is in brackets and may hold anything; the fields follow the last one.
		fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		if len(fields) < 2 {
			continue
		}
		parent, err := strconv.Atoi(fields[1])
		if err != nil {
			continue
		}
		all[pid] = process{parent, fields[0] == "Z" || fields[0] == "X"}
	}
	return all
}
