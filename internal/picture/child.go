package picture

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
)

// Order is what a sandboxed program that looks at pictures was told to do.
type Order interface {
	Run(stdout io.Writer) error
}

// Child is the main function of such a program: it reads its order from args, without
// argv[0], and carries it out. It returns the exit code: 2 on a wrong argument, 1 on
// anything else that fails.
func Child[O Order](args []string, stdout, stderr io.Writer, parse func(args []string, stderr io.Writer) (O, error)) int {
	o, err := parse(args, stderr)
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 2
	}
	if err := o.Run(stdout); err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	return 0
}

// Each writes what look says of each picture as one line of JSON, at once: it is the
// progress of the run. An error of look ends it.
func Each[V any](stdout io.Writer, paths []string, look func(index int, path string) (V, error)) error {
	out := bufio.NewWriter(stdout)
	enc := json.NewEncoder(out)
	for i, path := range paths {
		v, err := look(i, path)
		if err != nil {
			return fmt.Errorf("picture %d: %w", i, err)
		}
		if err := enc.Encode(v); err != nil {
			return fmt.Errorf("write what picture %d shows: %w", i, err)
		}
		if err := out.Flush(); err != nil {
			return fmt.Errorf("write what picture %d shows: %w", i, err)
		}
	}
	return nil
}
