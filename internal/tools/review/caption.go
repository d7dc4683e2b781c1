package review

import (
	"context"

	"cutroom"
	"cutroom/internal/evidence"
	"cutroom/internal/tool"
	"cutroom/internal/tools/video"
	"cutroom/internal/verdict"
)

// readFrames is how many frames are read for captions: each takes a second or two.
const readFrames = 8

// captions reads the text in frames from all over the file and judges where it lies.
func captions(ctx context.Context, env tool.Env, in CheckInput, t verdict.Target) (verdict.Row, error) {
	limits := video.Limits{MaxFileBytes: in.Limits.MaxFileBytes, MaxDurationSeconds: in.Limits.MaxDurationSeconds, MaxFrames: readFrames}
	r, err := env.Call(ctx, "video.extract_frames", video.ExtractFramesInput{
		Source: cutroom.Source{Kind: cutroom.LocalFile, Value: string(in.Input)}, Mode: "even", Width: 1920, Detail: "full", Limits: limits,
	})
	if err != nil {
		return verdict.Row{}, err
	}
	f := r.Output.(*video.ExtractFramesOutput)
	r, err = env.Call(ctx, "video.ocr_frames", video.OCRFramesInput{Frames: f.Frames, Detail: "full"})
	if err != nil {
		return verdict.Row{}, err
	}
	var texts []verdict.Text
	for i, item := range r.Output.(*video.OCRFramesOutput).Items {
		text := verdict.Text{At: f.Taken[i].TimestampSeconds, Width: f.Taken[i].Width, Height: f.Taken[i].Height}
		for _, l := range item.Lines {
			if l.Confidence != cutroom.Low {
				text.Lines = append(text.Lines, evidence.Box(l.Box))
			}
		}
		texts = append(texts, text)
	}
	return verdict.Captions(texts, t), nil
}
