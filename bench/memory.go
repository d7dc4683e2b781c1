package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// holding reports the most memory that our own process held while it watched a long
// file; the programs that it runs are not in it.
func holding(ctx context.Context, l *lab) ([]figure, error) {
	file, minutes := talk20, 20
	if l.long {
		file, minutes = talk120, 120
	}
	if err := l.need(ctx, file); err != nil {
		return nil, err
	}
	var figures []figure
	for _, mode := range []string{"frames", "transcript"} {
		dir := l.fresh()
		c := l.command(ctx, l.bin, "watch", file, "--mode", mode, "--json", "--quiet", "--root", l.media, "--stage", dir)
		if err := c.Start(); err != nil {
			return nil, err
		}
		began := time.Now()
		over := make(chan struct{})
		most := make(chan int64)
		go watchMemory(c.Process.Pid, over, most)
		err := c.Wait()
		close(over)
		kb := <-most
		os.RemoveAll(filepath.Join(l.media, dir))
		if err != nil {
			return nil, fmt.Errorf("watch --mode %s: %w", mode, err)
		}
		f := absolute(fmt.Sprintf("memory, %d minutes, mode %s", minutes, mode), "–", "cutroom watch, its own process", "MB", float64(kb)/1024, 80)
		f.OursWall, f.OursCPU = ms(time.Since(began)), ms(c.ProcessState.UserTime()+c.ProcessState.SystemTime())
		figures = append(figures, f)
	}
	return figures, nil
}

// watchMemory sends the high water mark of a process's resident memory in kB, as it
// was seen last.
func watchMemory(pid int, over <-chan struct{}, most chan<- int64) {
	var kb int64
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-over:
			most <- kb
			return
		case <-tick.C:
			if n, ok := highWater(pid); ok {
				kb = max(kb, n)
			}
		}
	}
}

// highWater reads VmHWM (proc(5), status).
func highWater(pid int) (kb int64, ok bool) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(b)) {
		if rest, is := strings.CutPrefix(line, "VmHWM:"); is {
			n, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			return n, err == nil
		}
	}
	return 0, false
}
