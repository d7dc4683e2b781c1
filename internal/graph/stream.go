package graph

import (
	"fmt"
	"slices"
	"strings"

	"cutroom/internal/ffmpeg"
	"cutroom/internal/proof"
	"cutroom/internal/sandbox/argv"
)

// streams plans what the output has besides picture and sound: subtitles, chapters,
// cover art, tags. What is left out is named.
func (c *compiler) streams() []argv.Atom {
	src := &c.g.Sources[c.g.Clips[0].Source]
	args := c.subtitles(src)
	args = append(args, c.cover(src)...)
	args = append(args, c.chapters(src)...)
	args = append(args, c.tags(src)...)
	args = append(args, c.ownTags()...)
	args = append(args, c.timecode(src)...)
	for _, s := range src.Media.Streams {
		switch {
		case s.CodecTag == "tmcd" && src.Media.Timecode != nil: // written anew, or named, by timecode
		case s.CodecType == "attachment" && c.g.Keep.Attachments && c.g.Target.Container == "mkv":
			args = append(args, argv.Words("-map", fmt.Sprintf("0:%d", s.Index), "-c:t", "copy")...)
		case s.CodecType == "data" || s.CodecType == "attachment":
			c.drop("stream %d (%s %s): this edit does not carry it", s.Index, s.CodecType, s.CodecName)
		case s.Video != nil && c.g.Picture != nil && s.Index != src.Media.FirstVideo().Index:
			c.drop("stream %d (video %s): one picture is kept", s.Index, s.CodecName)
		case s.Video != nil && c.g.Picture == nil:
			c.drop("stream %d (video %s): the output has no picture", s.Index, s.CodecName)
		case s.CodecType == "audio" && c.g.Sound != nil && c.g.Sound.Tracks == OneTrack && s.Index != c.trackIndex(src):
			c.drop("stream %d (audio %s): one track is kept", s.Index, s.CodecName)
		case s.CodecType == "audio" && c.g.Sound == nil:
			c.drop("stream %d (audio %s): the output has no sound", s.Index, s.CodecName)
		}
	}
	return args
}

// trackIndex is the stream of the one track that is kept.
func (c *compiler) trackIndex(src *Source) int {
	if list := src.Media.AudioStreams(); c.g.Sound.Stream < len(list) {
		return list[c.g.Sound.Stream].Index
	}
	return -1
}

// subtitles keeps the subtitle streams while no time moved, and adds those of the
// graph.
func (c *compiler) subtitles(src *Source) []argv.Atom {
	var args []argv.Atom
	k := containers[c.g.Target.Container]
	n := 0
	for _, s := range src.Media.SubtitleStreams() {
		text := s.Text != nil && *s.Text
		why := ""
		switch {
		case !c.g.Keep.Subtitles:
			why = "subtitles were not asked for"
		case !c.untouched() || src.Media.ZeroSeconds != 0:
			why = "its times would no longer fit the edit"
		case k.subtitle == "" || !text && c.g.Target.Container != "mkv":
			why = c.g.Target.Container + " cannot hold it"
		}
		if why != "" {
			c.drop("stream %d (subtitle %s): %s", s.Index, s.CodecName, why)
			continue
		}
		codec := k.subtitle
		if s.CodecName == codec || c.g.Target.Container == "mkv" && s.CodecName != "mov_text" {
			codec = "copy"
		}
		args = append(args, argv.Words("-map", fmt.Sprintf("0:%d", s.Index), fmt.Sprintf("-c:s:%d", n), codec)...)
		args = append(args, subtitleTags(n, s.Language, s.Title, false)...)
		c.expect.Subtitles = append(c.expect.Subtitles, proof.Subtitle{Language: s.Language})
		n++
	}
	for _, t := range c.g.Keep.Mux {
		form, codec := "srt", k.subtitle
		if strings.HasSuffix(t.File, ".vtt") {
			form = "webvtt"
		}
		if form == codec {
			codec = "copy" // decoding and encoding again would read markup into the text
		}
		in := len(c.inputs)
		atoms := argv.Words("-protocol_whitelist", "file", "-f", form, "-i")
		c.inputs = append(c.inputs, input{source: -1, atoms: append(atoms, argv.Out(t.File))})
		args = append(args, argv.Words("-map", fmt.Sprintf("%d:0", in), fmt.Sprintf("-c:s:%d", n), codec)...)
		args = append(args, subtitleTags(n, t.Language, t.Title, t.Default)...)
		c.expect.Subtitles = append(c.expect.Subtitles, proof.Subtitle{Language: t.Language})
		n++
	}
	return args
}

func subtitleTags(n int, language, title string, first bool) []argv.Atom {
	var args []argv.Atom
	if language != "" {
		args = append(args, argv.Words(fmt.Sprintf("-metadata:s:s:%d", n), "language="+language)...)
	}
	if title != "" {
		args = append(args, argv.Words(fmt.Sprintf("-metadata:s:s:%d", n), "title="+ffmpeg.TagText(title))...)
	}
	if first {
		args = append(args, argv.Words(fmt.Sprintf("-disposition:s:%d", n), "default")...)
	}
	return args
}

// covered are the containers that carry cover art as a stream.
var covered = []string{"mp4", "mov", "m4a", "mp3", "flac"}

// cover keeps the cover art.
func (c *compiler) cover(src *Source) []argv.Atom {
	if len(src.Media.CoverArt) == 0 {
		return nil
	}
	art := src.Media.CoverArt[0]
	if !c.g.Keep.Cover || !slices.Contains(covered, c.g.Target.Container) || art.CodecName != "mjpeg" && art.CodecName != "png" {
		c.drop("cover art: %s does not carry it here", c.g.Target.Container)
		return nil
	}
	n := 0
	if c.g.Picture != nil {
		n = 1
	}
	c.expect.Cover = true
	return argv.Words("-map", fmt.Sprintf("0:%d", art.Index), fmt.Sprintf("-c:v:%d", n), "copy", fmt.Sprintf("-disposition:v:%d", n), "attached_pic")
}

// chaptered are the containers that carry chapters.
var chaptered = []string{"mp4", "mov", "mkv", "webm", "m4a", "mp3", "ogg", "opus"}

// chapters carries the chapters across the edit: a chapter that is cut into becomes
// shorter, one that is cut out is gone.
func (c *compiler) chapters(src *Source) []argv.Atom {
	m := c.g.editMap(c.line)
	list, wanted := c.g.Keep.Mark, len(c.g.Keep.Mark) > 0
	if !wanted {
		list = ffmpeg.MoveChapters(src.Media.Chapters, &m)
	}
	if !c.g.Keep.Chapters && !wanted || len(list) == 0 || !slices.Contains(chaptered, c.g.Target.Container) {
		if wanted {
			c.drop("%d chapters: %s does not carry them", len(list), c.g.Target.Container)
		} else if len(src.Media.Chapters) > 0 {
			c.drop("%d chapters: %s does not carry them here", len(src.Media.Chapters), c.g.Target.Container)
		}
		return argv.Words("-map_chapters", "-1")
	}
	c.files = append(c.files, argv.File{Name: "chapters.txt", Data: ffmpeg.ChapterFile(list)})
	in := len(c.inputs)
	atoms := argv.Words("-protocol_whitelist", "file", "-f", "ffmetadata", "-i")
	c.inputs = append(c.inputs, input{source: -1, atoms: append(atoms, argv.Out("chapters.txt"))})
	c.expect.Chapters = len(list)
	return argv.Words("-map_chapters", fmt.Sprint(in))
}

// tags says which of the file's own tags stay.
func (c *compiler) tags(src *Source) []argv.Atom {
	switch c.g.Keep.Metadata {
	case KeepTags:
		return argv.Words("-map_metadata", "0")
	case PrivateTags:
		c.note("tags that can tell a place, a device, a program or a date are left out; the title stays")
		args := noTags()
		if src.Media.Title != "" {
			args = append(args, argv.Words("-metadata", "title="+ffmpeg.TagText(src.Media.Title))...)
		}
		return args
	}
	return noTags()
}

// noTags leaves out the tags of the file and of its streams; -map_metadata alone would
// take the chapters' titles with them.
func noTags() []argv.Atom {
	return argv.Words("-map_metadata:g", "-1", "-map_metadata:s", "-1", "-fflags", "+bitexact")
}

// timecode labels the first frame with what the source labels it with.
func (c *compiler) timecode(src *Source) []argv.Atom {
	tc := src.Media.Timecode
	if tc == nil {
		return nil
	}
	if !c.g.Keep.Timecode || c.g.Picture == nil || c.g.Target.Container != "mov" && c.g.Target.Container != "mp4" {
		c.drop("timecode %s: %s does not carry it here", tc.Start, c.g.Target.Container)
		return nil
	}
	label, err := src.Media.Label(c.line.parts[0].start)
	switch rate := src.Media.FirstVideo().Video.FrameRate; {
	case err != nil:
		c.drop("timecode %s: %v", tc.Start, err)
		return nil
	case c.rate.Known() && c.rate != rate:
		c.drop("timecode %s: it does not fit the output's frame rate", tc.Start)
		return nil
	}
	return argv.Words("-timecode", label)
}
