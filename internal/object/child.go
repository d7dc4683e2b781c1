package object

import (
	"errors"
	"flag"
	"io"

	"cutroom/internal/picture"
)

// ChildName is argv[0] of the sandboxed run of our binary that looks for objects.
const ChildName = "cutroom-object"

// order is what the child is asked to do.
type order struct {
	graph, weights string
	score          float64
	limit, threads int
	pictures       []string
}

// Child is the program that [Command] plans. It reads the pictures named by args
// (without argv[0]) and prints one [View] a line. The exit code is 0 even when
// pictures were unreadable, 2 on a wrong argument, 1 on anything else.
func Child(args []string, _ io.Reader, stdout, stderr io.Writer) int {
	return picture.Child(args, stdout, stderr, parseOrder)
}

func parseOrder(args []string, stderr io.Writer) (order, error) {
	var o order
	fs := flag.NewFlagSet(ChildName, flag.ContinueOnError)
	fs.SetOutput(stderr)
	fs.StringVar(&o.graph, "graph", "", "graph of the model")
	fs.StringVar(&o.weights, "weights", "", "weights of the model")
	fs.Float64Var(&o.score, "score", DefaultScore, "least score")
	fs.IntVar(&o.limit, "limit", DefaultLimit, "most objects of one picture")
	fs.IntVar(&o.threads, "threads", DefaultThreads, "threads")
	if err := fs.Parse(args); err != nil {
		return o, err
	}
	o.pictures = fs.Args()
	switch {
	case o.graph == "" || o.weights == "":
		return o, errors.New("--graph and --weights are needed")
	case !(o.score >= leastScore && o.score <= 1) || o.limit < 1 || o.limit > MaxLimit || o.threads < 1 || o.threads > maxThreads:
		return o, errors.New("--score, --limit or --threads out of range")
	case len(o.pictures) > MaxPictures:
		return o, errors.New("too many pictures")
	}
	return o, nil
}

// Run carries the order out.
func (o order) Run(stdout io.Writer) error {
	d, err := Load(o.graph, o.weights, o.threads)
	if err != nil {
		return err
	}
	return picture.Each(stdout, o.pictures, func(i int, path string) (View, error) { return o.view(d, i, path), nil })
}

// view looks at one picture. One that cannot be read is a view with a problem.
func (o order) view(d *Detector, index int, path string) View {
	im, err := picture.Open(path)
	switch {
	case errors.Is(err, picture.ErrTooLarge):
		return View{Index: index, Problem: TooLarge}
	case err != nil:
		return View{Index: index, Problem: Unreadable}
	}
	size, shown := im.Bounds().Size(), picture.OrientationOf(path)
	v := View{Index: index, Width: size.X, Height: size.Y, Objects: d.Find(im, shown, o.score, o.limit)}
	if shown.Sideways() {
		v.Width, v.Height = size.Y, size.X
	}
	return v
}
