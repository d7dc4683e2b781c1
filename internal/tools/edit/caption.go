package edit

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"cutroom"
	"cutroom/internal/brand"
	"cutroom/internal/caption"
	"cutroom/internal/evidence"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/tool"
)

// Caption burns captions into the picture, or adds subtitle tracks.
var Caption = tool.Add(Family, tool.Spec[CaptionInput, CaptionOutput]{
	Name:        "edit.caption",
	Summary:     "Burn captions into a video, or add subtitle tracks",
	Description: "Put text on a video: from an SRT, WebVTT or ASS file, a simple cue file, a list of cues, or from the speech in it (transcribe). Lines are broken at phrases with measured widths, text keeps inside a platform's safe area, fonts are chosen by script or the call is refused, and the text itself is never changed. The written file is compared with the input: the captions are to be seen, and nothing outside the safe area. mode mux adds tracks that a player can switch on instead.",
	Kind:        cutroom.Execute,
	Exact:       tool.ContentEquivalent,
	Revision:    1,
	Short:       "caption",
	Timeout:     1800 * time.Second,
	Video:       true,
	Exclusive:   [][]string{{"srt", "ass", "text", "transcribe", "cues"}},
	OneOf:       [][]string{{"srt", "ass", "text", "transcribe", "cues"}},
	Needs: tool.Needs{Programs: []string{"ffprobe", "ffmpeg"}, Filters: []string{"ass"}, Fonts: true, Optional: []tool.Optional{
		{Program: "speech", When: "transcribe"},
	}},
	CheckWith: []string{"measure.probe", "review.look"},
	Examples: []CaptionInput{
		{Input: "talk.mp4", SRT: []cutroom.InPath{"talk.srt"}},
		{Input: "clip.mp4", Cues: []CaptionCue{{Start: "0.5", End: "2.5", Text: "Watch until the end"}}, Platform: "tiktok", Karaoke: true},
		{Input: "talk.mp4", Mode: "mux", SRT: []cutroom.InPath{"talk.en.srt", "talk.de.srt"}, Language: []string{"en", "de"}},
	},
	Names:     nameCaptioned,
	Expand:    expandCaption,
	Plan:      planCaption,
	Interpret: captioned,
})

// CaptionInput is the request.
type CaptionInput struct {
	Input      cutroom.InPath   `json:"input" doc:"The video."`
	SRT        []cutroom.InPath `json:"srt,omitempty" cli:"flag" probe:"-" items:"..8" doc:"Caption file with times: SRT, WebVTT, or another form that a transcript has. mode mux takes several, one for each track."`
	ASS        cutroom.InPath   `json:"ass,omitempty" cli:"flag" probe:"-" rare:"true" doc:"ASS or SSA script, drawn with its own styles."`
	Text       cutroom.InPath   `json:"text,omitempty" cli:"flag" probe:"-" rare:"true" doc:"Cue file: a line START-END text for each cue, times in seconds, mm:ss.mmm, hh:mm:ss.mmm or timecode; START --> END text will do as well; | breaks a line. A line without times follows the one before it."`
	Transcribe bool             `json:"transcribe,omitempty" doc:"Take the speech of the video itself (English built in). One of srt, ass, text, transcribe and cues is needed, exactly one."`
	Cues       []CaptionCue     `json:"cues,omitempty" items:"..5000" doc:"The cues themselves."`
	Mode       string           `json:"mode,omitempty" enum:"burn,mux" default:"burn" doc:"burn draws the text into the picture; mux copies picture and sound and adds subtitle tracks."`

	Offset      cutroom.Micros `json:"offset,omitempty" unit:"s" doc:"Shift all cues; negative is earlier."`
	EditMap     cutroom.Ref    `json:"edit_map,omitzero" cli:"flag" rare:"true" doc:"The cues belong to the source of an earlier cut or join, and the video is its result: the run of that edit. The cues move with the cut, and those of parts that were cut out are left out."`
	EditSource  int            `json:"edit_source,omitzero" min:"0" max:"1000" rare:"true" doc:"Which source of that edit the cues belong to, counted from 0."`
	Language    []string       `json:"language,omitempty" items:"..8" doc:"Language of the text, such as en or deu; for mux one for each track."`
	TrackTitle  []string       `json:"track_title,omitempty" items:"..8" rare:"true" doc:"Titles of the tracks (mux)."`
	Default     string         `json:"default_track,omitempty" max:"35" rare:"true" doc:"Language of the track that players show by themselves (mux)."`
	AutoSeconds cutroom.Micros `json:"auto_seconds,omitzero" min:"0.1" max:"60" default:"3" unit:"s" rare:"true" doc:"How long a line of the cue file without times stands."`
	Gap         cutroom.Micros `json:"gap,omitempty" min:"0" max:"60" unit:"s" rare:"true" doc:"Pause before such a line."`
	FPS         string         `json:"fps,omitempty" max:"20" rare:"true" doc:"Frame rate of the cue file's timecodes, such as 25 or 29.97, which then count from 00:00:00:00. Without it they are the video's own."`
	AudioStream int            `json:"audio_stream,omitzero" min:"0" max:"255" rare:"true" doc:"Which audio stream to listen to, counted from 0."`

	Style        CaptionStyle   `json:"style,omitzero" rare:"true" doc:"How the captions look (burn)."`
	Brand        cutroom.InPath `json:"brand,omitempty" cli:"flag" probe:"-" rare:"true" doc:"Brand file, YAML or JSON: fonts, colours, margin and what it says of captions hold wherever style says nothing else than its defaults."`
	Platform     string         `json:"platform,omitempty" max:"40" doc:"Keep out of what this platform draws over: tiktok, reels, shorts, youtube, x, linkedin, facebook …"`
	MaxLines     int            `json:"max_lines,omitzero" min:"1" max:"6" default:"2" rare:"true" doc:"Most lines at a time."`
	MinDuration  cutroom.Micros `json:"min_duration" min:"0" max:"10" default:"1" unit:"s" rare:"true" doc:"Shorter cues stay this long, where no other follows."`
	FitSize      string         `json:"fit_size,omitempty" enum:"auto,on,off" default:"auto" rare:"true" doc:"Text that does not fit gets smaller before a cue is split in time: auto and on; off splits at once."`
	FitScope     string         `json:"fit_size_scope,omitempty" enum:"file,cue" default:"file" rare:"true" doc:"One size for the whole file, or one for each cue."`
	MinSize      float64        `json:"min_size,omitzero" min:"4" max:"144" default:"13" rare:"true" doc:"Smallest size, in the units of size."`
	Wrap         string         `json:"wrap,omitempty" enum:"phrase,measured" default:"phrase" rare:"true" doc:"Where lines break: at phrases, or by even widths alone."`
	Animate      string         `json:"animate,omitempty" enum:"none,fade,pop,slide" default:"none" rare:"true" doc:"How captions come and go."`
	Karaoke      bool           `json:"karaoke,omitempty" doc:"Light the words up as they are spoken."`
	KaraokeStyle string         `json:"karaoke_style,omitempty" enum:"progress,word" default:"progress" rare:"true" doc:"progress keeps spoken words lit; word lights the one that is spoken."`
	Timing       string         `json:"karaoke_timing,omitempty" enum:"auto,words,energy,even" default:"auto" rare:"true" doc:"When each word is spoken: words by the file's own word times, energy by the loudness of the speech, even by its letters; auto takes the first that there is."`
	Highlight    string         `json:"highlight_color,omitempty" max:"7" default:"FFD200" rare:"true" doc:"Colour of lit words, RRGGBB."`
	Upcoming     string         `json:"upcoming_color,omitempty" max:"7" rare:"true" doc:"Colour of words that are not lit; default the style's."`

	Codec   string `json:"codec,omitempty" enum:"h264,hevc,av1,vp9,prores" rare:"true" doc:"Codec of the picture; default H.264, or 10-bit HEVC for high dynamic range."`
	Quality int    `json:"quality,omitzero" min:"1" max:"51" rare:"true" doc:"CRF of the encoder: lower is better and larger. Default 18."`
	EmojiChoice
	WriteSRT cutroom.OutPath `json:"write_srt,omitempty" doc:"Write the captions as shown to an SRT file, too."`
	WriteASS cutroom.OutPath `json:"write_ass,omitempty" rare:"true" doc:"Write the script that draws the captions to an ASS file, too."`
	tool.Writing
}

// CaptionCue is one cue of the call.
type CaptionCue struct {
	Start cutroom.Moment `json:"start" doc:"Where it begins: seconds, a clock, or a timecode of the video."`
	End   cutroom.Moment `json:"end" doc:"Where it ends."`
	Text  string         `json:"text" min:"1" max:"10000" doc:"What it says. Line ends are kept where they fit."`
}

// CaptionStyle is how captions look. Lengths are in units of which the frame's shorter
// side has 288.
type CaptionStyle struct {
	Font     string  `json:"font,omitempty" max:"100" doc:"Font family; without it one is chosen by the script of the text."`
	Size     float64 `json:"size,omitzero" min:"4" max:"144" default:"24" doc:"Height of a line, in units of which the frame's shorter side has 288."`
	Color    string  `json:"color,omitempty" max:"7" default:"FFFFFF" doc:"Colour of the letters, RRGGBB."`
	Outlined string  `json:"outline_color,omitempty" max:"7" default:"000000" doc:"Colour of outline, shadow and box, RRGGBB."`
	Outline  float64 `json:"outline" min:"0" max:"12" default:"2" doc:"Width of the outline, in the units of size."`
	Shadow   float64 `json:"shadow,omitempty" min:"0" max:"12" doc:"Distance of the shadow, in the units of size."`
	Bold     bool    `json:"bold,omitempty" doc:"Bold letters."`
	Box      bool    `json:"box,omitempty" doc:"A box behind the text in place of the outline."`
	Position string  `json:"position,omitempty" enum:"bottom,bottom-left,bottom-right,center,left,right,top,top-left,top-right" default:"bottom" doc:"Where in the free part of the frame captions stand."`
	Margin   float64 `json:"margin,omitzero" min:"1" max:"140" doc:"Least distance to the frame's edges, in the units of size. Default 30, or what the platform keeps free."`
}

// Validate refuses what contradicts itself.
func (in CaptionInput) Validate() error {
	n := 0
	for _, given := range []bool{len(in.SRT) > 0, in.ASS != "", in.Text != "", in.Transcribe, len(in.Cues) > 0} {
		if given {
			n++
		}
	}
	switch {
	case n != 1:
		return cutroom.Errorf(cutroom.Invalid, "exactly one source of text is needed, not %d", n).WithHint("give one of srt, ass, text, transcribe and cues")
	case in.Mode != "mux" && len(in.SRT) > 1:
		return cutroom.Errorf(cutroom.Invalid, "only one file can be burned").WithHint("give one srt, or mode mux for several tracks")
	case in.Mode == "mux" && (in.ASS != "" || in.Animate != "none" && in.Animate != "" || in.Karaoke || in.WriteASS != ""):
		return cutroom.Errorf(cutroom.Invalid, "subtitle tracks carry text and times, no styles: ass, animate, karaoke and write_ass are for mode burn").WithHint("leave them out, or take mode burn")
	case in.ASS != "" && (in.Karaoke || in.Animate != "none" && in.Animate != "" || in.Style.Font != ""):
		return cutroom.Errorf(cutroom.Invalid, "an ASS script has its own styles and motion").WithHint("leave font, animate and karaoke out, or give the text as srt")
	case in.MinSize > in.Style.Size && in.Style.Size > 0:
		return cutroom.Errorf(cutroom.Invalid, "min_size %g is above size %g", in.MinSize, in.Style.Size).WithHint("lower min_size")
	case in.Mode == "mux" && len(in.TrackTitle) > max(1, len(in.SRT)), len(in.Language) > max(1, len(in.SRT)):
		return cutroom.Errorf(cutroom.Invalid, "there are more languages or titles than tracks").WithHint("give one for each srt")
	}
	if err := in.checkEmoji(); err != nil {
		return err
	}
	return in.checkWords()
}

// checkWords refuses colours and languages that are none.
func (in CaptionInput) checkWords() error {
	for _, c := range []struct{ name, value string }{
		{"color", in.Style.Color}, {"outline_color", in.Style.Outlined}, {"highlight_color", in.Highlight}, {"upcoming_color", in.Upcoming},
	} {
		if c.value != "" && hexColor(c.value) == "" {
			return cutroom.Errorf(cutroom.Invalid, "%s %q is not a colour", c.name, c.value).WithHint("write RRGGBB, such as FFD200")
		}
	}
	tracks, err := in.languages()
	if err != nil {
		return err
	}
	for i, l := range tracks {
		if in.Mode == "mux" && slices.Contains(tracks[:i], l) {
			return cutroom.Errorf(cutroom.Invalid, "two tracks have the language %s", l).WithHint("give each track its own language")
		}
	}
	if in.FPS != "" {
		if _, ok := ffmpeg.ParseRate(in.FPS); !ok {
			return cutroom.Errorf(cutroom.Invalid, "fps %q is not a frame rate", in.FPS).WithHint("write 25, 29.97 or 30000/1001")
		}
	}
	return nil
}

// CaptionOutput is the answer.
type CaptionOutput struct {
	tool.Made
	Caption  *CaptionReport  `json:"caption,omitempty" doc:"What was done to the cues."`
	Tracks   []CaptionTrack  `json:"tracks,omitempty" doc:"The subtitle tracks that were added."`
	Existing int             `json:"subtitle_tracks,omitempty" doc:"Subtitle tracks of the written file, those of the input included."`
	Emoji    *EmojiReport    `json:"emoji,omitempty" doc:"What became of emoji, when there are any."`
	Sources  []CaptionSource `json:"text_sources" doc:"Where the text came from."`
}

// CaptionReport says what the layout did.
type CaptionReport struct {
	Shifted    int      `json:"shifted" doc:"Cues that were moved in time, by offset or by the edit."`
	Wrapped    int      `json:"wrapped" doc:"Cues that got line breaks."`
	Rebalanced int      `json:"rebalanced" doc:"Cues whose own line breaks did not fit and were made anew."`
	Split      int      `json:"split" doc:"Cues that were shown in parts, one after the other."`
	Extended   int      `json:"extended" doc:"Cues that stay longer, up to min_duration."`
	Dropped    int      `json:"dropped" doc:"Cues that show nothing: empty, or of a part that was cut out."`
	Cut        int      `json:"ended_early" doc:"Cues that ended early because nothing was left of the frame."`
	Wrap       string   `json:"wrap" doc:"How lines were broken."`
	Phrases    int      `json:"phrase_breaks" doc:"Line breaks at the edge of a phrase."`
	Overlong   int      `json:"overlong" doc:"Words wider than a line."`
	Broken     int      `json:"broken_inside_word" doc:"Of those, the ones that had to be broken."`
	FitSize    string   `json:"fit_size" doc:"Whether text gets smaller to fit."`
	Requested  float64  `json:"size_requested" doc:"The size asked for."`
	Used       float64  `json:"size_used" doc:"The smallest size used."`
	Floor      float64  `json:"size_floor" doc:"The smallest size allowed."`
	Pixels     float64  `json:"size_px" unit:"px" doc:"Height of a line at the size used."`
	Percent    float64  `json:"size_pct_height" unit:"%" doc:"That as a share of the frame's height."`
	Shrunk     int      `json:"shrunk" doc:"Cues drawn smaller than asked for."`
	Scope      string   `json:"fit_scope" doc:"file or cue."`
	Exhausted  int      `json:"fit_exhausted" doc:"Cues that would not fit at the floor."`
	SizeFrom   string   `json:"size_source" enum:"request,default" doc:"Where the size asked for came from."`
	Fonts      []string `json:"fonts,omitempty" doc:"Families that draw the text."`
	Timing     string   `json:"karaoke_timing,omitempty" doc:"How the times of words were found."`
	Unchanged  bool     `json:"text_unchanged" doc:"The script, read back, has the text of the cues."`
	Burned     int      `json:"cues_burned" doc:"Cues that are drawn."`
	Outside    int      `json:"cues_outside" doc:"Cues outside of the video, which are not drawn."`
}

// CaptionTrack is a subtitle track that was added.
type CaptionTrack struct {
	Language string `json:"language,omitempty" doc:"Its language, ISO 639-2."`
	Title    string `json:"title,omitempty" doc:"Its title."`
	Default  bool   `json:"default,omitempty" doc:"Players show it by themselves."`
	Cues     int    `json:"cues" doc:"How many cues it has."`
}

// CaptionSource is where text came from.
type CaptionSource struct {
	Kind     string `json:"kind" enum:"srt,ass,text,speech,cues" doc:"What it is."`
	Format   string `json:"format,omitempty" doc:"Form of the file: srt, vtt, ass …"`
	Encoding string `json:"encoding,omitempty" doc:"Character encoding that was found."`
	Engine   string `json:"engine,omitempty" doc:"What listened."`
	Cues     int    `json:"cues" doc:"How many cues it has."`
	Problems int    `json:"problems,omitempty" doc:"Faults of the file that were mended."`
}

// expandCaption reads the pictures of emoji that the text needs.
func expandCaption(in CaptionInput, r tool.Reading) (CaptionInput, error) {
	if in.Assets == "" {
		return in, nil
	}
	var texts []string
	for _, q := range in.Cues {
		texts = append(texts, q.Text)
	}
	paths := in.SRT
	if in.Text != "" {
		paths = append(paths[:len(paths):len(paths)], in.Text)
	}
	for _, p := range paths {
		data, err := r.Read(p, maxCaptionText)
		if err != nil {
			return in, err
		}
		text, _, err := evidence.Decode(data)
		if err != nil {
			return in, err
		}
		texts = append(texts, text)
	}
	var err error
	in.EmojiChoice, err = in.expanded(r, texts...)
	return in, err
}

// nameCaptioned names the output.
func nameCaptioned(in CaptionInput) CaptionInput {
	if in.Output == "" {
		in.Output = tool.NameAfter(in.Input, "captioned", "")
	}
	return in
}

// hexColor returns RRGGBB, or nothing for what is no colour.
func hexColor(s string) string {
	if len(s) == 7 && s[0] == '#' {
		s = s[1:]
	}
	if len(s) != 6 {
		return ""
	}
	for _, c := range s {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') && (c < 'A' || c > 'F') {
			return ""
		}
	}
	return s
}

// style is the style as the layout takes it. light is how bright white is on this
// picture.
func (in CaptionInput) style(light float64) caption.Style {
	s := in.Style
	out := caption.Style{
		Font: s.Font, Size: s.Size, Color: dimmed(hexColor(s.Color), light), OutlineBy: dimmed(hexColor(s.Outlined), light), Outline: s.Outline, Shadow: s.Shadow,
		Bold: s.Bold, Box: s.Box, Position: caption.Position(s.Position), Margin: s.Margin,
	}
	if out.Margin == 0 && in.Platform == "" {
		out.Margin = 30
	}
	return out
}

// branded is the request with what a brand says, wherever the style has its defaults.
func (in CaptionInput) branded(k brand.Kit) CaptionInput {
	own := func(now *string, otherwise, kit string) {
		if kit != "" && strings.EqualFold(*now, otherwise) {
			*now = strings.TrimPrefix(kit, "#")
		}
	}
	s, c := &in.Style, k.Caption
	own(&s.Font, "", k.Fonts.Body)
	own(&s.Color, "FFFFFF", k.Colors.Text)
	own(&s.Outlined, "000000", k.Colors.Outline)
	own(&in.Highlight, "FFD200", k.Colors.Primary)
	own(&s.Position, "bottom", c.Position)
	if s.Size == 24 && c.Size > 0 {
		s.Size, in.MinSize = c.Size, min(in.MinSize, c.Size)
	}
	if s.Outline == 2 && c.Outline > 0 {
		s.Outline = c.Outline
	}
	s.Bold, s.Box = s.Bold || c.Bold, s.Box || c.Box
	if s.Margin == 0 && k.Margin > 0 {
		s.Margin = k.Margin * caption.Grid / 100
	}
	return in
}

// dimmed is a colour as bright as text is meant to be on a picture of high dynamic
// range, on which full white blinds.
func dimmed(c string, light float64) string {
	if light >= 1 || len(c) != 6 {
		return c
	}
	var r, g, b int
	if _, err := fmt.Sscanf(c, "%02x%02x%02x", &r, &g, &b); err != nil {
		return c
	}
	return fmt.Sprintf("%02X%02X%02X", int(float64(r)*light), int(float64(g)*light), int(float64(b)*light))
}
