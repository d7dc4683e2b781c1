package gateway

import (
	"context"
	"errors"
	"io"
	"os"
	"runtime"
	"syscall"
	"testing"
	"testing/synctest"

	"cutroom"
)

// TestOneReadsForAll: of many that want the same content at once one reads it; what it
// finds, a fault too, is what all get. When its own client goes, the next one reads.
func TestOneReadsForAll(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fault error
		leave bool // the first one's client goes
		reads int
	}{
		"found":   {nil, false, 1},
		"a fault": {cutroom.Errorf(cutroom.Limit, "too long"), false, 1},
		"left":    {nil, true, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var f flights
				reads, release := 0, make(chan struct{})
				ctx, leave := context.WithCancel(t.Context())
				first, others := make(chan error, 1), make(chan error, 9)
				go func() {
					_, err := f.do(ctx, "k", func() (string, error) {
						reads++
						select {
						case <-ctx.Done():
							return "", ctx.Err()
						case <-release:
							return "seen", c.fault
						}
					})
					first <- err
				}()
				synctest.Wait()
				for range 9 {
					go func() {
						text, err := f.do(t.Context(), "k", func() (string, error) {
							reads++
							<-release
							return "seen", c.fault
						})
						if err == nil && text != "seen" {
							t.Errorf("%q", text)
						}
						others <- err
					}()
				}
				synctest.Wait()
				if c.leave {
					leave()
					synctest.Wait()
				}
				close(release)
				synctest.Wait()
				if err := <-first; c.leave != errors.Is(err, context.Canceled) || !c.leave && !errors.Is(err, c.fault) {
					t.Error(err)
				}
				for range 9 {
					if err := <-others; !errors.Is(err, c.fault) {
						t.Error(err)
					}
				}
				if reads != c.reads || len(f.open) != 0 {
					t.Errorf("read %d times, %d still open", reads, len(f.open))
				}
				leave()
			})
		})
	}
}

// TestAWaitEnds: who waits for another's reading and goes does not wait on.
func TestAWaitEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var f flights
		release := make(chan struct{})
		go func() {
			_, _ = f.do(t.Context(), "k", func() (string, error) { <-release; return "", nil })
		}()
		synctest.Wait()
		ctx, leave := context.WithCancel(t.Context())
		leave()
		if _, err := f.do(ctx, "k", nil); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		close(release)
	})
}

// TestWhoseFault: a content that cannot be decoded is the caller's, a full disk is not.
func TestWhoseFault(t *testing.T) {
	t.Parallel()
	if err := save(full{}, decoded([]byte("AAAA"))); cutroom.AsError(err).Code != cutroom.Unavailable {
		t.Error(err)
	}
	if err := save(io.Discard, decoded([]byte("A%AA"))); cutroom.AsError(err).Code != cutroom.Invalid {
		t.Error(err)
	}
	if err := save(io.Discard, decoded([]byte("AAAA"))); err != nil {
		t.Error(err)
	}
}

type full struct{}

func (full) Write([]byte) (int, error) {
	return 0, &os.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}
}

// TestAnUploadHasNoName: while a content is being read nothing of it lies in a folder, so
// that a server which is killed leaves nothing.
func TestAnUploadHasNoName(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := newReader(Options{Uploads: dir})
	f, open, err := r.file()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString("a picture"); err != nil {
		t.Fatal(err)
	}
	for range 2 { // each from its beginning
		g, err := open()
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(g)
		if g.Close(); err != nil || string(got) != "a picture" {
			t.Errorf("%q %v", got, err)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || runtime.GOOS == "linux" && len(left) > 0 {
		t.Error(left, err)
	}
}
