package font

import (
	"bytes"
	"fmt"
	"image"
	"image/draw"
	"image/png"
	"os"
	"slices"
	"strings"

	"github.com/go-text/typesetting/di"
	"github.com/go-text/typesetting/font"
	"github.com/go-text/typesetting/font/opentype"
	"github.com/go-text/typesetting/fontscan"
	"github.com/go-text/typesetting/language"
	"github.com/go-text/typesetting/shaping"
	"golang.org/x/image/math/fixed"

	"cutroom"
)

// ColorPackage is the Debian package of a font with pictures of emoji.
const ColorPackage = "fonts-noto-color-emoji"

// Bounds of what one character may make of a font of pictures.
const (
	maxClusterRunes = 64
	maxParts        = 8       // pictures side by side, where the font has none of the whole
	maxPictureSide  = 1024    // pixels
	maxPictureBytes = 1 << 20 // of a PNG
	pictureSize     = 160     // pixels per em: the strike that is taken is the next to it
)

// pictures reports whether a face holds pictures and no outlines: what draws outlines
// draws nothing of it.
func pictures(p fontscan.Footprint) bool {
	if !p.Runes.Contains(0x1F600) && !p.Runes.Contains(0x1F1E6) {
		return false
	}
	file, err := os.Open(p.Location.File)
	if err != nil {
		return false
	}
	defer file.Close()
	loaders, err := opentype.NewLoaders(file)
	if err != nil || int(p.Location.Index) >= len(loaders) {
		return false
	}
	ld := loaders[p.Location.Index]
	has := func(tags ...string) bool {
		for _, t := range tags {
			if ld.HasTable(opentype.MustNewTag(t)) {
				return true
			}
		}
		return false
	}
	return has("CBDT", "sbix") && !has("glyf", "CFF ", "CFF2")
}

// pictureFont is a font whose characters are pictures.
type pictureFont struct {
	face   *font.Face
	name   string
	shaper shaping.HarfbuzzShaper
	seen   map[string]*image.NRGBA // nil: it has none
}

// Color names the font of pictures that this machine has, "" for none.
func (s *Set) Color() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.colorFont(); f != nil {
		return f.name
	}
	return ""
}

// colorFont opens the first font of pictures that can be read, once.
func (s *Set) colorFont() *pictureFont {
	if s.pictures != nil {
		return s.pictures
	}
	got := s.scan()
	for _, p := range got.color {
		file, err := os.Open(p.Location.File)
		if err != nil {
			continue
		}
		f, err := openPictures(file, int(p.Location.Index))
		file.Close()
		if err == nil {
			s.pictures = f
			return f
		}
	}
	return nil
}

func openPictures(file opentype.Resource, index int) (*pictureFont, error) {
	loaders, err := opentype.NewLoaders(file)
	if err != nil {
		return nil, err
	}
	if index >= len(loaders) {
		return nil, fmt.Errorf("the collection has %d fonts, not %d", len(loaders), index+1)
	}
	ft, err := font.NewFont(loaders[index])
	if err != nil {
		return nil, err
	}
	f := &pictureFont{face: font.NewFace(ft), name: ft.Describe().Family, seen: map[string]*image.NRGBA{}}
	f.face.SetPpem(pictureSize, pictureSize)
	return f, nil
}

// Picture is what the machine's font of pictures shows for one character as a reader
// sees it: a face, a family, a flag. Parts of which the font has no picture as a whole
// stand side by side. nil: it has none.
func (s *Set) Picture(cluster string) *image.NRGBA {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.colorFont()
	if f == nil {
		return nil
	}
	if p, ok := f.seen[cluster]; ok {
		return p
	}
	p := f.draw(cluster)
	if len(f.seen) < maxWidths {
		f.seen[cluster] = p
	}
	return p
}

// draw shapes a cluster and puts the pictures of its glyphs side by side.
func (f *pictureFont) draw(cluster string) *image.NRGBA {
	runes := []rune(cluster)
	if len(runes) == 0 || len(runes) > maxClusterRunes {
		return nil
	}
	out := f.shaper.ShapeNoExtents(shaping.Input{
		Text: runes, RunEnd: len(runes), Face: f.face, Size: fixed.I(pictureSize), Script: language.Common, Direction: di.DirectionLTR, Language: language.DefaultLanguage(),
	})
	var parts []*image.NRGBA
	for _, g := range out.Glyphs {
		b, ok := f.face.GlyphDataBitmap(g.GlyphID)
		if !ok || g.GlyphID == 0 || b.Format != font.PNG {
			if g.Advance == 0 { // a joiner, a selector
				continue
			}
			return nil
		}
		p, err := DecodePicture(b.Data)
		if err != nil {
			return nil
		}
		parts = append(parts, p)
	}
	if len(parts) == 0 || len(parts) > maxParts {
		return nil
	}
	return beside(parts)
}

// beside puts pictures side by side, on one ground.
func beside(parts []*image.NRGBA) *image.NRGBA {
	if len(parts) == 1 {
		return parts[0]
	}
	w, h := 0, 0
	for _, p := range parts {
		w, h = w+p.Rect.Dx(), max(h, p.Rect.Dy())
	}
	out := image.NewNRGBA(image.Rect(0, 0, w, h))
	x := 0
	for _, p := range parts {
		at := image.Pt(x, h-p.Rect.Dy())
		draw.Draw(out, image.Rectangle{Min: at, Max: at.Add(p.Rect.Size())}, p, image.Point{}, draw.Src)
		x += p.Rect.Dx()
	}
	return out
}

// DecodePicture reads a small PNG. The error is for the operator's log.
func DecodePicture(data []byte) (*image.NRGBA, error) {
	if len(data) > maxPictureBytes {
		return nil, fmt.Errorf("the picture has %d bytes, more than %d", len(data), maxPictureBytes)
	}
	c, err := png.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	if c.Width < 1 || c.Height < 1 || c.Width > maxPictureSide || c.Height > maxPictureSide {
		return nil, fmt.Errorf("the picture of %d×%d pixels is larger than %d", c.Width, c.Height, maxPictureSide)
	}
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	if p, ok := img.(*image.NRGBA); ok && p.Rect.Min == (image.Point{}) {
		return p, nil
	}
	out := image.NewNRGBA(image.Rect(0, 0, c.Width, c.Height))
	draw.Draw(out, out.Rect, img, img.Bounds().Min, draw.Src)
	return out, nil
}

// NoColor is the error of a machine without a font of pictures.
func NoColor() error {
	return cutroom.Errorf(cutroom.MissingDependency, "no font with pictures of emoji is installed").
		WithHint("install %s, or give a folder of pictures as emoji_assets, or leave emoji out of the call: they are drawn in one colour then", ColorPackage)
}

// PictureNames are the names that folders of pictures give to a cluster, without a
// suffix: its code points in hexadecimal digits, four at least or as many as there are,
// joined by - or _, with the selector of pictures (FE0F) or without it.
func PictureNames(cluster string) []string {
	var names []string
	for _, form := range []string{"%x", "%04x"} {
		var full, bare []string
		for _, r := range cluster {
			code := fmt.Sprintf(form, r)
			full = append(full, code)
			if r != 0xFE0F {
				bare = append(bare, code)
			}
		}
		for _, codes := range [][]string{full, bare} {
			for _, n := range []string{strings.Join(codes, "-"), strings.Join(codes, "_"), "emoji_u" + strings.Join(codes, "_")} {
				if !slices.Contains(names, n) {
					names = append(names, n)
				}
			}
		}
	}
	return names
}
