package edit

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"cutroom"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/graph"
	"cutroom/internal/tool"
)

// Audio works on the sound of a recording.
var Audio = tool.Add(Family, tool.Spec[AudioInput, AudioOutput]{
	Name:        "edit.audio",
	Summary:     "Clean up, mix, duck, replace or take out the sound of a recording",
	Description: "Make the sound of a recording better: a chain for speech, noise reduction, gate, compressor and limiter, music and effects under it with ducking, fades, a proper mix to stereo or mono, or another sound in its place. The picture is copied, the sound is exactly as long as the picture. An output with the suffix of an audio file holds the sound alone.",
	Kind:        cutroom.Execute,
	Exact:       tool.ContentEquivalent,
	Revision:    1,
	Short:       "audio",
	Timeout:     1800 * time.Second,
	Exclusive:   [][]string{{"stereo", "mono", "downmix"}},
	Needs: tool.Needs{Programs: []string{"ffprobe", "ffmpeg"}, Optional: []tool.Optional{
		{Filter: "afftdn", When: "denoise, voice medium and strong"},
		{Filter: "sidechaincompress", When: "duck"},
		{Filter: "acompressor", When: "compress, voice"},
		{Filter: "alimiter", When: "limit, voice strong"},
		{Filter: "agate", When: "gate, duck"},
		{Filter: "deesser", When: "voice medium and strong"},
		{Filter: "extrastereo", When: "stereo_widen"},
	}},
	CheckWith: []string{"measure.probe"},
	Examples: []AudioInput{
		{Input: "talk.mp4", Voice: "medium"},
		{Input: "talk.mp4", Music: "song.mp3", MusicLoop: true, Duck: true},
	},
	Names:     func(in AudioInput) AudioInput { in.Output = orNamed(in.Output, in.Input, "audio", ""); return in },
	Plan:      planAudio,
	Interpret: answerAudio,
})

// AudioInput is the request.
type AudioInput struct {
	Input cutroom.InPath `json:"input" doc:"The recording."`

	Voice           string         `json:"voice,omitempty" enum:"light,medium,strong" doc:"A chain for speech. light: no rumble, gentle compression. medium: less noise and sharp s as well. strong: more of it, a second compressor and a limiter at -1 dBFS."`
	Denoise         bool           `json:"denoise,omitempty" doc:"Take steady noise away."`
	DenoiseStrength *float64       `json:"denoise_strength,omitempty" min:"1" max:"97" unit:"dB" doc:"How much noise is taken away; 12 without it. Needs denoise."`
	Gain            *float64       `json:"gain,omitempty" min:"-60" max:"60" unit:"dB" doc:"How much louder."`
	FadeIn          cutroom.Micros `json:"fade_in,omitempty" min:"0" max:"3600" unit:"s" doc:"Fade from silence."`
	FadeOut         cutroom.Micros `json:"fade_out,omitempty" min:"0" max:"3600" unit:"s" doc:"Fade to silence."`

	Replace       cutroom.InPath `json:"replace,omitempty" cli:"flag" doc:"A file whose sound takes the place of the recording's. It is padded with silence or cut to the picture's length."`
	ReplaceOffset cutroom.Micros `json:"replace_offset,omitempty" min:"-86400" max:"86400" unit:"s" doc:"Where that sound begins; negative: its beginning is cut off. Needs replace."`

	Music        cutroom.InPath `json:"music,omitempty" cli:"flag" doc:"A file whose sound is laid under the recording's."`
	MusicVolume  *float64       `json:"music_volume,omitempty" min:"-60" max:"30" unit:"dB" doc:"Level of the music; -14 without it. Needs music."`
	MusicLoop    bool           `json:"music_loop,omitempty" doc:"Begin the music again when it ends. Needs music."`
	MusicFadeOut cutroom.Micros `json:"music_fade_out,omitempty" min:"0" max:"3600" unit:"s" doc:"Fade the music out at its end. Needs music."`
	MusicOffset  cutroom.Micros `json:"music_offset,omitempty" min:"-86400" max:"86400" unit:"s" doc:"Where the music begins; negative: its beginning is cut off. Needs music."`

	Duck          bool     `json:"duck,omitempty" doc:"Make the music quieter while the recording is loud. Needs music."`
	DuckAmount    *float64 `json:"duck_amount,omitempty" min:"0" max:"60" unit:"dB" doc:"By exactly how much; 12 without it. Needs duck."`
	DuckThreshold *float64 `json:"duck_threshold,omitempty" min:"-60" max:"0" unit:"dBFS" doc:"Level of the recording above which it counts; -26 without it. Needs duck."`
	DuckAttack    *float64 `json:"duck_attack,omitempty" min:"0.01" max:"2000" unit:"ms" doc:"How fast the music goes down; 20 without it. Needs duck."`
	DuckRelease   *float64 `json:"duck_release,omitempty" min:"0.01" max:"9000" unit:"ms" doc:"How slowly it comes back; 400 without it. Needs duck."`

	Effects       cutroom.InPath `json:"effects,omitempty" cli:"flag" doc:"A second file that is laid under the recording, never ducked."`
	EffectsVolume *float64       `json:"effects_volume,omitempty" min:"-60" max:"30" unit:"dB" doc:"Level of the effects; -14 without it. Needs effects."`
	EffectsOffset cutroom.Micros `json:"effects_offset,omitempty" min:"-86400" max:"86400" unit:"s" doc:"Where the effects begin. Needs effects."`

	Stereo      bool     `json:"stereo,omitempty" doc:"Mix to two channels by ITU-R BS.775, the centre included. Excludes mono and downmix."`
	Mono        bool     `json:"mono,omitempty" doc:"Mix to one channel. Excludes stereo and downmix."`
	Downmix     bool     `json:"downmix,omitempty" doc:"Mix surround sound to stereo; stereo and mono stay. Excludes stereo and mono."`
	StereoWiden *float64 `json:"stereo_widen,omitempty" min:"0" max:"1" doc:"How much the difference of left and right grows; 1 doubles it. Needs a stereo result."`

	Compress      bool     `json:"compress,omitempty" doc:"Make loud parts quieter."`
	CompThreshold *float64 `json:"comp_threshold,omitempty" min:"-60" max:"0" unit:"dBFS" doc:"Level above which it works; -20 without it. Needs compress."`
	CompRatio     *float64 `json:"comp_ratio,omitempty" min:"1" max:"20" doc:"How much of what lies above is taken away: 3 leaves a third. 3 without it. Needs compress."`
	CompAttack    *float64 `json:"comp_attack,omitempty" min:"0.01" max:"2000" unit:"ms" doc:"10 without it. Needs compress."`
	CompRelease   *float64 `json:"comp_release,omitempty" min:"0.01" max:"9000" unit:"ms" doc:"200 without it. Needs compress."`
	CompMakeup    *float64 `json:"comp_makeup,omitempty" min:"0" max:"36" unit:"dB" doc:"How much louder afterwards; 0 without it. Needs compress."`
	CompKnee      *float64 `json:"comp_knee,omitempty" min:"1" max:"8" doc:"How softly it sets in; 2.8 without it. Needs compress."`
	Limit         bool     `json:"limit,omitempty" doc:"Keep every sample below a ceiling."`
	LimitCeiling  *float64 `json:"limit_ceiling,omitempty" min:"-24" max:"0" unit:"dBFS" doc:"The ceiling; -1 without it. Needs limit."`
	LimitAttack   *float64 `json:"limit_attack,omitempty" min:"0.1" max:"80" unit:"ms" doc:"5 without it. Needs limit."`
	LimitRelease  *float64 `json:"limit_release,omitempty" min:"1" max:"8000" unit:"ms" doc:"50 without it. Needs limit."`
	Gate          bool     `json:"gate,omitempty" doc:"Make what is quiet quieter still."`
	GateThreshold *float64 `json:"gate_threshold,omitempty" min:"-60" max:"0" unit:"dBFS" doc:"Level below which it works; -40 without it. Needs gate."`
	GateRatio     *float64 `json:"gate_ratio,omitempty" min:"1" max:"9000" doc:"10 without it. Needs gate."`
	GateAttack    *float64 `json:"gate_attack,omitempty" min:"0.01" max:"9000" unit:"ms" doc:"5 without it. Needs gate."`
	GateRelease   *float64 `json:"gate_release,omitempty" min:"0.01" max:"9000" unit:"ms" doc:"250 without it. Needs gate."`
	GateRange     *float64 `json:"gate_range,omitempty" min:"-90" max:"0" unit:"dB" doc:"How much quieter at most; -40 without it. Needs gate."`
	GateKnee      *float64 `json:"gate_knee,omitempty" min:"1" max:"8" doc:"How softly it sets in; 2.8 without it. Needs gate."`

	AudioStream      int      `json:"audio_stream,omitempty" min:"0" max:"255" doc:"Which audio stream is worked on, counted from 0. The others are kept as they are."`
	Bitrate          int      `json:"bitrate,omitempty" min:"8000" max:"512000" unit:"bit/s" doc:"Of a lossy codec; 96000 for each channel without it."`
	OnSilent         string   `json:"on_silent,omitempty" enum:"warn,fail" default:"warn" doc:"What a side file that is silent does: it is named in the answer, or the call fails."`
	SilenceThreshold *float64 `json:"silence_threshold,omitempty" min:"-120" max:"-10" unit:"dBFS" doc:"A side file whose loudest sample lies below is silent; -50 without it."`

	tool.Writing
}

// Validate refuses what contradicts itself: a parameter whose switch is off, two
// layouts, and a call that asks for nothing.
func (in AudioInput) Validate() error {
	for _, p := range in.dials() {
		if p.given && !p.on {
			return cutroom.Errorf(cutroom.Invalid, "%s is given without %s", p.name, p.needs).WithHint("add %s, or leave %s out", p.needs, p.name)
		}
	}
	if in.Duck && in.Music == "" {
		return cutroom.Errorf(cutroom.Invalid, "duck is given without music").WithHint("add music, or leave duck out")
	}
	if n := count(in.Stereo, in.Mono, in.Downmix); n > 1 {
		return cutroom.Errorf(cutroom.Invalid, "stereo, mono and downmix exclude each other").WithHint("choose one of them")
	}
	return nil
}

// AudioOutput is the answer.
type AudioOutput struct {
	tool.Made
	AudioStream int      `json:"audio_stream" min:"0" doc:"The audio stream that was worked on."`
	Video       string   `json:"video" enum:"copied,left out,none" doc:"What became of the picture."`
	Dynamics    []string `json:"dynamics" doc:"What worked on the level: gate, voice, compressor, limiter, ducking, in their order."`
	Silent      []string `json:"silent,omitempty" doc:"Side files that are silent."`
}

func planAudio(f tool.Facts, in AudioInput) (tool.Plan, error) {
	file, err := f.Named(in.Input)
	if err != nil {
		return tool.Plan{}, err
	}
	if in.Replace == "" {
		if _, err := file.Media.AudioStream(in.AudioStream); err != nil {
			return tool.Plan{}, err
		}
	}
	t, err := tool.Target(in.Output)
	if err != nil {
		return tool.Plan{}, err
	}
	t.Audio.Bitrate = in.Bitrate
	g := graph.Graph{
		Sources: []graph.Source{file.AsSource()}, Clips: []graph.Clip{{}}, Target: t,
		Sound: &graph.Sound{Stream: in.AudioStream, Work: in.work()},
		Keep:  graph.Keep{Subtitles: true, Chapters: true, Cover: true, Timecode: true},
	}
	if file.Media.FirstVideo() != nil && !soundAlone(in.Output, t) {
		g.Picture = &graph.Picture{Copy: true}
	} else {
		g.Sound.Tracks = graph.OneTrack
	}
	var beds []*ffmpeg.Measure
	var names []string
	for _, b := range []struct {
		path cutroom.InPath
		bed  *graph.Bed
	}{{in.Replace, g.Sound.Work.Replace}, {in.Music, g.Sound.Work.Music}, {in.Effects, g.Sound.Work.Effects}} {
		if b.bed == nil {
			continue
		}
		side, err := f.Named(b.path)
		if err != nil {
			return tool.Plan{}, err
		}
		b.bed.Source = len(g.Sources)
		g.Sources = append(g.Sources, side.AsSource())
		m, err := ffmpeg.NewMeasure(side.Index, side.Format, side.Media, ffmpeg.MeasureOptions{Envelope: true, Abilities: &f.Abilities})
		if err != nil {
			return tool.Plan{}, fmt.Errorf("%s: %w", b.path, err)
		}
		beds, names = append(beds, m), append(names, string(b.path))
	}
	return in.listen(f, g, beds, names)
}

func answerAudio(f tool.Facts, in AudioInput, r tool.Results) (AudioOutput, error) {
	out := AudioOutput{AudioStream: in.AudioStream, Video: "none", Dynamics: in.dynamics()}
	t, err := tool.Target(in.Output)
	if err != nil {
		return out, err
	}
	file, err := f.Named(in.Input)
	if err != nil {
		return out, err
	}
	if file.Media.FirstVideo() != nil {
		out.Video = "copied"
		if soundAlone(in.Output, t) {
			out.Video = "left out"
		}
	}
	heard := r.State().(heard)
	out.Silent = heard.silent
	for _, name := range heard.silent {
		out.Notes = append(out.Notes, name+" is silent")
	}
	return out, out.Rendered(r, heard.render, t)
}

// soundAlone reports whether an output has room for the sound only.
func soundAlone(out cutroom.OutPath, t graph.Target) bool {
	return !graph.HoldsPicture(t.Container) || strings.EqualFold(filepath.Ext(string(out)), ".mka")
}

// orNamed is the output that the caller named, else one named after the input. What
// stays in its container and cannot is put into Matroska, which holds anything.
func orNamed(out cutroom.OutPath, in cutroom.InPath, what, suffix string) cutroom.OutPath {
	if out != "" {
		return out
	}
	return tool.NameAfter(in, what, suffix)
}

func count(list ...bool) (n int) {
	for _, b := range list {
		if b {
			n++
		}
	}
	return n
}
