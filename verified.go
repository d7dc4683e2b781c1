package cutroom

// Verified is one thing that was measured on a written file before it was published,
// beside what was planned.
type Verified struct {
	Check    string `json:"check" doc:"What was measured: frames, video_length, audio_length, first_frame, streams, skew, loudness …"`
	OK       bool   `json:"ok" doc:"Whether it is what was planned. A file with a false one is not published."`
	Expected string `json:"expected" doc:"What was planned, with its tolerance."`
	Measured string `json:"measured" doc:"What the finished file holds."`
	Unit     string `json:"unit,omitempty" doc:"Unit of both."`
	Stream   string `json:"stream,omitempty" doc:"The stream it speaks of: video, audio 0, subtitle 1 …"`
}
