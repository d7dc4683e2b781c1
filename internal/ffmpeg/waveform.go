package ffmpeg

import (
	"fmt"
	"image"
	"image/color"
	"math"

	"golang.org/x/image/draw"

	"cutroom"
)

// The picture of a sound: the waveform above, its loudness below, times along the foot.
const (
	waveHeight  = 240
	loudHeight  = 160
	waveFoot    = 20
	waveMargin  = 48   // for the scale at the left
	loudTop     = 0.0  // LUFS
	loudBottom  = -60. // LUFS
	leastWave   = 320
	timeLabelPx = 110
)

var (
	wavePeak  = color.RGBA{0x2f, 0x6f, 0xa8, 0xff}
	waveRMS   = color.RGBA{0x7f, 0xc4, 0xff, 0xff}
	waveQuiet = color.RGBA{0x50, 0x20, 0x20, 0xff}
	loudLine  = color.RGBA{0xff, 0xc8, 0x40, 0xff}
	gridLine  = color.RGBA{0x40, 0x40, 0x40, 0xff}
)

// Waveform draws what a measuring run with Envelope, Loudness and Silence found, width
// pixels wide: peaks and root mean square of each moment, silences marked, momentary
// loudness on a scale from 0 to −60 LUFS with lines at −14 and −23, and times.
func Waveform(a *AudioSignals, length cutroom.Micros, width int) *image.RGBA {
	width = max(leastWave, width)
	img := image.NewRGBA(image.Rect(0, 0, width, waveHeight+loudHeight+waveFoot))
	draw.Draw(img, img.Bounds(), image.NewUniform(sheetPaper), image.Point{}, draw.Src)
	if length <= 0 {
		length = max(1, a.EndSeconds)
	}
	w := wave{img: img, length: length, left: waveMargin, width: width - waveMargin}
	for _, s := range a.Silence {
		w.fill(image.Rect(w.x(s.StartSeconds), 0, max(w.x(s.StartSeconds)+1, w.x(s.EndSeconds)), waveHeight), waveQuiet)
	}
	w.grid()
	if a.Envelope != nil {
		w.envelope(a.Envelope)
	}
	if a.Loudness != nil {
		w.loudness(a.Loudness)
	}
	w.times()
	return img
}

type wave struct {
	img         *image.RGBA
	length      cutroom.Micros
	left, width int
}

// x is the column of a time.
func (w wave) x(t cutroom.Micros) int {
	return w.left + int(muldiv(int64(min(max(t, 0), w.length)), int64(w.width), int64(w.length), nearest))
}

func (w wave) fill(r image.Rectangle, c color.Color) {
	draw.Draw(w.img, r.Intersect(w.img.Bounds()), image.NewUniform(c), image.Point{}, draw.Src)
}

func (w wave) grid() {
	for _, db := range []float64{0, -6, -20} {
		for _, y := range []int{waveHeight/2 - amplitude(db), waveHeight/2 + amplitude(db)} {
			w.fill(image.Rect(w.left, y, w.left+w.width, y+1), gridLine)
		}
		caption(w.img, image.Pt(4, max(0, waveHeight/2-amplitude(db)-6)), sheetInk, fmt.Sprintf("%g dB", db))
	}
	for _, lufs := range []float64{0, -14, -23, -40} {
		y := loudY(lufs)
		w.fill(image.Rect(w.left, y, w.left+w.width, y+1), gridLine)
		caption(w.img, image.Pt(4, min(y, waveHeight+loudHeight-14)), sheetInk, fmt.Sprintf("%g", lufs))
	}
	caption(w.img, image.Pt(4, waveHeight+loudHeight-13), sheetInk, "LUFS")
}

// amplitude is half the height of a level, in pixels.
func amplitude(db float64) int {
	return int(math.Round(math.Pow(10, math.Min(0, db)/20) * (waveHeight/2 - 6)))
}

func loudY(lufs float64) int {
	share := (loudTop - math.Max(loudBottom, math.Min(loudTop, lufs))) / (loudTop - loudBottom)
	return waveHeight + 4 + int(share*(loudHeight-8))
}

// envelope draws one column for each pixel: the largest peak and RMS that fall into it.
func (w wave) envelope(e *Envelope) {
	for col := range w.width {
		from := cutroom.Micros(muldiv(int64(w.length), int64(col), int64(w.width), nearest)) - e.Start
		to := cutroom.Micros(muldiv(int64(w.length), int64(col+1), int64(w.width), nearest)) - e.Start
		if to <= 0 || e.Step <= 0 {
			continue
		}
		i, k := int(max(0, from)/e.Step), int((to-1)/e.Step)
		if i >= len(e.Peak) {
			continue
		}
		peak, rms := float32(floorDB), float32(floorDB)
		for ; i <= min(k, len(e.Peak)-1); i++ {
			peak, rms = max(peak, e.Peak[i]), max(rms, e.RMS[i])
		}
		x := w.left + col
		for _, band := range []struct {
			db float32
			c  color.RGBA
		}{{peak, wavePeak}, {rms, waveRMS}} {
			h := amplitude(float64(band.db))
			w.fill(image.Rect(x, waveHeight/2-h, x+1, waveHeight/2+h+1), band.c)
		}
	}
}

// loudness draws the momentary loudness as a line.
func (w wave) loudness(l *Loudness) {
	last := image.Point{-1, 0}
	for _, m := range l.Momentary {
		p := image.Pt(w.x(m.Seconds), loudY(float64(m.LUFS)))
		if last.X >= 0 {
			w.line(last, p)
		}
		last = p
	}
}

// line draws two pixels thick from a to b, which lies to its right.
func (w wave) line(a, b image.Point) {
	for x := a.X; x <= b.X; x++ {
		from, to := a.Y, b.Y
		if b.X > a.X {
			from = a.Y + (b.Y-a.Y)*(x-a.X)/(b.X-a.X)
			to = a.Y + (b.Y-a.Y)*min(b.X-a.X, x+1-a.X)/(b.X-a.X)
		}
		w.fill(image.Rect(x, min(from, to), x+1, max(from, to)+2), loudLine)
	}
}

func (w wave) times() {
	n := max(1, w.width/timeLabelPx)
	for i := range n {
		t := cutroom.Micros(muldiv(int64(w.length), int64(i), int64(n), nearest))
		x := w.x(t)
		w.fill(image.Rect(x, waveHeight+loudHeight, x+1, waveHeight+loudHeight+waveFoot), gridLine)
		caption(w.img, image.Pt(x+3, waveHeight+loudHeight+4), sheetInk, t.Clock())
	}
}
