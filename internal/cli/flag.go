package cli

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"cutroom"
	"cutroom/internal/tool"
)

// binding connects the parameters of one tool with the words of one command.
type binding struct {
	tool   *tool.Tool
	place  []tool.Param // given by position, in order
	flags  []*flagText
	source string // --source-kind
	media  string // --media-type
}

// flagText is a flag of a tool: what was typed, until it becomes JSON.
type flagText struct {
	param tool.Param
	texts []string
}

// Set, String and Type make it a pflag.Value; IsBoolFlag lets it stand bare.
func (f *flagText) Set(s string) error {
	if len(f.param.Enum) > 0 && !slices.Contains(f.param.Enum, s) {
		e := usagef("%q is not one of %s", short(s), strings.Join(f.param.Enum, ", "))
		if near := tool.Nearest(s, f.param.Enum); near != "" {
			e.msg += "; did you mean " + near + "?"
		}
		return e
	}
	if f.param.Kind == tool.ParamBool {
		if _, err := strconv.ParseBool(s); err != nil {
			return usagef("%q is not true or false", short(s))
		}
	}
	if !f.param.Repeat {
		f.texts = nil
	}
	f.texts = append(f.texts, s)
	return nil
}

func (f *flagText) String() string {
	if len(f.texts) == 0 {
		return f.param.Default
	}
	return strings.Join(f.texts, ",")
}

// Type is the word that help shows for a value.
func (f *flagText) Type() string {
	switch f.param.Kind {
	case tool.ParamBool:
		return "bool" // shown as no value
	case tool.ParamText:
		return "text"
	case tool.ParamOut:
		return "file"
	case tool.ParamRef:
		return "run"
	}
	return string(f.param.Kind)
}

func (f *flagText) IsBoolFlag() bool { return f.param.Kind == tool.ParamBool }

// bind connects the parameters of t with words.
func bind(t *tool.Tool) *binding {
	b := &binding{tool: t}
	place, flags := t.Words()
	b.place = place
	for _, p := range flags {
		b.flags = append(b.flags, &flagText{param: p})
	}
	return b
}

// declare adds the flags to cmd.
func (b *binding) declare(cmd *cobra.Command) {
	for _, f := range b.flags {
		if cmd.Flags().Lookup(f.param.Flag) != nil {
			continue // shared with another tool of the command
		}
		cmd.Flags().VarP(f, f.param.Flag, f.param.Letter(), f.usage())
		if f.param.Kind == tool.ParamBool {
			cmd.Flags().Lookup(f.param.Flag).NoOptDefVal = "true"
		}
		if len(f.param.Enum) > 0 {
			// The flag was declared the line before, so this cannot fail.
			_ = cmd.RegisterFlagCompletionFunc(f.param.Flag, cobra.FixedCompletions(f.param.Enum, cobra.ShellCompDirectiveNoFileComp))
		}
	}
	if slices.ContainsFunc(b.place, isSource) {
		cmd.Flags().StringVar(&b.source, "source-kind", "auto", "how to read SOURCE: auto, local_file, url or transcript")
		cmd.Flags().StringVar(&b.media, "media-type", "", "media type that the source is believed to have")
	}
}

func isSource(p tool.Param) bool { return p.Kind == tool.ParamSource }

func (f *flagText) usage() string {
	u := lowerFirst(strings.TrimSuffix(f.param.Doc, "."))
	if len(f.param.Enum) > 0 {
		u += ": " + strings.Join(f.param.Enum, ", ")
	}
	if f.param.Unit != "" {
		u += " [" + f.param.Unit + "]"
	}
	if f.param.Repeat {
		u += " (repeat for more)"
	}
	if f.param.Kind == tool.ParamJSON {
		u += " (JSON, or @FILE)"
	}
	if f.param.Required {
		u += " (required)"
	}
	return u
}

// lowerFirst makes a sentence one of the phrases of help, unless it begins with a
// name such as SHA-256.
func lowerFirst(s string) string {
	if s == "" {
		return s
	}
	r, n := utf8.DecodeRuneInString(s)
	if next, _ := utf8.DecodeRuneInString(s[n:]); unicode.IsUpper(next) {
		return s
	}
	return string(unicode.ToLower(r)) + s[n:]
}

// words is the command line after the command's name, for its help.
func (b *binding) words() string {
	var w []string
	for _, p := range b.place {
		w = append(w, p.Word())
	}
	return strings.Join(w, " ")
}

// reader turns words into JSON for one principal.
type reader struct {
	paths paths
	stdin io.Reader
	loose bool // plain text with white space is a transcript
}

// input assembles the JSON that the engine takes.
func (b *binding) input(cmd *cobra.Command, args []string, r reader) ([]byte, error) {
	doc := document{}
	if err := b.count(cmd.CommandPath(), args); err != nil {
		return nil, err
	}
	for _, f := range b.flags {
		if !cmd.Flags().Changed(f.param.Flag) {
			if f.param.Required {
				return nil, usagef("--%s is missing", f.param.Flag).withHint("`%s --help` says what it takes", cmd.CommandPath())
			}
			continue
		}
		value, err := f.value(r)
		if err != nil {
			return nil, err
		}
		doc.set(f.param.Path, value)
	}
	if err := b.placed(doc, args, r); err != nil {
		return nil, err
	}
	return json.Marshal(doc)
}

// placed adds what was given by position.
func (b *binding) placed(doc document, args []string, r reader) error {
	for _, p := range b.place {
		if len(args) == 0 {
			break
		}
		mine := args[:1]
		if p.Repeat {
			mine = args
		}
		args = args[len(mine):]
		var values []any
		for _, text := range mine {
			v, err := b.argument(p, text, r)
			if err != nil {
				return err
			}
			values = append(values, v)
		}
		if p.Repeat {
			doc.set(p.Path, values)
		} else {
			doc.set(p.Path, values[0])
		}
	}
	return nil
}

// count checks that there are as many words as the tool takes.
func (b *binding) count(command string, args []string) error {
	least, most := 0, len(b.place)
	for _, p := range b.place {
		if p.Required {
			least++
		}
		if p.Repeat {
			most = len(args)
		}
	}
	switch {
	case len(args) < least:
		return usagef("%s is missing", b.place[len(args)].Word()).withHint("%s %s", command, b.words())
	case len(args) > most:
		return usagef("%q is one argument too many", short(args[most])).withHint("%s %s; quote what contains a space", command, b.words())
	}
	return nil
}

func (b *binding) argument(p tool.Param, text string, r reader) (any, error) {
	if p.Kind == tool.ParamSource {
		return r.source(text, b.source, b.media)
	}
	return r.scalar(p, strings.ToUpper(p.Path[len(p.Path)-1]), text)
}

// value is what was typed for the flag, as JSON.
func (f *flagText) value(r reader) (any, error) {
	var values []any
	for _, text := range f.texts {
		v, err := r.scalar(f.param, "--"+f.param.Flag, text)
		if err != nil {
			return nil, err
		}
		values = append(values, v)
	}
	if f.param.Repeat {
		return values, nil
	}
	return values[0], nil
}

// scalar turns one word into JSON. A number keeps its digits: the engine alone
// decides what they mean.
func (r reader) scalar(p tool.Param, name, text string) (any, error) {
	if p.Kind != tool.ParamJSON && !utf8.ValidString(text) {
		return nil, usagef("%s is not UTF-8 text", name).withHint("rename the file, or give the text in UTF-8")
	}
	switch p.Kind {
	case tool.ParamBool:
		return strconv.ParseBool(text)
	case tool.ParamInt, tool.ParamNumber:
		if raw := json.RawMessage(strings.TrimSpace(text)); json.Valid(raw) && isNumber(string(raw)) {
			return raw, nil
		}
		return nil, usagef("%s: %q is not a number", name, short(text)).withHint("write it in digits, such as 12 or 12.5")
	case tool.ParamTime:
		if _, err := cutroom.ParseMicros(text); err != nil {
			if _, label := cutroom.ParseMoment(text); label != nil {
				return nil, usagef("%s: %s", name, err).withHint("write 12.5, 1:02.5 or 00:01:02.500; a place in a recording can be a timecode too, such as 00:01:02:12")
			}
		}
		return text, nil
	case tool.ParamIn, tool.ParamOut:
		return r.paths.convert(text)
	case tool.ParamRef:
		run, artifact, _ := strings.Cut(text, "/")
		if len(run) < 16 || len(run) > 64 || strings.Trim(run, "0123456789abcdef") != "" {
			return nil, usagef("%s: %q is not the id of a result: it has 16 to 64 hexadecimal digits", name, short(run)).
				withHint("an earlier call printed it as its result")
		}
		ref := document{"run": run}
		if artifact != "" {
			ref["artifact"] = artifact
		}
		return ref, nil
	case tool.ParamJSON:
		return r.structure(name, text)
	}
	return text, nil
}

func isNumber(s string) bool { return s != "" && (s[0] == '-' || s[0] >= '0' && s[0] <= '9') }

// structure reads JSON from the word itself or, after @, from a file.
func (r reader) structure(name, text string) (any, error) {
	raw := []byte(text)
	if file, ok := strings.CutPrefix(text, "@"); ok {
		var err error
		if raw, err = readLimited(filepath.Join(r.paths.dir, file), file); err != nil {
			return nil, err
		}
	}
	if !json.Valid(raw) {
		return nil, usagef("%s: this is not JSON", name).withHint("give JSON, or @FILE to read it from a file")
	}
	return json.RawMessage(raw), nil
}

// readLimited reads a request file whole; shown is its name as the caller wrote it.
func readLimited(path, shown string) ([]byte, error) {
	if filepath.IsAbs(shown) {
		path = shown
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, cutroom.Errorf(cutroom.NotFound, "cannot open %q", shown).WithCause(err).WithHint("check the path")
	}
	defer f.Close()
	return limited(f, shown)
}

// limited reads all of r, at most what one request may hold.
func limited(r io.Reader, shown string) ([]byte, error) {
	raw, err := io.ReadAll(io.LimitReader(r, tool.MaxInput+1))
	if err != nil {
		return nil, cutroom.Errorf(cutroom.Invalid, "cannot read %q", shown).WithCause(err).WithHint("name a file that can be read")
	}
	if len(raw) > tool.MaxInput {
		return nil, cutroom.Errorf(cutroom.Limit, "%q has more than %d bytes", shown, tool.MaxInput).WithHint("give a smaller file")
	}
	return raw, nil
}

// document is a JSON object while it is put together.
type document map[string]any

// set puts value at the path, making the objects on the way.
func (d document) set(path []string, value any) {
	for _, name := range path[:len(path)-1] {
		next, ok := d[name].(document)
		if !ok {
			next = document{}
			d[name] = next
		}
		d = next
	}
	d[path[len(path)-1]] = value
}
