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
