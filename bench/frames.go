package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"cutroom"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/tools/video"
)

// evenly returns n times over the ten-minute file, none of them on a key frame.
func evenly(n int) []cutroom.Micros {
	var at []cutroom.Micros
	for i := range n {
		at = append(at, (cutroom.Micros(2*i)+1)*600*cutroom.Second/cutroom.Micros(2*n))
	}
	return at
}

// seeks is what a person would write who wants the right colours: one ffmpeg that
// seeks to each time and converts to what a JPEG file means.
func (l *lab) seeks(file string, times []cutroom.Micros, width int) step {
	args := []string{"-v", "error", "-nostdin", "-y"}
	for _, t := range times {
		args = append(args, "-threads", "1", "-ss", t.String(), "-i", file)
	}
	var graph []string
	for i := range times {
		graph = append(graph, fmt.Sprintf("[%d:v:0]scale=%d:-2:flags=bicubic:in_color_matrix=bt709:in_range=limited:out_color_matrix=bt601:out_range=full,format=yuvj420p[o%d]", i, width, i))
	}
	args = append(args, "-filter_complex", strings.Join(graph, ";"))
	for i := range times {
		args = append(args, "-map", fmt.Sprintf("[o%d]", i), "-frames:v", "1", "-update", "1", "-q:v", "4", "-f", "image2", filepath.Join(l.tmp, strconv.Itoa(i)+".jpg"))
	}
	return l.plain("ffmpeg", args...)
}

// taking is the tool's call for the same frames; pictures sees them.
func (l *lab) taking(times []cutroom.Micros, width int, i invocation) (step, error) {
	i.tool = "video.extract_frames"
	in := video.ExtractFramesInput{Source: cutroom.Source{Kind: cutroom.LocalFile, Value: tenMin}, TimestampsSeconds: times, Width: width}
	in.Limits.MaxFrames = len(times)
	i.request = in
	return l.invoke(i)
}

// takingFrames compares 48 frames of ten minutes with 48 seeks of one process.
func takingFrames(ctx context.Context, l *lab) ([]figure, error) {
	if err := l.probed(ctx, tenMin); err != nil {
		return nil, err
	}
	times := evenly(48)
	var out bytes.Buffer
	ours, err := l.taking(times, 1280, invocation{out: &out})
	if err != nil {
		return nil, err
	}
	f, err := contest{
		what: "48 frames of 10 minutes, 1080p", plain: "one ffmpeg with 48 seeks", ours: "video.extract_frames", unit: "×", target: 1.1,
		by: []step{l.seeks(tenMin, times, 1280)}, our: ours,
	}.run(ctx, l)
	if err != nil {
		return nil, err
	}
	var answer struct {
		Frames []cutroom.ArtifactRef `json:"frames"`
	}
	if err := json.Unmarshal(out.Bytes(), &answer); err != nil {
		return nil, err
	}
	if len(answer.Frames) != len(times) {
		return nil, fmt.Errorf("%d frames were taken, not %d", len(answer.Frames), len(times))
	}
	return []figure{f}, nil
}

// drawingSheet compares a contact sheet of 12 with 12 seeks: the frames, and the
// drawing in a process of its own.
func drawingSheet(ctx context.Context, l *lab) ([]figure, error) {
	if err := l.probed(ctx, tenMin); err != nil {
		return nil, err
	}
	times := evenly(12)
	var drawn sample
	ours, err := l.taking(times, 360, invocation{
		results: func(dir string) (err error) {
			drawn, err = l.run(l.command(ctx, l.self, partFlag, "sheet", dir))
			return err
		},
		after: func(s sample) (sample, error) { return s.plus(drawn), nil },
	})
	if err != nil {
		return nil, err
	}
	f, err := contest{
		what: "contact sheet of 12", plain: "one ffmpeg with 12 seeks", ours: "video.extract_frames + drawing", unit: "×", target: 1.2,
		by: []step{l.seeks(tenMin, times, 360)}, our: ours,
	}.run(ctx, l)
	return []figure{f}, err
}

// sheetOf draws the JPEG files beneath dir.
func sheetOf(dir string) error {
	var frames []ffmpeg.SheetFrame
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".jpg" {
			return err
		}
		raw, err := os.ReadFile(path)
		frames = append(frames, ffmpeg.SheetFrame{JPEG: raw, Label: d.Name()})
		return err
	})
	if err != nil {
		return err
	}
	if len(frames) != 12 {
		return fmt.Errorf("%d frames beneath %s, not 12", len(frames), dir)
	}
	_, err = ffmpeg.Sheet(frames, 4, 360)
	return err
}
