package lens

import (
	"archive/zip"
	"bytes"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"slices"
	"strings"
	"testing"

	"cutroom"
)

func pictures(t *testing.T) (j, p, g []byte) {
	t.Helper()
	img := image.NewPaletted(image.Rect(0, 0, 32, 32), color.Palette{color.Black, color.RGBA{255, 0, 0, 255}})
	var bj, bp, bg bytes.Buffer
	if err := jpeg.Encode(&bj, img, nil); err != nil {
		t.Fatal(err)
	}
	if err := png.Encode(&bp, img); err != nil {
		t.Fatal(err)
	}
	if err := gif.Encode(&bg, img, nil); err != nil {
		t.Fatal(err)
	}
	return bj.Bytes(), bp.Bytes(), bg.Bytes()
}

func archive(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	f, err := w.Create("a.txt")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write([]byte("hidden")); err != nil {
		t.Fatal(err)
	}
	if err := w.SetComment("trailing words"); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestGuard(t *testing.T) {
	t.Parallel()
	j, p, g := pictures(t)
	box := []byte("\x00\x00\x00\x18ftypisom\x00\x00\x02\x00isomiso2\x00\x00\x00\x08free")
	webm := append([]byte("\x1a\x45\xdf\xa3\x9f\x42\x86\x81\x01\x42\xf7\x81\x01\x42\x82\x84webm"), make([]byte, 64)...)
	elf := append([]byte("\x7fELF\x02\x01\x01"), make([]byte, 512)...)
	with := func(a []byte, b ...byte) []byte { return append(slices.Clone(a), b...) }
	for name, r := range map[string]struct {
		medium Medium
		file   string
		data   []byte
		code   cutroom.Code // "" passes
	}{
		"a picture":            {Image, "a.jpg", j, ""},
		"capital letters":      {Image, "A.JPEG", j, ""},
		"png":                  {Image, "a.png", p, ""},
		"gif":                  {Image, "a.gif", g, ""},
		"mp4":                  {Video, "a.mp4", box, ""},
		"webm":                 {Video, "a.webm", webm, ""},
		"webm in mkv":          {Video, "a.mkv", webm, ""},
		"ELF as mp4":           {Video, "a.mp4", elf, cutroom.UnreadableMedia},
		"PNG as jpg":           {Image, "a.jpg", p, cutroom.UnreadableMedia},
		"JPEG as png":          {Image, "a.png", j, cutroom.UnreadableMedia},
		"GIF as webp":          {Image, "a.webp", g, cutroom.UnreadableMedia},
		"HTML as webm":         {Video, "a.webm", []byte("<!doctype html><html><script>alert(1)</script>"), cutroom.UnreadableMedia},
		"mp4 as webm":          {Video, "a.webm", box, cutroom.UnreadableMedia},
		"picture as mp4":       {Video, "a.mp4", j, cutroom.UnreadableMedia},
		"playlist as mp4":      {Video, "a.mp4", []byte("#EXTM3U\n/etc/passwd\n"), cutroom.UnreadableMedia},
		"nothing":              {Image, "a.png", nil, cutroom.UnreadableMedia},
		"text as mp3":          {Audio, "a.mp3", []byte("just words\n"), cutroom.UnreadableMedia},
		"an unknown suffix":    {Image, "a.exe", j, cutroom.Invalid},
		"no suffix":            {Image, "a", j, cutroom.Invalid},
		"two suffixes":         {Image, "a.jpg.exe", j, cutroom.Invalid},
		"a video as a picture": {Image, "a.mp4", box, cutroom.Invalid},

		"JPEG and ZIP":         {Image, "a.jpg", with(j, archive(t)...), cutroom.UnreadableMedia},
		"PNG and ZIP":          {Image, "a.png", with(p, archive(t)...), cutroom.UnreadableMedia},
		"mp4 and ZIP":          {Video, "a.mp4", with(box, archive(t)...), cutroom.UnreadableMedia},
		"JPEG and PDF":         {Image, "a.jpg", with(j[:20], append([]byte("%PDF-1.7\n"), j[20:]...)...), cutroom.UnreadableMedia},
		"PNG and PDF behind":   {Image, "a.png", with(p, []byte("\n%PDF-1.7\n%%EOF")...), cutroom.UnreadableMedia},
		"JPEG and PHP":         {Image, "a.jpg", with(j, []byte("<?php system($_GET[0]); ?>")...), cutroom.UnreadableMedia},
		"mp4 and a page":       {Video, "a.mp4", with(box, []byte("<HTML><body>")...), cutroom.UnreadableMedia},
		"GIF and a script":     {Image, "a.gif", append([]byte("GIF89a/*"), g[8:]...), cutroom.UnreadableMedia},
		"JPEG and tar":         {Image, "a.jpg", append(append(slices.Clone(j[:257]), "ustar\x00"...), j...), cutroom.UnreadableMedia},
		"PNG and 7z":           {Image, "a.png", with(p, []byte("7z\xbc\xaf\x27\x1c\x00\x04")...), cutroom.UnreadableMedia},
		"an empty ZIP behind":  {Image, "a.png", with(p, append([]byte("PK\x05\x06"), make([]byte, 18)...)...), cutroom.UnreadableMedia},
		"PK in a picture":      {Image, "a.png", with(p, []byte("PK\x05\x06 is how it begins, this is none")...), ""},
		"trailing zeros":       {Image, "a.jpg", with(j, make([]byte, 1000)...), ""},
		"a phone's motion jpg": {Image, "a.jpg", with(j, box...), ""},
	} {
		tail := r.data[max(0, len(r.data)-TailLen):]
		_, err := Guard(r.medium, r.file, r.data[:min(len(r.data), 64<<10)], tail)
		got := cutroom.Code("")
		if err != nil {
			got = cutroom.AsError(err).Code
		}
		if got != r.code {
			t.Errorf("%s: %v, want %q", name, err, r.code)
		}
		if err != nil && strings.Contains(err.Error(), "/") && strings.Contains(err.Error(), "tmp") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzGuard(f *testing.F) {
	f.Add("a.png", []byte("\x89PNG\r\n\x1a\nPK\x05\x06"))
	f.Add("a.mp4", []byte("\x00\x00\x00\x18ftypisom"))
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		for _, m := range []Medium{Video, Audio, Image} {
			form, err := Guard(m, name, data, data)
			if err == nil && (form.MediaType == "" || len(form.Demuxers) == 0) {
				t.Errorf("%q passes as nothing", name)
			}
			if err != nil && cutroom.AsError(err).Code == cutroom.Internal {
				t.Errorf("%q: %v", name, err)
			}
		}
	})
}
