package ocr

import (
	"errors"
	"flag"
	"fmt"
	"image"
	"io"
	"os"
	"slices"

	"cutroom/internal/onnx"
	"cutroom/internal/picture"
)

// ChildName is argv[0] of the sandboxed run of our binary that reads pictures.
const ChildName = "cutroom-ocr"

// surely is the score from which PP-OCRv4's reading is taken without asking
// Tesseract.
const surely = 0.9

// faint is the score beneath which a line that PP-OCRv4 covers is no text.
const faint = 0.5

// order is what the child is asked to do.
type order struct {
	runtimeLib, detect, read, keys string // without runtimeLib: prepare pages only
	crops, pages                   string // the lists to write
	language                       string
	side, threads                  int
	pictures                       []string
}

// Child is the program that [First] plans. It reads the pictures named by args
// (without argv[0]), prints one [Frame] a line, and writes what Tesseract is to
// read, with two lists of it, into the folder of those lists. The exit code is 0
// even when pictures were unreadable, 2 on a wrong argument, 1 on anything else.
func Child(args []string, _ io.Reader, stdout, stderr io.Writer) int {
	return picture.Child(args, stdout, stderr, parseOrder)
}

func parseOrder(args []string, stderr io.Writer) (order, error) {
	var o order
	fs := flag.NewFlagSet(ChildName, flag.ContinueOnError)
	fs.SetOutput(stderr)
	fs.StringVar(&o.runtimeLib, "lib", "", "ONNX Runtime")
	fs.StringVar(&o.detect, "det", "", "detection model")
	fs.StringVar(&o.read, "rec", "", "recognition model")
	fs.StringVar(&o.keys, "keys", "", "alphabet of the recognition model")
	fs.StringVar(&o.crops, "crops", "", "list of lines to write")
	fs.StringVar(&o.pages, "pages", "", "list of pages to write")
	fs.StringVar(&o.language, "lang", DefaultLanguage, "languages")
	fs.IntVar(&o.side, "side", DefaultSide, "longer side of detection's input")
	fs.IntVar(&o.threads, "threads", DefaultThreads, "threads")
	if err := fs.Parse(args); err != nil {
		return o, err
	}
	o.pictures = fs.Args()
	if _, err := languages(o.language); err != nil {
		return o, err
	}
	switch {
	case o.crops == "" || o.pages == "":
		return o, errors.New("--crops and --pages are needed")
	case o.side < minSideOption || o.side > maxSideOption || o.threads < 1 || o.threads > maxThreads:
		return o, errors.New("--side or --threads out of range")
	case len(o.pictures) > maxFrames:
		return o, errors.New("too many pictures")
	}
	return o, nil
}

// session is one run of the child.
type session struct {
	order
	models       *models // nil when only pages are prepared
	crops, pages *gallery
	askAll       bool // PP-OCRv4 does not read every language asked for
}

// Run carries the order out.
func (o order) Run(stdout io.Writer) (err error) {
	s := session{order: o}
	names, err := languages(o.language)
	if err != nil {
		return err
	}
	s.askAll = !paddleReadsAll(names)
	if o.runtimeLib != "" {
		if s.models, err = loadModels(o, names); err != nil {
			return err
		}
	}
	if s.crops, err = newGallery(o.crops); err != nil {
		return err
	}
	if s.pages, err = newGallery(o.pages); err != nil {
		return errors.Join(err, s.crops.close())
	}
	err = picture.Each(stdout, s.pictures, s.frame)
	return errors.Join(err, s.crops.close(), s.pages.close())
}

// frame reads one picture. A picture that cannot be read is a frame with a problem;
// an error is a failure of the models or the disk.
func (s *session) frame(index int, path string) (Frame, error) {
	im, err := picture.Open(path)
	switch {
	case errors.Is(err, picture.ErrTooLarge):
		return Frame{Index: index, Problem: TooLarge}, nil
	case err != nil:
		return Frame{Index: index, Problem: Unreadable}, nil
	}
	b := im.Bounds()
	f := Frame{Index: index, Width: b.Dx(), Height: b.Dy()}
	w, h := mapSize(f.Width, f.Height, s.side)
	small := shrink(im, w, h)
	f.Flat = flat(small)
	if s.models != nil {
		return f, s.readFrame(&f, im, small)
	}
	g, scale := page(luma(im))
	f.Scale = scale
	f.Page, err = s.pages.add(g)
	return f, err
}

// readFrame reads f's lines with PP-OCRv4 and prepares those that Tesseract is to
// read as well.
func (s *session) readFrame(f *Frame, im image.Image, small *image.RGBA) error {
	found, err := s.look(f, im, small)
	if err != nil {
		return err
	}
	bright := luma(im)
	lines := spans(found)
	if f.Flat {
		for _, line := range lines {
			for i := range line {
				line[i].rect = tighten(bright, line[i].rect)
				line[i].box = line[i].rect.upright(f.Width, f.Height)
			}
		}
	}
	read, err := s.models.readLines(im, slices.Concat(lines...), columnsFor(len(s.pictures)))
	if err != nil {
		return err
	}
	for _, line := range lines {
		l := Found{}
		worst := 1.0
		for i, r := range line {
			l.Parts = append(l.Parts, Part{Box: r.box, Text: read[i].text, Score: read[i].score})
			l.Box = l.Box.union(r.box)
			worst = min(worst, read[i].score)
		}
		read = read[len(line):]
		// Where PP-OCRv4 knows the script, Tesseract is asked about clean pages, which
		// it reads better, and about what PP-OCRv4 took for text but could not read well.
		// It also gets what was beyond the budget.
		if s.askAll || f.Flat || (worst < surely && worst >= faint) || l.unread() {
			if l.Crops, err = s.addCrops(bright, line.rect(), f.Flat); err != nil {
				return err
			}
		}
		f.Lines = append(f.Lines, l)
	}
	return nil
}

// unread reports whether PP-OCRv4 read nothing in the line.
func (l Found) unread() bool {
	return !slices.ContainsFunc(l.Parts, func(p Part) bool { return p.Text != "" })
}

// A second, closer look is worth its fourfold cost for small print: at half size
// dense lines run into each other (measured on 1080p code at 15 px: 68 % of the
// characters wrong, 3 % after it).
const (
	smallPrint = 18   // median height of regions in detection's map
	manyLines  = 6    // fewer are not worth it on a photograph
	closerSide = 1920 // its longer side
	bareShare  = 0.99 // a flat picture with more still tiles is empty
)

// look finds the text in im, of which small is a scaled copy.
func (s *session) look(f *Frame, im image.Image, small *image.RGBA) ([]region, error) {
	found, err := s.models.find(im, small)
	if err != nil {
		return nil, err
	}
	longer := max(f.Width, f.Height)
	side := min(longer, closerSide)
	if side*3 < s.side*4 || !s.tooSmall(f, found, small) {
		return found, nil
	}
	w, h := mapSize(f.Width, f.Height, side)
	return s.models.find(im, shrink(im, w, h))
}

// tooSmall reports whether what was found in small is small print, or a flat
// picture that is not bare shows nothing.
func (s *session) tooSmall(f *Frame, found []region, small *image.RGBA) bool {
	if len(found) == 0 {
		return f.Flat && stillTiles(small) < bareShare
	}
	scale := float64(max(small.Bounds().Dx(), small.Bounds().Dy())) / float64(max(f.Width, f.Height))
	heights := make([]float64, len(found))
	for i, r := range found {
		heights[i] = min(r.rect.w, r.rect.h) * scale
	}
	slices.Sort(heights)
	return heights[len(heights)/2] < smallPrint && (f.Flat || len(found) >= manyLines)
}

// addCrops prepares the line at r: as it is on a flat page, else with its letters
// separated from the ground.
func (s *session) addCrops(g *image.Gray, r rect, flat bool) ([]int, error) {
	strip := lineStrip(g, r)
	pictures := []*image.Gray{stretched(strip)}
	if !flat {
		pictures = inked(strip)
	}
	var numbers []int
	for _, p := range pictures {
		n, err := s.crops.add(p)
		if err != nil {
			return nil, err
		}
		numbers = append(numbers, n)
	}
	return numbers, nil
}

// loadModels loads both networks and the alphabet.
func loadModels(o order, names []string) (*models, error) {
	rt, err := onnx.Open(o.runtimeLib)
	if err != nil {
		return nil, err
	}
	m := &models{}
	if m.detect, err = rt.Load(o.detect, o.threads); err != nil {
		return nil, fmt.Errorf("detection model: %w", err)
	}
	if m.read, err = rt.Load(o.read, o.threads); err != nil {
		return nil, fmt.Errorf("recognition model: %w", err)
	}
	text, err := os.ReadFile(o.keys)
	if err != nil {
		return nil, fmt.Errorf("alphabet: %w", err)
	}
	m.keys = alphabet(string(text))
	return m, nil
}
