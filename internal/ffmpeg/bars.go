package ffmpeg

import (
	"fmt"
	"io"
	"strings"

	"cutroom"
	"cutroom/internal/sandbox/argv"
)

// BarOptions say where bars are looked for.
type BarOptions struct {
	Times     []cutroom.Micros // public axis; each is one input of the run
	Limit     float64          // mean luma of a row or column, of 255, up to which it is black
	Abilities *Abilities
}

// Bars are what was found, in pixels of the picture as shown.
type Bars struct {
	Width, Height            int // of the picture
	Looked, Dark             int // frames; and those that are black all over
	Top, Bottom, Left, Right int
	rows, cols               []float64 // the brightest mean of each
}

// NewBars is the run that looks at the luma of single frames; its first value is a
// [Bars].
func NewBars(f Format, d *Document, in int, o BarOptions) (argv.Command, error) {
	s, err := d.VideoStream()
	if err != nil {
		return argv.Command{}, err
	}
	v := s.Video
	args := argv.Words("-v", "error", "-nostdin", "-hide_banner", "-copyts")
	var chains []string
	var stack strings.Builder
	for i, t := range o.Times {
		opened, head, err := pick{f, d, s, t}.open(i, o.Abilities)
		if err != nil {
			return argv.Command{}, err
		}
		args = append(args, opened...)
		chain := append([]string{head}, v.turns()...)
		chain = append(chain, fmt.Sprintf("scale=%d:%d:flags=bicubic,setsar=1", v.DisplayWidth, v.DisplayHeight), lumaPlane(v))
		chains = append(chains, strings.Join(chain, ",")+fmt.Sprintf("[f%d]", i))
		fmt.Fprintf(&stack, "[f%d]", i)
	}
	chains = append(chains, stacked(stack.String(), len(o.Times), "[bars]"))
	args = append(args, argv.Word("-filter_complex"), argv.Graph(strings.Join(chains, ";")))
	args = append(args, argv.Words("-map", "[bars]", "-frames:v", "1", "-f", "rawvideo", "-pix_fmt", "gray")...)
	args = append(args, argv.Pipe(0))
	return argv.Command{
		Step: "bars", Program: "ffmpeg", Inputs: f.Granted(in), Args: args, Stage: "looking for bars",
		Consume: []argv.Consumer{func(r io.Reader) (any, error) {
			return readBars(r, v.DisplayWidth, v.DisplayHeight, len(o.Times), o.Limit)
		}},
	}, nil
}

// lumaPlane takes luma of eight bits out of a picture, as it is coded.
func lumaPlane(v *VideoFacts) string {
	if v.rgb() || !strings.HasPrefix(v.PixelFormat, "yuv") {
		return "format=gray"
	}
	return "format=yuv444p,extractplanes=y"
}

func readBars(r io.Reader, w, h, n int, limit float64) (any, error) {
	b := Bars{Width: w, Height: h, rows: make([]float64, h), cols: make([]float64, w)}
	frame := make([]byte, w*h)
	for i := range n {
		if _, err := io.ReadFull(r, frame); err != nil {
			return b, fmt.Errorf("frame %d of %d: %w", i+1, n, err)
		}
		b.look(frame, limit)
	}
	b.settle(limit)
	_, err := io.Copy(io.Discard, r)
	return b, err
}

// look takes one frame into account, unless it is black all over.
func (b *Bars) look(frame []byte, limit float64) {
	rows, cols := make([]float64, b.Height), make([]float64, b.Width)
	brightest := 0.0
	for i, v := range frame {
		rows[i/b.Width] += float64(v) / float64(b.Width)
		cols[i%b.Width] += float64(v) / float64(b.Height)
	}
	for _, m := range rows {
		brightest = max(brightest, m)
	}
	b.Looked++
	if brightest <= limit {
		b.Dark++
		return
	}
	for i, m := range rows {
		b.rows[i] = max(b.rows[i], m)
	}
	for i, m := range cols {
		b.cols[i] = max(b.cols[i], m)
	}
}

// settle counts the dark rows and columns from each side.
func (b *Bars) settle(limit float64) {
	if b.Looked == b.Dark {
		return
	}
	run := func(list []float64, from, step int) (n int) {
		for i := from; i >= 0 && i < len(list) && list[i] <= limit; i += step {
			n++
		}
		return n
	}
	b.Top, b.Bottom = run(b.rows, 0, 1), run(b.rows, b.Height-1, -1)
	b.Left, b.Right = run(b.cols, 0, 1), run(b.cols, b.Width-1, -1)
	if b.Left+b.Right >= b.Width || b.Top+b.Bottom >= b.Height { // light, but nowhere enough of it
		b.Top, b.Bottom, b.Left, b.Right = 0, 0, 0, 0
	}
}

// Moving is where a picture moves, in parts of its width and height.
type Moving struct {
	Frames     int
	X, Y       float64 // the middle of what moves
	Left, Top  float64 // of what holds nine tenths of it
	Right, Low float64
	Share      float64 // of the pixels that change from frame to frame
}

// movingWidth is how wide the pictures are that are compared, and movingStep what a pixel
// has to change by.
const (
	movingWidth = 160
	movingStep  = 18
)

// NewMoving is the run that looks where a picture moves; its first value is a [Moving].
func NewMoving(f Format, d *Document, in int, length cutroom.Micros) (argv.Command, error) {
	s, err := d.VideoStream()
	if err != nil {
		return argv.Command{}, err
	}
	v := s.Video
	w, h := movingWidth, max(2, movingWidth*v.DisplayHeight/max(1, v.DisplayWidth))
	chain := append(v.turns(), fmt.Sprintf("fps=5,scale=%d:%d:flags=area,setsar=1", w, h), lumaPlane(v))
	args := append(argv.Words("-v", "error", "-nostdin", "-hide_banner", "-noautorotate"), f.input(0)...)
	args = append(args, argv.Words("-map", fmt.Sprintf("0:%d", s.Index), "-t")...)
	args = append(args, argv.Decimal(length.String()), argv.Word("-vf"), argv.Graph(strings.Join(chain, ",")), argv.Word("-f"), argv.Word("rawvideo"), argv.Word("-pix_fmt"), argv.Word("gray"), argv.Pipe(0))
	return argv.Command{
		Step: "moving", Program: "ffmpeg", Inputs: f.Granted(in), Args: args, Stage: "looking where the picture moves",
		Consume: []argv.Consumer{func(r io.Reader) (any, error) { return readMoving(r, w, h) }},
	}, nil
}

func readMoving(r io.Reader, w, h int) (any, error) {
	var m Moving
	cols, rows := make([]float64, w), make([]float64, h)
	last, frame := []byte(nil), make([]byte, w*h)
	moved := 0
	for {
		if _, err := io.ReadFull(r, frame); err != nil {
			if err == io.EOF {
				break
			}
			return m, fmt.Errorf("read a frame: %w", err)
		}
		m.Frames++
		for i := range last {
			if d := int(frame[i]) - int(last[i]); d > movingStep || d < -movingStep {
				cols[i%w]++
				rows[i/w]++
				moved++
			}
		}
		last = append(last[:0], frame...)
	}
	if moved == 0 {
		return m, nil
	}
	m.Share = float64(moved) / float64((m.Frames-1)*w*h)
	m.X, m.Left, m.Right = spread(cols)
	m.Y, m.Top, m.Low = spread(rows)
	return m, nil
}

// spread is the middle of a distribution, and between which places nine tenths of it lie,
// in parts of its length.
func spread(list []float64) (middle, low, high float64) {
	total, sum := 0.0, 0.0
	for i, v := range list {
		total += v
		sum += v * (float64(i) + 0.5)
	}
	n := float64(len(list))
	seen, high := 0.0, 1.0
	begun := false
	for i, v := range list {
		seen += v
		if !begun && seen >= 0.05*total {
			low, begun = float64(i)/n, true
		}
		if seen >= 0.95*total {
			high = float64(i+1) / n
			break
		}
	}
	return sum / total / n, low, high
}
