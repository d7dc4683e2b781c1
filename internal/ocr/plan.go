package ocr

import (
	"fmt"
	"io"
	"time"

	"cutroom"
	"cutroom/internal/sandbox/argv"
)

// The bounds and defaults of [Options].
const (
	DefaultSide    = 960
	DefaultThreads = 2
	minSideOption  = 320
	maxSideOption  = 3200
	maxThreads     = 16
)

// The names of the toolchain's data files that PP-OCRv4 needs.
const (
	RuntimeFile  = "lib/libonnxruntime.so"
	DetectFile   = "ocr/ch_PP-OCRv4_det_infer.onnx"
	ReadFile     = "ocr/ch_PP-OCRv4_rec_infer.onnx"
	AlphabetFile = "ocr/ppocr_keys_v1.txt"
)

// Options say how pictures are read. The zero value reads English.
type Options struct {
	Language string // Tesseract's codes joined by "+"; empty is [DefaultLanguage]
	Side     int    // longer side at which lines are looked for, 320..3200; 0 is [DefaultSide]
	Threads  int    // of the networks, 1..16; 0 is [DefaultThreads]
	// WithoutModels leaves PP-OCRv4 out: every picture is a page for Tesseract.
	WithoutModels bool
	// WithoutTesseract leaves Tesseract out: PP-OCRv4 reads alone.
	WithoutTesseract bool
}

// Check refuses options that no engine can satisfy (invalid, missing_dependency).
func (o Options) Check() error {
	names, err := languages(o.Language)
	switch {
	case err != nil:
		return err
	case o.Side != 0 && (o.Side < minSideOption || o.Side > maxSideOption):
		return cutroom.Errorf(cutroom.Invalid, "detection side %d is not within %d..%d", o.Side, minSideOption, maxSideOption)
	case o.Threads < 0 || o.Threads > maxThreads:
		return cutroom.Errorf(cutroom.Invalid, "%d threads are not within 1..%d", o.Threads, maxThreads)
	case o.WithoutTesseract && o.WithoutModels:
		return cutroom.Errorf(cutroom.MissingDependency, "nothing that reads text from pictures is installed").
			WithHint("install tesseract-ocr, or run `cutroom setup` for the models")
	case o.WithoutTesseract && !paddleReadsAll(names):
		return cutroom.Errorf(cutroom.MissingDependency, "language %q needs tesseract, which is not installed", o.language()).
			WithHint("install tesseract-ocr and the package of the language")
	}
	return nil
}

func (o Options) language() string {
	if o.Language == "" {
		return DefaultLanguage
	}
	return o.Language
}

// lists returns the names of the two lists that step leaves in the private folder.
func lists(step string) (crops, pages string) { return step + "-crops.txt", step + "-pages.txt" }

// First returns the run of the child over the given inputs of the call: JPEG, PNG
// or WebP pictures. step names the run and, with a suffix, what it leaves in the
// private folder; it is a plain word. The first value of its result is a []Frame
// for [Second] and [Merge], in the order of inputs.
func First(step string, inputs []int, o Options) argv.Command {
	c := first(step, o, argv.Ins(len(inputs)))
	c.Inputs = inputs
	return c
}

// FirstOf is [First] over files that an earlier step left in the private folder.
func FirstOf(step string, files []string, o Options) argv.Command {
	return first(step, o, argv.Outs(files))
}

func first(step string, o Options, pictures []argv.Atom) argv.Command {
	crops, pages := lists(step)
	args := []argv.Atom{
		argv.Word("--crops"), argv.Out(crops), argv.Word("--pages"), argv.Out(pages),
		argv.Word("--lang"), argv.Word(o.language()),
		argv.Word("--side"), bounded(o.Side, DefaultSide, minSideOption, maxSideOption),
		argv.Word("--threads"), bounded(o.Threads, DefaultThreads, 1, maxThreads),
	}
	if !o.WithoutModels {
		args = append(args,
			argv.Word("--lib"), argv.Data(RuntimeFile), argv.Word("--det"), argv.Data(DetectFile),
			argv.Word("--rec"), argv.Data(ReadFile), argv.Word("--keys"), argv.Data(AlphabetFile))
	}
	args = append(args, pictures...)
	n := len(pictures)
	return argv.Command{
		Step: step, Program: "ocr", Args: args,
		Consume: []argv.Consumer{func(r io.Reader) (any, error) { return readFrames(r, n) }},
		Outputs: []string{crops, pages},
		Limits: argv.Limits{
			Wall:     60*time.Second + time.Duration(n)*20*time.Second,
			Memory:   6 << 30, // ONNX Runtime and a picture of MaxPixels, decoded
			FileSize: 256 << 20,
			Written:  2 << 30,
		},
		Stage: "finding text in " + counted(n, "picture"),
	}
}

// counted is a number of things in words.
func counted(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}

func bounded(n, zero, lo, hi int) argv.Int {
	if n == 0 {
		n = zero
	}
	return argv.Int{N: int64(n), Min: int64(lo), Max: int64(hi)}
}

// Reading is what one of [Second]'s runs read, for [Merge].
type Reading struct {
	crops  bool // lines rather than pages
	sheets map[int]sheet
}

// Second returns the runs of Tesseract over what [First], of the same step and
// options, prepared: at most one over all lines and one over all pages, none when
// there is nothing to read. The first value of each result is a [Reading].
func Second(step string, frames []Frame, o Options) []argv.Command {
	if o.WithoutTesseract {
		return nil
	}
	crops, pages := 0, 0
	for _, f := range frames {
		for _, l := range f.Lines {
			crops += len(l.Crops)
		}
		if f.Page > 0 {
			pages++
		}
	}
	cropList, pageList := lists(step)
	var out []argv.Command
	if crops > 0 {
		c := tesseract(step+"-crops", cropList, 7, o, true)
		c.Limits.Wall = 60*time.Second + time.Duration(crops)*3*time.Second
		c.Stage = "reading " + counted(crops, "line")
		out = append(out, c)
	}
	if pages > 0 {
		c := tesseract(step+"-pages", pageList, 3, o, false)
		c.Limits.Wall = 60*time.Second + time.Duration(pages)*30*time.Second
		c.Stage = "reading " + counted(pages, "page")
		out = append(out, c)
	}
	return out
}

// tesseract returns one run over the pictures that list names. psm is the page
// segmentation mode: 7 a single line, 3 a page with its blocks found.
func tesseract(step, list string, psm int64, o Options, crops bool) argv.Command {
	return argv.Command{
		Step: step, Program: "tesseract",
		Args: []argv.Atom{
			argv.Out(list), argv.Word("stdout"), argv.Word("-l"), argv.Word(o.language()),
			argv.Word("--psm"),
			argv.Int{N: psm, Max: 13},
			argv.Word("tsv"),
		},
		Consume: []argv.Consumer{func(r io.Reader) (any, error) {
			sheets, err := readTSV(r)
			return Reading{crops, sheets}, err
		}},
		// Its threads wait for each other more than they work (measured: six times
		// slower on two busy cores).
		Env:    map[string]string{"OMP_THREAD_LIMIT": "1"},
		Limits: argv.Limits{Memory: 2 << 30},
	}
}
