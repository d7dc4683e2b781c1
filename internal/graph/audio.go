package graph

import (
	"fmt"

	"cutroom"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/proof"
	"cutroom/internal/sandbox/argv"
)

// sound plans the audio streams of the output and what must be true of them.
func (c *compiler) sound() ([]argv.Atom, error) {
	if c.g.Sound == nil {
		return argv.Words("-an"), nil
	}
	list, err := c.tracks()
	if err != nil {
		return nil, err
	}
	c.expect.Hear = c.g.Sound.Hear
	var args []argv.Atom
	for n, t := range list {
		if c.copied(t) {
			more, err := c.copySound(n, t)
			if err != nil {
				return nil, err
			}
			args = append(args, more...)
			continue
		}
		label := fmt.Sprintf("a%d", n)
		chains, err := c.soundChains(t, label)
		if err != nil {
			return nil, err
		}
		c.chains = append(c.chains, chains...)
		if t, label, err = c.worked(t, label); err != nil {
			return nil, err
		}
		if c.leveled(t) {
			label = c.level(n, t, label)
		}
		more, err := c.encodeAudio(n, t, label)
		if err != nil {
			return nil, err
		}
		args = append(args, more...)
	}
	if len(list) == 0 {
		return argv.Words("-an"), nil
	}
	return args, nil
}

// copied reports whether a track's packets are kept as they are: where that is asked
// for, and where only another track is worked on.
func (c *compiler) copied(t track) bool {
	s := c.g.Sound
	if t.stream == nil || s.Copy {
		return t.stream != nil
	}
	other := s.Tracks == AllTracks && t.number != s.Stream && (s.Work != nil || s.Loudness != nil)
	return other && c.untouched() && c.g.Picture != nil && c.g.Picture.Copy && c.g.Target.Audio.Name == "" && holds(c.g.Target.Container, t.stream.CodecName)
}

// copySound maps a track's packets as they are.
func (c *compiler) copySound(n int, t track) ([]argv.Atom, error) {
	if !holds(c.g.Target.Container, t.stream.CodecName) {
		return nil, cutroom.Errorf(cutroom.Invalid, "%s cannot hold the sound as it is (%s)", c.g.Target.Container, t.stream.CodecName).
			WithHint("name an output with the input's suffix, or .mkv")
	}
	x := proof.Audio{Codec: t.stream.CodecName, SampleRate: t.rate, Channels: t.channels, Language: c.languageOf(t)}
	if t.stream.EndSeconds > max(0, t.stream.StartSeconds) { // 0: not known
		x.Length, x.Tolerance = t.stream.EndSeconds-t.stream.StartSeconds, 100_000
	}
	x.First = max(0, t.stream.StartSeconds)
	c.expect.Audio = append(c.expect.Audio, x)
	args := argv.Words("-map", fmt.Sprintf("0:%d", t.stream.Index), fmt.Sprintf("-c:a:%d", n), "copy")
	return append(args, c.trackTags(n, t)...), nil
}

// encodeAudio are the options of the n-th audio track.
func (c *compiler) encodeAudio(n int, t track, label string) ([]argv.Atom, error) {
	codec, k := c.audioCodec(t), c.g.Target
	if !holds(k.Container, codec) {
		return nil, cutroom.Errorf(cutroom.Invalid, "%s cannot hold %s sound", k.Container, codec).WithHint("name an output with another suffix")
	}
	enc := audioEncoders[codec]
	if enc == "" || !c.a.Encoder(enc) {
		return nil, cutroom.Errorf(cutroom.MissingDependency, "this ffmpeg has no encoder for %s sound", codec).WithHint("install a full build of ffmpeg and run `cutroom setup`")
	}
	t, rate, label := c.suited(codec, t, label)
	label = c.tapSound(n, label)
	spec := fmt.Sprintf(":a:%d", n)
	args := argv.Words("-map", "["+label+"]", "-c"+spec, enc)
	args = append(args, c.audioQuality(codec, spec, t.channels)...)
	x := proof.Audio{
		Codec: codec, SampleRate: rate, Channels: t.channels, Language: c.languageOf(t),
		Length: c.line.time(c.line.total), Silent: t.silent,
	}
	switch {
	case t.length > 0:
		x.Length = t.length
	case c.stays():
		x.Length, x.Tolerance = c.stayLength(t), 100_000
	}
	c.expect.Audio = append(c.expect.Audio, x)
	return append(args, c.trackTags(n, t)...), nil
}

// languageOf is the language that a reader finds on the track: containers of sound alone
// have no place for it.
func (c *compiler) languageOf(t track) string {
	switch c.g.Target.Container {
	case "mp4", "mov", "mkv", "webm", "m4a":
		return t.language
	}
	return ""
}

// trackTags keeps a track's language and title.
func (c *compiler) trackTags(n int, t track) []argv.Atom {
	var args []argv.Atom
	if t.language != "" {
		args = append(args, argv.Words(fmt.Sprintf("-metadata:s:a:%d", n), "language="+t.language)...)
	}
	if t.title != "" && c.g.Keep.Metadata != NoTags {
		args = append(args, argv.Words(fmt.Sprintf("-metadata:s:a:%d", n), "title="+ffmpeg.TagText(t.title))...)
	}
	return args
}
