package setup

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"os"
	"strings"

	"cutroom/internal/ffmpeg"
	"cutroom/internal/sandbox"
)

// modelsFix brings the models and records them.
const modelsFix = "scripts/models.sh (in the source tree), then cutroom setup"

// packages are Debian's for the programs; other systems have like-named ones.
func packageOf(program string) string {
	switch program {
	case "ffprobe":
		return "ffmpeg"
	case "tesseract":
		return "tesseract-ocr tesseract-ocr-eng"
	}
	return program
}

// fix is the exact command that installs a program here, as far as that can be told.
func fix(program string) string {
	release, err := os.ReadFile("/etc/os-release")
	names := packageOf(program)
	if err != nil || !strings.Contains(string(release), "debian") {
		return "install " + names + ", then run cutroom setup"
	}
	sudo := ""
	if os.Geteuid() != 0 {
		sudo = "sudo "
	}
	return sudo + "apt-get install -y " + names + " && cutroom setup"
}

// remarks are what a person should know of a program that works.
func (f *finder) remarks(pin sandbox.Pin) []string {
	switch pin.Name {
	case "ffmpeg":
		a := ffmpeg.RecallAbilities(pin.Version, pin.Abilities)
		if a.AtLeast(5, 1) {
			return nil
		}
		return []string{"5.1 or newer is what the tests run with"}
	case "tesseract":
		p := Pinned{load: func() (*sandbox.Toolchain, error) { return sandbox.NewToolchain(pin), nil }}
		return []string{"reads " + strings.Join(p.Languages(), ", ")}
	}
	return nil
}

// white is a small white picture.
func white() []byte {
	m := image.NewGray(image.Rect(0, 0, 96, 64))
	draw.Draw(m, m.Bounds(), image.NewUniform(color.White), image.Point{}, draw.Src)
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		panic(err) // a picture in memory into a buffer
	}
	return b.Bytes()
}
