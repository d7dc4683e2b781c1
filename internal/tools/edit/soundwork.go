package edit

import (
	"strings"

	"cutroom"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/graph"
	"cutroom/internal/sandbox/argv"
	"cutroom/internal/tool"
)

// dial is one parameter that works only beside a switch.
type dial struct {
	name, needs string
	given, on   bool
}

// dials are the parameters of edit.audio that belong to a switch.
func (in AudioInput) dials() []dial {
	n := func(name string, v *float64, needs string, on bool) dial { return dial{name, needs, v != nil, on} }
	music, effects, replace := in.Music != "", in.Effects != "", in.Replace != ""
	return []dial{
		n("denoise_strength", in.DenoiseStrength, "denoise", in.Denoise),
		{"replace_offset", "replace", in.ReplaceOffset != 0, replace},
		n("music_volume", in.MusicVolume, "music", music),
		{"music_loop", "music", in.MusicLoop, music},
		{"music_fade_out", "music", in.MusicFadeOut != 0, music},
		{"music_offset", "music", in.MusicOffset != 0, music},
		n("effects_volume", in.EffectsVolume, "effects", effects),
		{"effects_offset", "effects", in.EffectsOffset != 0, effects},
		n("duck_amount", in.DuckAmount, "duck", in.Duck), n("duck_threshold", in.DuckThreshold, "duck", in.Duck),
		n("duck_attack", in.DuckAttack, "duck", in.Duck), n("duck_release", in.DuckRelease, "duck", in.Duck),
		n("comp_threshold", in.CompThreshold, "compress", in.Compress), n("comp_ratio", in.CompRatio, "compress", in.Compress),
		n("comp_attack", in.CompAttack, "compress", in.Compress), n("comp_release", in.CompRelease, "compress", in.Compress),
		n("comp_makeup", in.CompMakeup, "compress", in.Compress), n("comp_knee", in.CompKnee, "compress", in.Compress),
		n("limit_ceiling", in.LimitCeiling, "limit", in.Limit), n("limit_attack", in.LimitAttack, "limit", in.Limit), n("limit_release", in.LimitRelease, "limit", in.Limit),
		n("gate_threshold", in.GateThreshold, "gate", in.Gate), n("gate_ratio", in.GateRatio, "gate", in.Gate), n("gate_attack", in.GateAttack, "gate", in.Gate),
		n("gate_release", in.GateRelease, "gate", in.Gate), n("gate_range", in.GateRange, "gate", in.Gate), n("gate_knee", in.GateKnee, "gate", in.Gate),
	}
}

// turn sets each value that was given over its default: pairs of where it belongs and
// what was given.
func turn(pairs ...*float64) {
	for i := 0; i+1 < len(pairs); i += 2 {
		if v := pairs[i+1]; v != nil {
			*pairs[i] = *v
		}
	}
}

// work is what the input asks for; the sources of its beds are not filled in.
func (in AudioInput) work() *graph.Work {
	w := &graph.Work{Voice: in.Voice, FadeIn: in.FadeIn, FadeOut: in.FadeOut}
	turn(&w.Gain, in.Gain, &w.Widen, in.StereoWiden)
	switch {
	case in.Stereo:
		w.Layout = "stereo"
	case in.Mono:
		w.Layout = "mono"
	case in.Downmix:
		w.Layout = "downmix"
	}
	if in.Denoise {
		w.Denoise = 12
		turn(&w.Denoise, in.DenoiseStrength)
	}
	if in.Gate {
		g := graph.DefaultGate()
		turn(&g.Threshold, in.GateThreshold, &g.Ratio, in.GateRatio, &g.Attack, in.GateAttack, &g.Release, in.GateRelease, &g.Range, in.GateRange, &g.Knee, in.GateKnee)
		w.Gate = &g
	}
	if in.Compress {
		c := graph.DefaultCompressor()
		turn(&c.Threshold, in.CompThreshold, &c.Ratio, in.CompRatio, &c.Attack, in.CompAttack, &c.Release, in.CompRelease, &c.Makeup, in.CompMakeup, &c.Knee, in.CompKnee)
		w.Compressor = &c
	}
	if in.Limit {
		l := graph.DefaultLimiter()
		turn(&l.Ceiling, in.LimitCeiling, &l.Attack, in.LimitAttack, &l.Release, in.LimitRelease)
		w.Limiter = &l
	}
	if in.Replace != "" {
		w.Replace = &graph.Bed{Offset: in.ReplaceOffset}
	}
	if in.Music != "" {
		w.Music = &graph.Bed{Volume: -14, Loop: in.MusicLoop, FadeOut: in.MusicFadeOut, Offset: in.MusicOffset}
		turn(&w.Music.Volume, in.MusicVolume)
	}
	if in.Effects != "" {
		w.Effects = &graph.Bed{Volume: -14, Offset: in.EffectsOffset}
		turn(&w.Effects.Volume, in.EffectsVolume)
	}
	if in.Duck {
		d := graph.DefaultDuck()
		turn(&d.Amount, in.DuckAmount, &d.Threshold, in.DuckThreshold, &d.Attack, in.DuckAttack, &d.Release, in.DuckRelease)
		w.Duck = &d
	}
	return w
}

// dynamics names what works on the level, in its order.
func (in AudioInput) dynamics() []string {
	list := []string{}
	for _, d := range []struct {
		name string
		on   bool
	}{
		{"gate", in.Gate},
		{"voice " + in.Voice, in.Voice != ""},
		{"compressor", in.Compress},
		{"ducking", in.Duck},
		{"limiter", in.Limit},
	} {
		if d.on {
			list = append(list, d.name)
		}
	}
	return list
}

// heard is what listening to the side files found, and the render behind it.
type heard struct {
	silent []string
	render *graph.Render
}

// listen plans to listen to the side files, then to render.
func (in AudioInput) listen(f tool.Facts, g graph.Graph, beds []*ffmpeg.Measure, names []string) (tool.Plan, error) {
	render, err := graph.NewRender(g, f.Abilities)
	if err != nil {
		return tool.Plan{}, err
	}
	found := heard{render: render}
	var next func(i int) (tool.Plan, error)
	next = func(i int) (tool.Plan, error) {
		if i == len(beds) {
			return tool.Follow(render, found, nil)
		}
		return tool.Follow(&renamed{beds[i], "listen-" + string(rune('a'+i))}, nil, func(tool.Results) (tool.Plan, error) {
			if in.silent(beds[i]) {
				found.silent = append(found.silent, names[i])
			}
			if i == len(beds)-1 && len(found.silent) > 0 && in.OnSilent == "fail" {
				return tool.Plan{}, cutroom.Errorf(cutroom.Invalid, "silent: %s", strings.Join(found.silent, ", ")).WithHint("give a file with sound, or on_silent warn")
			}
			return next(i + 1)
		})
	}
	plan, err := next(0)
	if len(beds) > 0 && err == nil {
		for i := 1; i < len(beds); i++ {
			c, _ := (&renamed{beds[i], "listen-" + string(rune('a'+i))}).Next()
			plan.Later = append(plan.Later, c)
		}
		plan.Later = append(plan.Later, render.Planned()...)
	}
	return plan, err
}

// silent reports whether a side file holds no sound to speak of.
func (in AudioInput) silent(m *ffmpeg.Measure) bool {
	least := -50.0
	turn(&least, in.SilenceThreshold)
	a := m.Signals().Audio
	if a == nil || a.Envelope == nil {
		return true
	}
	for _, p := range a.Envelope.Peak {
		if float64(p) >= least {
			return false
		}
	}
	return true
}

// renamed is a script whose one step has a name of its own in the plan.
type renamed struct {
	tool.Script
	name string
}

// Next returns the next run under its name.
func (r *renamed) Next() (argv.Command, bool) {
	c, ok := r.Script.Next()
	c.Step, c.Stage = r.name, "listening to a side file"
	return c, ok
}
