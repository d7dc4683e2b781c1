package tool

import "testing"

func TestLowerNeverRaises(t *testing.T) {
	t.Parallel()
	type limits struct {
		MaxFileBytes       int64 `json:"max_file_bytes"`
		MaxFrames          int   `json:"max_frames"`
		MaxTranscriptBytes int64 `json:"max_transcript_bytes"`
		Other              int   `json:"other"`
	}
	type input struct {
		Frames int    `json:"max_frames"`
		Limits limits `json:"limits"`
	}
	in := input{Frames: 9, Limits: limits{100, 48, 7, 50}}
	for b, want := range map[Bounds]limits{
		{}:                                {100, 48, 7, 50},
		{FileBytes: 10, Frames: 5}:        {100, 5, 7, 50},
		{FileBytes: 1000, Frames: 480}:    {100, 48, 7, 50},
		{TranscriptBytes: 1, Duration: 3}: {100, 48, 1, 50},
	} {
		got := Lower(in, b).(input)
		if got.Limits != want || got.Frames != 9 {
			t.Errorf("%+v: %+v, want %+v", b, got, want)
		}
	}
	if in.Limits.MaxFrames != 48 {
		t.Error("the input itself was changed")
	}
	if Lower("text", Bounds{Frames: 1}) != "text" {
		t.Error("what has no limits is changed")
	}
}
