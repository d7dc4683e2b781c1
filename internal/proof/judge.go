package proof

import (
	"fmt"
	"slices"
	"strings"

	"cutroom"
	"cutroom/internal/ffmpeg"
)

// judge draws up the rows once everything was measured.
func (p *Proof) judge() {
	if p.done {
		return
	}
	p.done, p.got = true, p.decode.Result()
	p.decodes()
	p.streams()
	if v := p.doc.FirstVideo(); v != nil && p.want.Video != nil {
		p.video(v)
		p.pictures(v)
	}
	audio := p.doc.AudioStreams()
	for i := range min(len(audio), len(p.want.Audio)) {
		p.audio(i, audio[i])
	}
	subtitles := p.doc.SubtitleStreams()
	for i := range min(len(subtitles), len(p.want.Subtitles)) {
		p.subtitle(i, subtitles[i])
	}
	for _, t := range p.want.Tags {
		p.row("tag "+t.Name, "", p.doc.Tag(t.Name) == t.Value, fmt.Sprintf("%q", t.Value), fmt.Sprintf("%q", p.doc.Tag(t.Name)), "")
	}
	p.content()
	p.likeness()
	p.sights()
	p.loudness()
	if p.want.Faststart {
		measured := "unknown"
		if f := p.got.IndexFirst; f != nil {
			measured = map[bool]string{true: "index first", false: "media first"}[*f]
		}
		p.row("faststart", "", measured == "index first", "index first", measured, "")
	}
}

// decodes demands that the decoder found nothing to complain of: an encoder's output
// has no error that could be overlooked.
func (p *Proof) decodes() {
	const expected = "every frame without an error"
	measured := expected
	errors := p.got.Errors
	switch {
	case errors.Lines > 0:
		measured = fmt.Sprintf("%d errors", errors.Lines)
		var kinds []string
		for k, n := range errors.Kinds {
			kinds = append(kinds, fmt.Sprintf("%d %s", n, k))
		}
		if slices.Sort(kinds); len(kinds) > 0 {
			measured += ": " + strings.Join(kinds, ", ")
		}
	case !p.got.Finished:
		measured = "the decoder stopped"
	}
	for _, s := range p.doc.Streams {
		if (s.Video != nil || s.Audio != nil) && !s.Decodable && measured == expected {
			measured = fmt.Sprintf("stream %d (%s) does not decode", s.Index, s.CodecName)
		}
	}
	p.row("decodes", "", measured == expected, expected, measured, "")
}

func (p *Proof) count(stream string, expected, measured int) {
	p.row("streams", stream, expected == measured, fmt.Sprint(expected), fmt.Sprint(measured), "")
}

func (p *Proof) streams() {
	video := 0
	for _, s := range p.doc.Streams {
		if s.Video != nil {
			video++
		}
	}
	want := 0
	if p.want.Video != nil {
		want = 1
	}
	p.count("video", want, video)
	p.count("audio", len(p.want.Audio), len(p.doc.AudioStreams()))
	p.count("subtitle", len(p.want.Subtitles), len(p.doc.SubtitleStreams()))
	if p.want.Chapters >= 0 {
		p.count("chapter", p.want.Chapters, len(p.doc.Chapters))
	}
	if p.want.Cover {
		p.count("cover", 1, min(1, len(p.doc.CoverArt)))
	}
}

// same adds a row for a word that must be so. Expected "" is not checked; "-" must be
// absent.
func (p *Proof) same(check, stream, expected, measured string) {
	switch expected {
	case "":
		return
	case "-":
		expected = ""
	}
	say := func(s string) string {
		if s == "" {
			return "none"
		}
		return s
	}
	p.row(check, stream, expected == measured, say(expected), say(measured), "")
}

// near adds a row for a time that must be so, within a tolerance.
func (p *Proof) near(check, stream string, expected, measured, tolerance cutroom.Micros) {
	diff := measured - expected
	p.row(check, stream, diff <= tolerance && -diff <= tolerance, fmt.Sprintf("%v ± %v", expected, tolerance), measured.String(), "s")
}

func (p *Proof) number(check, stream string, expected, measured int, unit string) {
	if expected != 0 {
		p.row(check, stream, expected == measured, fmt.Sprint(expected), fmt.Sprint(measured), unit)
	}
}

// video judges the description of the picture.
func (p *Proof) video(s *ffmpeg.Stream) {
	const stream = "video"
	w, v := p.want.Video, s.Video
	p.same("codec", stream, w.Codec, s.CodecName)
	p.same("tag", stream, w.Tag, s.CodecTag)
	if w.Width > 0 && w.Height > 0 {
		p.same("size", stream, fmt.Sprintf("%dx%d", w.Width, w.Height), fmt.Sprintf("%dx%d", v.DisplayWidth, v.DisplayHeight))
	}
	if w.Rate.Known() {
		p.row("rate", stream, p.sameRate(w.Rate, v.FrameRate), w.Rate.String(), v.FrameRate.String(), "1/s")
	}
	p.same("pixel_format", stream, w.PixelFormat, v.PixelFormat)
	p.same("color_range", stream, w.Range, v.Range)
	p.same("color_matrix", stream, w.Matrix, v.Matrix)
	p.same("color_primaries", stream, w.Primaries, v.Primaries)
	p.same("color_transfer", stream, w.Transfer, v.Transfer)
	p.same("mastering_display", stream, w.MasterDisplay, v.MasterDisplay)
	p.same("content_light_level", stream, w.LightLevel, v.LightLevel)
	if w.Rotation != nil {
		p.row("rotation", stream, *w.Rotation == v.Rotation, fmt.Sprint(*w.Rotation), fmt.Sprint(v.Rotation), "degrees clockwise")
		if w.Mirrored || v.Mirrored {
			p.row("mirrored", stream, w.Mirrored == v.Mirrored, fmt.Sprint(w.Mirrored), fmt.Sprint(v.Mirrored), "")
		}
	}
}

// sameRate compares rates exactly; containers that count in milliseconds or
// hundredths state them by and by.
func (p *Proof) sameRate(want, got ffmpeg.Rational) bool {
	if want.Num*got.Den == got.Num*want.Den {
		return true
	}
	switch p.want.Container {
	case "mkv", "matroska", "webm":
		return within(want.Float(), got.Float(), 0.005)
	case "gif":
		return within(want.Float(), got.Float(), 0.08)
	}
	return false
}

func within(want, got, share float64) bool {
	return got >= want*(1-share) && got <= want*(1+share)
}

func (p *Proof) subtitle(i int, s *ffmpeg.Stream) {
	w, stream := p.want.Subtitles[i], fmt.Sprintf("subtitle %d", i)
	p.same("codec", stream, w.Codec, s.CodecName)
	p.same("language", stream, w.Language, s.Language)
	t, _ := p.got.Stream(s.Index)
	p.number("cues", stream, w.Cues, int(t.Frames), "")
}

// content demands that what the source showed and sounded did not vanish.
func (p *Proof) content() {
	if c := p.got.Pictures; c != nil && p.want.Video != nil {
		if p.want.Content.NotBlack {
			p.row("content", "video", !c.Black, "not black throughout", said(c.Black, "black throughout", "pictures"), "")
		}
		if p.want.Content.NotFrozen {
			p.row("content", "video", !c.Frozen, "not frozen throughout", said(c.Frozen, "frozen throughout", "moving pictures"), "")
		}
	}
	if !p.want.Content.NotSilent {
		return
	}
	audio := p.doc.AudioStreams()
	for i := range min(len(audio), len(p.want.Audio)) {
		if p.want.Audio[i].Silent {
			continue
		}
		t, _ := p.got.Stream(audio[i].Index)
		p.row("content", fmt.Sprintf("audio %d", i), t.Sounding, "not silent throughout", said(!t.Sounding, "silent throughout", "sound"), "")
	}
}

func said(is bool, yes, no string) string {
	if is {
		return yes
	}
	return no
}

func (p *Proof) loudness() {
	w := p.want.Loudness
	if w == nil {
		return
	}
	stream := fmt.Sprintf("audio %d", w.Track)
	l := p.got.Loudness
	if l == nil || l.Silent || l.Integrated == nil || l.TruePeak == nil {
		p.row("loudness", stream, false, fmt.Sprintf("%.1f ± %.1f", w.LUFS, w.Tolerance), "silent", "LUFS")
		return
	}
	diff := *l.Integrated - w.LUFS
	p.row("loudness", stream, diff <= w.Tolerance && -diff <= w.Tolerance, fmt.Sprintf("%.1f ± %.1f", w.LUFS, w.Tolerance), fmt.Sprintf("%.2f", *l.Integrated), "LUFS")
	p.row("true_peak", stream, *l.TruePeak <= w.TruePeak+peakSlack, fmt.Sprintf("at most %.2f", w.TruePeak+peakSlack), fmt.Sprintf("%.2f", *l.TruePeak), "dBTP")
}

// peakSlack is what two meters of true peak may differ by.
const peakSlack = 0.05
