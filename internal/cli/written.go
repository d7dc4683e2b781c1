package cli

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"cutroom"
	"cutroom/internal/engine"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/tool"
)

// writtenOf is what an answer says of the media file that it wrote; a reading without
// one is shown as any other answer.
func writtenOf(reply *engine.Reply) (*tool.Made, bool) {
	m, ok := reply.Output.(tool.Maker)
	if !ok || m.AsMade().File == nil || m.AsMade().Probe == nil {
		return nil, false
	}
	return m.AsMade(), true
}

// madeMembers are those that every tool that makes a file answers; the lines above the
// tool's own members sum them up, and --json has them whole.
var madeMembers = []string{"status", "partial_reasons", "output", "dry_run", "probe", "verified", "edit_map", "dropped_streams", "notes"}

// mostItems is how long a list of the tool's own is shown whole.
const mostItems = 8

// written sums a written file up in a few lines, then what the tool has to say itself.
func written(b *bytes.Buffer, m *tool.Made, reply *engine.Reply) error {
	fmt.Fprintf(b, "written   %s  %s\n", clean(*m.File), fileLine(m.Probe))
	failed := slices.DeleteFunc(slices.Clone(m.Verified), func(v cutroom.Verified) bool { return v.OK })
	fmt.Fprintf(b, "verified  %d of %d rows hold\n", len(m.Verified)-len(failed), len(m.Verified))
	for _, v := range failed {
		fmt.Fprintf(b, "  FAIL %s\n", clean(fmt.Sprintf("%s %s: %s, wanted %s %s", v.Check, v.Stream, v.Measured, v.Expected, v.Unit)))
	}
	for _, list := range []struct {
		name  string
		lines []string
	}{{"partial", m.PartialReasons}, {"dropped", m.Dropped}, {"note", m.Notes}} {
		for _, l := range list.lines {
			fmt.Fprintf(b, "%-8s  %s\n", list.name, clean(l))
		}
	}
	if brief, ok := reply.Output.(tool.Brief); ok {
		for _, l := range brief.Brief() {
			fmt.Fprintln(b, clean(l))
		}
		return nil
	}
	return ownMembers(b, reply.JSON)
}

// ownMembers writes the members that are the tool's own, a long list by its length.
func ownMembers(b *bytes.Buffer, doc jsontext.Value) error {
	members, err := membersOf(doc)
	if err != nil {
		return err
	}
	members = slices.DeleteFunc(members, func(m jsonMember) bool {
		return m.empty() || slices.Contains(madeMembers, m.name) || slices.Contains(hidden, m.name)
	})
	width := len("verified")
	for _, m := range members {
		width = max(width, len(m.name))
	}
	for _, m := range members {
		name := fmt.Sprintf("%-*s  ", min(width, 24), clean(m.name))
		if m.value.Kind() == '[' {
			items, err := itemsOf(m.value)
			if err != nil {
				return err
			}
			if len(items) > mostItems {
				fmt.Fprintf(b, "%s%d entries, with --json\n", name, len(items))
				continue
			}
		}
		if err := member(b, name, m.value, ""); err != nil {
			return err
		}
	}
	return nil
}

// fileLine is a file in one line: length, size, streams.
func fileLine(d *ffmpeg.Document) string {
	parts := []string{d.DurationSeconds.String() + " s", cutroom.Bytes(d.SizeBytes)}
	for i := range d.Streams {
		parts = append(parts, streamLine(&d.Streams[i]))
	}
	if len(d.CoverArt) > 0 {
		parts = append(parts, "cover art")
	}
	if d.Timecode != nil {
		parts = append(parts, "timecode "+d.Timecode.Start)
	}
	return clean(strings.Join(parts, " · "))
}

func streamLine(s *ffmpeg.Stream) string {
	line := s.CodecName
	switch {
	case s.Video != nil:
		line += fmt.Sprintf(" %dx%d", s.Video.DisplayWidth, s.Video.DisplayHeight)
		if s.Video.FrameRate.Known() {
			line += fmt.Sprintf(" %.4g fps", s.Video.FrameRate.Float())
		}
		if s.Video.HDR != "" {
			line += " HDR " + s.Video.HDR
		}
	case s.Audio != nil:
		line += fmt.Sprintf(" %d Hz", s.Audio.SampleRate)
		if s.Audio.Layout != "" {
			line += " " + s.Audio.Layout
		} else {
			line += fmt.Sprintf(" %d ch", s.Audio.Channels)
		}
	default:
		line = s.CodecType + " " + line
	}
	if s.Language != "" {
		line += " (" + s.Language + ")"
	}
	return line
}
