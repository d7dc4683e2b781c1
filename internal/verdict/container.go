package verdict

import (
	"fmt"
	"slices"
	"strings"

	"cutroom/internal/ffmpeg"
)

// containers are what ffmpeg's demuxers are called by everyone else.
var containers = []struct{ demuxer, name string }{
	{"mov", "mp4"},
	{"matroska", "matroska"},
	{"mpegts", "mpegts"},
	{"mpeg", "mpeg"},
	{"avi", "avi"},
	{"mp3", "mp3"},
	{"wav", "wav"},
	{"flac", "flac"},
	{"ogg", "ogg"},
	{"gif", "gif"},
	{"aac", "aac"},
	{"mxf", "mxf"},
}

func containerOf(d *ffmpeg.Document) string {
	switch d.MediaType {
	case "video/quicktime":
		return "mov"
	case "video/webm", "audio/webm":
		return "webm"
	case "audio/mp4":
		return "m4a"
	}
	for _, c := range containers {
		if first, _, _ := strings.Cut(d.FormatName, ","); first == c.demuxer {
			return c.name
		}
	}
	return d.FormatName
}

func (j *judge) container() {
	d := j.f.Document
	name := containerOf(d)
	r := Row{Check: "container", ValueText: name, Reason: "the platform may refuse this container", Fix: j.export()}
	switch {
	case j.strict():
		r.LimitText, r.Op = "mp4, mov", "in"
		j.add(r, name != "mp4" && name != "mov", Warn, false)
	case j.t.Spec.Audio:
		r.LimitText, r.Op = "mp3, m4a", "in"
		j.add(r, name != "mp3" && name != "m4a" && name != "mp4", Warn, false)
	default:
		j.inform("container", r.ValueText)
	}
	j.add(Row{
		Check: "whole_file", ValueText: map[bool]string{false: "whole", true: "cut off"}[d.Truncated], LimitText: "whole", Op: "==",
		Reason: "the file ends before what its index promises", Fix: "copy or download the file again",
	}, d.Truncated, Fail, false)
	if name == "mp4" || name == "mov" || name == "m4a" {
		j.faststart()
	}
	size := Row{
		Check: "file_size", Value: number(float64(d.SizeBytes)), Unit: "B", Op: "<=",
		Reason: "the file is too large", Fix: "make it smaller with edit.export: a lower quality or a smaller frame",
	}
	most := j.t.Spec.MaxBytes
	if j.t.MaxBytes > 0 {
		most = j.t.MaxBytes
	}
	if most == 0 {
		j.note("file_size", size.Value, "B", "")
		return
	}
	size.Limit = number(float64(most))
	j.add(size, d.SizeBytes > most, Fail, false)
}

// faststart says whether playback can begin before the whole file is there.
func (j *judge) faststart() {
	first, known := ffmpeg.IndexFirst(j.f.Head)
	r := Row{Check: "faststart", LimitText: "first", Op: "==", Fix: j.export()}
	switch {
	case j.f.Format.Fragmented:
		r.ValueText, r.Reason, first = "in fragments", "the index is in fragments, which some platforms refuse", false
	case !known:
		r.ValueText, r.Reason = "unknown", "the start of the file does not tell where its index is"
	case first:
		r.ValueText = "first"
	default:
		r.ValueText, r.Reason = "last", "the index comes last: playback cannot begin before the whole file is there"
	}
	j.add(r, !first, Warn, false)
}

// decodes says whether all that is inside comes out.
func (j *judge) decodes() {
	var dead []string
	for i := range j.f.Document.Streams {
		if s := &j.f.Document.Streams[i]; !s.Decodable && (s.Video != nil || s.Audio != nil) {
			dead = append(dead, fmt.Sprintf("stream %d (%s, %s) does not decode", s.Index, s.CodecType, s.CodecName))
		}
	}
	faults := 0
	reasons := slices.Concat(dead, j.f.Problems)
	if s := j.f.Signals; s != nil {
		faults = s.DecodeErrors
		for _, p := range s.Problems {
			if !slices.Contains(reasons, p) {
				reasons = append(reasons, p)
			}
		}
	} else if len(reasons) == 0 {
		reasons = append(reasons, "nothing was decoded")
	}
	if faults > 0 {
		reasons = append(reasons, fmt.Sprintf("the decoder complained %d times of damage", faults))
	}
	r := Row{
		Check: "decodes", Limit: number(0), Op: "==", Unit: "faults", Reason: strings.Join(reasons, "; "),
		Fix: "copy or download the file again, or make it anew from its source",
	}
	r.Value = number(float64(max(faults, len(reasons))))
	j.add(r, len(reasons) > 0, Fail, false)
}

// extras are what a file holds beside picture and sound.
func (j *judge) extras() {
	d := j.f.Document
	var tongues []string
	for _, s := range d.SubtitleStreams() {
		tongues = append(tongues, s.CodecName+" "+language(s.Language))
	}
	j.note("subtitles", number(float64(len(tongues))), "tracks", strings.Join(tongues, ", "))
	j.note("chapters", number(float64(len(d.Chapters))), "chapters", "")
	j.note("cover_art", number(float64(len(d.CoverArt))), "pictures", "")
}

func language(tag string) string {
	if tag == "" {
		return "(language not stated)"
	}
	return tag
}
