package measure

import (
	"fmt"
	"slices"
	"strings"

	"cutroom"
	"cutroom/internal/evidence"
	"cutroom/internal/tool"
)

// Show is the answer as a model reads it: what was found by numbers, then the lists in
// the order of their use, each line with its times, as many as there is room for.
func (o *ScenesOutput) Show(room tool.Room) tool.Showing {
	lines := o.facts()
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	for _, h := range o.Highlights {
		add("highlight %s to %s s", h.Start, h.End)
	}
	shots := map[cutroom.Micros]string{}
	for _, s := range o.Shots {
		shots[s.Start] = s.Label
	}
	for _, s := range o.Scenes {
		add("scene %d: %s to %s s, begins with %s%s%s", s.Index, s.Start, s.End, s.Begins, level(s.RMS), when(shots[s.Start] != "", ", %s", shots[s.Start]))
	}
	for _, t := range o.Transitions {
		if t.Kind != "cut" {
			add("%s %s to %s s%s", t.Kind, t.Start, t.End, when(t.Edge, " (at the edge)"))
		}
	}
	for _, p := range o.AudioPeaks {
		add("loud at %s s: %.1f dBFS", p.Time, p.RMS)
	}
	for _, p := range o.AudioPeaksDB {
		add("peak at %s s: %.1f dBFS", p.Time, p.Level)
	}
	for list := range slices.Chunk(o.Beats, 20) {
		line := "beats at"
		for _, b := range list {
			line += " " + b.String()
		}
		add("%s s", line)
	}
	for _, s := range o.Speech {
		add("from %s s, 4 s: speech %.2f", s.Time, s.Ratio)
	}
	text, left := fit(lines, room.Text-moreRoom)
	if left > 0 {
		text += fmt.Sprintf("Left out here: %d lines; the structured answer holds them.\n", left)
	}
	show := tool.Showing{Text: text}
	for _, a := range o.Artifacts {
		if strings.HasPrefix(a.MediaType, "image/") {
			show.Pictures = append(show.Pictures, tool.Picture{Ref: a, Caption: fmt.Sprintf("contact sheet of %d scenes", o.SheetScenes)})
		}
	}
	return show
}

// facts are what stands ahead of the lists.
func (o *ScenesOutput) facts() []string {
	lines := []string{fmt.Sprintf("%q: %s s, %d scenes", evidence.Terminal(o.Name), o.Duration, o.SceneCount)}
	for _, r := range o.PartialReasons {
		lines = append(lines, "not complete: "+r)
	}
	for _, n := range o.Notes {
		lines = append(lines, "note: "+n)
	}
	if o.File != nil {
		lines = append(lines, "written: "+*o.File)
	}
	if o.HighlightsTotal > 0 {
		lines = append(lines, fmt.Sprintf("%d highlights, %s s together, chosen by %s", len(o.Highlights), o.HighlightsTotal, o.HighlightsBy))
	}
	if g := o.BeatGrid; g != nil {
		lines = append(lines, fmt.Sprintf("tempo %.1f beats a minute, confidence %.2f, %d beats", g.BPM, g.Confidence, len(o.Beats)))
	}
	return lines
}

// level is how loud a scene is.
func level(rms *float64) string {
	if rms == nil {
		return ""
	}
	return fmt.Sprintf(", %.1f dBFS", *rms)
}
