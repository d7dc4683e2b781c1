package edit

import (
	"fmt"
	"slices"

	"cutroom"
	"cutroom/internal/caption"
	"cutroom/internal/edl"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/graph"
	"cutroom/internal/platform"
	"cutroom/internal/sandbox/argv"
	"cutroom/internal/speech"
	"cutroom/internal/tool"
)

// captioning is one call while it is worked on.
type captioning struct {
	f      tool.Facts
	in     CaptionInput
	file   tool.Input
	video  *ffmpeg.Stream
	target graph.Target
	width  int // of the frame as it is written
	height int

	out     CaptionOutput
	edit    edl.Map // of the burn itself: a picture that begins late begins at zero afterwards
	texts   []captionText
	voice   *caption.Voice
	offset  cutroom.Micros // of what is listened to
	layout  *caption.Layout
	script  []byte // the ASS file that is burned
	reel    *reel  // the pictures of emoji over it
	shown   []caption.Shown
	render  *graph.Render
	ink     []ffmpeg.InkAt
	matched []ffmpeg.Ink
}

// The files of the private folder.
const (
	scriptFile = "captions.ass"
	reelFile   = "emoji.png"
	speechFile = "speech.wav"
	subripFile = "captions.srt"
)

// maxCaptionText bounds a caption file.
const maxCaptionText = 64 << 20

func newCaptioning(f tool.Facts, in CaptionInput) (*captioning, error) {
	file, err := f.Named(in.Input)
	if err != nil || file.Media == nil {
		return nil, fmt.Errorf("the input was not probed: %w", err)
	}
	k, err := kit(f, in.Brand)
	if err != nil {
		return nil, err
	}
	c := &captioning{f: f, in: in.branded(k), file: file}
	if c.video, err = file.Media.VideoStream(); err != nil {
		return nil, cutroom.Errorf(cutroom.Invalid, "input has no video stream").WithCause(err).WithHint("captions need a picture; give a video")
	}
	if c.target, err = tool.Target(in.Output); err != nil {
		return nil, err
	}
	c.target.Video = graph.VideoCodec{Name: in.Codec, Quality: in.Quality}
	c.width, c.height = max(2, c.video.Video.DisplayWidth&^1), max(2, c.video.Video.DisplayHeight&^1)
	if _, err := c.safe(); err != nil {
		return nil, err
	}
	if in.EditMap.Run != "" {
		if _, err := f.Map(in.EditMap); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// safe is what the platform keeps for itself.
func (c *captioning) safe() (caption.Insets, error) {
	if c.in.Platform == "" {
		return caption.Insets{}, nil
	}
	p, err := platform.Find(c.in.Platform)
	s := p.Safe
	return caption.Insets{Top: s.Top, Bottom: s.Bottom, Left: s.Left, Right: s.Right}, err
}

// planCaption plans as far as can be told: listening first where that is asked for, the
// layout once the text is known, then the encode with its proof, then a look at what
// can be seen.
func planCaption(f tool.Facts, in CaptionInput) (tool.Plan, error) {
	c, err := newCaptioning(f, in)
	if err != nil {
		return tool.Plan{}, err
	}
	if ready, err := c.atOnce(); err != nil {
		return tool.Plan{}, err
	} else if ready && !c.hears() {
		return c.compose(nil)
	}
	// What follows is told from a render of captions that are not known yet.
	later, err := c.later()
	if err != nil {
		return tool.Plan{}, err
	}
	if !c.hears() {
		return tool.Plan{State: c, Later: later, Then: c.compose}, nil
	}
	p, err := c.measure()
	p.Later = append(p.Later, later...)
	return p, err
}

// hears says whether the sound is measured: to know when words are spoken.
func (c *captioning) hears() bool {
	timed := c.in.Karaoke && (c.in.Timing == "energy" || c.in.Timing == "auto" || c.in.Timing == "")
	return (timed || c.in.Transcribe) && (c.in.Transcribe || len(c.file.Media.AudioStreams()) > c.in.AudioStream)
}

// measure plans the course of the sound, and the listening.
func (c *captioning) measure() (tool.Plan, error) {
	m, err := ffmpeg.NewMeasure(c.file.Index, c.file.Format, c.file.Media, ffmpeg.MeasureOptions{Envelope: true, AudioStream: c.in.AudioStream, Abilities: &c.f.Abilities})
	if err != nil {
		return tool.Plan{}, err
	}
	var listen []argv.Command
	if c.in.Transcribe {
		if listen, err = c.listen(); err != nil {
			return tool.Plan{}, err
		}
	}
	p, err := tool.Follow(m, c, func(r tool.Results) (tool.Plan, error) {
		if s := m.Signals().Audio; s != nil && s.Envelope != nil {
			e := s.Envelope
			c.voice = caption.NewVoice(e.Start, e.Step, e.RMS)
		}
		if !c.in.Transcribe {
			return c.compose(r)
		}
		return tool.Plan{State: c, Steps: listen, Then: c.compose}, nil
	})
	p.Later = append(p.Later, listen...)
	return p, err
}

// listen plans speech to text.
func (c *captioning) listen() ([]argv.Command, error) {
	if !c.f.Has("speech") {
		return nil, cutroom.Errorf(cutroom.MissingDependency, "the speech engine is not installed").WithHint("run `cutroom doctor`, or give the text as srt")
	}
	cut, err := ffmpeg.ExtractAudio(c.file.Index, c.file.Format, c.file.Media, ffmpeg.AudioOptions{
		Stream: c.in.AudioStream, SampleRate: 16000, Channels: 1, End: c.file.Media.DurationSeconds, File: speechFile,
	})
	if err != nil {
		return nil, err
	}
	c.offset = cut.StartOffset
	return []argv.Command{cut.Command, speech.Command("speech", speechFile, speech.Options{
		Model: speech.Model(c.f.Settings.SpeechModel), Language: c.language(0), Length: c.file.Media.DurationSeconds - cut.StartOffset,
	})}, nil
}

// compose lays the text out and renders it.
func (c *captioning) compose(r tool.Results) (tool.Plan, error) {
	if c.texts == nil {
		if err := c.readAll(r); err != nil {
			return tool.Plan{}, err
		}
	}
	c.edit = edl.Map{Seconds: c.file.Media.DurationSeconds}
	if c.in.Mode != "mux" {
		r, err := graph.NewRender(c.graph(), c.f.Abilities)
		if err != nil {
			return tool.Plan{}, err
		}
		c.edit = r.Map()
	}
	for i := range c.texts {
		if err := c.place(&c.texts[i]); err != nil {
			return tool.Plan{}, err
		}
	}
	files, err := c.files()
	if err != nil {
		return tool.Plan{}, err
	}
	if c.render, err = graph.NewRender(c.graph(), c.f.Abilities); err != nil {
		return tool.Plan{}, err
	}
	p, err := tool.Follow(c.render, c, c.look)
	p.Files = files
	if err == nil {
		p.Later = append(p.Later, c.lookCommand())
	}
	return p, err
}

// later are the runs of a render whose captions are not known yet.
func (c *captioning) later() ([]argv.Command, error) {
	for range max(1, len(c.in.SRT)) {
		c.out.Tracks = append(c.out.Tracks, CaptionTrack{})
	}
	r, err := graph.NewRender(c.graph(), c.f.Abilities)
	if err != nil {
		return nil, err
	}
	defer func() { c.out.Tracks = nil }()
	return append(r.Planned(), c.lookCommand()), nil
}

// graph is the edit: captions over the whole picture, or beside it.
func (c *captioning) graph() graph.Graph {
	g := graph.Graph{
		Sources: []graph.Source{c.file.AsSource()},
		Clips:   []graph.Clip{{}},
		Picture: &graph.Picture{Copy: c.in.Mode == "mux"},
		Keep:    graph.Keep{Subtitles: true, Chapters: true, Cover: true, Timecode: true},
		Target:  c.target,
	}
	if len(c.file.Media.AudioStreams()) > 0 {
		g.Sound = &graph.Sound{Copy: true}
	}
	if c.in.Mode != "mux" {
		g.Picture.Burn = []string{scriptFile}
		if c.reel != nil {
			g.Sources = append(g.Sources, c.reel.source())
			g.Picture.Layers = []graph.Layer{c.reel.layer(len(g.Sources) - 1)}
		}
		return g
	}
	for i, t := range c.out.Tracks {
		if c.target.Container == "mov" && t.Language != "" {
			name, ok := ffmpeg.QuickTimeLanguage(t.Language)
			if !ok {
				name = ""
				c.out.Notes = append(c.out.Notes, fmt.Sprintf("a QuickTime file has no name for the language %s: its track has none; .mp4 and .mkv carry it", t.Language))
			}
			t.Language = name
		}
		g.Keep.Mux = append(g.Keep.Mux, graph.Track{File: c.trackFile(i), Language: t.Language, Title: t.Title, Default: t.Default})
	}
	return g
}

// trackFile is the file of a track: the form in which the container takes text
// unchanged.
func (c *captioning) trackFile(i int) string {
	if c.target.Container == "webm" {
		return fmt.Sprintf("track%d.vtt", i)
	}
	return fmt.Sprintf("track%d.srt", i)
}

// files makes the scripts and tracks.
func (c *captioning) files() ([]argv.File, error) {
	if c.in.Mode == "mux" {
		return c.trackFiles()
	}
	t := &c.texts[0]
	files := []argv.File{}
	if t.kind == "ass" {
		c.script = []byte(t.script)
		files = append(files, argv.File{Name: subripFile, Data: caption.SRT(t.cues)})
	} else {
		if err := c.lay(t); err != nil {
			return nil, err
		}
		c.script = c.layout.ASS()
		files = append(files, argv.File{Name: subripFile, Data: caption.SRT(c.layout.Cues())})
	}
	if c.reel != nil {
		files = append(files, c.reel.data())
	}
	return append(files, argv.File{Name: scriptFile, Data: c.script}), nil
}

func (c *captioning) trackFiles() ([]argv.File, error) {
	var files []argv.File
	for i := range c.texts {
		t := &c.texts[i]
		track := CaptionTrack{Cues: len(t.cues)}
		if l := c.language(i); l != "" {
			_, track.Language, _ = languageOf(l)
		}
		if i < len(c.in.TrackTitle) {
			track.Title = c.in.TrackTitle[i]
		}
		if d := c.in.Default; d != "" {
			_, three, _ := languageOf(d)
			track.Default = three == track.Language
		}
		c.out.Tracks = append(c.out.Tracks, track)
		var data []byte
		switch c.target.Container {
		case "webm":
			data = caption.VTT(t.cues)
		case "mkv":
			data = caption.SRT(t.cues) // copied as it is
		default:
			data = caption.GuardedSRT(t.cues)
		}
		files = append(files, argv.File{Name: c.trackFile(i), Data: data})
	}
	if d := c.in.Default; d != "" && !slices.ContainsFunc(c.out.Tracks, func(t CaptionTrack) bool { return t.Default }) {
		return nil, cutroom.Errorf(cutroom.Invalid, "no track has the default language %s", d).WithHint("name the language of one of the tracks")
	}
	return append(files, argv.File{Name: subripFile, Data: caption.SRT(c.texts[0].cues)}), nil
}
