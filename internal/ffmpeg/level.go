package ffmpeg

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math"
	"strconv"

	"cutroom"
	"cutroom/internal/sandbox/argv"
)

// Levels are the levels of a picture over its first seconds, in percent: of luma between
// nominal black and white, of saturation up to the strongest colour that can be stored.
type Levels struct {
	Frames      int     `json:"frames" doc:"Pictures that were looked at: two a second of the first twenty seconds."`
	LumaMin     float64 `json:"luma_min" unit:"%" doc:"The darkest sample. Below 0 is under nominal black."`
	LumaLow     float64 `json:"luma_low" unit:"%" doc:"A tenth of a picture is darker, on average."`
	LumaAverage float64 `json:"luma_average" unit:"%" doc:"The mean."`
	LumaHigh    float64 `json:"luma_high" unit:"%" doc:"A tenth of a picture is brighter, on average."`
	LumaMax     float64 `json:"luma_max" unit:"%" doc:"The brightest sample. Above 100 is over nominal white."`
	Saturation  float64 `json:"saturation_average" unit:"%" doc:"Mean strength of the colours."`
	Log         bool    `json:"log_footage" doc:"Looks like the flat picture of a camera's log curve, which wants a table (edit.color lut): a guess from the levels."`
	Evidence    string  `json:"log_evidence,omitempty" doc:"What that guess rests on, when it is true."`
}

// How much is looked at.
const (
	levelFrames = 40
	levelWhite  = 1023 // codes of ten bits
)

// MeasureLevels is the run that measures the levels of a stream of the call's input in;
// its first value is a [Levels]. A picture without a single frame gives zero frames.
func MeasureLevels(step string, f Format, v *Stream, in int, a *Abilities) (argv.Command, error) {
	args := argv.Words("-v", "error", "-nostdin", "-hide_banner", "-noautorotate")
	dec, err := v.Decoder(a)
	if err != nil {
		return argv.Command{}, err
	}
	args = append(append(args, dec...), f.input(0)...)
	rate := "fps=2,"
	if v.Video.StillImage {
		rate = ""
	}
	args = append(args, argv.Words("-map", fmt.Sprintf("0:%d", v.Index), "-frames:v", strconv.Itoa(levelFrames), "-vf")...)
	args = append(args, argv.Graph(rate+"format=yuv444p10le,signalstats,metadata=mode=print:file=-"), argv.Word("-f"), argv.Word("null"), argv.Word("-"))
	return argv.Command{
		Step: step, Program: "ffmpeg", Inputs: f.Granted(in), Args: args, Stage: "measuring levels", MayFail: true,
		Consume: []argv.Consumer{levelReader(v.Video)},
	}, nil
}

// levelReader sums up what signalstats prints of each picture.
func levelReader(v *VideoFacts) argv.Consumer {
	return func(r io.Reader) (any, error) { return readLevels(r, v.FullRange(), v.HDR) }
}

func readLevels(r io.Reader, full bool, hdr string) (Levels, error) {
	l := Levels{LumaMin: math.Inf(1), LumaMax: math.Inf(-1)}
	black, white := 64.0, 940.0
	if full {
		black, white = 0, levelWhite
	}
	counts := map[string]int{}
	mean := func(sum *float64, key string, v float64) { *sum += v; counts[key]++ }
	sc := bufio.NewScanner(r)
	for sc.Scan() {
		key, value, ok := bytes.Cut(sc.Bytes(), []byte("="))
		v, err := strconv.ParseFloat(string(value), 64)
		if !ok || err != nil || math.IsNaN(v) || v < 0 || v > levelWhite {
			continue
		}
		luma := 100 * (v - black) / (white - black)
		switch k := string(bytes.TrimPrefix(key, []byte("lavfi.signalstats."))); k {
		case "YMIN":
			l.LumaMin = min(l.LumaMin, luma)
			l.Frames++
		case "YMAX":
			l.LumaMax = max(l.LumaMax, luma)
		case "YLOW":
			mean(&l.LumaLow, k, luma)
		case "YAVG":
			mean(&l.LumaAverage, k, luma)
		case "YHIGH":
			mean(&l.LumaHigh, k, luma)
		case "SATAVG":
			mean(&l.Saturation, k, 100*v/(levelWhite/2*math.Sqrt2))
		}
	}
	if err := sc.Err(); err != nil {
		return Levels{}, fmt.Errorf("read levels: %w", err)
	}
	if l.Frames == 0 || math.IsInf(l.LumaMax, 0) {
		return Levels{}, nil
	}
	for key, sum := range map[string]*float64{"YLOW": &l.LumaLow, "YAVG": &l.LumaAverage, "YHIGH": &l.LumaHigh, "SATAVG": &l.Saturation} {
		*sum = tenth(*sum / float64(max(1, counts[key])))
	}
	l.LumaMin, l.LumaMax = tenth(l.LumaMin), tenth(l.LumaMax)
	l.guessLog(hdr)
	return l, nil
}

func tenth(v float64) float64 { return math.Round(10*v) / 10 }

// guessLog says whether the levels are those of a log curve: raised blacks, whites far
// from the top, little contrast and pale colours, all at once. What states a curve of
// high dynamic range is none.
func (l *Levels) guessLog(hdr string) {
	spread := l.LumaHigh - l.LumaLow
	if hdr != "" || l.LumaMin < 3 || l.LumaMax > 92 || spread < 4 || spread > 50 || l.LumaLow < 8 || l.Saturation > 12 {
		return
	}
	l.Log = true
	l.Evidence = fmt.Sprintf("nothing is darker than %.1f %% or brighter than %.1f %%, most lies within %.1f %% of luma, and colours have %.1f %% of their strength", l.LumaMin, l.LumaMax, spread, l.Saturation)
}

// Levelled returns the levels that a run measured, or why there are none.
func Levelled(res argv.Result) (*Levels, error) {
	l, ok := value[Levels](res, 0)
	if !ok || l.Frames == 0 {
		return nil, cutroom.Errorf(cutroom.UnreadableMedia, "no picture of it could be decoded")
	}
	return &l, nil
}
