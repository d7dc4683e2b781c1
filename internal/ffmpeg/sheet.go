package ffmpeg

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"

	"golang.org/x/image/draw"
	"golang.org/x/image/font"
	"golang.org/x/image/font/basicfont"
	"golang.org/x/image/math/fixed"
)

// SheetFrame is one picture of a contact sheet.
type SheetFrame struct {
	JPEG  []byte
	Label string // below the picture, usually its time; ASCII, cut to the cell
}

// Bounds of a contact sheet.
const (
	maxSheetFrames = 400
	maxSheetSide   = 8192
	maxJPEGPixels  = 64 << 20
	labelScale     = 2
	sheetGap       = 6
	sheetStrip     = 13*labelScale + sheetGap // the built-in font is 13 pixels high
)

var (
	sheetPaper = color.RGBA{0x18, 0x18, 0x18, 0xff}
	sheetInk   = color.RGBA{0xff, 0xff, 0xff, 0xff}
)

// Sheet draws frames left to right, top to bottom, in columns of cellWidth pixels,
// each over its label, and returns the sheet as a JPEG. Cells are as high as the
// tallest picture; pictures keep their shape. columns 0 chooses about as many
// columns as rows.
func Sheet(frames []SheetFrame, columns, cellWidth int) ([]byte, error) {
	sheet, err := DrawSheet(frames, columns, cellWidth, nil)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := jpeg.Encode(&out, sheet, &jpeg.Options{Quality: 85}); err != nil {
		return nil, fmt.Errorf("write the sheet: %w", err)
	}
	return out.Bytes(), nil
}

// DrawSheet draws what [Sheet] writes. touch, when set, works on each picture once it
// has its size. A sheet whose labels are all empty has no room for them.
func DrawSheet(frames []SheetFrame, columns, cellWidth int, touch func(*image.RGBA)) (*image.RGBA, error) {
	if len(frames) == 0 || len(frames) > maxSheetFrames {
		return nil, fmt.Errorf("a sheet holds 1 to %d frames, not %d", maxSheetFrames, len(frames))
	}
	if columns <= 0 {
		for columns = 1; columns*columns < len(frames); columns++ {
		}
	}
	columns = min(columns, len(frames))
	cellWidth = max(32, min(cellWidth, (maxSheetSide-sheetGap)/columns-sheetGap))
	cells := make([]*image.RGBA, len(frames))
	height, strip := 0, 0
	for i, f := range frames {
		c, err := cell(f.JPEG, cellWidth)
		if err != nil {
			return nil, fmt.Errorf("frame %d of the sheet: %w", i+1, err)
		}
		if touch != nil {
			touch(c)
		}
		cells[i] = c
		height = max(height, c.Bounds().Dy())
		if f.Label != "" {
			strip = sheetStrip
		}
	}
	rows := (len(frames) + columns - 1) / columns
	size := image.Rect(0, 0, columns*(cellWidth+sheetGap)+sheetGap, rows*(height+strip+sheetGap)+sheetGap)
	if size.Dy() > maxSheetSide {
		return nil, fmt.Errorf("the sheet would be %d pixels high; the limit is %d", size.Dy(), maxSheetSide)
	}
	sheet := image.NewRGBA(size)
	draw.Draw(sheet, size, image.NewUniform(sheetPaper), image.Point{}, draw.Src)
	for i, c := range cells {
		x := sheetGap + i%columns*(cellWidth+sheetGap)
		y := sheetGap + i/columns*(height+strip+sheetGap)
		b := c.Bounds()
		at := image.Pt(x+(cellWidth-b.Dx())/2, y+(height-b.Dy())/2)
		draw.Draw(sheet, b.Add(at), c, image.Point{}, draw.Src)
		label(sheet, image.Rect(x, y+height, x+cellWidth, y+height+strip), frames[i].Label)
	}
	return sheet, nil
}

// CellWidth is how wide the cells of a sheet are that is width pixels wide.
func CellWidth(width, columns int) int {
	return max(32, (width-sheetGap)/max(1, columns)-sheetGap)
}

// SheetPNG returns a sheet as a PNG.
func SheetPNG(sheet []byte) ([]byte, error) {
	m, err := jpeg.Decode(bytes.NewReader(sheet))
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := png.Encode(&out, m); err != nil {
		return nil, fmt.Errorf("write the sheet: %w", err)
	}
	return out.Bytes(), nil
}

// Bounds of [SheetLayout]: a cell holds the label of a time, and is an overview.
const (
	leastCell = 160
	mostCell  = 512
)

// SheetLayout returns columns and cell width for a sheet of n pictures of the size of
// first, a JPEG, so that they come out as large as they can on a sheet with sides of
// at most side pixels. Fewer columns have to be worth it, by a tenth.
func SheetLayout(n int, first []byte, side int) (columns, cellWidth int, err error) {
	conf, err := jpeg.DecodeConfig(bytes.NewReader(first))
	if err != nil {
		return 0, 0, err
	}
	w, h := max(1, conf.Width), max(1, conf.Height)
	most := max(leastCell, min(mostCell, w))
	for c := n; c > 0; c-- {
		rows := (n + c - 1) / c
		across := (side-sheetGap)/c - sheetGap
		down := (side-sheetGap)/rows - sheetGap - sheetStrip
		width := min(across, down*w/h, most)
		if width*10 > cellWidth*11 {
			columns, cellWidth = c, width
		}
	}
	return columns, max(32, cellWidth), nil
}

// cell decodes a picture and fits it to a width, or to a height of 16/9 of it.
func cell(b []byte, width int) (*image.RGBA, error) {
	src, err := readJPEG(b)
	if err != nil {
		return nil, err
	}
	size := src.Bounds()
	w := width
	h := max(1, size.Dy()*w/size.Dx())
	if limit := width * 16 / 9; h > limit {
		h = limit
		w = max(1, size.Dx()*h/size.Dy())
	}
	dst := image.NewRGBA(image.Rect(0, 0, w, h))
	scaler := draw.Interpolator(draw.ApproxBiLinear)
	if w < size.Dx()/2 {
		scaler = draw.BiLinear // a wide kernel: ApproxBiLinear skips pixels when shrinking
	}
	scaler.Scale(dst, dst.Bounds(), src, src.Bounds(), draw.Src, nil)
	return dst, nil
}

// label draws text into box at twice the size of the built-in font.
func label(dst *image.RGBA, box image.Rectangle, text string) {
	face := basicfont.Face7x13
	if fits := box.Dx() / (face.Advance * labelScale); len(text) > fits {
		text = text[:max(0, fits)]
	}
	small := image.NewRGBA(image.Rect(0, 0, max(1, len(text)*face.Advance), face.Height))
	draw.Draw(small, small.Bounds(), image.NewUniform(sheetPaper), image.Point{}, draw.Src)
	d := font.Drawer{Dst: small, Src: image.NewUniform(sheetInk), Face: face, Dot: fixed.P(0, face.Ascent)}
	d.DrawString(text)
	w, h := small.Bounds().Dx()*labelScale, small.Bounds().Dy()*labelScale
	at := image.Pt(box.Min.X+(box.Dx()-w)/2, box.Min.Y+(box.Dy()-h)/2)
	draw.NearestNeighbor.Scale(dst, image.Rectangle{at, at.Add(image.Pt(w, h))}, small, small.Bounds(), draw.Src, nil)
}
