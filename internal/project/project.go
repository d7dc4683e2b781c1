// Package project knows a whole edit as people write it down: the project file, its
// templates for platforms, and what of it an editing program's timeline says.
//
// It promises that a file is read strictly, that a template leaves nothing half filled
// in, and that the same project always means the same edit. It is pure: it reads and
// writes text and values, and must never know a graph, a program or a tool.
package project

import (
	"cutroom"
)

// Project is one edit. Its parts apply in the order of [Stages].
type Project struct {
	Output     cutroom.OutPath `json:"output,omitempty" doc:"File to write, when the call names none; beside the project."`
	Template   string          `json:"template,omitempty" max:"40" doc:"Template whose sections hold where this project has none: tiktok, reels, shorts, youtube, x, linkedin, facebook, podcast or audiogram."`
	Frame      *Frame          `json:"frame,omitempty" doc:"What all clips are brought to; the first clip's frame and rate without it."`
	Clips      []Clip          `json:"clips,omitempty" items:"..2000" doc:"What is shown, in order."`
	Transition *Transition     `json:"transition,omitempty" doc:"How clips meet; a plain cut without it."`
	Snap       *Snap           `json:"snap,omitempty" doc:"Move the ends of clips that ask for it to beats."`
	Silence    *Silence        `json:"silence,omitempty" doc:"Take dead air out of the clips."`
	Audiogram  *Audiogram      `json:"audiogram,omitempty" doc:"Draw what the clips sound like in place of their pictures, if they have any."`
	Captions   *Captions       `json:"captions,omitempty" doc:"Text of what is said, drawn over the picture."`
	Brand      cutroom.InPath  `json:"brand,omitempty" probe:"-" doc:"Brand file: fonts, colours, margin and logo of captions, graphics and overlays."`
	Graphics   []Graphic       `json:"graphics,omitempty" items:"..50" doc:"Motion graphics, drawn over the picture."`
	Overlays   []Overlay       `json:"overlays,omitempty" items:"..50" doc:"Pictures, videos, text and the brand's logo over it, in order, above the graphics."`
	Audio      *Audio          `json:"audio,omitempty" doc:"Work on the sound: music, effects, ducking, a cleaner voice."`
	Loudness   *Loudness       `json:"loudness,omitempty" doc:"Loudness of the whole; a platform's own without it, when export names one."`
	Fit        *Fit            `json:"fit,omitempty" doc:"Length, aspect, size and rate of the whole."`
	Export     *Export         `json:"export,omitempty" doc:"What the file is for."`
	Chapters   []Chapter       `json:"chapters,omitempty" items:"..1000" doc:"Chapter marks, in times of the finished edit."`
	ChapterSet cutroom.InPath  `json:"chapters_file,omitempty" probe:"-" doc:"A list of chapters, one 'TIME TITLE' a line, in place of chapters."`
	Check      *Check          `json:"check,omitempty" doc:"Rows of a platform's rules that the written file is measured by."`
}

// Frame is what clips are brought to.
type Frame struct {
	Aspect   string  `json:"aspect,omitempty" max:"20" doc:"Aspect, such as 16:9 or 9:16. Without a size, as large as the first clip allows."`
	Width    int     `json:"width,omitempty" min:"16" max:"16384" unit:"px" doc:"Width."`
	Height   int     `json:"height,omitempty" min:"16" max:"16384" unit:"px" doc:"Height."`
	FPS      float64 `json:"fps,omitempty" min:"1" max:"240" unit:"1/s" doc:"Frame rate; 23.976, 29.97 and 59.94 are exact."`
	Fit      string  `json:"fit,omitempty" enum:"pad,crop,blur" doc:"How clips of another shape get into the frame; pad without it."`
	PadColor string  `json:"pad_color,omitempty" max:"20" doc:"Colour of the bars; black without it."`
}

// Clip is one part of a file.
type Clip struct {
	Src        cutroom.InPath `json:"src" doc:"The file, relative to the project."`
	In         cutroom.Moment `json:"in,omitempty" doc:"Where it begins: seconds, a clock or a timecode; the beginning without it."`
	Out        cutroom.Moment `json:"out,omitempty" doc:"Where it ends; the end without it."`
	Speed      float64        `json:"speed,omitempty" min:"0.05" max:"100" doc:"How much faster it plays; the pitch of its sound stays. 1 without it."`
	Lead       cutroom.Micros `json:"lead,omitempty" min:"0" max:"3600" unit:"s" doc:"Black and silence before it."`
	Transition *Transition    `json:"transition,omitempty" doc:"How it takes over from the clip before, in place of the project's."`
	Exact      bool           `json:"exact,omitempty" doc:"Begin at in to the sample, with the frame that is on screen then, where it otherwise begins with the next whole frame: for recordings that ran side by side. The frame rate becomes even."`
	Snap       bool           `json:"snap,omitempty" doc:"Move both ends to the nearest beat, as snap says."`
}

// Transition is how clips meet.
type Transition struct {
	Type     string         `json:"type,omitempty" enum:"fade,dissolve,wipeleft,wiperight,wipeup,wipedown,slideleft,slideright,circleopen,circleclose,fadeblack,fadewhite,smoothleft,smoothright,radial,none" default:"fade" doc:"Its kind; the sound is cross-faded."`
	Duration cutroom.Micros `json:"duration,omitempty" min:"0.04" max:"30" default:"0.5" unit:"s" doc:"How long both clips show, to the nearest frame."`
}

// Snap moves the ends of clips to beats.
type Snap struct {
	To         string         `json:"to,omitempty" enum:"beats" default:"beats" doc:"What to."`
	Tolerance  cutroom.Micros `json:"tolerance,omitempty" min:"0.001" max:"2" default:"0.12" unit:"s" doc:"Farthest that an end moves."`
	Confidence float64        `json:"min_confidence,omitempty" min:"0.01" max:"1" default:"0.5" doc:"Least that the beats have to be sure of."`
	Source     cutroom.InPath `json:"source,omitempty" doc:"File whose beats count; each clip's own without it."`
}

// Silence takes dead air out.
type Silence struct {
	Threshold float64        `json:"threshold" min:"-120" max:"-1" default:"-35" unit:"dBFS" doc:"What lies below is silent."`
	Least     cutroom.Micros `json:"min_silence,omitempty" min:"0.05" max:"3600" default:"0.6" unit:"s" doc:"Shortest silence that goes."`
	Margin    cutroom.Micros `json:"margin" min:"0" max:"60" default:"0.15" unit:"s" doc:"How much of it stays on either side."`
}

// Audiogram is a picture drawn of sound.
type Audiogram struct {
	Style       string         `json:"style,omitempty" enum:"wave,line,bars,spectrum" doc:"wave: filled from the middle, also without it. line: the curve itself. bars: how strong each frequency is. spectrum: frequencies over time."`
	Title       string         `json:"title,omitempty" max:"200" doc:"Text at the top, or at the bottom where the sound is drawn at the top."`
	Font        string         `json:"font,omitempty" max:"100" rare:"true" doc:"Font of the title; the brand's, or one that has its letters, without it."`
	Color       string         `json:"color,omitempty" max:"20" doc:"Colour of what is drawn, and of the title: a name or #RRGGBB; the brand's, or white, without it. A spectrum has colours of its own."`
	Background  []string       `json:"background,omitempty" min:"1" max:"8" doc:"Colour of the ground, or several that run into each other from top to bottom; the brand's, or black, without it. Excludes image."`
	Image       cutroom.InPath `json:"image,omitempty" doc:"A still picture as the ground."`
	ImageFit    string         `json:"image_fit,omitempty" enum:"crop,pad,blur" doc:"How it gets into the frame; crop without it. Needs image."`
	Opacity     float64        `json:"opacity,omitempty" min:"0.05" max:"1" doc:"How opaque what is drawn is; 1 without it."`
	Position    string         `json:"position,omitempty" enum:"center,top,bottom" doc:"Where it is drawn; center without it."`
	VisHeight   float64        `json:"vis_height,omitempty" min:"0.05" max:"1" doc:"How high it is, as a share of the frame; 0.4 without it."`
	Split       bool           `json:"split_channels,omitempty" doc:"One curve for each channel. Not with bars."`
	Platform    string         `json:"platform,omitempty" max:"40" doc:"Keep out of what this platform draws over."`
	Width       int            `json:"width,omitempty" min:"64" max:"4096" unit:"px" doc:"Width of the frame; 1280 without it, or 16:9 of the height."`
	Height      int            `json:"height,omitempty" min:"64" max:"4096" unit:"px" doc:"Height of the frame."`
	FPS         float64        `json:"fps,omitempty" min:"1" max:"120" unit:"1/s" doc:"Frame rate, exact as in edit.fit; 25 without it."`
	AudioStream int            `json:"audio_stream,omitempty" min:"0" max:"255" rare:"true" doc:"Which audio stream is drawn and heard, counted from 0."`
}

// Captions are text over the picture. Lengths are in units of which the frame's shorter
// side has 288.
type Captions struct {
	SRT  cutroom.InPath `json:"srt,omitempty" probe:"-" doc:"Caption file with times: SRT, WebVTT or another form of transcript. One of srt, ass, text and cues is needed."`
	ASS  cutroom.InPath `json:"ass,omitempty" probe:"-" doc:"ASS or SSA script, drawn with its own styles."`
	Text cutroom.InPath `json:"text,omitempty" probe:"-" doc:"Cue file: a line 'START-END text' for each cue."`
	Cues []Cue          `json:"cues,omitempty" items:"..5000" doc:"The cues themselves."`
	Of   cutroom.InPath `json:"of,omitempty" doc:"The times are those of this file, one of the clips' sources, and follow it through the edit. Without it they are times of the finished edit."`

	Offset    cutroom.Micros `json:"offset,omitempty" unit:"s" doc:"Shift all cues; negative is earlier."`
	Lang      string         `json:"lang,omitempty" max:"35" doc:"Language of the text."`
	Font      string         `json:"font,omitempty" max:"100" doc:"Font family; chosen by the script of the text without it."`
	Size      float64        `json:"size,omitempty" min:"4" max:"144" doc:"Height of a line; 24 without it."`
	Color     string         `json:"color,omitempty" max:"7" doc:"Colour of the letters, RRGGBB; FFFFFF without it."`
	Outlined  string         `json:"outline_color,omitempty" max:"7" doc:"Colour of outline, shadow and box; 000000 without it."`
	Outline   *float64       `json:"outline,omitempty" min:"0" max:"12" doc:"Width of the outline; 2 without it."`
	Shadow    float64        `json:"shadow,omitempty" min:"0" max:"12" doc:"Distance of the shadow."`
	Bold      bool           `json:"bold,omitempty" doc:"Bold letters."`
	Box       bool           `json:"box,omitempty" doc:"A box behind the text in place of the outline."`
	Position  string         `json:"position,omitempty" enum:"bottom,bottom-left,bottom-right,center,left,right,top,top-left,top-right" doc:"Where they stand; bottom without it."`
	Margin    float64        `json:"margin,omitempty" min:"1" max:"140" doc:"Least distance to the frame's edges; 30, or what the platform keeps free, without it."`
	Platform  string         `json:"platform,omitempty" max:"40" doc:"Keep out of what this platform draws over; that of export without it."`
	Animate   string         `json:"animate,omitempty" enum:"none,fade,pop,slide" doc:"How captions come and go."`
	Karaoke   bool           `json:"karaoke,omitempty" doc:"Light the words up as they are spoken: by the file's own times of words, else evenly."`
	Highlight string         `json:"highlight_color,omitempty" max:"7" doc:"Colour of lit words; FFD200 without it."`
	MaxLines  int            `json:"max_lines,omitempty" min:"1" max:"6" doc:"Most lines at a time; 2 without it."`
	Least     cutroom.Micros `json:"min_duration,omitempty" min:"0.001" max:"10" unit:"s" doc:"Shorter cues stay this long; 1 without it."`
	FitSize   string         `json:"fit_size,omitempty" enum:"auto,on,off" doc:"Text that does not fit gets smaller before a cue is split."`
	MinSize   float64        `json:"min_size,omitempty" min:"4" max:"144" doc:"Smallest size; 13 without it."`
	FitScope  string         `json:"fit_size_scope,omitempty" enum:"file,cue" doc:"One size for all, or one for each cue."`
	Emoji     string         `json:"emoji,omitempty" enum:"auto,color,mono,none" doc:"Draw emoji in colour or in one colour, or take them out; in colour where a font has them without it."`
}

// Cue is one caption.
type Cue struct {
	Start cutroom.Moment `json:"start" doc:"Where it begins."`
	End   cutroom.Moment `json:"end" doc:"Where it ends."`
	Text  string         `json:"text" min:"1" max:"10000" doc:"What it says."`
}

// Graphic is one motion graphic; what its parts mean is as edit.graphics says. Times are
// those of the finished edit, lengths pixels of its frame.
type Graphic struct {
	Template   string         `json:"template" enum:"lower-third,title,chapter,progress,countdown,bug,sticker,hook,meme" doc:"Which one."`
	Name       string         `json:"name,omitempty" max:"300" doc:"Name of a person or thing (lower-third)."`
	Title      string         `json:"title,omitempty" max:"500" doc:"Title."`
	Subtitle   string         `json:"subtitle,omitempty" max:"500" doc:"Smaller text beside it."`
	Text       string         `json:"text,omitempty" max:"500" doc:"Text of a sticker."`
	Top        string         `json:"top,omitempty" max:"500" doc:"Text above (meme)."`
	Bottom     string         `json:"bottom,omitempty" max:"500" doc:"Text below (meme)."`
	Start      cutroom.Moment `json:"start,omitempty" doc:"When it comes; the beginning without it."`
	End        cutroom.Moment `json:"end,omitempty" doc:"When it goes; the template's own time without it."`
	Duration   cutroom.Micros `json:"duration,omitempty" min:"0.3" max:"3600" unit:"s" doc:"How long it stays, in place of end."`
	From       int            `json:"from,omitempty" min:"1" max:"60" doc:"Second that a countdown begins with; 3 without it."`
	Position   string         `json:"position,omitempty" max:"20" doc:"Where it stands, in place of the template's own."`
	Margin     int            `json:"margin,omitempty" min:"1" max:"4000" unit:"px" doc:"Least distance to the frame's edges."`
	Platform   string         `json:"platform,omitempty" max:"40" doc:"Keep out of what this platform draws over; that of export without it."`
	Scale      float64        `json:"scale,omitempty" min:"0.25" max:"4" doc:"Its size; 1 without it."`
	Primary    string         `json:"primary,omitempty" max:"20" doc:"Colour that stands out, in place of the brand's."`
	TextColor  string         `json:"text_color,omitempty" max:"20" doc:"Colour of letters."`
	Background string         `json:"background,omitempty" max:"20" doc:"Colour of plates behind letters."`
	Font       string         `json:"font,omitempty" max:"100" doc:"Font family."`
	Lang       string         `json:"lang,omitempty" max:"35" doc:"Language of the text."`
	Emoji      string         `json:"emoji,omitempty" enum:"auto,color,mono,none" doc:"How emoji are drawn, as of captions."`
}

// Overlay is one thing that is laid on; what its parts mean is as edit.overlay says.
type Overlay struct {
	Image      cutroom.InPath `json:"image,omitempty" doc:"A picture. One of image, video, text and logo is needed."`
	Video      cutroom.InPath `json:"video,omitempty" doc:"A second video; its sound is not used."`
	Text       string         `json:"text,omitempty" max:"2000" doc:"Text, as it is."`
	Logo       bool           `json:"logo,omitempty" doc:"The logo of the brand."`
	Position   string         `json:"position,omitempty" max:"20" doc:"One of nine places, or X,Y in pixels of the frame; top-right without it."`
	Margin     int            `json:"margin,omitempty" min:"1" max:"4000" unit:"px" doc:"Least distance to the frame's edges; 24 without it."`
	Platform   string         `json:"platform,omitempty" max:"40" doc:"Keep out of what this platform draws over; that of export without it."`
	Start      cutroom.Moment `json:"start,omitempty" doc:"When it comes; the beginning without it."`
	End        cutroom.Moment `json:"end,omitempty" doc:"When it goes; the end without it."`
	Fade       cutroom.Micros `json:"fade,omitempty" min:"0" max:"30" unit:"s" doc:"How long it takes to come and go."`
	Opacity    float64        `json:"opacity,omitempty" min:"0.02" max:"1" doc:"How much of it covers; 1 without it."`
	Scale      int            `json:"scale,omitempty" min:"2" max:"16384" unit:"px" doc:"Width."`
	Percent    float64        `json:"scale_percent,omitempty" min:"1" max:"100" unit:"%" doc:"Width as a share of the frame's."`
	From       cutroom.Moment `json:"from,omitempty" doc:"Where the second video begins."`
	Ended      string         `json:"ended,omitempty" enum:"vanish,freeze,loop" doc:"What shows once it has ended; nothing without it."`
	Chromakey  string         `json:"chromakey,omitempty" max:"20" doc:"Colour that becomes transparent."`
	Similarity float64        `json:"chromakey_similarity,omitempty" min:"0.01" max:"1" doc:"How far from it still goes; 0.15 without it."`
	Blend      *float64       `json:"chromakey_blend,omitempty" min:"0" max:"1" doc:"Over how much more it fades; 0.05 without it."`
	Font       string         `json:"font,omitempty" max:"100" doc:"Font family of text."`
	Size       int            `json:"font_size,omitempty" min:"4" max:"2000" unit:"px" doc:"Height of a line; 42 without it."`
	Color      string         `json:"font_color,omitempty" max:"20" doc:"Colour of the letters."`
	Border     *float64       `json:"border,omitempty" min:"0" max:"100" unit:"px" doc:"Width of the outline; 2 without it."`
	Outlined   string         `json:"border_color,omitempty" max:"20" doc:"Colour of the outline."`
	Bold       bool           `json:"bold,omitempty" doc:"Bold letters."`
	Box        bool           `json:"box,omitempty" doc:"A box behind the text, in place of the outline."`
	BoxColor   string         `json:"box_color,omitempty" max:"20" doc:"Colour of the box."`
	Emoji      string         `json:"emoji,omitempty" enum:"auto,color,mono,none" doc:"How emoji of text are drawn, as of captions."`
}

// Audio is work on the sound.
type Audio struct {
	Stream          int            `json:"stream,omitempty" min:"0" max:"255" doc:"Which audio stream of the clips is worked on, counted from 0."`
	Voice           string         `json:"voice,omitempty" enum:"light,medium,strong" doc:"A chain for speech."`
	Denoise         bool           `json:"denoise,omitempty" doc:"Take steady noise away."`
	DenoiseStrength *float64       `json:"denoise_strength,omitempty" min:"1" max:"97" unit:"dB" doc:"How much; 12 without it. Needs denoise."`
	Gain            float64        `json:"gain,omitempty" min:"-60" max:"60" unit:"dB" doc:"How much louder."`
	FadeIn          cutroom.Micros `json:"fade_in,omitempty" min:"0" max:"3600" unit:"s" doc:"Fade from silence."`
	FadeOut         cutroom.Micros `json:"fade_out,omitempty" min:"0" max:"3600" unit:"s" doc:"Fade to silence."`
	Replace         cutroom.InPath `json:"replace,omitempty" doc:"A file whose sound takes the place of the clips'."`
	ReplaceOffset   cutroom.Micros `json:"replace_offset,omitempty" min:"-86400" max:"86400" unit:"s" doc:"Where that begins; negative: its beginning is cut off. Needs replace."`
	ReplaceDrift    float64        `json:"replace_drift_ppm,omitempty" min:"-5000" max:"5000" unit:"ppm" doc:"By how many millionths its clock runs fast: it is resampled by that. Needs replace."`
	Music           cutroom.InPath `json:"music,omitempty" doc:"A file whose sound is laid under it."`
	MusicVolume     *float64       `json:"music_volume,omitempty" min:"-60" max:"30" unit:"dB" doc:"Its level; -14 without it."`
	MusicLoop       bool           `json:"music_loop,omitempty" doc:"Begin it again when it ends."`
	MusicFadeOut    cutroom.Micros `json:"music_fade_out,omitempty" min:"0" max:"3600" unit:"s" doc:"Fade it out at its end."`
	MusicOffset     cutroom.Micros `json:"music_offset,omitempty" min:"-86400" max:"86400" unit:"s" doc:"Where it begins; negative: its beginning is cut off."`
	Duck            bool           `json:"duck,omitempty" doc:"Make the music quieter while somebody speaks."`
	DuckAmount      *float64       `json:"duck_amount,omitempty" min:"0" max:"60" unit:"dB" doc:"By how much; 12 without it."`
	DuckThreshold   *float64       `json:"duck_threshold,omitempty" min:"-60" max:"0" unit:"dBFS" doc:"Level above which it counts; -26 without it."`
	DuckAttack      *float64       `json:"duck_attack,omitempty" min:"0.01" max:"2000" unit:"ms" doc:"How fast it goes down; 20 without it."`
	DuckRelease     *float64       `json:"duck_release,omitempty" min:"0.01" max:"9000" unit:"ms" doc:"How slowly it comes back; 400 without it."`
	Effects         cutroom.InPath `json:"effects,omitempty" doc:"A second file that is laid under it, never ducked."`
	EffectsVolume   *float64       `json:"effects_volume,omitempty" min:"-60" max:"30" unit:"dB" doc:"Its level; -14 without it."`
	EffectsOffset   cutroom.Micros `json:"effects_offset,omitempty" min:"-86400" max:"86400" unit:"s" doc:"Where it begins."`
	Stems           *Stems         `json:"stems,omitempty" doc:"Sound that lies in files of its own, each at its own level: short for replace, music and effects."`
	Stereo          bool           `json:"stereo,omitempty" doc:"Mix to two channels. Excludes mono and downmix."`
	Mono            bool           `json:"mono,omitempty" doc:"Mix to one channel."`
	Downmix         bool           `json:"downmix,omitempty" doc:"Mix surround sound to stereo; stereo and mono stay."`
	Widen           *float64       `json:"stereo_widen,omitempty" min:"0" max:"1" doc:"How much the difference of left and right grows."`
}

// Stems are the parts of a mix, each a file as long as the edit.
type Stems struct {
	Dialogue cutroom.InPath `json:"dialogue,omitempty" doc:"Speech: takes the place of the clips' sound."`
	Music    cutroom.InPath `json:"music,omitempty" doc:"Music: laid under it at 0 dB, unless music_volume says another level."`
	Effects  cutroom.InPath `json:"effects,omitempty" doc:"Effects: laid under it at 0 dB, unless effects_volume says another level."`
}

// Loudness is how loud the whole is.
type Loudness struct {
	LUFS     float64 `json:"lufs" min:"-70" max:"-5" default:"-14" unit:"LUFS" doc:"Integrated loudness."`
	TruePeak float64 `json:"tp" min:"-9" max:"0" default:"-1" unit:"dBTP" doc:"Highest true peak."`
}

// Fit is what the whole is brought to.
type Fit struct {
	Duration cutroom.Micros `json:"duration,omitempty" min:"0.04" max:"86400" unit:"s" doc:"Length to reach."`
	Method   string         `json:"method,omitempty" enum:"speed,trim" doc:"How: play faster or slower, or cut off the end. speed without it."`
	Aspect   string         `json:"aspect,omitempty" max:"20" doc:"Aspect of the frame."`
	Fit      string         `json:"fit,omitempty" enum:"pad,crop,blur" doc:"How pictures of another shape get into it; pad without it."`
	PadColor string         `json:"pad_color,omitempty" max:"20" doc:"Colour of the bars; black without it."`
	CropX    *float64       `json:"crop_x,omitempty" min:"0" max:"1" doc:"Where a crop lies from left to right; 0.5 without it."`
	CropY    *float64       `json:"crop_y,omitempty" min:"0" max:"1" doc:"Where a crop lies from top to bottom; 0.5 without it."`
	Width    int            `json:"width,omitempty" min:"16" max:"16384" unit:"px" doc:"Width of the frame."`
	Height   int            `json:"height,omitempty" min:"16" max:"16384" unit:"px" doc:"Height of the frame."`
	FPS      float64        `json:"fps,omitempty" min:"1" max:"240" unit:"1/s" doc:"Frame rate."`
	Smooth   string         `json:"smooth,omitempty" enum:"blend,interpolate" doc:"Make frames in between where it gets slower. Slow."`
}

// Export is what the file is for.
type Export struct {
	Preset    string `json:"preset,omitempty" max:"64" doc:"One of edit.export: youtube, youtube4k, youtube-hdr, youtube-av1, reels, tiktok, shorts, linkedin, facebook, x, prores or h265."`
	Fit       string `json:"fit,omitempty" enum:"pad,crop,blur" doc:"How the picture gets into the preset's frame."`
	CRF       int    `json:"crf,omitempty" min:"1" max:"63" doc:"Quality on the encoder's scale, less is better."`
	Codec     string `json:"codec,omitempty" enum:"h264,hevc,av1,vp9,prores" doc:"Codec of the picture, without a preset."`
	Effort    string `json:"effort,omitempty" enum:"ultrafast,superfast,veryfast,faster,fast,medium,slow,slower,veryslow" doc:"How hard the encoder tries."`
	Normalize *bool  `json:"normalize,omitempty" doc:"Bring the sound to the platform's loudness; it is without this, unless loudness says another."`
	AllowLong bool   `json:"allow_long,omitempty" doc:"Do not cut off at the longest that the platform takes."`
}

// Chapter is a chapter's beginning.
type Chapter struct {
	At    cutroom.Moment `json:"at" doc:"Where it begins in the finished edit."`
	Title string         `json:"title" min:"1" max:"500" doc:"What it is called."`
}

// Check measures the written file by a platform's rules.
type Check struct {
	Platform string `json:"platform,omitempty" max:"40" doc:"Whose; that of export without it."`
}

// Stages are the parts of an edit in their order; an edit can stop after each.
func Stages() []string {
	return []string{"clips", "join", "silence", "fit", "captions", "graphics", "overlays", "audio", "loudness", "export"}
}

// Until is p without what comes after a stage.
func (p Project) Until(stage string) Project {
	drop := false
	for _, s := range Stages() {
		if drop {
			switch s {
			case "join":
				p.Transition = nil
			case "silence":
				p.Silence = nil
			case "fit":
				p.Fit = nil
			case "captions":
				p.Captions = nil
			case "graphics":
				p.Graphics = nil
			case "overlays":
				p.Overlays = nil
			case "audio":
				p.Audio = nil
			case "loudness":
				p.Loudness = nil
			case "export":
				p.Export, p.Check, p.Chapters, p.ChapterSet = nil, nil, nil, ""
			}
		}
		drop = drop || s == stage
	}
	if stage == "clips" {
		clips := make([]Clip, len(p.Clips))
		for i, c := range p.Clips {
			c.Transition = nil
			clips[i] = c
		}
		p.Clips = clips
	}
	return p
}
