package caption_test

import (
	"os"
	"path/filepath"
	"sync"

	"cutroom"
	"cutroom/internal/caption"
	"cutroom/internal/font"
)

// machine are the real fonts of this machine.
type machine struct{ *font.Set }

var fonts = sync.OnceValue(func() caption.Fonts {
	return machine{font.NewSet(filepath.Join(os.TempDir(), "cutroom-test-fonts"), font.Folders()...)}
})

func (m machine) Find(family, language, text string, bold bool) (caption.Face, error) {
	f, err := m.Set.Find(family, language, text, bold)
	if err != nil {
		return nil, err
	}
	return f, nil
}

func plainOptions() caption.Options {
	return caption.Options{
		Width: 1280, Height: 720, MaxLines: 2, Fit: true, MinSize: 13,
		Style: caption.Style{Size: 24, Color: "FFFFFF", OutlineBy: "000000", Outline: 2, Position: caption.Bottom, Margin: 30},
	}
}

func cue(start, end float64, text string) caption.Cue {
	return caption.Cue{Start: cutroom.MicrosOf(start), End: cutroom.MicrosOf(end), Text: text}
}
