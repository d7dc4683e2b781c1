package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"cutroom"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/tools/review"
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

// drawingSheet compares a contact sheet of 12, the drawing included, with 12 seeks to
// the same times. The last of them is the end, where a seek alone finds nothing.
func drawingSheet(ctx context.Context, l *lab) ([]figure, error) {
	if err := l.probed(ctx, tenMin); err != nil {
		return nil, err
	}
	times := ffmpeg.Spread(600*cutroom.Second, 12)
	times[11] -= cutroom.Second / 10
	var out bytes.Buffer
	ours, err := l.invoke(invocation{tool: "review.look", request: review.LookInput{Input: tenMin, Tiles: "4x3"}, out: &out})
	if err != nil {
		return nil, err
	}
	f, err := contest{
		what: "contact sheet of 12", plain: "one ffmpeg with 12 seeks", ours: "review.look", unit: "×", target: 1.2,
		by: []step{l.seeks(tenMin, times, 314)}, our: ours,
	}.run(ctx, l)
	if err != nil {
		return nil, err
	}
	var answer struct {
		Frames []review.LookFrame `json:"frames"`
	}
	if err := json.Unmarshal(out.Bytes(), &answer); err != nil || len(answer.Frames) != 12 {
		return nil, fmt.Errorf("the sheet has %d frames, not 12: %w", len(answer.Frames), err)
	}
	return []figure{f}, nil
}
