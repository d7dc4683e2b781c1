package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"cutroom"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/graph"
	"cutroom/internal/sandbox"
	"cutroom/internal/sandbox/argv"
	"cutroom/internal/setup"
	"cutroom/internal/tool"
	"cutroom/internal/tools"
)

// captions is what the render draws: two lines, as a caption script.
const captions = "[Script Info]\nScriptType: v4.00+\nPlayResX: 1080\nPlayResY: 1920\n\n[V4+ Styles]\n" +
	"Format: Name, Fontname, Fontsize, PrimaryColour, SecondaryColour, OutlineColour, BackColour, Bold, Italic, Underline, StrikeOut, ScaleX, ScaleY, Spacing, Angle, BorderStyle, Outline, Shadow, Alignment, MarginL, MarginR, MarginV, Encoding\n" +
	"Style: Default,DejaVu Sans,80,&H00FFFFFF,&H00FFFFFF,&H00000000,&H00000000,0,0,0,0,100,100,0,0,1,4,0,2,60,60,420,1\n\n[Events]\n" +
	"Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text\n" +
	"Dialogue: 0,0:00:00.50,0:00:09.50,Default,,0,0,0,,What goes in\nDialogue: 0,0:00:10.50,0:00:19.50,Default,,0,0,0,,comes out proved\n"

const captionFile = "captions.ass"

// chainOf is an edit as people make them, as one graph: two parts of a recording, cropped to a
// vertical frame, captioned, at a programme loudness, as a platform takes them.
func chainOf(s graph.Source) graph.Graph {
	return graph.Graph{
		Sources: []graph.Source{s},
		Clips:   []graph.Clip{{Start: 2 * cutroom.Second, End: 12 * cutroom.Second}, {Start: 40 * cutroom.Second, End: 50 * cutroom.Second}},
		Picture: &graph.Picture{Width: 1080, Height: 1920, Fit: graph.Cover, Burn: []string{captionFile}},
		Sound:   &graph.Sound{Loudness: &graph.Loudness{LUFS: -14, TruePeak: -1}},
		Target:  graph.Target{File: "out.mp4", Container: "mp4", Video: graph.VideoCodec{Quality: 20}},
	}
}

// rendering compares a whole edit with one command written by hand, a plain decode of
// what it makes, and the measuring pass that loudness needs.
func rendering(ctx context.Context, l *lab) ([]figure, error) {
	if err := l.need(ctx, high); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(l.tmp, captionFile), []byte(captions), 0o600); err != nil {
		return nil, err
	}
	by := filepath.Join(l.tmp, "by-hand.mp4")
	hand := l.plain("ffmpeg", "-v", "error", "-nostdin", "-y", "-ss", "2", "-t", "10", "-i", high, "-ss", "40", "-t", "10", "-i", high, "-filter_complex",
		"[0:v][0:a][1:v][1:a]concat=n=2:v=1:a=1[v][a];[v]scale=-2:1920:flags=bicubic,crop=1080:1920,ass="+filepath.Join(l.tmp, captionFile)+"[o];[a]volume=-3dB,alimiter=limit=0.85[s]",
		"-map", "[o]", "-map", "[s]", "-c:v", "libx264", "-crf", "20", "-preset", "medium", "-pix_fmt", "yuv420p", "-c:a", "aac", "-b:a", "192k", "-movflags", "+faststart", by)
	f, err := contest{
		what: "clips, join, fit, captions, loudness, export", plain: "one ffmpeg command, a decode of its output, ebur128 of the sound", ours: "one graph, rendered and proved", unit: "×", target: 1.1,
		by: []step{
			hand,
			l.plain("ffmpeg", "-v", "error", "-nostdin", "-i", by, "-f", "null", "-"),
			l.plain("ffmpeg", "-v", "error", "-nostdin", "-vn", "-i", by, "-af", "ebur128=peak=true", "-f", "null", "-"),
		},
		our: l.plain(l.self, partFlag, "render", l.media, high),
	}.run(ctx, l)
	return []figure{f}, err
}

// levelling compares measuring the loudness with ebur128 of one decode.
func levelling(ctx context.Context, l *lab) ([]figure, error) {
	if err := l.probed(ctx, tenMin); err != nil {
		return nil, err
	}
	ours, err := l.invoke(invocation{tool: "measure.loudness", request: map[string]string{"input": tenMin}})
	if err != nil {
		return nil, err
	}
	f, err := contest{
		what: "loudness and true peak of 10 min", plain: "ffmpeg ebur128=peak=true of one decode", ours: "measure.loudness", unit: "×", target: 1.05,
		by: []step{l.plain("ffmpeg", "-v", "error", "-nostdin", "-vn", "-i", tenMin, "-map", "0:a:0", "-af", "ebur128=peak=true", "-f", "null", "-")}, our: ours,
	}.run(ctx, l)
	return []figure{f}, err
}

// script is a chain of runs.
type script interface {
	Next() (argv.Command, bool)
	Feed(argv.Result) error
}

// renderOf renders the chain over a file of a workspace, in the sandbox, as the engine
// does.
func renderOf(dir, name string) error {
	ctx := context.Background()
	registry, err := tool.NewRegistry(tools.Families()...)
	if err != nil {
		return err
	}
	i, err := setup.Open(ctx, setup.Options{Dir: dir, Root: dir, Registry: registry})
	if err != nil {
		return err
	}
	defer i.Close()
	f, err := os.Open(filepath.Join(dir, name))
	if err != nil {
		return err
	}
	defer f.Close()
	private, err := os.MkdirTemp("", "cutroom-render-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(private)
	if err := os.WriteFile(filepath.Join(private, captionFile), []byte(captions), 0o600); err != nil {
		return err
	}
	drive := func(s script) error {
		for cmd, ok := s.Next(); ok; cmd, ok = s.Next() {
			for _, file := range cmd.Files {
				if err := os.WriteFile(filepath.Join(private, file.Name), file.Data, 0o600); err != nil {
					return err
				}
			}
			res, err := i.Engine.Runner.Run(ctx, cmd, sandbox.Grant{Dir: private, Inputs: []*os.File{f}})
			if err == nil {
				err = s.Feed(res)
			}
			if err != nil {
				return fmt.Errorf("%s: %w", cmd.Step, err)
			}
		}
		return nil
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	head := make([]byte, tool.HeadLen)
	n, err := f.ReadAt(head, 0)
	if err != nil {
		return err
	}
	format, err := ffmpeg.Sniff(head[:n], name)
	if err != nil {
		return err
	}
	p := ffmpeg.NewProber(0, format, info.Size())
	if err := drive(p); err != nil {
		return err
	}
	doc, err := p.Document()
	if err != nil {
		return err
	}
	r, err := graph.NewRender(chainOf(graph.Source{Format: format, Media: doc, Name: name}), i.Engine.Abilities())
	if err != nil {
		return err
	}
	if err := drive(r); err != nil {
		return err
	}
	_, err = r.Result()
	return err
}
