package speech

import (
	"fmt"
	"slices"
	"strings"

	"cutroom"
	"cutroom/internal/sandbox/argv"
)

// Format is how an engine writes its result.
type Format string

// The formats. JSON is whatever [ReadJSON] reads.
const (
	JSON Format = "json"
	SRT  Format = "srt"
	VTT  Format = "vtt"
)

// Template is an engine of the operator's own: a pinned program and its arguments.
// It is never given to a shell. An argument is either a literal or one of
//
//	{input}     the recording, 16 kHz mono signed 16-bit WAV
//	{output}    a file name in the private folder, to which Suffix is added
//	{language}  the tag of the language, or "auto"
//	{model}     the pinned file that Model names
//
// For whisper.cpp: Program "whisper-cli", Args -m {model} -f {input} -l {language}
// -oj -of {output}, Format json, Suffix ".json".
type Template struct {
	Name      string   // in transcripts
	Program   string   // in the toolchain
	Args      []string // without the program
	Model     string   // name of the pinned data file, when {model} occurs
	Format    Format
	Suffix    string   // what the program adds to {output}
	Languages []string // tags it speaks; none means that it is not known
}

// outputName is what {output} stands for.
const outputName = "transcript"

// autoLanguage is what {language} stands for when the language is not known.
const autoLanguage = "auto"

const (
	maxArgs   = 64
	maxArg    = 1024
	maxSuffix = 16
)

// Check says what is wrong with a template: an invalid error for the operator.
func (t Template) Check() error {
	err := t.check()
	if err == nil {
		err = t.checkArguments()
	}
	if err == nil {
		return nil
	}
	return cutroom.Errorf(cutroom.Invalid, "speech engine %q: %w", t.Name, err).
		WithHint("placeholders are {input}, {output}, {language} and {model}, each an argument of its own")
}

func (t Template) check() error {
	count := map[string]int{}
	for _, a := range t.Args {
		if strings.HasPrefix(a, "{") {
			count[a]++
		}
		if err := checkArg(a); err != nil {
			return err
		}
	}
	switch {
	case t.Name == "" || t.Program == "":
		return fmt.Errorf("a name and a program are needed")
	case len(t.Args) > maxArgs:
		return fmt.Errorf("more than %d arguments", maxArgs)
	case !slices.Contains([]Format{JSON, SRT, VTT}, t.Format):
		return fmt.Errorf("format %q is not json, srt or vtt", t.Format)
	case count["{input}"] != 1:
		return fmt.Errorf("{input} has to occur once")
	case count["{output}"] > 1 || count["{model}"] > 1 || count["{language}"] > 1:
		return fmt.Errorf("a placeholder occurs twice")
	case (count["{model}"] == 1) != (t.Model != ""):
		return fmt.Errorf("{model} and the model's file belong together")
	case t.Suffix != "" && count["{output}"] == 0:
		return fmt.Errorf("a suffix needs {output}")
	case len(t.Suffix) > maxSuffix || strings.Trim(t.Suffix, "abcdefghijklmnopqrstuvwxyz0123456789.") != "" || strings.Contains(t.Suffix, ".."):
		return fmt.Errorf("suffix %q is not like .json", t.Suffix)
	}
	return nil
}

func checkArg(a string) error {
	switch a {
	case "{input}", "{output}", "{language}", "{model}":
		return nil
	}
	switch {
	case a == "" || len(a) > maxArg:
		return fmt.Errorf("an argument has between 1 and %d characters", maxArg)
	case strings.ContainsAny(a, "{}"):
		return fmt.Errorf("argument %q: unknown placeholder, or one within a word", a)
	case strings.ContainsRune(a, '/'):
		return fmt.Errorf("argument %q names a file, which the sandbox does not open", a)
	case strings.ContainsFunc(a, func(c rune) bool { return c < ' ' || c == 0x7f }):
		return fmt.Errorf("argument %q has a control character", a)
	}
	return nil
}

// checkArguments asks the sandbox's checker whether it will let the arguments pass.
func (t Template) checkArguments() error {
	c := t.command("check", "recording.wav", autoLanguage)
	grants := argv.GrantsOf(c, map[string]string{t.Model: "/model"})
	args, err := argv.Render(c, t.Table(), grants)
	if err != nil {
		return err
	}
	return argv.Check(t.Table(), args, grants)
}

// Table says what the program may be given: the template's own arguments, and for a
// placeholder what it stands for.
func (t Template) Table() argv.Table {
	options := map[string]argv.Option{}
	var operands []argv.Option
	for i := 0; i < len(t.Args); i++ {
		a := t.Args[i]
		if !isOption(a) {
			operands = append(operands, allowed(a))
			continue
		}
		o := argv.Option{Kind: argv.Flag}
		if i+1 < len(t.Args) && !isOption(t.Args[i+1]) {
			i++
			o = allowed(t.Args[i])
		}
		o.Values = append(o.Values, options[a].Values...) // an option may come again
		options[a] = o
	}
	return argv.Plain(t.Program, options, operands)
}

// isOption reports whether an argument is an option's name; -1 is a number.
func isOption(a string) bool {
	return len(a) > 1 && a[0] == '-' && (a[1] < '0' || a[1] > '9')
}

// allowed says what may stand in an argument's place.
func allowed(a string) argv.Option {
	switch a {
	case "{input}":
		return argv.Option{Kind: argv.FromInput}
	case "{output}":
		return argv.Option{Kind: argv.ToOutput}
	case "{model}":
		return argv.Option{Kind: argv.FromData}
	case "{language}":
		return argv.Option{Kind: argv.Name}
	}
	return argv.Option{Kind: argv.Text, Values: []string{a}}
}

// Speaks reports whether the engine speaks a language, as far as it is known.
func (t Template) Speaks(language string) bool {
	if len(t.Languages) == 0 || language == "" {
		return true
	}
	primary := func(tag string) string {
		p, _, _ := strings.Cut(strings.ToLower(tag), "-")
		return p
	}
	return slices.ContainsFunc(t.Languages, func(l string) bool { return primary(l) == primary(language) })
}

// Command runs the engine over wav, a file of the private folder. language is a
// BCP 47 tag, or empty when not known. The result is on standard output, or in the
// file that Outputs names; [Template.Read] reads it.
func (t Template) Command(step, wav, language string) (argv.Command, error) {
	if err := t.Check(); err != nil {
		return argv.Command{}, err
	}
	switch {
	case language == "":
		language = autoLanguage
	case !validLanguage(language):
		return argv.Command{}, cutroom.Errorf(cutroom.Invalid, "%q is not a language tag", language).WithHint("give a tag such as en or pt-BR")
	case !t.Speaks(language):
		return argv.Command{}, cutroom.Errorf(cutroom.Unavailable, "the speech engine %s does not speak %q", t.Name, language).
			WithHint("it speaks %s", strings.Join(t.Languages, ", "))
	}
	return t.command(step, wav, language), nil
}

func (t Template) command(step, wav, language string) argv.Command {
	c := argv.Command{
		Step: step, Program: t.Program, Stage: "transcribing with " + t.Name,
		Limits: argv.Limits{StdoutCap: maxDocument},
	}
	for _, a := range t.Args {
		switch a {
		case "{input}":
			c.Args = append(c.Args, argv.Out(wav))
		case "{output}":
			c.Args = append(c.Args, argv.Out(outputName))
			c.Outputs = []string{outputName + t.Suffix}
		case "{language}":
			c.Args = append(c.Args, argv.Word(language))
		case "{model}":
			c.Args = append(c.Args, argv.Data(t.Model))
		default:
			c.Args = append(c.Args, argv.Word(a))
		}
	}
	return c
}

// File is the name of the file that the engine writes, empty when it writes to
// standard output.
func (t Template) File() string {
	if !slices.Contains(t.Args, "{output}") {
		return ""
	}
	return outputName + t.Suffix
}

// maxDocument bounds an engine's result: over a thousand hours of speech.
const maxDocument = 64 << 20

// Document is what an engine of the operator's own wrote.
type Document struct {
	Format     Format
	Transcript Transcript // when Format is JSON
	// Captions are the bytes when Format is SRT or VTT, for a caption parser.
	Captions []byte
}

// Read reads the engine's result. length is that of the recording, 0 when unknown.
func (t Template) Read(data []byte, length cutroom.Micros) (Document, error) {
	d := Document{Format: t.Format}
	if len(data) > maxDocument {
		return d, cutroom.Errorf(cutroom.Limit, "the speech engine %s wrote more than %d MiB", t.Name, maxDocument>>20)
	}
	if t.Format != JSON {
		d.Captions = data
		return d, nil
	}
	var err error
	if d.Transcript, err = ReadJSON(t.Name, data, length); err != nil {
		return d, err
	}
	d.Transcript.Languages = slices.Clone(t.Languages)
	return d, nil
}
