package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cutroom"
	"cutroom/internal/testenv"
	"cutroom/internal/tools/edit"
)

// Tags and chapters of any text are in the file that is written, whose streams are the
// source's, bit for bit.
func TestMetadata(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	w.stairs("in.mp4", "-metadata", "comment=made here", "-metadata", "title=old")
	const title, name = `100% it's: {ok} = ;#\ “q” 👍 日本 ภาษาไทย`, "العربية; שלום = 100%"
	for i, suffix := range []string{".mp4", ".mkv", ".mov"} {
		file := fmt.Sprint("out", i, suffix)
		out := must[edit.MetadataOutput](w, "edit.metadata", edit.MetadataInput{
			Input: "in.mp4", Title: ptr(title), Artist: ptr(name), Comment: ptr(""), Chapters: []string{"0:00 " + title, "0:01.2 " + name}, Writing: to(file),
		})
		if len(out.Chapters) != 2 || out.Chapters[0].Title != title || out.Chapters[1].Title != name || out.Chapters[1].StartSeconds != 1_200_000 {
			t.Errorf("%s: %+v", file, out.Chapters)
		}
		got := string(testenv.Run(t, w.dir, "ffprobe", "-v", "error", "-show_entries", "format_tags", "-of", "default=nw=1", "file:"+file))
		if !strings.Contains(got, title) || !strings.Contains(got, name) || strings.Contains(got, "made here") {
			t.Errorf("%s: %s", file, got)
		}
		if a, b := w.packets("in.mp4"), w.packets(file); a != b {
			t.Errorf("%s: the streams changed", file)
		}
	}
	put(t, filepath.Join(w.dir, "list.txt"), "\ufeff0:00 One\r\n\r\n(0:01) Two\r\n")
	must[edit.MetadataOutput](w, "edit.metadata", edit.MetadataInput{Input: "in.mp4", ChaptersFile: "list.txt", ChaptersOut: "back.txt", DescriptionOut: "about.txt", Writing: to("listed.mp4")})
	for file, want := range map[string]string{"back.txt": "0:00 One\n0:01 Two\n", "about.txt": "0:00 One\n0:01 Two\n"} {
		if b, err := os.ReadFile(filepath.Join(w.dir, file)); err != nil || string(b) != want {
			t.Errorf("%s: %q, %v", file, b, err)
		}
	}
	bare := must[edit.MetadataOutput](w, "edit.metadata", edit.MetadataInput{Input: "listed.mp4", ClearChapters: true})
	if len(bare.Chapters) != 0 {
		t.Errorf("%+v", bare.Chapters)
	}
	w.fails("edit.metadata", edit.MetadataInput{Input: "in.mp4", Chapters: []string{"0:03 late"}, Writing: to("late.mp4")}, cutroom.Invalid)
	w.fails("edit.metadata", edit.MetadataInput{Input: "in.mp4", Chapters: []string{"no time"}, Writing: to("no.mp4")}, cutroom.Invalid)
}

// Chapters are found where it is silent and the picture changes; a change alone counts
// for less.
func TestChaptersAreFound(t *testing.T) {
	t.Parallel()
	w := open(t, "")
	scene := func(c string, d int) string { return fmt.Sprintf("%s=s=160x90:r=10:d=%d", c, d) }
	testenv.FFmpeg(t, "-f", "lavfi", "-i", scene("testsrc", 6), "-f", "lavfi", "-i", scene("smptebars", 4), "-f", "lavfi", "-i", scene("rgbtestsrc", 6),
		"-f", "lavfi", "-i", `aevalsrc='0.3*sin(2*PI*300*t)*not(between(t\,9\,10.1))':s=48000:d=16`,
		"-filter_complex", "[0][1][2]concat=n=3[v]", "-map", "[v]", "-map", "3:a", "-c:v", "libx264", "-pix_fmt", "yuv420p", "-c:a", "aac", filepath.Join(w.dir, "in.mp4"))
	out := must[edit.MetadataOutput](w, "edit.metadata", edit.MetadataInput{Input: "in.mp4", AutoChapters: true, MinChapter: 5 * cutroom.Second, Writing: to("found.mp4")})
	if len(out.Chapters) != 2 || out.Chapters[1].StartSeconds < 9_700_000 || out.Chapters[1].StartSeconds > 10_100_000 {
		t.Errorf("%+v", out.Chapters)
	}
	seen := must[edit.MetadataOutput](w, "edit.metadata", edit.MetadataInput{Input: "in.mp4", AutoChapters: true, DetectFrom: "scenes", MinChapter: 3 * cutroom.Second, Writing: to("seen.mp4")})
	if len(seen.Chapters) != 3 || seen.Chapters[1].StartSeconds != 6*cutroom.Second || seen.Chapters[2].StartSeconds != 10*cutroom.Second {
		t.Errorf("%+v", seen.Chapters)
	}
}
