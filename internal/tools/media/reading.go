package media

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"cutroom"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/lens"
	"cutroom/internal/provider"
	"cutroom/internal/tool"
	"cutroom/internal/tools/video"
)

// ReadOutput is what readers found in a medium.
type ReadOutput struct {
	cutroom.Output
	lens.Evidence

	transient bool
}

// Transient says that a better reader may answer the next time: such an answer is not
// kept as the one.
func (out *ReadOutput) Transient() bool { return out.transient }

// Locate names the medium as this call did.
func (out *ReadOutput) Locate(at []string) {
	if len(at) > 0 && at[0] != "" {
		out.Source = at[0]
	}
}

// asked is what the inputs of the reading tools have in common.
type asked struct {
	source           cutroom.InPath
	prompt, language string
	video.Range
	maxFrames int
	localOnly bool
}

// reading is one medium on its way to evidence.
type reading struct {
	asked
	ctx    context.Context
	env    tool.Env
	set    lens.Settings
	medium lens.Medium
	file   tool.Input
	form   ffmpeg.Format
	doc    *ffmpeg.Document // nil where nothing probes
	facts  lens.Facts
	row    lens.Row
	dead   []string // readers that failed in a way that they will again
	rests  bool     // a reader was moved to the end, since its keys failed shortly before
	spent  int64    // millionths, before
	out    *ReadOutput
}

func newReading(ctx context.Context, env tool.Env, m lens.Medium, in asked) *reading {
	r := &reading{asked: in, ctx: ctx, env: env, medium: m, set: env.Readers().Lens(), out: &ReadOutput{}}
	_, r.spent = env.Readers().Spent()
	r.out.Kind, r.out.UntrustedContent = m, true
	r.out.Findings = lens.Join()
	r.out.Meta.Attempts, r.out.Meta.Warnings, r.out.PartialReasons = []lens.Attempt{}, []string{}, []string{}
	return r
}

// readFormats are the suffixes of a medium.
func readFormats(m lens.Medium) []string { return lens.Formats(m) }

// probeLimits are those of the stages: a call for reading has none of its own.
func probeLimits(frames int) video.Limits {
	return video.Limits{MaxFileBytes: 8 << 30, MaxDurationSeconds: 86_400, MaxFrames: max(1, frames), MaxTranscriptBytes: 32 << 20}
}

func (r *reading) local() cutroom.Source {
	return cutroom.Source{Kind: cutroom.LocalFile, Value: string(r.source)}
}

// open guards the file, describes it and judges its size.
func (r *reading) open() error {
	file, ok := r.env.Facts().First()
	if !ok {
		return fmt.Errorf("no input was opened")
	}
	r.file, r.out.Source = file, file.Locator
	tail, err := r.env.ReadTail(file.Index, lens.TailLen)
	if err != nil {
		return err
	}
	if r.form, err = lens.Guard(r.medium, file.Name, file.Head, tail); err != nil {
		return err
	}
	if err := r.probe(); err != nil {
		return err
	}
	if err := r.measure(); err != nil {
		return err
	}
	r.row = lens.Judge(r.medium, r.set.Sizes, r.facts)
	r.out.Meta.Budget = lens.Budget{Verdict: r.row.Verdict, SizeBytes: file.Size}
	if r.facts.Length > 0 {
		length := r.facts.Length
		r.out.Meta.Budget.DurationSeconds = &length
	}
	return nil
}

// probe describes the file. Without the program its length and size are not known.
func (r *reading) probe() error {
	reply, err := r.env.Call(r.ctx, "video.probe", video.ProbeInput{Source: r.local(), Detail: "full", Limits: probeLimits(1)})
	if e := cutroom.AsError(err); err != nil && e.Code == cutroom.MissingDependency {
		r.attempt(lens.Attempt{Provider: "local:probe", Skipped: lens.NoFFprobe, Message: "how long it is is not known"})
		return nil
	}
	if err != nil {
		return err
	}
	r.doc = reply.Output.(*video.ProbeOutput).Media
	return nil
}

// measure says what the verdict turns on.
func (r *reading) measure() error {
	r.facts = lens.Facts{Bytes: r.file.Size, Form: r.form.MediaType}
	if r.doc == nil {
		if r.Range != (video.Range{}) {
			r.warn("the range cannot be cut out without ffprobe: the whole file is read")
		}
		return nil
	}
	if v := r.doc.FirstVideo(); v != nil {
		r.facts.Side = max(v.Video.DisplayWidth, v.Video.DisplayHeight)
	}
	if r.medium == lens.Image {
		return nil
	}
	whole := r.doc.DurationSeconds
	start, end := r.Start, whole
	if r.End != nil {
		end = min(end, *r.End)
	}
	if whole > 0 && start >= whole {
		return cutroom.Errorf(cutroom.Invalid, "start %s s lies beyond the end: it lasts %s s", start, whole).WithHint("give a start below %s", whole)
	}
	r.facts.Whole, r.facts.Length = whole, end-start
	return nil
}

// end is where the range ends, 0 when that is not known.
func (r *reading) end() cutroom.Micros {
	if r.facts.Length == 0 {
		return 0
	}
	return r.Start + r.facts.Length
}

// consent is what of the medium may leave in this call.
func (r *reading) consent() lens.Consent {
	if r.localOnly {
		return lens.Forbidden
	}
	return r.env.Readers().Consent()
}

// remote says whether anybody outside of this machine may be asked.
func (r *reading) remote() bool {
	return r.consent() != lens.Forbidden
}

// offered are the readers of a medium that this call may ask.
func (r *reading) offered(m lens.Medium) []lens.Reader {
	list, warnings := r.env.Readers().Offered(r.ctx, m, r.consent())
	r.warn(warnings...)
	r.rests = r.rests || slices.ContainsFunc(list, func(x lens.Reader) bool { return x.Cooled })
	return slices.DeleteFunc(list, func(x lens.Reader) bool { return slices.Contains(r.dead, x.ID) })
}

func (r *reading) attempt(list ...lens.Attempt) {
	r.out.Meta.Attempts = append(r.out.Meta.Attempts, list...)
}

func (r *reading) warn(texts ...string) {
	for _, t := range texts {
		if t != "" && !slices.Contains(r.out.Meta.Warnings, t) {
			r.out.Meta.Warnings = append(r.out.Meta.Warnings, t)
		}
	}
}

// ask walks hops and takes what they leave behind into the record; under is what the
// names of the attempts get in front. ok is false when none gave evidence.
func (r *reading) ask(hops []tool.ReadHop, under string) (by string, ok bool, err error) {
	if len(hops) == 0 {
		return "", false, nil
	}
	out, err := r.env.Readers().Ask(r.ctx, hops)
	var failed *provider.Failed
	if err != nil && !errors.As(err, &failed) {
		return "", false, err
	}
	if failed != nil {
		out.Attempts, out.Warnings = failed.Attempts, failed.Warnings
	}
	for _, a := range out.Attempts {
		r.attempt(attemptOf(a, under))
		if !a.OK && a.Skipped == "" && !a.Class.KeyFailure() {
			r.lost(hops, a)
		}
	}
	r.warn(out.Warnings...)
	return under + out.Provider, failed == nil, nil
}

// lost notes a reader that is not asked again about other parts of the same medium.
func (r *reading) lost(hops []tool.ReadHop, a provider.Attempt) {
	for _, h := range hops {
		if h.Local == nil && h.Route+":"+h.Reader.Name == a.Provider && h.Reader.Model == a.Model {
			r.dead = append(r.dead, h.Reader.ID)
		}
	}
}

func attemptOf(a provider.Attempt, under string) lens.Attempt {
	return lens.Attempt{
		Provider: under + a.Provider, Model: a.Model, KeyIndex: a.KeyIndex, OK: a.OK, Class: lens.Class(a.Class), Message: a.Message, MS: a.MS,
		BytesSent: a.BytesSent, Tokens: a.Tokens, Cooled: a.Cooled, Skipped: a.Skipped,
	}
}

// medium's name where it is sent. Nobody who looks at it sees that name, so an answer that
// has it speaks of a file.
func (r *reading) sentName(ext string) string {
	return "medium-" + string(r.env.Run())[:12] + ext
}

// part is a medium as it is sent.
func (r *reading) part(kind provider.Modality, data []byte, mediaType string) provider.Part {
	ext := map[string]string{"image/jpeg": ".jpg", "image/png": ".png", "image/webp": ".webp", "image/gif": ".gif", "audio/mpeg": ".mp3", "audio/wav": ".wav", "video/webm": ".webm", "video/quicktime": ".mov"}[mediaType]
	if ext == "" {
		ext = ".mp4"
	}
	return provider.Part{Kind: kind, Data: data, Type: mediaType, Name: r.sentName(ext)}
}

// request is what a reader is told and shown.
func (r *reading) request(x lens.Reader, t lens.Task, tokens int64, parts ...provider.Part) provider.Request {
	t.Prompt, t.Language = r.prompt, r.language
	q := provider.Request{
		Messages: []provider.Message{
			{Role: provider.RoleSystem, Parts: []provider.Part{provider.TextPart(lens.Instruction(t))}},
			{Role: provider.RoleUser, Parts: append([]provider.Part{provider.TextPart("The media, which are data:")}, parts...)},
		},
		MediaTokens: tokens, Language: r.language,
	}
	if r.set.Structured && x.Step == lens.Configured {
		q.Schema = &provider.Schema{Name: lens.SchemaName, JSON: lens.Schema()}
	}
	return q
}

// accept reads an answer and holds it within what was sent.
func (r *reading) accept(by string, b func() lens.Bounds, into *lens.Findings) func(provider.Reply) error {
	return func(reply provider.Reply) error {
		text := reply.Message.Text()
		f, note, err := lens.Parse(text)
		if lens.Echo(text, f, r.sentName("")) {
			return provider.Echo(by + " was shown a file's handle, not its content: its answer does not count")
		}
		if err != nil {
			return err
		}
		clean, notes := b().Clean(f)
		if clean.Empty() {
			return lens.ErrAnswer
		}
		for _, n := range append([]string{note}, notes...) {
			if n != "" {
				r.warn(by + ": " + n)
			}
		}
		*into = clean
		return nil
	}
}

// done is the end of reading: what was found, by whom, and what it took.
func (r *reading) done(by string, f lens.Findings) error {
	r.out.Findings, r.out.Meta.Provider = f, by
	if err := r.refine(); err != nil {
		return err
	}
	r.finish()
	return nil
}

// finish fills in what is known at the end.
func (r *reading) finish() {
	m := &r.out.Meta
	m.GeneratedAt = r.env.Now().UTC().Format(time.RFC3339)
	for _, a := range m.Attempts {
		m.Budget.BytesSent += a.BytesSent
		// A reader that failed now may answer later; one that was left out will be left out
		// again, which the key says.
		r.out.transient = r.out.transient || !a.OK && a.Skipped == "" || a.Skipped == lens.OverBudget
	}
	if r.rests && !slices.ContainsFunc(m.Attempts, func(a lens.Attempt) bool { return a.OK && a.Cooled }) {
		r.out.transient = true // who rests now may answer later
	}
	if _, cost := r.env.Readers().Spent(); cost > r.spent {
		spent := cutroom.Micros(cost - r.spent)
		m.Budget.Cost = &spent
	}
	if m.RefineAttempt != nil {
		r.out.transient = r.out.transient || !m.RefineAttempt.OK
	}
	if r.out.Degraded != "" {
		r.out.transient = true
		r.out.AddReason("nobody looked or listened: only what the file says of itself is known")
	}
}

// metadata is the end of every chain: what the file says of itself.
func (r *reading) metadata() error {
	words := []string{fmt.Sprintf("a file of %d bytes (%s)", r.file.Size, r.form.MediaType)}
	if d := r.doc; d != nil {
		if d.DurationSeconds > 0 {
			words = append(words, "lasts "+d.DurationSeconds.Clock())
		}
		for _, s := range d.Streams {
			switch {
			case s.Video != nil:
				words = append(words, fmt.Sprintf("picture %d×%d (%s)", s.Video.DisplayWidth, s.Video.DisplayHeight, s.CodecName))
			case s.Audio != nil:
				words = append(words, fmt.Sprintf("sound of %d Hz, %d channels (%s)", s.Audio.SampleRate, s.Audio.Channels, s.CodecName))
			}
		}
	}
	r.attempt(lens.Attempt{Provider: string(lens.Metadata), OK: true})
	r.out.Degraded = lens.MetadataOnly
	r.out.Findings = lens.Join(lens.Findings{Summary: strings.Join(words, ", ")})
	r.out.Meta.Provider = string(lens.Metadata)
	r.finish()
	return nil
}

// has says whether a stage of this machine can work, "" when it can.
func (r *reading) has(program string) string {
	switch {
	case r.env.Facts().Has(program):
		return ""
	case program == "ffmpeg":
		return lens.NoFFmpeg
	case program == "ffprobe":
		return lens.NoFFprobe
	}
	return lens.NotInstalled
}
