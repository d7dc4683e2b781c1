package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"cutroom"
	"cutroom/internal/stage"
)

// partFlag starts this program again for one part of the work, so that what it takes
// is a process's whole time.
const partFlag = "-part"

func part(name string, args []string) int {
	err := fmt.Errorf("no part is called %q", name)
	switch name {
	case "hash":
		err = hashOf(args[0])
	case "render":
		err = renderOf(args[0], args[1])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		return 1
	}
	return 0
}

// hashOf reads a file as a new source is read.
func hashOf(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	d, err := digest(f)
	fmt.Println(d)
	return err
}

func digest(f *os.File) (cutroom.Digest, error) {
	var unknown *stage.IdentityCache
	d, _, err := unknown.Digest(context.Background(), f)
	return d, err
}

// hashing compares reading a new source with openssl.
func hashing(ctx context.Context, l *lab) ([]figure, error) {
	if err := l.need(ctx, tenMin); err != nil {
		return nil, err
	}
	path := filepath.Join(l.media, tenMin)
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	f, err := contest{
		what: fmt.Sprintf("hash of %d MB", info.Size()>>20), plain: "openssl dgst -sha256", ours: "stage.IdentityCache.Digest", unit: "×", target: 1.1,
		by: []step{l.plain("openssl", "dgst", "-sha256", path)}, our: l.plain(l.self, partFlag, "hash", path),
	}.run(ctx, l)
	return []figure{f}, err
}
