package brand

import (
	"strings"
	"testing"

	"cutroom"
)

func TestKit(t *testing.T) {
	t.Parallel()
	k, err := Parse([]byte("name: Example\nfonts: {heading: DejaVu Serif}\ncolors:\n  primary: '#ff6600'\n  text: navy\nlogo: {file: art/logo.png, width_percent: 20}\nmargin_percent: 5\n"))
	if err != nil {
		t.Fatal(err)
	}
	if k.Color("primary") != "#FF6600" || k.Color("text") != "#000080" || k.Color("background") != Default().Colors.Background {
		t.Errorf("%+v", k.Colors)
	}
	if got := k.LogoBeside("kits/brand.yaml"); got != "kits/art/logo.png" {
		t.Errorf("the logo is %s", got)
	}
	if got := k.MarginOf(1080, 1920, 24); got != 54 {
		t.Errorf("a margin of %d", got)
	}
}

func TestKitRefusals(t *testing.T) {
	t.Parallel()
	for text, says := range map[string]string{
		"":                                   "empty",
		"colours: {primary: red}":            "colors",
		"colors: {primry: red}":              "primary",
		"colors: {primary: reddish}":         "reddish",
		"colors: {primary: 'red@0.5'}":       "opaque",
		"logo: {file: ../../secret.png}":     "beside",
		"logo: {file: /etc/passwd}":          "beside",
		"margin_percent: 90":                 "30",
		"name: &a x\nfonts: {heading: *a}":   "anchors",
		"- a list":                           "mapping",
		"captions: {position: upwards}":      "position",
		strings.Repeat("# x\n", MaxText/2):   "bytes",
		"{\"name\": \"x\", \"name\": \"y\"}": "twice",
	} {
		_, err := Parse([]byte(text))
		e := cutroom.AsError(err)
		if err == nil || !strings.Contains(e.Msg+" "+e.Hint, says) {
			t.Errorf("%.40q: %v, want %q", text, err, says)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("colors: {primary: '#ff6600'}\nlogo: {file: a.png}"))
	f.Add([]byte(`{"margin_percent": 3, "captions": {"size": 20}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		k, err := Parse(text)
		if err != nil {
			return
		}
		for _, role := range []string{"primary", "secondary", "text", "background", "outline"} {
			if c := k.Color(role); len(c) != 7 || c[0] != '#' {
				t.Errorf("%s is %q", role, c)
			}
		}
		if l := k.LogoBeside("a/b.yaml"); l != "" && !strings.HasPrefix(string(l), "a/") && l != "a" {
			t.Errorf("the logo lies at %s", l)
		}
	})
}
