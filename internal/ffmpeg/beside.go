package ffmpeg

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strings"

	"cutroom"
	"cutroom/internal/sandbox/argv"
)

// BesideAt is a moment of a source and of a file that was made of it.
type BesideAt struct{ From, At cutroom.Micros }

// BesideOptions say which frames are laid beside each other.
type BesideOptions struct {
	Source, Made       Format
	SourceDoc, MadeDoc *Document
	Input              int // of the call, for Source
	Samples            []BesideAt
	Side               int // the longer side, at most; 0 is 480
	// X, Y, Width and Height are the part of the source as shown that the made file
	// shows; zero: all of it.
	X, Y, Width, Height int
	// Raw reads both with the matrix and range of the source, whatever the files state.
	Raw       bool
	Abilities *Abilities
}

// Beside are frames of two files, as red, green and blue of 16 bits, picked from the
// same places.
type Beside struct {
	Width, Height int
	Source, Made  [][]uint16 // one for each sample, interleaved
}

// besideStep is the name of the run.
const besideStep = "beside"

// NewBeside returns the run that reads the frames; its first value is a [Beside].
func NewBeside(o BesideOptions) (argv.Command, error) {
	src, err := o.SourceDoc.VideoStream()
	if err != nil {
		return argv.Command{}, err
	}
	made, err := o.MadeDoc.VideoStream()
	if err != nil {
		return argv.Command{}, err
	}
	w, h := besideSize(made.Video.DisplayWidth, made.Video.DisplayHeight, o.Side)
	args := argv.Words("-v", "error", "-nostdin", "-hide_banner", "-copyts")
	var chains []string
	var stack strings.Builder
	for i, s := range o.Samples {
		for k, f := range []pick{{o.Source, o.SourceDoc, src, s.From}, {o.Made, o.MadeDoc, made, s.At}} {
			opened, head, err := f.open(2*i+k, o.Abilities)
			if err != nil {
				return argv.Command{}, err
			}
			args = append(args, opened...)
			label := fmt.Sprintf("[f%d]", 2*i+k)
			chains = append(chains, head+","+o.chain(f.stream.Video, src.Video, made.Video, k == 0, w, h)+label)
			stack.WriteString(label)
		}
	}
	chains = append(chains, stacked(stack.String(), 2*len(o.Samples), "[beside]"))
	args = append(args, argv.Word("-filter_complex"), argv.Graph(strings.Join(chains, ";")))
	args = append(args, argv.Words("-map", "[beside]", "-frames:v", "1", "-f", "rawvideo", "-pix_fmt", "rgb48le")...)
	args = append(args, argv.Pipe(0))
	return argv.Command{
		Step: besideStep, Program: "ffmpeg", Inputs: o.Source.Granted(o.Input), Stage: "comparing with the input", Args: args,
		Consume: []argv.Consumer{func(r io.Reader) (any, error) { return readBeside(r, w, h, len(o.Samples)) }},
	}, nil
}

// besideSize is the size of the frames that are compared: even, the longer side at most
// side.
func besideSize(w, h, side int) (int, int) {
	if side <= 0 {
		side = 480
	}
	if long := max(w, h); long > side {
		w, h = w*side/long, h*side/long
	}
	return max(2, w&^1), max(2, h&^1)
}

// chain brings a frame to red, green and blue; pixels are picked, never mixed, so that a
// change of colours can be told of each.
func (o *BesideOptions) chain(v, source, made *VideoFacts, first bool, w, h int) string {
	chain := v.turns()
	if first && o.Width > 0 {
		chain = append(chain, fmt.Sprintf("scale=%d:%d:flags=neighbor", v.DisplayWidth, v.DisplayHeight))
		if full := v.FullChroma(true); full != "" && (o.X|o.Y)&1 != 0 && !v.Gray() {
			chain = append(chain, "format="+full)
		}
		chain = append(chain, fmt.Sprintf("crop=%d:%d:%d:%d:exact=1", o.Width, o.Height, o.X, o.Y))
	}
	chain = append(chain, fmt.Sprintf("scale=%d:%d:flags=neighbor", w, h), "setsar=1")
	if first && v.Alpha && !made.Alpha {
		return strings.Join(append(append(chain, OnWhite()...), "format=rgb48le"), ",")
	}
	if v.RGB() {
		return strings.Join(append(chain, "format=rgb48le"), ",")
	}
	says := v
	if o.Raw {
		says = source
	}
	matrix, rng := says.MatrixOr(), "limited"
	if says.FullRange() {
		rng = "full"
	}
	names := map[string]string{"bt709": "709", "smpte170m": "170m", "bt470bg": "470bg", "bt2020nc": "2020_ncl", "smpte240m": "240m"}
	if m := names[matrix]; m != "" && o.Abilities.Filter("zscale") && !v.Alpha {
		chain = append(chain, fmt.Sprintf("zscale=min=%s:rin=%s:m=gbr:r=full:pin=709:p=709:tin=709:t=709,format=gbrp16le", m, rng))
	}
	return strings.Join(append(chain, "format=rgb48le"), ",")
}

func readBeside(r io.Reader, w, h, n int) (Beside, error) {
	b := Beside{Width: w, Height: h}
	buf := make([]byte, 6*w*h)
	for i := range 2 * n {
		if _, err := io.ReadFull(r, buf); err != nil {
			return b, fmt.Errorf("frame %d of %d to compare: %w", i+1, 2*n, err)
		}
		px := make([]uint16, 3*w*h)
		for k := range px {
			px[k] = binary.LittleEndian.Uint16(buf[2*k:])
		}
		if i%2 == 0 {
			b.Source = append(b.Source, px)
		} else {
			b.Made = append(b.Made, px)
		}
	}
	_, err := io.Copy(io.Discard, r)
	return b, err
}

// Pixel returns one pixel of a frame, 0 to 1.
func Pixel(px []uint16, i int) [3]float64 {
	return [3]float64{float64(px[3*i]) / 65535, float64(px[3*i+1]) / 65535, float64(px[3*i+2]) / 65535}
}

// Apart is how far the made frames lie from what is made of the source's: the mean
// difference of the means of small blocks, of 255, and the largest of one frame.
// Encoding changes single pixels, and hardly a block's mean.
func (b Beside) Apart(expect func([3]float64) [3]float64) (mean, worst float64) {
	const side = 8
	for n := range b.Source {
		sum, blocks := 0.0, 0
		for y := 0; y < b.Height; y += side {
			for x := 0; x < b.Width; x += side {
				var want, got [3]float64
				count := 0.0
				for j := y; j < min(y+side, b.Height); j++ {
					for i := x; i < min(x+side, b.Width); i++ {
						s, m := expect(Pixel(b.Source[n], j*b.Width+i)), Pixel(b.Made[n], j*b.Width+i)
						for k := range s {
							want[k] += s[k]
							got[k] += m[k]
						}
						count++
					}
				}
				for k := range want {
					sum += math.Abs(want[k]-got[k]) / count / 3
				}
				blocks++
			}
		}
		d := 255 * sum / float64(blocks)
		mean += d / float64(len(b.Source))
		worst = max(worst, d)
	}
	return mean, worst
}

// Identical reports whether every pixel of the made frames is the source's.
func (b Beside) Identical() bool {
	for n := range b.Source {
		for k, v := range b.Source[n] {
			if b.Made[n][k] != v {
				return false
			}
		}
	}
	return len(b.Source) > 0
}

// ColorLevels are the levels of a picture's signal, of all frames that were looked at
// together.
type ColorLevels struct {
	Luma       float64    `json:"luma_mean" unit:"%" doc:"Mean luma; 0 is black, 100 white."`
	Low        float64    `json:"luma_low" unit:"%" doc:"Luma that 1 % of the pixels lie below."`
	High       float64    `json:"luma_high" unit:"%" doc:"Luma that 1 % of the pixels lie above."`
	RGB        [3]float64 `json:"rgb_mean" unit:"%" doc:"Mean red, green and blue."`
	Saturation float64    `json:"saturation_mean" unit:"%" doc:"Mean distance of the strongest channel from the weakest."`
	Black      float64    `json:"crushed" unit:"%" doc:"Share of pixels whose channels are all at black."`
	White      float64    `json:"clipped" unit:"%" doc:"Share of pixels of which a channel is at full white."`
}

// LevelsOf measures frames. luma are the weights of red, green and blue.
func LevelsOf(frames [][]uint16, luma [3]float64) ColorLevels {
	var l ColorLevels
	var hist [1001]int
	n := 0
	for _, px := range frames {
		for i := range len(px) / 3 {
			p := Pixel(px, i)
			y := luma[0]*p[0] + luma[1]*p[1] + luma[2]*p[2]
			hist[int(min(max(y, 0), 1)*1000)]++
			l.Luma += y
			for k := range p {
				l.RGB[k] += p[k]
			}
			least, most := min(p[0], p[1], p[2]), max(p[0], p[1], p[2])
			l.Saturation += most - least
			if most <= 1.5/255 {
				l.Black++
			}
			if most >= 1-1.5/255 {
				l.White++
			}
			n++
		}
	}
	if n == 0 {
		return l
	}
	share := func(x float64) float64 { return math.Round(x/float64(n)*10_000) / 100 }
	l.Luma, l.Saturation, l.Black, l.White = share(l.Luma), share(l.Saturation), share(l.Black), share(l.White)
	for k := range l.RGB {
		l.RGB[k] = share(l.RGB[k])
	}
	below := 0
	for v, c := range hist {
		if below <= n/100 {
			l.Low = float64(v) / 10
		}
		if below < n-n/100 {
			l.High = float64(v) / 10
		}
		below += c
	}
	return l
}

// Moved is how far the made frames lie from the source's with its points moved: from tells
// where a point of the made frame lies in the source, in parts of their sizes, and whether
// it does. It is the mean difference of the means of small blocks, of 255.
func (b Beside) Moved(from func(x, y float64) (float64, float64, bool)) float64 {
	const side = 8
	sum, blocks := 0.0, 0
	for n := range b.Source {
		for y := 0; y+side <= b.Height; y += side {
			for x := 0; x+side <= b.Width; x += side {
				var diff [3]float64
				whole := true
				for i := range side * side {
					px, py := x+i%side, y+i/side
					sx, sy, ok := from((float64(px)+0.5)/float64(b.Width), (float64(py)+0.5)/float64(b.Height))
					if !ok {
						whole = false
						break
					}
					at := min(int(sy*float64(b.Height)), b.Height-1)*b.Width + min(int(sx*float64(b.Width)), b.Width-1)
					s, m := Pixel(b.Source[n], max(0, at)), Pixel(b.Made[n], py*b.Width+px)
					for k := range s {
						diff[k] += s[k] - m[k]
					}
				}
				if whole {
					sum += (math.Abs(diff[0]) + math.Abs(diff[1]) + math.Abs(diff[2])) / 3 / (side * side)
					blocks++
				}
			}
		}
	}
	return 255 * sum / float64(max(1, blocks))
}

// DetailLeft is how much of the source's detail is left in a part of the n-th made frame:
// the slope of what stands out from its neighbourhood there over what stands out in the
// source, 0 to about 1. ok is false where the source has no detail.
func (b Beside) DetailLeft(n, x, y, w, h int) (left float64, ok bool) {
	const reach = 2
	luma := func(px []uint16, x, y int) float64 {
		p := Pixel(px, y*b.Width+x)
		return 255 * (0.2126*p[0] + 0.7152*p[1] + 0.0722*p[2])
	}
	around := func(px []uint16, x, y int) float64 {
		sum := 0.0
		for j := -reach; j <= reach; j++ {
			for i := -reach; i <= reach; i++ {
				sum += luma(px, x+i, y+j)
			}
		}
		return luma(px, x, y) - sum/((2*reach+1)*(2*reach+1))
	}
	var both, own float64
	count := 0
	for j := max(reach, y); j < min(y+h, b.Height-reach); j++ {
		for i := max(reach, x); i < min(x+w, b.Width-reach); i++ {
			s := around(b.Source[n], i, j)
			both += s * around(b.Made[n], i, j)
			own += s * s
			count++
		}
	}
	if count == 0 || own/float64(count) < 4 {
		return 0, false
	}
	return math.Abs(both / own), true
}

// Outside is how far the frames lie apart where hidden is false: the mean of all, and the
// largest of one frame, of the means of small blocks, of 255.
func (b Beside) Outside(hidden func(n, x, y int) bool) (mean, worst float64) {
	const side = 8
	for n := range b.Source {
		sum, blocks := 0.0, 0
		for y := 0; y+side <= b.Height; y += side {
			for x := 0; x+side <= b.Width; x += side {
				if hidden(n, x, y) || hidden(n, x+side-1, y) || hidden(n, x, y+side-1) || hidden(n, x+side-1, y+side-1) {
					continue
				}
				var diff [3]float64
				for i := range side * side {
					at := (y+i/side)*b.Width + x + i%side
					s, m := Pixel(b.Source[n], at), Pixel(b.Made[n], at)
					for k := range s {
						diff[k] += s[k] - m[k]
					}
				}
				sum += (math.Abs(diff[0]) + math.Abs(diff[1]) + math.Abs(diff[2])) / 3 / (side * side)
				blocks++
			}
		}
		d := 255 * sum / float64(max(1, blocks))
		mean += d / float64(len(b.Source))
		worst = max(worst, d)
	}
	return mean, worst
}
