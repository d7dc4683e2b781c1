package platform

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"cutroom"
)

func TestShipped(t *testing.T) {
	t.Parallel()
	s, err := Find("tiktok")
	if err != nil {
		t.Fatal(err)
	}
	want := Spec{
		Name: "tiktok", Title: "TikTok", Aliases: []string{}, Width: 1080, Height: 1920, Rate: Ratio{30, 1}, MaxRate: Ratio{60, 1},
		Aspects: []Ratio{{9, 16}, {1, 1}}, MinShort: 1080, Codecs: []string{"h264", "hevc"}, PixelFormats: []string{"yuv420p"},
		SampleRates: []int{44100, 48000}, MaxSeconds: 600, MaxBytes: 4 << 30, SDROnly: true,
		Loudness: Loudness{-14, 2, -1}, Safe: Insets{0.10, 0.22, 0.05, 0.14},
	}
	if diff := cmp.Diff(want, s); diff != "" {
		t.Error(diff)
	}
	if s.MaxLength() != 600*cutroom.Second {
		t.Error(s.MaxLength())
	}
	for alias, name := range map[string]string{
		"youtube-shorts": "shorts", "yt-shorts": "shorts", "yt": "youtube", "instagram": "reels", "ig": "reels", "twitter": "x", "fb": "facebook",
	} {
		if s, err := Find(alias); err != nil || s.Name != name {
			t.Errorf("%s is %s, %v", alias, s.Name, err)
		}
		if p, err := PresetOf(alias); err != nil || p.Name != name {
			t.Errorf("preset %s is %s, %v", alias, p.Name, err)
		}
	}
	if got := len(Shipped().Platforms); got != 10 {
		t.Errorf("%d platforms", got)
	}
	if got := len(Shipped().Presets); got != 14 {
		t.Errorf("%d presets", got)
	}
}

func TestNearestIsNamed(t *testing.T) {
	t.Parallel()
	for word, near := range map[string]string{"tictok": "tiktok", "YouTube": "youtube", "linkdin": "linkedin", "instagramm": "instagram"} {
		_, err := Find(word)
		if e := cutroom.AsError(err); e == nil || e.Code != cutroom.Invalid || !strings.Contains(e.Hint, "did you mean "+near+"?") {
			t.Errorf("%s: %v", word, err)
		}
	}
	_, err := Find(strings.Repeat("q", 1000))
	if e := cutroom.AsError(err); e == nil || strings.Contains(e.Hint, "mean") || len(e.Error()) > 300 || !strings.Contains(e.Hint, "broadcast") {
		t.Errorf("%v", err)
	}
}

// An export for a platform fits the platform: what Parse guarantees is looked at here
// for the values themselves.
func TestPresetsFitTheirPlatforms(t *testing.T) {
	t.Parallel()
	for _, p := range Shipped().Presets {
		if p.Platform == "" || p.Width == 0 {
			continue
		}
		s, err := Find(p.Platform)
		if err != nil {
			t.Fatal(err)
		}
		short := min(p.Width, p.Height)
		fits := false
		for _, a := range s.Aspects {
			fits = fits || int64(p.Width)*a.Den == int64(p.Height)*a.Num
		}
		if short < s.MinShort || !fits || s.Rate.Known() && p.Rate != s.Rate {
			t.Errorf("%s: %dx%d at %v", p.Name, p.Width, p.Height, p.Rate)
		}
	}
}

func TestParseAddsAndReplaces(t *testing.T) {
	t.Parallel()
	c, err := Parse(shippedDocument, []byte(`{"platforms":[
	  {"name":"tiktok","title":"TikTok","max_seconds":60},
	  {"name":"kiosk","title":"the kiosk","aliases":["lobby"],"width":1080,"height":1920,"aspects":["9:16"],"codecs":["h264"],"max_frame_rate":"30000/1001"}],
	 "presets":[{"name":"kiosk","title":"the kiosk","platform":"lobby","container":".mp4","width":1080,"height":1920,"color":"sdr",
	  "video":{"codec":"h264","quality":20,"pixel_format":"yuv420p"},"audio":{"codec":"aac"}}]}`))
	// TikTok's preset asks for nothing that the new one refuses.
	if err != nil {
		t.Fatal(err)
	}
	if s, err := c.Find("tiktok"); err != nil || s.MaxSeconds != 60 || s.Width != 0 {
		t.Errorf("%+v %v", s, err)
	}
	if s, err := c.Find("lobby"); err != nil || s.MaxRate != (Ratio{30000, 1001}) {
		t.Errorf("%+v %v", s, err)
	}
	if _, err := Find("kiosk"); err == nil {
		t.Error("the shipped catalog changed")
	}
	if s, err := Find("tiktok"); err != nil || s.MaxSeconds != 600 {
		t.Error("the shipped catalog changed")
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for name, doc := range map[string]string{
		"an unknown key":               `{"platforms":[{"name":"a","max_secs":3}]}`,
		"a key in another case":        `{"platforms":[{"Name":"a"}]}`,
		"a doubled key":                `{"platforms":[{"name":"a","name":"b"}]}`,
		"no name":                      `{"platforms":[{"title":"a"}]}`,
		"a name with a space":          `{"platforms":[{"name":"a b"}]}`,
		"an alias of two":              `{"platforms":[{"name":"a","aliases":["c"]},{"name":"b","aliases":["c"]}]}`,
		"an alias that is a name":      `{"platforms":[{"name":"a","aliases":["b"]},{"name":"b"}]}`,
		"an odd frame":                 `{"platforms":[{"name":"a","width":1081,"height":1920}]}`,
		"half a frame":                 `{"platforms":[{"name":"a","width":1080}]}`,
		"a negative length":            `{"platforms":[{"name":"a","max_seconds":-1}]}`,
		"insets that meet":             `{"platforms":[{"name":"a","safe":{"top":0.5,"bottom":0.5}}]}`,
		"an inset beyond the frame":    `{"platforms":[{"name":"a","safe":{"top":1.5}}]}`,
		"a peak above full scale":      `{"platforms":[{"name":"a","loudness":{"lufs":-14,"tolerance":1,"true_peak":3}}]}`,
		"a loudness above all":         `{"platforms":[{"name":"a","loudness":{"lufs":14,"tolerance":1,"true_peak":-1}}]}`,
		"a ratio of nothing":           `{"platforms":[{"name":"a","aspects":["9:0"]}]}`,
		"a rate in words":              `{"platforms":[{"name":"a","frame_rate":"fast"}]}`,
		"a container that is a path":   `{"presets":[{"name":"a","container":"/../x","color":"sdr","video":{"codec":"h264"}}]}`,
		"no colour":                    `{"presets":[{"name":"a","container":".mp4","video":{"codec":"h264"}}]}`,
		"a platform that is not there": `{"presets":[{"name":"a","platform":"nowhere","color":"sdr","video":{"codec":"h264"}}]}`,
		"copy and encode":              `{"presets":[{"name":"a","copy":true,"color":"keep","video":{"codec":"h264"}}]}`,
		"neither":                      `{"presets":[{"name":"a","color":"keep"}]}`,
		"a codec the platform refuses": `{"platforms":[{"name":"a","codecs":["h264"]}],"presets":[{"name":"a","platform":"a","color":"sdr","video":{"codec":"hevc"}}]}`,
		"HDR where only SDR is shown":  `{"platforms":[{"name":"a","sdr_only":true}],"presets":[{"name":"a","platform":"a","color":"keep","video":{"codec":"h264"}}]}`,
		"a pixel format refused":       `{"platforms":[{"name":"a","pixel_formats":["yuv420p"]}],"presets":[{"name":"a","platform":"a","color":"sdr","video":{"codec":"h264"}}]}`,
		"a rate above the highest":     `{"platforms":[{"name":"a","max_frame_rate":"30"}],"presets":[{"name":"a","platform":"a","color":"sdr","frame_rate":"60","video":{"codec":"h264"}}]}`,
		"not JSON":                     `platforms: []`,
		"something behind":             `{} {}`,
	} {
		_, err := Parse([]byte(`{}`), []byte(doc))
		if e := cutroom.AsError(err); e == nil || e.Code != cutroom.Invalid || !strings.Contains(e.Msg, "document 2") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRatioText(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		want := Ratio{rapid.Int64Range(1, 1<<31-1).Draw(rt, "n"), rapid.Int64Range(1, 1<<31-1).Draw(rt, "d")}
		text, err := want.MarshalText()
		if err != nil {
			rt.Fatal(err)
		}
		var got Ratio
		if err := got.UnmarshalText(text); err != nil || got != want {
			rt.Fatalf("%s: %v, %v", text, got, err)
		}
		if err := got.UnmarshalText(fmt.Appendf(nil, "%d/%d", want.Num, want.Den)); err != nil || got != want {
			rt.Fatalf("%v, %v", got, err)
		}
	})
}

// FuzzParse looks for documents that pass and cannot be meant.
func FuzzParse(f *testing.F) {
	f.Add(shippedDocument)
	f.Add([]byte(`{"platforms":[{"name":"a","safe":{"top":0.1}}]}`))
	f.Add([]byte(`{"presets":[{"name":"a","copy":true,"color":"keep"}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := Parse(bytes.Clone(text))
		if err != nil {
			return
		}
		for _, s := range c.Platforms {
			if s.Safe.Top+s.Safe.Bottom >= 1 || s.Safe.Left+s.Safe.Right >= 1 || s.MaxLength() < 0 || s.Width%2 != 0 {
				t.Errorf("%+v", s)
			}
			for _, n := range s.names() {
				if got, err := c.Find(n); err != nil || got.Name != s.Name {
					t.Errorf("%q finds %+v, %v", n, got, err)
				}
			}
		}
	})
}
