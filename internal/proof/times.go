package proof

import (
	"fmt"
	"strings"

	"cutroom"
	"cutroom/internal/ffmpeg"
)

// pictures judges the decoded pictures: how many, from when to when, how far apart.
func (p *Proof) pictures(s *ffmpeg.Stream) {
	const stream = "video"
	w := p.want.Video
	t, ok := p.got.Stream(s.Index)
	if !ok || t.Frames == 0 {
		p.row("frames", stream, false, "frames that decode", "0", "")
		return
	}
	if w.Frames != 0 {
		p.row("frames", stream, w.Frames == t.Frames, fmt.Sprint(w.Frames), fmt.Sprint(t.Frames), "")
	}
	p.near("first_frame", stream, w.First, p.at(t, t.First), max(halfTick(t), coarse, p.delay()))
	frame := p.frame(t)
	if w.Last > 0 {
		p.near("last_frame", stream, w.Last, p.at(t, t.Last), max(halfTick(t), coarse, p.delay()))
	}
	if w.Length > 0 {
		if w.Last == 0 {
			p.near("video_length", stream, w.Length, (t.End - t.First).Micros(t.TimeBase), frame/2)
		}
		if s.EndSeconds > 0 && p.doc.DurationFrom == ffmpeg.FromContainer {
			// Players believe what the container states.
			p.near("stated_length", stream, w.First+w.Length, s.EndSeconds, frame/2+p.delay()+coarse)
		}
	}
	if w.Rate.Known() && !w.Uneven && t.Frames > 1 {
		most := frame*3/2 + ffmpeg.Ticks(1).Micros(t.TimeBase)
		longest := t.Longest.Micros(t.TimeBase)
		p.row("spacing", stream, longest <= most, fmt.Sprintf("at most %v", most), longest.String(), "s")
	}
}

// grain is how exactly the container states times.
func (p *Proof) grain() cutroom.Micros {
	if p.format.Demuxers[0] == "matroska" {
		return coarse
	}
	return 0
}

// delay returns how much the codec delay of the sound may move everything: Matroska has
// no edit list that would cancel it, so its muxer begins with the delay.
func (p *Proof) delay() cutroom.Micros {
	var most cutroom.Micros
	if p.format.Demuxers[0] != "matroska" {
		return 0
	}
	for _, s := range p.doc.AudioStreams() {
		if t, ok := p.got.Stream(s.Index); ok && lossy(s) {
			most = max(most, codecFrame(s, t))
		}
	}
	return most
}

// at returns a time of a decoded stream on the public axis.
func (p *Proof) at(t ffmpeg.DecodedStream, ticks ffmpeg.Ticks) cutroom.Micros {
	return ticks.Micros(t.TimeBase) - p.doc.ZeroSeconds
}

// coarse is how exactly an edit list or Matroska states a start: in milliseconds.
const coarse = cutroom.Micros(1000)

func halfTick(t ffmpeg.DecodedStream) cutroom.Micros {
	return ffmpeg.Ticks(1).Micros(t.TimeBase)/2 + 1
}

// frame returns how long a frame of the picture lasts: by the rate that was expected,
// else the longest one.
func (p *Proof) frame(t ffmpeg.DecodedStream) cutroom.Micros {
	if v := p.want.Video; v != nil && v.Rate.Known() && !v.Uneven {
		return ffmpeg.Ticks(1).Micros(v.Rate.Inverse())
	}
	return max(t.Step, t.Longest).Micros(t.TimeBase)
}

// audio judges one track: its description, its length, and how it lies beside the
// picture.
func (p *Proof) audio(i int, s *ffmpeg.Stream) {
	w, stream := p.want.Audio[i], fmt.Sprintf("audio %d", i)
	p.same("codec", stream, w.Codec, s.CodecName)
	p.number("sample_rate", stream, w.SampleRate, s.Audio.SampleRate, "Hz")
	p.number("channels", stream, w.Channels, s.Audio.Channels, "")
	p.same("language", stream, w.Language, s.Language)
	t, ok := p.got.Stream(s.Index)
	if !ok || t.Samples == 0 {
		p.row("audio_length", stream, false, "samples that decode", "0", "s")
		return
	}
	tolerance := w.Tolerance
	if tolerance == 0 {
		tolerance = codecFrame(s, t)
		if d := p.format.Demuxers[0]; s.CodecName == "aac" && (d == "matroska" || d == "aac" || w.First > 0) {
			tolerance *= 2 // the priming is kept there, or before a late start, and decodes as sound
		}
	}
	length := (t.End - t.First).Micros(t.TimeBase)
	if w.Length > 0 {
		p.near("audio_length", stream, w.Length, length, tolerance+p.grain())
		if !w.Holes {
			p.near("audio_samples", stream, w.Length, ffmpeg.Ticks(t.Samples).Micros(ffmpeg.Rational{Num: 1, Den: int64(s.Audio.SampleRate)}), tolerance)
		}
	}
	p.skew(i, t, tolerance)
}

// skew compares where the sound begins and ends with the picture.
func (p *Proof) skew(i int, sound ffmpeg.DecodedStream, tolerance cutroom.Micros) {
	v := p.doc.FirstVideo()
	if v == nil || p.want.Video == nil || p.want.Skew < 0 {
		return
	}
	picture, ok := p.got.Stream(v.Index)
	if !ok || picture.Frames == 0 {
		return
	}
	w, stream := p.want.Audio[i], fmt.Sprintf("audio %d", i)
	begin := w.First - p.want.Video.First
	end := begin
	if w.Length > 0 && p.want.Video.Length > 0 {
		end += w.Length - p.want.Video.Length
	}
	limit := p.want.Skew
	if limit == 0 {
		limit = p.frame(picture)/2 + max(tolerance, halfTick(picture))
	}
	p.near("start_skew", stream, begin, p.at(sound, sound.First)-p.at(picture, picture.First), limit)
	over := p.at(picture, picture.End)
	if v := p.want.Video; v.Last > 0 { // proved by itself
		over = v.First + v.Length
	}
	p.near("skew", stream, end, p.at(sound, sound.End)-over, limit)
}

// codecFrame returns how long a frame of the codec lasts, which is how far the length
// of a track may be from what was asked: the last frame is filled up. Codecs that
// store samples are exact, but for rounding.
func codecFrame(s *ffmpeg.Stream, t ffmpeg.DecodedStream) cutroom.Micros {
	rate := ffmpeg.Rational{Num: 1, Den: int64(max(1, s.Audio.SampleRate))}
	n := t.Step
	switch c := s.CodecName; {
	case !lossy(s):
		return ffmpeg.Ticks(1).Micros(rate) + 1
	case c == "aac":
		n = max(n, 1024)
	case c == "mp3" && s.Audio.SampleRate < 32_000:
		n = max(n, 576)
	case c == "mp3":
		n = max(n, 1152)
	case c == "ac3", c == "eac3":
		n = max(n, 1536)
	case c == "opus":
		n = max(n, ffmpeg.Ticks(s.Audio.SampleRate/50))
	case c == "vorbis":
		n = max(n, 2048)
	}
	return n.Micros(rate) + 1
}

// lossy reports whether the codec works in frames and has a delay.
func lossy(s *ffmpeg.Stream) bool {
	c := s.CodecName
	return !strings.HasPrefix(c, "pcm_") && c != "flac" && c != "alac" && c != "wavpack" && c != "tta"
}
