package main

import (
	"bytes"
	"context"
	"fmt"
	"image"
	_ "image/jpeg"
	_ "image/png"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"cutroom/internal/modeltest"
)

// clipFile is the sample clip, which scripts/demo-clip.sh makes: five pictures with hard
// cuts, each on a ground of its own colour, and a voice.
const clipFile = "testdata/media/demo.mp4"

// scenes are times, in seconds, within each of the five pictures.
var scenes = []string{"2", "8", "15", "19.5", "24"}

// said are sentences of the voice, in lower case and without marks.
var said = []string{
	"today we look at the new release",
	"the first picture shows how many people came each day",
	"there was no space left",
	"thank you for watching",
}

// colour is red, green, blue.
type colour [3]uint8

// grounds decodes a frame of each scene by the plain program and returns the colour
// that most of it has.
func grounds(ctx context.Context, clip string) ([]colour, error) {
	var list []colour
	for _, at := range scenes {
		var out, complaints bytes.Buffer
		cmd := exec.CommandContext(ctx, "ffmpeg", "-v", "error", "-nostdin", "-ss", at, "-i", clip, "-frames:v", "1", "-vf", "scale=160:90", "-f", "rawvideo", "-pix_fmt", "rgb24", "-")
		cmd.Stdout, cmd.Stderr = &out, &complaints
		if err := cmd.Run(); err != nil {
			return nil, fmt.Errorf("ffmpeg: %w: %s", err, tail(complaints.String()))
		}
		counts, best := map[colour]int{}, colour{}
		for p := range slices.Chunk(out.Bytes(), 3) {
			c := colour(p)
			if counts[c]++; counts[c] > counts[best] {
				best = c
			}
		}
		list = append(list, best)
	}
	return list, nil
}

// near is how much a colour may differ in each part: what JPEG and scaling do to it.
const near = 12

func (c colour) like(o colour) bool {
	for i := range c {
		if d := int(c[i]) - int(o[i]); d > near || d < -near {
			return false
		}
	}
	return true
}

// seen says how many of the scenes a set of pictures shows: a scene counts when its
// ground covers a fiftieth of one of them. Pictures that do not decode, or are too
// small to read, are no pictures.
func seen(images []modeltest.Image, grounds []colour) (shown, pictures int) {
	found := make([]bool, len(grounds))
	for _, img := range images {
		pixels, _, err := image.Decode(bytes.NewReader(img.Data))
		if err != nil || pixels.Bounds().Dx() < 160 || pixels.Bounds().Dy() < 90 {
			continue
		}
		pictures++
		for i, share := range shares(pixels, grounds) {
			found[i] = found[i] || share >= 0.02
		}
	}
	for _, f := range found {
		if f {
			shown++
		}
	}
	return shown, pictures
}

// shares says how much of a picture each colour covers.
func shares(pixels image.Image, grounds []colour) []float64 {
	b, counts, total := pixels.Bounds(), make([]float64, len(grounds)), 0.0
	for y := b.Min.Y; y < b.Max.Y; y += 2 {
		for x := b.Min.X; x < b.Max.X; x += 2 {
			r, g, bl, _ := pixels.At(x, y).RGBA()
			c := colour{uint8(r >> 8), uint8(g >> 8), uint8(bl >> 8)}
			for i, ground := range grounds {
				if c.like(ground) {
					counts[i]++
				}
			}
			total++
		}
	}
	for i := range counts {
		counts[i] /= total
	}
	return counts
}

// heard says how many of the sentences of the voice a text holds.
func heard(text string) int {
	plain := strings.Map(func(r rune) rune {
		if strings.ContainsRune(".,;:!?\"", r) {
			return -1
		}
		return r
	}, strings.ToLower(text))
	n := 0
	for _, s := range said {
		if strings.Contains(plain, s) {
			n++
		}
	}
	return n
}

// longClip repeats the clip, without coding it again.
func longClip(ctx context.Context, clip, to string, times int) error {
	cmd := exec.CommandContext(ctx, "ffmpeg", "-v", "error", "-nostdin", "-y", "-stream_loop", fmt.Sprint(times-1), "-i", clip, "-c", "copy", to)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("ffmpeg: %w: %s", err, tail(string(out)))
	}
	return nil
}

// putClip puts the sample clip into a new project.
func (l *lab) putClip(project string) error {
	text, err := os.ReadFile(filepath.Join(l.repository, filepath.FromSlash(clipFile)))
	if err != nil {
		return err
	}
	return write(filepath.Join(project, "clip.mp4"), string(text))
}
