package tools_test

import (
	"testing"

	"cutroom"
	"cutroom/internal/tool"
)

func spokenTool(t *testing.T) *tool.Tool {
	t.Helper()
	tl, ok := registry(t).Find("measure.signals")
	if !ok {
		t.Fatal("no measure.signals")
	}
	return tl
}

// The words of a command line are the same request as the keys.
func TestWordsAreTheSameRequest(t *testing.T) {
	t.Parallel()
	tl := spokenTool(t)
	want, err := tl.Decode([]byte(`{"input":"a b.mp4","start":1.5,"audio_stream":2,"silence_db":-40,"limits":{"max_duration_seconds":60}}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, words := range []string{
		`{"argv":["a b.mp4","--start","00:01.5","--audio-stream=2","--silence-db","-40","--max-duration-seconds","60"]}`,
		`{"argv":["--start","1.5","--audio-stream","2","--silence-db=-40","--max-duration-seconds","60","--","a b.mp4"]}`,
	} {
		if got, err := tl.Decode([]byte(words)); err != nil || got != want {
			t.Errorf("%s: %+v, %v; want %+v", words, got, err, want)
		}
	}
}

func TestBadWordsAreRefused(t *testing.T) {
	t.Parallel()
	tl := spokenTool(t)
	for _, in := range []string{
		`{"argv":["a.mp4"],"input":"b.mp4"}`, `{"argv":"a.mp4"}`, `{"argv":[1]}`, `{"argv":["a.mp4","b.mp4"]}`, `{"argv":["a.mp4","--strat","1"]}`,
		`{"argv":["a.mp4","--start"]}`, `{"argv":["a.mp4","--audio-stream","x"]}`, `{"argv":["a.mp4","-i","b"]}`, `{"argv":[]}`, `{"argv":["a.mp4","--start","-f"]}`,
	} {
		if got, err := tl.Decode([]byte(in)); err == nil || cutroom.AsError(err).Code != cutroom.Invalid {
			t.Errorf("%s: %+v, %v", in, got, err)
		}
	}
}
