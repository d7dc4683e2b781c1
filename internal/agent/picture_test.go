package agent_test

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"strings"
	"testing"
	"time"

	"cutroom"
	"cutroom/internal/provider"
	"cutroom/internal/provider/providertest"
	"cutroom/internal/run"
	"cutroom/internal/tool"
)

type pictureInput struct {
	Shade int64 `json:"shade" min:"0" max:"255" doc:"How light it is."`
}

type pictureOutput struct {
	cutroom.Output
	Seen string `json:"seen" doc:"What is in it, in words."`
}

// Show is its picture.
func (o pictureOutput) Show(tool.Room) tool.Showing {
	return tool.Showing{Text: o.Seen, Pictures: []tool.Picture{{Ref: o.Artifacts[0], Caption: "the only one"}}}
}

// addPicture adds a tool that answers with a picture.
func addPicture(f *tool.Family) {
	tool.Add(f, tool.Spec[pictureInput, pictureOutput]{
		Name: "agent.picture_test", Summary: "Paint", Description: "Paints.", Kind: cutroom.Read, Exact: tool.BitExact, Revision: 1,
		Pictures: true, Timeout: time.Minute, Examples: []pictureInput{{Shade: 1}},
		Run: func(_ context.Context, env tool.Env, in pictureInput) (out pictureOutput, err error) {
			img := image.NewGray(image.Rect(0, 0, 64, 48))
			for i := range img.Pix {
				img.Pix[i] = color.Gray{Y: uint8(in.Shade)}.Y
			}
			var b bytes.Buffer
			if err := png.Encode(&b, img); err != nil {
				return out, err
			}
			ref, err := env.Put("p.png", "image/png", b.Bytes(), nil)
			out.Artifacts, out.Seen = []cutroom.ArtifactRef{ref}, fmt.Sprintf("a grey of %d", in.Shade)
			return out, err
		},
	})
}

// TestPictures: a model that takes pictures is shown them, the newest where there are too
// many; one that does not gets the words alone; after an end of the process, too.
func TestPictures(t *testing.T) {
	t.Parallel()
	for _, takes := range []bool{true, false} {
		s := providertest.New(t)
		for n := range 4 {
			s.Queue(providertest.Call(fmt.Sprint("c", n), "agent_picture_test", fmt.Sprintf(`{"shade":%d}`, 10*n)))
		}
		s.Queue(providertest.Say("grey"), providertest.Say("still grey"))
		m := model(s, "eye", provider.Chat, "m")
		m.Pictures, m.Images = takes, 2
		h := small(t, m)
		x := h.create(t, spec("paint"))
		if o := prompt(t, x); o.State != run.Completed {
			t.Fatalf("%+v", o)
		}
		if err := x.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		again, err := h.Open(t.Context(), cutroom.Agent, x.ID())
		if err != nil {
			t.Fatal(err)
		}
		defer again.Close(t.Context())
		if o, err := again.Prompt(t.Context(), "what was it?"); err != nil || o.Text != "still grey" {
			t.Fatalf("%+v, %v", o, err)
		}
		for i, r := range s.Requests() {
			want := min(i, 2)
			if !takes {
				want = 0
			}
			if n := strings.Count(string(r.Body), "data:image/jpeg;base64,"); n != want {
				t.Errorf("request %d of one that takes pictures (%v) has %d", i, takes, n)
			}
			if i > 0 && !strings.Contains(string(r.Body), "a grey of 0") {
				t.Errorf("request %d lacks the words", i)
			}
		}
		for _, e := range of[run.End](h.events(t, x.ID())) {
			if e.Pictures != 1 || len(e.Files) != 1 {
				t.Errorf("%+v", e)
			}
		}
	}
}
