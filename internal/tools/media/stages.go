package media

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"cutroom"
	"cutroom/internal/evidence"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/lens"
	"cutroom/internal/tool"
	"cutroom/internal/tools/measure"
	"cutroom/internal/tools/video"
)

// watching is one watch in progress.
type watching struct {
	ctx context.Context
	env tool.Env
	in  WatchInput
	out WatchResult

	doc     *ffmpeg.Document
	signals *measure.SignalsOutput
	samples []evidence.Sample
	full    []cutroom.ArtifactRef // the frames at full size, for reading
	screens []evidence.Screen
	visuals []evidence.Observation // of a reader whose answer is not recorded
	events  []evidence.Event
	results []cutroom.Ref // what the timeline is merged from
	source  cutroom.Digest
}

// call runs a stage and records how it ended. A failure that belongs to the stage
// is a reason; one that stops everything is returned.
func (w *watching) call(id string, in any) (tool.Reply, bool, error) {
	w.env.Progress(cutroom.Progress{Tool: "media.watch", Stage: id, Done: int64(len(w.out.Stages))})
	r, err := w.env.Call(w.ctx, id, in)
	if err != nil {
		if w.ctx.Err() != nil {
			return r, false, err
		}
		w.failed(id, err)
		return r, false, nil
	}
	s := Stage{ToolID: id, RunID: string(r.Run), Status: string(cutroom.Completed), PartialReasons: []string{}, Seconds: r.Seconds, Reused: r.Reused}
	if o, ok := r.Output.(interface{ Common() *cutroom.Output }); ok {
		c := o.Common()
		s.Status, s.PartialReasons = string(c.Status), c.PartialReasons
		for name, version := range c.Provenance.ExecutableVersions {
			w.out.ToolVersions[name] = version
		}
		w.source = c.Provenance.SourceIdentity.SHA256
	}
	w.out.Stages = append(w.out.Stages, s)
	return r, true, nil
}

// failed records a stage that gave no result.
func (w *watching) failed(id string, err error) {
	e := cutroom.AsError(err)
	status := "failed"
	if e.Code == cutroom.Denied || e.Code == cutroom.NeedsApproval {
		status = string(cutroom.Blocked)
	}
	w.out.Stages = append(w.out.Stages, Stage{ToolID: id, Status: status, PartialReasons: []string{e.Error()}})
	w.out.reason(id + ": " + e.Error())
	// What this machine lacks now may be there the next time: such an answer is not
	// kept as the one. What the file itself is stays so.
	if e.Code.Facts().Retry || e.Code == cutroom.MissingDependency {
		w.out.transient = true
	}
}

// address answers for a source on the network: the stage is blocked.
func (w *watching) address() WatchResult {
	w.out.Status, w.out.transient = cutroom.Blocked, true
	w.failed("video.download", cutroom.Errorf(cutroom.NeedsApproval, "an address needs a person's approval for this very destination, and an executor that this installation does not have").
		WithHint("fetch the file by other means, put it into the workspace and watch it there"))
	w.out.Status = cutroom.Blocked
	return w.out
}

// media runs the stages of a recording. Only a file that cannot be described at
// all is an error of the whole.
func (w *watching) media() error {
	r, err := w.env.Call(w.ctx, "video.probe", video.ProbeInput{Source: w.in.Source, Detail: "full", Limits: w.in.Limits})
	if err != nil {
		return err
	}
	probe := r.Output.(*video.ProbeOutput)
	w.doc, w.source = probe.Media, probe.Provenance.SourceIdentity.SHA256
	w.out.DurationSeconds = probe.DurationSeconds
	w.out.Stages = append(w.out.Stages, Stage{ToolID: "video.probe", RunID: string(r.Run), Status: string(probe.Status), PartialReasons: probe.PartialReasons, Seconds: r.Seconds, Reused: r.Reused})
	for name, version := range probe.Provenance.ExecutableVersions {
		w.out.ToolVersions[name] = version
	}
	for _, reason := range probe.PartialReasons {
		w.out.reason(reason)
	}
	w.out.limit(w.doc.Problems...)
	if d := w.doc.DurationSeconds; d > 0 && w.in.Start >= d {
		return cutroom.Errorf(cutroom.Invalid, "start %s s lies beyond the end: the recording lasts %s s", w.in.Start, d).WithHint("give a start below %s", d)
	}
	if w.in.Mode != Frames {
		if err := w.listen(); err != nil {
			return err
		}
	}
	if w.in.Mode == Transcript {
		return nil
	}
	if err := w.measure(); err != nil {
		return err
	}
	if w.doc.FirstVideo() == nil {
		if w.in.Mode == Frames {
			return cutroom.Errorf(cutroom.Invalid, "the file has no pictures to take frames from").WithHint("use mode transcript or summary")
		}
		w.out.limit("the recording has no picture")
		return nil
	}
	return w.look()
}

// listen finds what was said. In a watch every way is allowed.
func (w *watching) listen() error {
	w.out.TranscriptMethod = string(video.Unavailable)
	in := video.TranscriptInput{
		Source: w.in.Source, Allow: []string{"embedded", "speech"}, Language: w.in.Language,
		AudioStream: w.in.AudioStream, Range: w.in.Range, Detail: "full", Limits: w.in.Limits,
	}
	if w.doc != nil && len(w.doc.AudioStreams()) == 0 && len(w.doc.SubtitleStreams()) == 0 {
		// Nothing to hear: only what lies beside the file can say anything.
		in.Allow = nil
		w.out.limit("the recording has no sound")
	}
	r, ok, err := w.call("video.transcript", in)
	if err != nil || !ok {
		return err
	}
	t := r.Output.(*video.TranscriptOutput)
	w.out.TranscriptMethod, w.out.Language = string(t.Method), t.Language
	w.results = append(w.results, cutroom.Ref{Run: string(r.Run)})
	w.judge(t)
	return nil
}

// judge says what of a transcript's reasons touches the whole. A recording in
// which nobody speaks is complete.
func (w *watching) judge(t *video.TranscriptOutput) {
	silent := w.doc != nil && len(w.doc.AudioStreams()) == 0
	for _, reason := range t.PartialReasons {
		if silent && t.Method == video.Unavailable {
			continue
		}
		w.out.reason(reason)
	}
	if t.Method == video.Speech && len(t.Segments) == 0 {
		w.out.limit("no speech was heard")
	}
	if len(t.Problems) > 0 {
		w.out.limit(fmt.Sprintf("faulty cues of the transcript: %d", len(t.Problems)))
	}
}

// measure takes the one decode pass.
func (w *watching) measure() error {
	if v := w.doc.FirstVideo(); v != nil && v.Video.StillImage && len(w.doc.AudioStreams()) == 0 {
		return nil
	}
	r, ok, err := w.call("measure.signals", measure.SignalsInput{
		Input: cutroom.InPath(w.in.Source.Value), Start: w.in.Start, End: w.in.End, AudioStream: w.in.AudioStream,
		Limits: measure.Limits{MaxFileBytes: w.in.Limits.MaxFileBytes, MaxDurationSeconds: w.in.Limits.MaxDurationSeconds},
	})
	if err != nil || !ok {
		return err
	}
	w.signals = r.Output.(*measure.SignalsOutput)
	for _, reason := range w.signals.PartialReasons {
		w.out.reason(reason)
	}
	w.results = append(w.results, cutroom.Ref{Run: string(r.Run)})
	if w.signals.Samples == nil {
		return nil
	}
	data, err := w.env.ReadArtifact(w.ctx, *w.signals.Samples, maxSamples)
	if err != nil {
		return err
	}
	w.samples, err = measure.ReadSamples(data)
	return err
}

const maxSamples = 64 << 20

// budget is how many frames, how wide, by detail.
func (w *watching) budget() (frames, width int) {
	frames, width = 16, 1280
	switch w.in.Detail {
	case "low":
		frames, width = 8, 640
	case "high":
		frames, width = 40, 1920
	}
	if w.in.MaxFrames > 0 {
		frames = w.in.MaxFrames
	}
	if w.in.Width > 0 {
		width = w.in.Width
	}
	return frames, width
}

// look takes the frames that show the most and reads them.
func (w *watching) look() error {
	most, width := w.budget()
	times := w.choose(most)
	limits := w.in.Limits
	limits.MaxFrames = max(most, len(times))
	in := video.ExtractFramesInput{Source: w.in.Source, TimestampsSeconds: times, Width: width, FullSize: true, Detail: "full", Limits: limits}
	r, ok, err := w.extract(in)
	if err != nil || !ok {
		return err
	}
	f := r.Output.(*video.ExtractFramesOutput)
	w.out.Frames, w.full = f.Frames, f.FullFrames
	if len(w.full) != len(w.out.Frames) {
		w.full = w.out.Frames
	}
	for _, s := range f.Skipped {
		if !strings.HasPrefix(s.Reason, "the same frame") {
			w.out.reason(fmt.Sprintf("no frame for %s s: %s", s.RequestedSeconds, s.Reason))
		}
	}
	for _, taken := range f.Taken {
		w.out.limit(taken.Notes...)
	}
	if err := w.sheet(); err != nil {
		return err
	}
	return w.read()
}

// extract takes the frames: at low detail the key frames nearest before the times,
// which cost little, unless they are so far apart that fewer frames would come of it
// than first, middle and last.
func (w *watching) extract(in video.ExtractFramesInput) (tool.Reply, bool, error) {
	if w.in.Detail != "low" || w.out.FrameMethod == "still" {
		return w.call("video.extract_frames", in)
	}
	exact, times := in, in.TimestampsSeconds
	in.Mode = "keyframe"
	r, ok, err := w.call("video.extract_frames", in)
	if err != nil || !ok {
		return r, ok, err
	}
	least := min(3, len(times))
	if len(r.Output.(*video.ExtractFramesOutput).Frames) >= least {
		w.out.FrameMethod = "keyframe"
		return r, ok, nil
	}
	exact.TimestampsSeconds = slices.Compact([]cutroom.Micros{times[0], times[len(times)/2], times[len(times)-1]})
	return w.call("video.extract_frames", exact)
}

// choose picks the times of the frames from what was measured.
func (w *watching) choose(most int) []cutroom.Micros {
	v := w.doc.FirstVideo()
	start, end := w.in.Start, w.doc.DurationSeconds
	if w.in.End != nil {
		end = min(end, *w.in.End)
	}
	if v.Video.StillImage || end <= start {
		w.out.FrameMethod = "still"
		return []cutroom.Micros{start}
	}
	in := evidence.ChooseInput{Start: start, End: end, Max: most, Floor: max(cutroom.Micros(w.in.FrameIntervalSeconds)*cutroom.Second, 2*(end-start)/cutroom.Micros(most))}
	if w.signals != nil {
		in.Samples, in.Cuts = w.samples, w.signals.Cuts()
		if last := w.signals.LastFrame(); last > start && last < in.End {
			in.End = last
		}
	}
	chosen := evidence.Choose(in)
	w.out.FrameMethod = chosen.Method
	times := make([]cutroom.Micros, len(chosen.Frames))
	for i, c := range chosen.Frames {
		times[i] = c.At
	}
	return slices.Compact(times)
}

// read runs the text recognition over the frames at full size.
func (w *watching) read() error {
	limits := w.in.Limits
	limits.MaxFrames = max(1, len(w.full))
	r, ok, err := w.call("video.ocr_frames", video.OCRFramesInput{
		Frames: w.full, Language: ocrLanguage(w.in.Language, w.env.Facts().Languages), Detail: "full", Limits: &limits,
	})
	if err != nil {
		return err
	}
	if ok {
		o := r.Output.(*video.OCRFramesOutput)
		w.results = append(w.results, cutroom.Ref{Run: string(r.Run)})
		for _, item := range o.Items {
			w.screens = append(w.screens, item.Screen("video.ocr_frames/"+r.Run.Short()))
		}
		for _, reason := range o.PartialReasons {
			w.out.reason(reason)
		}
	}
	return w.observe()
}

// observe has the frames seen by a model, where one may be shown them, and brings what is
// known of each frame together.
func (w *watching) observe() error {
	in := video.InspectFramesInput{Frames: w.out.Frames}
	if w.mayShow() {
		r, ok, err := w.call("media.read_frames", ReadFramesInput{Frames: w.out.Frames, Prompt: w.in.Question, Language: w.in.Language, ModelsOnly: true})
		if err != nil {
			return err
		}
		if ok {
			o := r.Output.(*ReadOutput)
			for _, warning := range o.Meta.Warnings {
				w.out.limit("media.read_frames: " + warning)
			}
			if o.Transient() {
				w.out.transient = true
				w.visuals = o.Observations(w.out.Frames, "media.read_frames")
			} else {
				in.Observations = append(in.Observations, cutroom.Ref{Run: string(r.Run)})
			}
		}
	}
	r, ok, err := w.call("video.inspect_frames", in)
	if err == nil && ok && len(in.Observations) > 0 {
		w.results = append(w.results, cutroom.Ref{Run: string(r.Run)})
	}
	return err
}

// mayShow says whether there is a model that these frames may be shown to.
func (w *watching) mayShow() bool {
	readers := w.env.Readers()
	consent := readers.Consent()
	list, _ := readers.Offered(w.ctx, lens.Image, consent)
	return slices.ContainsFunc(list, func(x lens.Reader) bool { return x.Local || consent == lens.Allowed })
}

// tesseract names languages by ISO 639-2 codes, two of them by script.
var ocrCodes = map[string]string{
	"en": "eng", "ru": "rus", "zh": "chi_sim", "de": "deu", "fr": "fra", "es": "spa", "it": "ita", "pt": "por",
	"nl": "nld", "pl": "pol", "uk": "ukr", "cs": "ces", "tr": "tur", "ar": "ara", "fa": "fas", "he": "heb",
	"hi": "hin", "ja": "jpn", "ko": "kor", "vi": "vie", "th": "tha", "id": "ind", "el": "ell", "sv": "swe",
}

// ocrLanguage is what the frames are read in: the language that was asked for when
// its data is installed, and English, which terminals and numbers are in.
func ocrLanguage(tag string, installed []string) string {
	primary, _, _ := strings.Cut(strings.ToLower(strings.ReplaceAll(tag, "_", "-")), "-")
	code := primary
	if c, ok := ocrCodes[primary]; ok {
		code = c
	}
	if code == "" || code == "eng" || !slices.Contains(installed, code) {
		return "eng"
	}
	if !slices.Contains(installed, "eng") || code == "chi_sim" {
		return code
	}
	return code + "+eng"
}
