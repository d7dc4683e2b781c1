package platform

import (
	"fmt"
	"math"
	"regexp"
	"slices"

	"github.com/go-json-experiment/json"

	"cutroom"
)

// Catalog is a set of platforms and presets.
type Catalog struct {
	Platforms []Spec
	Presets   []Preset
}

// document is the form of one file.
type document struct {
	Comment   string   `json:"comment"` // for who reads the file
	Platforms []Spec   `json:"platforms"`
	Presets   []Preset `json:"presets"`
}

// Parse reads documents in order: what a later one calls by a name that is taken
// replaces it. A key that is not known, a value out of range and a name that stands for
// two things are refused, with the document's number, counted from 1, and the entry.
func Parse(documents ...[]byte) (Catalog, error) {
	var c Catalog
	for i, text := range documents {
		var d document
		if err := json.Unmarshal(text, &d, json.RejectUnknownMembers(true)); err != nil {
			return Catalog{}, cutroom.Errorf(cutroom.Invalid, "platforms document %d: %v", i+1, err).
				WithHint("write it as the shipped one is written")
		}
		for _, s := range d.Platforms {
			c.Platforms = replace(c.Platforms, s, func(s Spec) string { return s.Name })
		}
		for _, p := range d.Presets {
			c.Presets = replace(c.Presets, p, func(p Preset) string { return p.Name })
		}
		if err := c.check(); err != nil {
			return Catalog{}, cutroom.Errorf(cutroom.Invalid, "platforms document %d: %v", i+1, err).WithHint("correct that entry")
		}
	}
	return c, nil
}

func replace[T any](list []T, v T, name func(T) string) []T {
	if i := slices.IndexFunc(list, func(have T) bool { return name(have) == name(v) }); i >= 0 {
		list[i] = v
		return list
	}
	return append(list, v)
}

// Find returns the platform of that name or alias.
func (c Catalog) Find(name string) (Spec, error) {
	i, err := lookup("platform", name, c.Platforms, Spec.names)
	if err != nil {
		return Spec{}, err
	}
	return c.Platforms[i], nil
}

// Preset returns the preset of that name or alias.
func (c Catalog) Preset(name string) (Preset, error) {
	i, err := lookup("export preset", name, c.Presets, Preset.names)
	if err != nil {
		return Preset{}, err
	}
	return c.Presets[i], nil
}

func (s Spec) names() []string   { return append([]string{s.Name}, s.Aliases...) }
func (p Preset) names() []string { return append([]string{p.Name}, p.Aliases...) }

func lookup[T any](what, name string, list []T, names func(T) []string) (int, error) {
	var first, all []string
	for i, v := range list {
		n := names(v)
		if slices.Contains(n, name) {
			return i, nil
		}
		first, all = append(first, n[0]), append(all, n...)
	}
	e := cutroom.Errorf(cutroom.Invalid, "there is no %s %q", what, clip(name))
	if near := nearest(name, all); near != "" {
		return 0, e.WithHint("did you mean %s? There are %s", near, join(first))
	}
	return 0, e.WithHint("choose one of %s", join(first))
}

var (
	wellNamed = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	suffix    = regexp.MustCompile(`^\.[a-z0-9]{1,5}$`)
)

// check refuses what cannot be meant.
func (c Catalog) check() error {
	taken := map[string]string{}
	for _, s := range c.Platforms {
		if err := claim(taken, s.names()); err != nil {
			return fmt.Errorf("platform %q: %w", clip(s.Name), err)
		}
		if err := s.check(); err != nil {
			return fmt.Errorf("platform %q: %w", clip(s.Name), err)
		}
	}
	taken = map[string]string{}
	for _, p := range c.Presets {
		if err := claim(taken, p.names()); err != nil {
			return fmt.Errorf("preset %q: %w", clip(p.Name), err)
		}
		if err := p.check(c); err != nil {
			return fmt.Errorf("preset %q: %w", clip(p.Name), err)
		}
	}
	return nil
}

func claim(taken map[string]string, names []string) error {
	for _, n := range names {
		if !wellNamed.MatchString(n) || len(n) > 32 {
			return fmt.Errorf("the name %q is not one: use small letters, digits and single hyphens", clip(n))
		}
		if by, ok := taken[n]; ok {
			return fmt.Errorf("the name %q belongs to %q already", n, by)
		}
		taken[n] = names[0]
	}
	return nil
}

func (s Spec) check() error {
	in := s.Safe
	switch {
	case s.Width < 0 || s.Height < 0 || s.Width > 16384 || s.Height > 16384 || (s.Width == 0) != (s.Height == 0):
		return fmt.Errorf("the frame %dx%d is not one", s.Width, s.Height)
	case s.Width%2 != 0 || s.Height%2 != 0:
		return fmt.Errorf("the frame %dx%d is odd: video is stored in pairs of pixels", s.Width, s.Height)
	case s.MinShort < 0 || s.MaxBytes < 0 || !(s.MaxSeconds >= 0 && s.MaxSeconds <= 1e7):
		return fmt.Errorf("a limit is negative or absurd")
	case !within(in.Top, 0, 0.5) || !within(in.Bottom, 0, 0.5) || !within(in.Left, 0, 0.5) || !within(in.Right, 0, 0.5):
		return fmt.Errorf("a safe inset is not a fraction from 0 to 0.5")
	case in.Top+in.Bottom > 0.9 || in.Left+in.Right > 0.9:
		return fmt.Errorf("the safe insets leave no room")
	}
	if l := s.Loudness; l.LUFS != 0 && (!within(l.LUFS, -70, -5) || !within(l.Tolerance, 0, 10) || !within(l.TruePeak, -9, 0)) {
		return fmt.Errorf("the loudness target is out of range: -70 to -5 LUFS, a tolerance up to 10 LU, -9 to 0 dBTP")
	}
	return nil
}

func (p Preset) check(c Catalog) error {
	switch {
	case p.Container != "" && !suffix.MatchString(p.Container):
		return fmt.Errorf("the container %q is not a suffix such as .mp4", clip(p.Container))
	case p.Width < 0 || p.Height < 0 || p.Width%2 != 0 || p.Height%2 != 0 || p.Width > 16384 || p.Height > 16384:
		return fmt.Errorf("the frame %dx%d is not one of even size", p.Width, p.Height)
	case !slices.Contains([]Color{SDR, Keep, HDR}, p.Color):
		return fmt.Errorf("color is sdr, keep or hdr")
	case p.Copy != (p.Video == Video{} && p.Audio == Audio{}):
		return fmt.Errorf("it either copies or says how to encode")
	case p.Platform == "":
		return nil
	}
	s, err := c.Find(p.Platform)
	switch {
	case err != nil:
		return fmt.Errorf("there is no platform %q", clip(p.Platform))
	case !p.Copy && len(s.Codecs) > 0 && !slices.Contains(s.Codecs, p.Video.Codec):
		return fmt.Errorf("%s does not take %s", s.Title, clip(p.Video.Codec))
	case s.SDROnly && p.Color != SDR:
		return fmt.Errorf("%s shows standard dynamic range only", s.Title)
	case len(s.PixelFormats) > 0 && !slices.Contains(s.PixelFormats, p.Video.PixelFormat):
		return fmt.Errorf("%s does not take the pixel format %q", s.Title, clip(p.Video.PixelFormat))
	case s.MaxRate.Known() && p.Rate.Float() > s.MaxRate.Float():
		return fmt.Errorf("%s takes no more than %g frames a second", s.Title, s.MaxRate.Float())
	case p.Audio.Rate != 0 && len(s.SampleRates) > 0 && !slices.Contains(s.SampleRates, p.Audio.Rate):
		return fmt.Errorf("%s does not take sound at %d Hz", s.Title, p.Audio.Rate)
	}
	return nil
}

func within(v, low, high float64) bool { return !math.IsNaN(v) && v >= low && v <= high }
