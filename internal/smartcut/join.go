package smartcut

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"cutroom"
	"cutroom/internal/edl"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/sandbox/argv"
)

// listFile and marksFile are files of ours that the join reads.
const (
	listFile  = "pieces.txt"
	marksFile = "marks.txt"
)

// opusDelay is how many milliseconds, in which Matroska counts, libopus puts before the
// sound: 312 samples of 48000 (RFC 7845, "pre-skip"). Matroska states it apart from the times of the packets:
// ffmpeg's muxer leaves it in them, so that it would count twice.
const opusDelay = "7"

// join is the run that puts the pieces one behind the other and writes the sound and
// what else is kept.
func (s Source) join(t Target, cuts []cut, tracks []track, m *edl.Map, keep bool) argv.Command {
	v := s.video()
	args := argv.Words("-v", "error", "-nostdin", "-hide_banner", "-y", "-copyts",
		"-protocol_whitelist", "file", "-format_whitelist", "concat,mov,mp4,m4a,matroska,webm", "-f", "concat", "-i")
	args = append(args, argv.Out(listFile))
	for _, c := range cuts {
		args = append(args, s.openSound(c)...)
	}
	files := []argv.File{{Name: listFile, Data: s.list(cuts)}}
	chapters := ffmpeg.MoveChapters(s.Media.Chapters, m)
	if len(chapters) > 0 {
		files = append(files, argv.File{Name: marksFile, Data: ffmpeg.ChapterFile(chapters)})
		args = append(args, argv.Words("-protocol_whitelist", "file", "-f", "ffmetadata", "-i")...)
		args = append(args, argv.Out(marksFile))
	}
	art, artInput := s.cover(t), 1+len(cuts)
	if art != nil {
		if len(chapters) > 0 {
			artInput++
		}
		args = append(args, s.Format.Input(0)...)
	}
	var chains []string
	kept := func(tr track) bool { return keep && tr.copiesSound(cuts, t.Container) }
	for n, tr := range tracks {
		if !kept(tr) {
			chains = append(chains, s.soundChains(n, tr, cuts, 1))
		}
	}
	if len(chains) > 0 {
		args = append(args, argv.Word("-filter_complex"), argv.Graph(strings.Join(chains, ";")))
	}
	args = append(args, argv.Words("-progress")...)
	args = append(args, argv.Pipe(1))
	args = append(args, argv.Words("-map", "0:v:0", "-c:v:0", "copy", "-bsf:v:0", "setts=pts=PTS:dts='max(DTS,PREV_OUTDTS+1)'")...)
	for n, tr := range tracks {
		if kept(tr) {
			args = append(args, s.copySound(n, tr, cuts[0])...)
			continue
		}
		args = append(args, argv.Words("-map", fmt.Sprintf("[a%d]", n))...)
		args = append(args, tr.encode(n)...)
		if tr.codec == "opus" && t.demuxer() == "matroska" {
			args = append(args, argv.Words(fmt.Sprintf("-bsf:a:%d", n), "setts=pts=PTS+"+opusDelay+":dts=DTS+"+opusDelay)...)
		}
	}
	if art != nil {
		args = append(args, argv.Words("-map", fmt.Sprintf("%d:%d", artInput, art.Index), "-c:v:1", "copy", "-disposition:v:1", "attached_pic")...)
	}
	args = append(args, s.tags(len(cuts), len(chapters) > 0)...)
	if label := s.label(t, s.start(cuts[0])); label != "" {
		args = append(args, argv.Words("-timecode", label)...)
	}
	if v.CodecName == "hevc" && (t.Container == "mp4" || t.Container == "mov") {
		args = append(args, argv.Words("-tag:v", "hvc1")...)
	}
	if t.Container == "mp4" || t.Container == "mov" {
		args = append(args, argv.Words("-video_track_timescale", strconv.FormatInt(v.TimeBase.Den, 10), "-movflags", "+faststart")...)
	}
	if t.demuxer() == "matroska" {
		// Sound may begin before zero with its codec's delay. Else the picture would be
		// moved behind that delay.
		args = append(args, argv.Words("-avoid_negative_ts", "disabled")...)
	}
	args = append(args, argv.Words("-f", kinds[t.Container].muxer)...)
	return argv.Command{
		Step: "join", Program: "ffmpeg", Inputs: s.Format.Granted(s.Input), Stage: "writing " + t.Container,
		Args: append(args, argv.Out(t.File)), Files: files, Outputs: []string{t.File},
		Consume: []argv.Consumer{nil, argv.Ignore}, Report: &argv.Report{Pipe: 1, Total: m.Seconds},
	}
}

// tags keeps what the file says of itself, and the chapters where the edit shows them.
func (s Source) tags(cuts int, chapters bool) []argv.Atom {
	args := argv.Words("-map_metadata", "1")
	if chapters {
		args = append(args, argv.Words("-map_chapters", strconv.Itoa(1+cuts))...)
	} else {
		args = append(args, argv.Words("-map_chapters", "-1")...)
	}
	v := s.video()
	if v.Language != "" {
		args = append(args, argv.Words("-metadata:s:v:0", "language="+v.Language)...)
	}
	if d := disposition(v.Disposition); d != "" {
		args = append(args, argv.Words("-disposition:v:0", d)...)
	}
	return args
}

// editMap says what the output shows when. Its times are exact to the microsecond.
func (s Source) editMap(cuts []cut) *edl.Map {
	v := s.video()
	m := &edl.Map{Sources: []edl.Source{{Name: s.Name, SHA256: s.SHA256, Seconds: s.Media.DurationSeconds}}, Segments: []edl.Segment{}}
	var at ffmpeg.Ticks
	for _, c := range cuts {
		end := at + c.to - c.from
		m.Segments = append(m.Segments, edl.Segment{
			SourceStart: max(0, s.start(c)), SourceEnd: s.Media.Time(v, c.to), Start: at.Micros(v.TimeBase), End: end.Micros(v.TimeBase),
		})
		at = end
	}
	m.Seconds = at.Micros(v.TimeBase)
	return m
}

// disposition writes a stream's marks as ffmpeg takes them.
func disposition(marks []string) string {
	var known []string
	for _, m := range marks {
		if slices.Contains([]string{"default", "dub", "original", "comment", "lyrics", "karaoke", "forced", "hearing_impaired", "visual_impaired", "clean_effects", "captions", "descriptions"}, m) {
			known = append(known, m)
		}
	}
	return strings.Join(known, "+")
}

// cover is the cover art that the output keeps; nil for none.
func (s Source) cover(t Target) *ffmpeg.Stream {
	if t.demuxer() == "matroska" || len(s.Media.CoverArt) == 0 {
		return nil
	}
	if art := &s.Media.CoverArt[0]; art.CodecName == "mjpeg" || art.CodecName == "png" {
		return art
	}
	return nil
}

// label is the timecode of the output's first frame, at a time of the source; "" for none.
func (s Source) label(t Target, at cutroom.Micros) string {
	if t.demuxer() == "matroska" {
		return ""
	}
	label, err := s.Media.Label(at)
	if err != nil {
		return ""
	}
	return label
}

// dropped names the streams that the output does not have.
func (s Source) dropped(t Target) []string {
	var list []string
	v := s.video()
	for _, st := range s.Media.Streams {
		switch {
		case st.Video != nil && st.Index != v.Index:
			list = append(list, fmt.Sprintf("stream %d (video %s): one picture is kept", st.Index, st.CodecName))
		case st.CodecType == "subtitle":
			list = append(list, fmt.Sprintf("stream %d (subtitle %s): not carried by this cut", st.Index, st.CodecName))
		case st.CodecTag == "tmcd" && s.label(t, 0) != "": // written anew, from the cut's first frame on
		case st.CodecType == "data" || st.CodecType == "attachment":
			list = append(list, fmt.Sprintf("stream %d (%s %s): a cut does not carry it", st.Index, st.CodecType, st.CodecName))
		}
	}
	for i, st := range s.Media.CoverArt {
		if i == 0 && s.cover(t) != nil {
			continue
		}
		list = append(list, fmt.Sprintf("stream %d (cover art): a cut does not carry it", st.Index))
	}
	return list
}
