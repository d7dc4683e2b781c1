package ffmpeg

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math"
	"strconv"

	"cutroom/internal/sandbox/argv"
)

// Interlaced says how many frames are what, as ffmpeg's idet takes them.
type Interlaced struct {
	Frames      int `json:"frames" doc:"Frames that were looked at."`
	TopFirst    int `json:"top_first" doc:"Interlaced, the top field first."`
	BottomFirst int `json:"bottom_first" doc:"Interlaced, the bottom field first."`
	Progressive int `json:"progressive" doc:"Whole pictures; the rest cannot be told."`
}

// measuredFrames is how many frames of a video are looked at.
const measuredFrames = 500

// granted are the inputs that a run of a format is granted; in −1 is a file of the
// private folder.
func (f Format) grantedOf(in int) []int {
	if in < 0 {
		return nil
	}
	return f.Granted(in)
}

// CountInterlaced is the run that counts interlaced frames; its first value is an
// [Interlaced].
func CountInterlaced(step string, f Format, v *Stream, in int) argv.Command {
	args := append(argv.Words("-v", "error", "-nostdin", "-hide_banner", "-noautorotate"), f.input(0)...)
	args = append(args, argv.Words("-map", fmt.Sprintf("0:%d", v.Index), "-frames:v", strconv.Itoa(measuredFrames), "-vf")...)
	args = append(args, argv.Graph("idet,metadata=mode=print:file=-"), argv.Word("-f"), argv.Word("null"), argv.Word("-"))
	return argv.Command{Step: step, Program: "ffmpeg", Inputs: f.grantedOf(in), Args: args, Stage: "looking for fields", Consume: []argv.Consumer{readInterlaced}}
}

func readInterlaced(r io.Reader) (any, error) {
	var n Interlaced
	sc := bufio.NewScanner(r)
	for sc.Scan() {
		key, value, ok := bytes.Cut(sc.Bytes(), []byte("="))
		switch {
		case !ok && bytes.HasPrefix(key, []byte("frame:")):
			n.Frames++
			continue
		case !ok:
			continue
		}
		count, err := strconv.ParseFloat(string(value), 64)
		if err != nil {
			continue
		}
		switch string(key) {
		case "lavfi.idet.multiple.tff":
			n.TopFirst = int(count)
		case "lavfi.idet.multiple.bff":
			n.BottomFirst = int(count)
		case "lavfi.idet.multiple.progressive":
			n.Progressive = int(count)
		}
	}
	return n, sc.Err()
}

// The size at which shaking is measured, and how far it may go between frames.
const (
	shakeWidth, shakeHeight = 320, 180
	shakeReach              = 24
)

// MeasureShake is the run that measures how a picture shakes; its first value is a
// number of pixels of a frame 1920 wide.
func MeasureShake(step string, f Format, v *Stream, in int) argv.Command {
	args := append(argv.Words("-v", "error", "-nostdin", "-hide_banner", "-noautorotate"), f.input(0)...)
	args = append(args, argv.Words("-map", fmt.Sprintf("0:%d", v.Index), "-frames:v", strconv.Itoa(measuredFrames), "-vf")...)
	args = append(args, argv.Graph(fmt.Sprintf("scale=%d:%d:flags=area,format=gray", shakeWidth, shakeHeight)), argv.Word("-f"), argv.Word("rawvideo"), argv.Pipe(0))
	return argv.Command{Step: step, Program: "ffmpeg", Inputs: f.grantedOf(in), Args: args, Stage: "measuring how the picture shakes", Consume: []argv.Consumer{readShake}}
}

// readShake follows the movement of the whole picture by the sums of its rows and
// columns, and answers how much it changes from frame to frame.
func readShake(r io.Reader) (any, error) {
	frame := make([]byte, shakeWidth*shakeHeight)
	var cols, rows, dx, dy []float64
	for {
		if _, err := io.ReadFull(r, frame); err != nil {
			if err == io.EOF {
				break
			}
			return 0.0, fmt.Errorf("read a frame: %w", err)
		}
		c, w := sums(frame)
		if cols != nil {
			dx, dy = append(dx, shift(cols, c)), append(dy, shift(rows, w))
		}
		cols, rows = c, w
	}
	sum, n := 0.0, 0
	for i := 1; i < len(dx); i++ {
		sum += math.Pow(dx[i]-dx[i-1], 2) + math.Pow(dy[i]-dy[i-1], 2)
		n++
	}
	return math.Round(math.Sqrt(sum/float64(max(1, n)))*1920/shakeWidth*100) / 100, nil
}

// sums are the means of the columns and the rows.
func sums(frame []byte) (cols, rows []float64) {
	cols, rows = make([]float64, shakeWidth), make([]float64, shakeHeight)
	for i, v := range frame {
		cols[i%shakeWidth] += float64(v) / shakeHeight
		rows[i/shakeWidth] += float64(v) / shakeWidth
	}
	return cols, rows
}

// shift is how far b lies behind a, to a fraction of a sample.
func shift(a, b []float64) float64 {
	cost := func(d int) float64 {
		sum := 0.0
		for i := shakeReach; i < len(a)-shakeReach; i++ {
			sum += (a[i] - b[i+d]) * (a[i] - b[i+d])
		}
		return sum
	}
	best, least := 0, cost(0)
	for d := -shakeReach; d <= shakeReach; d++ {
		if c := cost(d); c < least {
			best, least = d, c
		}
	}
	if best == -shakeReach || best == shakeReach {
		return float64(best)
	}
	l, m, h := cost(best-1), least, cost(best+1)
	if l+h-2*m <= 0 {
		return float64(best)
	}
	return float64(best) + (l-h)/(2*(l+h-2*m))
}

// NoiseOf is the standard deviation of noise in luma, of 255: the mean of what a
// difference of second differences leaves (Immerkær, 1996), in the flat parts.
func NoiseOf(frames [][]uint16, width int) float64 {
	sum, n := 0.0, 0
	for _, px := range frames {
		height := len(px) / 3 / width
		luma := make([]float64, width*height)
		for i := range luma {
			p := Pixel(px, i)
			luma[i] = 255 * (0.2126*p[0] + 0.7152*p[1] + 0.0722*p[2])
		}
		for y := 1; y+1 < height; y++ {
			for x := 1; x+1 < width; x++ {
				at := func(dx, dy int) float64 { return luma[(y+dy)*width+x+dx] }
				edge := math.Abs(at(1, -1)+2*at(1, 0)+at(1, 1)-at(-1, -1)-2*at(-1, 0)-at(-1, 1)) + math.Abs(at(-1, 1)+2*at(0, 1)+at(1, 1)-at(-1, -1)-2*at(0, -1)-at(1, -1))
				if edge > 160 {
					continue // detail is no noise
				}
				sum += math.Abs(at(-1, -1) - 2*at(0, -1) + at(1, -1) - 2*at(-1, 0) + 4*at(0, 0) - 2*at(1, 0) + at(-1, 1) - 2*at(0, 1) + at(1, 1))
				n++
			}
		}
	}
	return math.Sqrt(math.Pi/2) / 6 * sum / float64(max(1, n))
}
