package setup

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"cutroom"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/object"
	"cutroom/internal/ocr"
	"cutroom/internal/sandbox"
	"cutroom/internal/sandbox/argv"
	"cutroom/internal/speech"
)

// learn pins the program at path and has it say what it is, in the sandbox.
func (f *finder) learn(name, path string) (sandbox.Pin, error) {
	o := sandbox.PinOptions{}
	if name == "tesseract" {
		dir := wordListFolder(f.config.Programs)
		if dir == "" {
			return sandbox.Pin{}, cutroom.Errorf(cutroom.MissingDependency, "tesseract has no language data").WithHint("%s", fix("tesseract-ocr-eng"))
		}
		o.Data = map[string]string{wordLists: dir}
	}
	pin, err := sandbox.PinProgram(name, path, o)
	if err != nil {
		return pin, err
	}
	box, err := sandbox.New(sandbox.Options{Toolchain: sandbox.NewToolchain(pin), Require: require(f.config), Debug: f.debug})
	if err != nil {
		return pin, err
	}
	switch name {
	case "ffmpeg":
		return pin, learnFFmpeg(f.ctx, box, &pin)
	case "ffprobe":
		line, err := firstLine(f.ctx, box, name, "-version")
		pin.Seal(line, nil)
		return pin, cmpErr(err, old(line))
	}
	line, err := firstLine(f.ctx, box, name, "--version")
	pin.Seal(line, nil)
	return pin, err
}

func cmpErr(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// learnFFmpeg reads the abilities and seals the pin with them.
func learnFFmpeg(ctx context.Context, box *sandbox.Sandbox, pin *sandbox.Pin) error {
	var outs [][]byte
	for _, c := range ffmpeg.AbilityCommands() {
		out, err := inspect(ctx, box, c)
		if err != nil {
			return err
		}
		outs = append(outs, out)
	}
	if len(outs) != 5 {
		return fmt.Errorf("ffmpeg is asked %d questions, not 5", len(outs))
	}
	a, err := ffmpeg.ParseAbilities(outs[0], outs[1], outs[2], outs[3], outs[4])
	if err != nil {
		return cutroom.Errorf(cutroom.ToolFailed, "%w", err)
	}
	line, _, _ := strings.Cut(string(outs[4]), "\n")
	pin.Seal(strings.TrimSpace(line), map[string][]string{
		"filters": a.Filters, "encoders": a.Encoders, "decoders": a.Decoders, "bsfs": a.BSFs,
	})
	return old(pin.Version)
}

// old refuses ffmpeg and ffprobe below 5.0, whose options are others.
func old(line string) error {
	a := ffmpeg.RecallAbilities(line, nil)
	if a.AtLeast(5, 0) {
		return nil
	}
	return cutroom.Errorf(cutroom.MissingDependency, "version %s is too old", a.Version).WithHint("install ffmpeg 5.0 or newer")
}

// firstLine runs a program with one word and returns the first line it prints.
func firstLine(ctx context.Context, box *sandbox.Sandbox, program, word string) (string, error) {
	out, err := inspect(ctx, box, argv.Command{Step: "version", Program: program, Args: argv.Words(word)})
	line, _, _ := strings.Cut(string(out), "\n")
	if err == nil && strings.TrimSpace(line) == "" {
		err = cutroom.Errorf(cutroom.ToolFailed, "%s does not say its version", program)
	}
	return strings.TrimSpace(line), err
}

// inspect runs a program that reads nothing, in a private folder of its own.
func inspect(ctx context.Context, box *sandbox.Sandbox, c argv.Command) ([]byte, error) {
	dir, err := os.MkdirTemp("", "cutroom-setup-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	res, err := box.Run(ctx, c, sandbox.Grant{Dir: dir})
	return res.Stdout, err
}

// try has one of our own engines do a very small job: an engine that cannot load its
// runtime or its models is found here and not in the middle of a call.
func (f *finder) try(pin sandbox.Pin) error {
	box, err := sandbox.New(sandbox.Options{Toolchain: sandbox.NewToolchain(pin), Require: require(f.config), Debug: f.debug})
	if err != nil {
		return err
	}
	return tryChild(f.ctx, box, pin.Name)
}

type runner interface {
	Run(context.Context, argv.Command, sandbox.Grant) (argv.Result, error)
}

func tryChild(ctx context.Context, box runner, program string) error {
	dir, err := os.MkdirTemp("", "cutroom-setup-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	switch program {
	case "speech":
		if err := os.WriteFile(filepath.Join(dir, "quiet.wav"), quiet(), 0o600); err != nil {
			return err
		}
		res, err := box.Run(ctx, speech.Command("try", "quiet.wav", speech.Options{VADOnly: true, Threads: 1}), sandbox.Grant{Dir: dir})
		if err == nil {
			_, err = speech.Result(res)
		}
		return err
	case "ocr":
		return tryOCR(ctx, box, dir)
	case object.Program:
		res, err := box.Run(ctx, object.Trial("try"), sandbox.Grant{Dir: dir})
		if err == nil {
			err = object.Tried(res)
		}
		return err
	}
	return fmt.Errorf("no engine is called %s", program)
}

// tryOwn has an engine of the operator's own listen to the same silence. What it
// writes about it is read by the call that needs it.
func tryOwn(ctx context.Context, box runner, t *speech.Template) error {
	dir, err := os.MkdirTemp("", "cutroom-setup-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "quiet.wav"), quiet(), 0o600); err != nil {
		return err
	}
	c, err := t.Command("try", "quiet.wav", "")
	if err != nil {
		return err
	}
	_, err = box.Run(ctx, c, sandbox.Grant{Dir: dir})
	return err
}

// tryOCR has the engine look at a small white picture.
func tryOCR(ctx context.Context, box runner, dir string) error {
	path := filepath.Join(dir, "white.png")
	if err := os.WriteFile(path, white(), 0o600); err != nil {
		return err
	}
	picture, err := os.Open(path)
	if err != nil {
		return err
	}
	defer picture.Close()
	c := ocr.First("try", []int{0}, ocr.Options{Threads: 1})
	_, err = box.Run(ctx, c, sandbox.Grant{Dir: dir, Inputs: []*os.File{picture}})
	return err
}

// quiet is half a second of silence as the speech engine takes it: RIFF WAVE, PCM,
// 16 kHz, mono, 16 bits.
func quiet() []byte {
	const samples, rate = 8000, 16000
	var b bytes.Buffer
	b.WriteString("RIFF")
	for _, v := range []any{uint32(36 + 2*samples), [8]byte([]byte("WAVEfmt ")), uint32(16), uint16(1), uint16(1), uint32(rate), uint32(2 * rate), uint16(2), uint16(16), [4]byte([]byte("data")), uint32(2 * samples)} {
		_ = binary.Write(&b, binary.LittleEndian, v) // a buffer takes everything
	}
	return append(b.Bytes(), make([]byte, 2*samples)...)
}

// wordListFolder is where tesseract's language data lies: in a folder the operator
// named, else where distributions put it.
func wordListFolder(programs []string) string {
	var folders []string
	for _, p := range programs {
		folders = append(folders, filepath.Join(p, wordLists), filepath.Join(filepath.Dir(p), "share", wordLists))
	}
	folders = append(folders, "/usr/share/tesseract-ocr/5/tessdata", "/usr/share/tesseract-ocr/4.00/tessdata",
		"/usr/share/tessdata", "/usr/local/share/tessdata", "/opt/homebrew/share/tessdata")
	for _, dir := range folders {
		if found, err := filepath.Glob(filepath.Join(dir, "*.traineddata")); err == nil && len(found) > 0 {
			return dir
		}
	}
	return ""
}
