package setup

import (
	"path/filepath"

	"cutroom/internal/caption"
	"cutroom/internal/font"
)

// fonts are the machine's fonts as captions ask for them.
type fonts struct{ *font.Set }

// newFonts returns the fonts that the renderer may read. None is looked for before one
// is needed.
func newFonts(s settings) caption.Fonts {
	return fonts{font.NewSet(filepath.Join(s.folders.State, "fonts"), font.Folders()...)}
}

// Find returns the face that draws text.
func (f fonts) Find(family, language, text string, bold bool) (caption.Face, error) {
	face, err := f.Set.Find(family, language, text, bold)
	if err != nil {
		return nil, err
	}
	return face, nil
}
