package edit

import (
	"cutroom"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/graph"
)

// clip is the part of the input that is shown, and how fast.
func (in FitInput) clip(v *ffmpeg.Stream, d *ffmpeg.Document, out *FitOutput) (graph.Clip, error) {
	length := d.DurationSeconds
	if v.EndSeconds > 0 {
		length = v.EndSeconds
	}
	whole := graph.Clip{}
	switch {
	case in.Duration == 0:
		return whole, nil
	case length <= 0:
		return whole, cutroom.Errorf(cutroom.UnreadableMedia, "the length of the input is unknown").WithHint("cut or convert it first")
	case in.Duration == length:
		out.say("it is %s s long already", length)
		return whole, nil
	case in.Method == "trim" && in.Duration > length:
		return whole, cutroom.Errorf(cutroom.Invalid, "the input is %s s long: trimming cannot make it %s s", length, in.Duration).
			WithHint("use method speed, or a shorter duration")
	case in.Method == "trim" && in.FromCenter:
		from := (length - in.Duration) / 2
		out.say("%s s were cut off at the beginning and %s s at the end", from, length-in.Duration-from)
		return graph.Clip{Start: from, End: from + in.Duration}, nil
	case in.Method == "trim":
		out.say("%s s were cut off at the end", length-in.Duration)
		return graph.Clip{End: in.Duration}, nil
	}
	speed := ffmpeg.Rational{Num: int64(length), Den: int64(in.Duration)}.Reduced()
	most := in.MaxSpeed
	if most < 1 {
		most = 4
	}
	if s := speed.Float(); s > most || s < 1/most {
		return whole, cutroom.Errorf(cutroom.Invalid, "from %s s to %s s is %.3f times the speed; %g to %g are allowed", length, in.Duration, s, 1/most, most).
			WithHint("use method trim, raise max_speed, or choose a duration between %s and %s s", cutroom.MicrosOf(length.Seconds()/most), cutroom.MicrosOf(length.Seconds()*most))
	}
	out.Speed = speed.Float()
	return graph.Clip{Speed: speed}, nil
}

// picture is what is done with the picture.
func (in FitInput) picture(v *ffmpeg.VideoFacts, out *FitOutput) (*graph.Picture, error) {
	p := &graph.Picture{Turn: in.Rotate, FlipX: in.Flip == "h" || in.Flip == "hv", FlipY: in.Flip == "v" || in.Flip == "hv", Fit: graph.Fit(in.Fit), BlurRadius: in.PadBlur, Smooth: in.Smooth}
	var err error
	if p.Rate, err = rate(in.FPS); err != nil {
		return nil, err
	}
	if p.PadColor, err = color("pad_color", in.PadColor); err != nil {
		return nil, err
	}
	w, h := v.DisplayWidth, v.DisplayHeight
	if in.Rotate%180 != 0 {
		w, h = h, w
	}
	if err := in.frame(p, w, h, out); err != nil || p.Fit != graph.Cover || p.Width == 0 {
		return p, err
	}
	p.CropX, p.CropY, p.Centred = 0.5, 0.5, true
	turn(&p.CropX, in.CropX, &p.CropY, in.CropY)
	if len(in.Subjects) > 0 {
		err = in.keep(p, v, w, h, out)
	}
	return p, err
}

// frame decides the size of the frame. w and h are the picture as shown, once it was
// turned.
func (in FitInput) frame(p *graph.Picture, w, h int, out *FitOutput) error {
	if in.Aspect == "" && in.Width == 0 && in.Height == 0 {
		return nil
	}
	shape := ffmpeg.Rational{Num: int64(w), Den: int64(h)}
	if in.Aspect != "" {
		var err error
		if shape, err = graph.ParseAspect(in.Aspect); err != nil {
			return err
		}
	}
	switch {
	case in.Width > 0 && in.Height > 0:
		p.Width, p.Height = in.Width&^1, in.Height&^1
	case in.Width > 0:
		p.Width, p.Height = in.Width&^1, graph.Across(in.Width&^1, shape)
	case in.Height > 0:
		p.Width, p.Height = graph.Across(in.Height&^1, shape.Inverse()), in.Height&^1
	default:
		p.Width, p.Height = graph.Inside(w, h, shape)
	}
	if in.Width%2 != 0 || in.Height%2 != 0 {
		out.say("sizes are even: the frame is %d×%d", p.Width, p.Height)
	}
	if exact := int64(p.Width)*shape.Den == int64(p.Height)*shape.Num; !exact && in.Aspect != "" {
		out.say("%s in even sizes is %d×%d here", in.Aspect, p.Width, p.Height)
	}
	if p.Width > w && p.Height > h {
		out.say("the frame is larger than the picture of %d×%d, which is scaled up", w, h)
	}
	if p.Fit == graph.Cover && int64(p.Width)*int64(h) != int64(p.Height)*int64(w) {
		out.say("the picture of %d×%d is cropped to %d×%d", w, h, p.Width, p.Height)
	}
	return nil
}

// keep lays the crop where it keeps most of the subjects.
func (in FitInput) keep(p *graph.Picture, v *ffmpeg.VideoFacts, w, h int, out *FitOutput) error {
	boxes := make([]graph.Box, 0, len(in.Subjects))
	for i, s := range in.Subjects {
		if s.X+s.Width > v.DisplayWidth || s.Y+s.Height > v.DisplayHeight {
			return cutroom.Errorf(cutroom.Invalid, "subject %d reaches out of the picture, which is %d×%d as shown", i+1, v.DisplayWidth, v.DisplayHeight).
				WithHint("give boxes in pixels of the picture as shown, before it is turned")
		}
		boxes = append(boxes, graph.Box{X: s.X, Y: s.Y, Width: s.Width, Height: s.Height}.Turned(v.DisplayWidth, v.DisplayHeight, in.Rotate, p.FlipX, p.FlipY))
	}
	var kept float64
	p.CropX, p.CropY, kept = graph.Anchor(boxes, w, h, ffmpeg.Rational{Num: int64(p.Width), Den: int64(p.Height)})
	out.Subjects = &kept
	if kept < 1 {
		out.say("%.0f %% of the subjects' area is in the frame: the rest does not fit", 100*kept)
	}
	return nil
}

// sound keeps the sound: copied where nothing moves in time and the output holds it.
func (in FitInput) sound(d *ffmpeg.Document, t graph.Target, clip graph.Clip) (*graph.Sound, error) {
	return keptSound(d, t, in.AudioStream, clip == graph.Clip{})
}
