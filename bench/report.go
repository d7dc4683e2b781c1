package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// figure is one measured number beside its target. Times are medians in ms.
type figure struct {
	Row   string `json:"row"`
	What  string `json:"what"`
	Plain string `json:"plain"`
	Ours  string `json:"ours"`
	Runs  int    `json:"runs"`

	PlainWall float64 `json:"plain_wall_ms"`
	PlainCPU  float64 `json:"plain_cpu_ms"`
	OursWall  float64 `json:"ours_wall_ms"`
	OursCPU   float64 `json:"ours_cpu_ms"`

	Unit     string  `json:"unit"` // ×, ms, MB, exponent
	Wall     float64 `json:"wall"` // median of ratios or differences
	CPU      float64 `json:"cpu"`
	BestWall float64 `json:"best_wall"` // of the fastest run of each side
	Basis    string  `json:"basis"`     // which of them is held against the target
	Value    float64 `json:"value"`
	Target   float64 `json:"target"`
	Held     string  `json:"held"` // yes, no, or where it held only in part
	Note     string  `json:"note,omitempty"`
}

// judge says whether the target was held. A machine with other work on it makes
// every wall time longer: then the fastest runs and the processor time count, and
// the word says so.
func (f *figure) judge() {
	held := func(v float64) bool { return v <= f.Target }
	switch {
	case held(f.Value):
		f.Held = "yes"
	case f.Basis == "wall" && held(f.BestWall) && held(f.CPU):
		f.Held = "fastest run and CPU"
	case f.Basis == "wall" && held(f.CPU):
		f.Held = "CPU only"
	default:
		f.Held = "no"
	}
}

func (f *figure) line() string {
	return fmt.Sprintf("%s: %s (wall %s, cpu %s), target %s, held: %s %s", f.What, f.number(f.Value), f.number(f.Wall), f.number(f.CPU), f.number(f.Target), f.Held, f.Note)
}

func (f *figure) number(v float64) string {
	switch f.Unit {
	case "×":
		return fmt.Sprintf("%.2f×", v)
	case "exponent":
		return fmt.Sprintf("n^%.2f", v)
	}
	return fmt.Sprintf("%.1f %s", v, f.Unit)
}

// report is everything of one run.
type report struct {
	Date     string   `json:"date"`
	Machine  string   `json:"machine"`
	Load     string   `json:"load"` // of the machine when it began
	Version  string   `json:"version"`
	Programs string   `json:"programs"`
	Figures  []figure `json:"figures"`
}

func newReport(l *lab, now time.Time) *report {
	r := &report{
		Date: now.UTC().Format("2006-01-02"), Version: firstLineOf(l.bin, "version"), Programs: firstLineOf("ffmpeg", "-version"),
		Machine: fmt.Sprintf("%s/%s, %d processors, %s", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), processorName()),
	}
	if b, err := os.ReadFile("/proc/loadavg"); err == nil {
		r.Load = strings.Join(strings.Fields(string(b))[:3], " ")
	}
	return r
}

func processorName() string {
	b, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(b)) {
		if name, ok := strings.CutPrefix(line, "model name"); ok {
			return strings.Trim(name, " \t\n:")
		}
	}
	return "unknown processor"
}

// write writes both forms. A part of the rows replaces those of the same day's
// report and keeps the others.
func (r *report) write(dir string, partial bool) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	path := filepath.Join(dir, r.Date)
	if partial {
		if err := r.keepOthers(path + ".json"); err != nil {
			return err
		}
	}
	raw, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(path+".json", append(raw, '\n'), 0o644); err != nil {
		return err
	}
	if err := os.WriteFile(path+".md", r.markdown(), 0o644); err != nil {
		return err
	}
	fmt.Printf("%s.md\n", path)
	return nil
}

// keepOthers takes over the rows of an earlier report that this one has not.
func (r *report) keepOthers(path string) error {
	raw, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return nil
	}
	var old report
	if err == nil {
		err = json.Unmarshal(raw, &old)
	}
	if err != nil {
		return fmt.Errorf("the report of the same day: %w", err)
	}
	byRow := map[string][]figure{}
	for _, f := range old.Figures {
		byRow[f.Row] = append(byRow[f.Row], f)
	}
	for _, f := range r.Figures {
		byRow[f.Row] = nil
	}
	for _, f := range r.Figures {
		byRow[f.Row] = append(byRow[f.Row], f)
	}
	r.Figures = nil
	for _, row := range rows {
		r.Figures = append(r.Figures, byRow[row.name]...)
	}
	return nil
}

func (r *report) markdown() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Measured on %s\n\n", r.Date)
	fmt.Fprintf(&b, "%s; load at the start %s; %s; %s.\n\n", r.Machine, r.Load, r.Version, r.Programs)
	b.WriteString("Both sides run in turn; figures are medians, ratios and differences medians over the rounds. The target is held against the\n" +
		"time that the last column but one names; CPU is user and system time of the whole process tree.\n\n")
	b.WriteString("| what | plain | wall / CPU ms | ours | wall / CPU ms | by wall | by CPU | target | held |\n|---|---|---|---|---|---|---|---|---|\n")
	for i := range r.Figures {
		f := &r.Figures[i]
		wall, cpu := f.number(f.Wall), f.number(f.CPU)
		if f.Unit != "×" && f.Unit != "ms" {
			wall, cpu = f.number(f.Value), "–"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s | ≤ %s (%s) | %s |\n", f.What, f.Plain, times(f.PlainWall, f.PlainCPU), f.Ours, times(f.OursWall, f.OursCPU),
			wall, cpu, f.number(f.Target), f.Basis, f.Held)
	}
	notes := false
	for i := range r.Figures {
		f := &r.Figures[i]
		if f.Note == "" {
			continue
		}
		if !notes {
			b.WriteString("\n")
			notes = true
		}
		fmt.Fprintf(&b, "- %s: %s\n", f.What, f.Note)
	}
	return b.Bytes()
}

func times(wall, cpu float64) string {
	if wall == 0 && cpu == 0 {
		return "–"
	}
	round := func(v float64) float64 {
		if v < 100 {
			return math.Round(v*10) / 10
		}
		return math.Round(v)
	}
	return fmt.Sprintf("%v / %v", round(wall), round(cpu))
}
