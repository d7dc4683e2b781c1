package ffmpeg

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"cutroom"
	"cutroom/internal/sandbox/argv"
)

// InkAt is a moment at which something is drawn over the picture, and where: pixels of
// the frame.
type InkAt struct {
	At                  cutroom.Micros // in the written file
	From                cutroom.Micros // in the source
	X, Y, Width, Height int
}

// InkOptions say what is compared.
type InkOptions struct {
	Source, Made       Format
	SourceDoc, MadeDoc *Document
	Input              int   // of the call, for Source
	Width, Height      int   // of the frame
	Safe               InkAt // nothing may be drawn outside of it; its time counts for nothing
	Samples            []InkAt
	// Colors compares hue, too, and counts inside of a place what differs by Least code
	// values; otherwise brightness alone is compared, and counts as it does outside.
	Colors bool
	// SourceLook and MadeLook are filters that bring the upright pictures to what is
	// compared, before they are scaled to Width×Height.
	SourceLook, MadeLook []string
	Least                int
	Stage                string // what is being done, in words; default that of captions
	Abilities            *Abilities
}

// Ink is what was measured at one moment: pixels, of the picture scaled for measuring,
// that differ between source and result.
type Ink struct {
	At      cutroom.Micros
	Inside  int     // in the sample's own place
	Share   float64 // of that place's area
	Outside int     // outside of the safe part
	Changed int     // anywhere
	Pixels  int     // of the whole picture
}

// inkSide is the longer side of the picture that is compared.
const inkSide = 640

// inkStep is the least difference of luma that counts: what encoding changes is less.
const inkStep = 64

// NewInk returns the run that compares the frames of a written file with those of its
// source at a few moments, and shows how to read its first value: a list of [Ink].
func NewInk(o InkOptions) (argv.Command, error) {
	src, err := o.SourceDoc.VideoStream()
	if err != nil {
		return argv.Command{}, err
	}
	made, err := o.MadeDoc.VideoStream()
	if err != nil {
		return argv.Command{}, err
	}
	w, h := o.inkSize()
	args := argv.Words("-v", "error", "-nostdin", "-hide_banner", "-copyts")
	var chains []string
	var stack strings.Builder
	for i, s := range o.Samples {
		for k, f := range []struct {
			pick
			label string
			look  []string
		}{{pick{o.Source, o.SourceDoc, src, s.From}, "s", o.SourceLook}, {pick{o.Made, o.MadeDoc, made, s.At}, "m", o.MadeLook}} {
			opened, head, err := f.open(2*i+k, o.Abilities)
			if err != nil {
				return argv.Command{}, err
			}
			args = append(args, opened...)
			chain := append([]string{head}, f.stream.Video.turns()...)
			chain = append(chain, f.look...)
			chain = append(chain, fmt.Sprintf("scale=%d:%d:flags=area,setsar=1,format=%s[%s%d]", w, h, o.form(), f.label, i))
			chains = append(chains, strings.Join(chain, ","))
		}
		apart := fmt.Sprintf("[s%d][m%d]blend=all_mode=difference", i, i)
		if o.Colors {
			apart += fmt.Sprintf(",extractplanes=y+u+v[y%d][u%d][v%d];[y%d][u%d][v%d]vstack=inputs=3", i, i, i, i, i, i)
		}
		chains = append(chains, fmt.Sprintf("%s[d%d]", apart, i))
		fmt.Fprintf(&stack, "[d%d]", i)
	}
	chains = append(chains, stacked(stack.String(), len(o.Samples), "[ink]"))
	args = append(args, argv.Word("-filter_complex"), argv.Graph(strings.Join(chains, ";")))
	args = append(args, argv.Words("-map", "[ink]", "-frames:v", "1", "-f", "rawvideo", "-pix_fmt", "gray")...)
	args = append(args, argv.Pipe(0))
	return argv.Command{
		Step: "ink", Program: "ffmpeg", Inputs: o.Source.Granted(o.Input), Stage: cmp.Or(o.Stage, "looking whether the captions can be seen"), Args: args,
		Consume: []argv.Consumer{func(r io.Reader) (any, error) { return o.readInk(r, w, h) }},
	}, nil
}

// form is the pixel format in which pictures are compared.
func (o *InkOptions) form() string {
	if o.Colors {
		return "yuv444p"
	}
	return "gray"
}

// inkSize is the size of the picture that is compared.
func (o *InkOptions) inkSize() (w, h int) {
	w, h = o.Width, o.Height
	if long := max(w, h); long > inkSide {
		w, h = max(1, w*inkSide/long), max(1, h*inkSide/long)
	}
	return w, h
}

// readInk counts what differs.
func (o *InkOptions) readInk(r io.Reader, w, h int) ([]Ink, error) {
	var list []Ink
	planes, least := 1, inkStep
	if o.Colors {
		planes = 3
		least = max(1, o.Least)
	}
	frame := make([]byte, planes*w*h)
	for _, s := range o.Samples {
		if _, err := io.ReadFull(r, frame); err != nil {
			return list, fmt.Errorf("the frame at %s: %w", s.At, err)
		}
		in, safe := o.scaled(s, w, h), o.scaled(o.Safe, w, h)
		ink := Ink{At: s.At, Pixels: w * h}
		for y := range h {
			for x := range w {
				v := byte(0)
				for p := range planes {
					v = max(v, frame[(p*h+y)*w+x])
				}
				if int(v) >= least && in.holds(x, y) {
					ink.Inside++
				}
				if v >= inkStep {
					ink.Changed++
					if !safe.holds(x, y) {
						ink.Outside++
					}
				}
			}
		}
		ink.Share = float64(ink.Inside) / float64(max(1, in.Width*in.Height))
		list = append(list, ink)
	}
	_, err := io.Copy(io.Discard, r)
	return list, err
}

// scaled is a place of the frame in the picture that is compared, a pixel larger on
// each side: scaling spreads what lies at the edge.
func (o *InkOptions) scaled(s InkAt, w, h int) InkAt {
	x0, y0 := s.X*w/o.Width-1, s.Y*h/o.Height-1
	x1, y1 := (s.X+s.Width)*w/o.Width+2, (s.Y+s.Height)*h/o.Height+2
	return InkAt{X: max(0, x0), Y: max(0, y0), Width: min(w, x1) - max(0, x0), Height: min(h, y1) - max(0, y0)}
}

func (s InkAt) holds(x, y int) bool {
	return x >= s.X && y >= s.Y && x < s.X+s.Width && y < s.Y+s.Height
}
