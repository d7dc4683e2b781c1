package argv

import "io"

// Value returns the first value of type T that a run's consumers made, and false when
// there is none.
func Value[T any](r Result) (T, bool) {
	for _, v := range r.Values {
		if t, ok := v.(T); ok {
			return t, true
		}
	}
	var zero T
	return zero, false
}

// Ignore is the consumer of a pipe that nobody wants: it reads it to its end.
func Ignore(r io.Reader) (any, error) {
	_, err := io.Copy(io.Discard, r)
	return nil, err
}
