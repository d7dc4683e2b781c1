package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cutroom"
	"cutroom/internal/object"
	"cutroom/internal/testenv"
	"cutroom/internal/tool"
	"cutroom/internal/tools/edit"
	"cutroom/internal/tools/media"
	"cutroom/internal/tools/video"
)

// people puts the photograph that comes with the detector into the workspace.
func people(w *workspace) string {
	w.t.Helper()
	return w.copy(filepath.Join(testenv.Models(w.t), filepath.FromSlash(object.SampleFile)), "people.jpg")
}

// TestObjectsInPicturesAndFrames: the pinned model, in the sandbox of the real engine,
// finds the people of a photograph, and again in a frame of a video that shows it. The
// photograph is the same file afterwards.
func TestObjectsInPicturesAndFrames(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	photo := people(w)
	whole, err := os.ReadFile(filepath.Join(w.dir, photo))
	if err != nil {
		t.Fatal(err)
	}
	testenv.FFmpeg(t, "-loop", "1", "-i", filepath.Join(w.dir, photo), "-t", "2", "-r", "5", "-pix_fmt", "yuv420p", filepath.Join(w.dir, "people.mp4"))
	if err := os.WriteFile(filepath.Join(w.dir, "text.jpg"), []byte("person person person"), 0o600); err != nil {
		t.Fatal(err)
	}
	f := must[video.ExtractFramesOutput](w, "video.extract_frames", video.ExtractFramesInput{
		Source: local("people.mp4"), TimestampsSeconds: []cutroom.Micros{cutroom.Second}, FullSize: true, Detail: "full",
	})
	in := media.ObjectsInput{Pictures: []cutroom.InPath{cutroom.InPath(photo), "text.jpg"}, Frames: f.Frames, MinScore: 0.45, Limit: 4}
	out := must[media.ObjectsOutput](w, "media.objects", in)
	if len(out.Items) != 3 {
		t.Fatalf("%d items, want 3", len(out.Items))
	}
	for i, item := range out.Items {
		if readable := i != 1; readable != (item.Problem == "") || !item.UntrustedContent {
			t.Errorf("item %d: %+v", i, item)
		} else if readable && (len(item.Objects) != 4 || slices.ContainsFunc(item.Objects, func(o media.SeenObject) bool { return o.Label != "person" || o.Score < 0.45 })) {
			t.Errorf("item %d shows %+v", i, item.Objects)
		}
	}
	if out.Status != cutroom.Partial || out.Items[0].File != "people.jpg" || out.Items[2].Frame == nil || out.Items[2].Frame.SHA256 != f.Frames[0].SHA256 {
		t.Errorf("%s: %+v", out.Status, out.Items)
	}
	text := out.Show(tool.Room{Text: 4000}).Text
	for _, want := range []string{"1. people.jpg: person x4 (0.66", "2. text.jpg: not looked at, unreadable", "the frame at 0:00:01.000", "not complete: picture 2"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if again, err := os.ReadFile(filepath.Join(w.dir, photo)); err != nil || !slices.Equal(again, whole) {
		t.Errorf("the photograph is another file: %v", err)
	}
}

// TestObjectsRefuses says what is wrong with a call, and what to do.
func TestObjectsRefuses(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	w.fails("media.objects", media.ObjectsInput{}, cutroom.Invalid)
	w.fails("media.objects", media.ObjectsInput{Pictures: []cutroom.InPath{"gone.jpg"}}, cutroom.NotFound)
	invented := cutroom.ArtifactRef{RelativePath: ".cutroom/stage/0123456789abcdef/video.extract_frames/0123456789abcdef/frame-0001.jpg", SHA256: cutroom.DigestOf([]byte("x")), SizeBytes: 1, MediaType: "image/jpeg"}
	w.fails("media.objects", media.ObjectsInput{Frames: []cutroom.ArtifactRef{invented}}, cutroom.NotFound)
}

// TestObjectsInALongRoom: however many objects there are, the text keeps within its
// room and says what it leaves out.
func TestObjectsInALongRoom(t *testing.T) {
	t.Parallel()
	out := &media.ObjectsOutput{}
	for range 240 {
		item := media.ObjectsItem{File: strings.Repeat("long/", 200) + "a.jpg", Width: 1, Height: 1}
		for range 100 {
			item.Objects = append(item.Objects, media.SeenObject{Label: "baseball glove", Score: 0.5, Box: [4]float64{0, 0, 1, 1}})
		}
		out.Items = append(out.Items, item)
		out.AddReason(strings.Repeat("why ", 500))
	}
	for _, room := range []int{1000, 4000, 40000} {
		text := out.Show(tool.Room{Text: room}).Text
		if n := len([]rune(text)); n > room || !strings.Contains(text, "Left out here") {
			t.Errorf("%d characters in a room of %d: %.300s", n, room, text)
		}
	}
}

// TestRedactObjects: people of a photograph that moves through the picture are found by
// the model, followed and hidden: between the frames that were looked at, too, the same
// model finds none of them, and the square that stands still beside them stays.
func TestRedactObjects(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	testenv.FFmpeg(t, "-f", "lavfi", "-i", "color=0x204060:s=640x360:r=10:d=1,drawbox=x=10:y=10:w=40:h=40:color=white:t=fill", "-i", filepath.Join(w.dir, people(w)),
		"-filter_complex", "[1]crop=iw:ih*0.3:0:ih*0.43,scale=-2:160[p];[0][p]overlay=x=40+t*60:y=100", "-c:v", "libx264", "-preset", "ultrafast", "-qp", "10", "-pix_fmt", "yuv420p", filepath.Join(w.dir, "walk.mp4"))
	out := must[edit.RedactOutput](w, "edit.redact", edit.RedactInput{Picturing: picturing("walk.mp4", "nobody.mp4"), Find: []string{"person"}, Mode: "fill"})
	w.held(out.Verified, "hidden", "elsewhere")
	if len(out.Hidden) != 5 || out.Looked < 2 || slices.ContainsFunc(out.Hidden, func(h edit.RedactedPath) bool { return h.Kind != "person" }) {
		t.Fatalf("%+v in %d frames", out.Hidden, out.Looked)
	}
	in := media.ObjectsInput{MinScore: 0.3}
	for _, file := range []string{"walk", "nobody"} {
		name := file + ".png"
		testenv.FFmpeg(t, "-ss", "0.3", "-i", filepath.Join(w.dir, file+".mp4"), "-frames:v", "1", filepath.Join(w.dir, name))
		in.Pictures = append(in.Pictures, cutroom.InPath(name))
	}
	seen := must[media.ObjectsOutput](w, "media.objects", in)
	for i, want := range []bool{true, false} {
		if got := slices.ContainsFunc(seen.Items[i].Objects, func(o media.SeenObject) bool { return o.Label == "person" }); got != want {
			t.Errorf("%s: people are seen: %t, want %t: %+v", seen.Items[i].File, got, want, seen.Items[i].Objects)
		}
	}
	if got := rgbAt(w.pixels("nobody.mp4", "0.5", 640, 360), 640, 30, 30); !likeColour(got, [3]int{255, 255, 255}, 6) {
		t.Errorf("the square is %v", got)
	}
}
