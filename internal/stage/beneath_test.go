//go:build unix

package stage

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"

	"cutroom"
)

// inputs makes a root with everything that an input path can meet.
func inputs(t testing.TB) string {
	t.Helper()
	root, outside := t.TempDir(), t.TempDir()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.MkdirAll(filepath.Join(root, "sub/deep"), 0o700))
	for _, p := range []string{"clip.mp4", "sub/deep/clip.mp4", "-dash.mp4", "%d \"q\" 日本.mp4", "new\nline.mp4"} {
		must(os.WriteFile(filepath.Join(root, p), []byte(p), 0o600))
	}
	must(os.WriteFile(filepath.Join(outside, "secret"), []byte("secret"), 0o600))
	must(os.Symlink(filepath.Join(outside, "secret"), filepath.Join(root, "link")))
	must(os.Symlink("clip.mp4", filepath.Join(root, "link-inside")))
	must(os.Symlink(outside, filepath.Join(root, "link-folder")))
	must(os.Symlink("deep", filepath.Join(root, "sub/link-deep")))
	must(os.Symlink("nowhere", filepath.Join(root, "dangling")))
	must(os.Symlink("loop", filepath.Join(root, "loop")))
	must(unix.Mkfifo(filepath.Join(root, "fifo"), 0o600))
	must(unix.Mknod(filepath.Join(root, "socket"), unix.S_IFSOCK|0o600, 0))
	return root
}

func TestOpenBeneath(t *testing.T) {
	t.Parallel()
	root := inputs(t)
	for path, code := range map[string]cutroom.Code{
		"clip.mp4": "", "sub/deep/clip.mp4": "", "./sub//deep/./clip.mp4": "", "-dash.mp4": "",
		"%d \"q\" 日本.mp4": "", "new\nline.mp4": "", filepath.Join(root, "sub/deep/clip.mp4"): "",
		"": cutroom.Invalid, ".": cutroom.Invalid, "sub": cutroom.Invalid, "clip.mp4/": cutroom.Invalid, "a\x00b": cutroom.Invalid,
		"fifo": cutroom.Invalid, "socket": cutroom.Invalid,
		strings.Repeat("n", 300): cutroom.Invalid, strings.Repeat("n/", 3000) + "n": cutroom.Invalid,
		"nowhere": cutroom.NotFound, "clip.mp4/x": cutroom.NotFound, "sub/nowhere/x": cutroom.NotFound,
		"link": cutroom.Denied, "link-inside": cutroom.Denied, "link-folder/secret": cutroom.Denied,
		"sub/link-deep/clip.mp4": cutroom.Denied, "dangling": cutroom.Denied, "loop": cutroom.Denied, "loop/x": cutroom.Denied,
		"..": cutroom.Denied, "../x": cutroom.Denied, "sub/../clip.mp4": cutroom.Denied, "/etc/passwd": cutroom.Denied,
		root + "/../x": cutroom.Denied, root + "x/y": cutroom.Denied, root: cutroom.Denied,
	} {
		f, err := OpenBeneath(root, path)
		if code == "" {
			if err != nil {
				t.Errorf("%q: %v", path, err)
				continue
			}
			b, _ := io.ReadAll(f)
			if want := strings.TrimPrefix(filepath.Clean(path), root+"/"); string(b) != want {
				t.Errorf("%q opened the file %q", path, b)
			}
			f.Close()
			continue
		}
		if err == nil {
			t.Errorf("%q was opened", path)
			continue
		}
		wantCode(t, err, code)
		if !strings.Contains(path, root) && strings.Contains(err.Error(), root) {
			t.Errorf("%q: the error %q names the root", path, err)
		}
	}
}

// TestDevices opens nothing: a device is looked at only.
func TestDevices(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"null", "zero", "tty"} {
		_, err := OpenBeneath("/dev", path)
		wantCode(t, err, cutroom.Invalid, path)
	}
	_, err := OpenBeneath("/proc", "self/status")
	wantCode(t, err, cutroom.Denied)
}

// TestLongPathsAreNotRepeated bounds what an error says of a path.
func TestLongPathsAreNotRepeated(t *testing.T) {
	t.Parallel()
	_, err := OpenBeneath(t.TempDir(), strings.Repeat("é/", 1<<20)+"x")
	wantCode(t, err, cutroom.Invalid)
	if n := len(err.Error()); n > 2*maxShown {
		t.Errorf("the error has %d bytes", n)
	}
}

// TestStepsAgreeWithOneCall compares the walk for kernels without openat2 with the
// kernel's own.
func TestStepsAgreeWithOneCall(t *testing.T) {
	t.Parallel()
	root := inputs(t)
	d, err := openRoot(root)
	if err != nil {
		t.Fatal(err)
	}
	defer d.close()
	rapid.Check(t, func(t *rapid.T) {
		p := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{
			"clip.mp4", "sub", "deep", ".", "..", "", "link", "link-folder", "link-deep", "secret", "dangling", "loop", "nowhere",
		}), 1, 4).Draw(t, "parts"), "/")
		flags := rapid.SampledFrom([]int{openFolder, unix.O_RDONLY | unix.O_NONBLOCK | unix.O_NOFOLLOW}).Draw(t, "flags")
		a, errA := d.walk(p, flags)
		b, errB := d.steps(p, flags)
		if errA == nil && errB == nil {
			x, _ := statFD(a)
			y, _ := statFD(b)
			if !x.sameInode(y.Identity) {
				t.Fatalf("%q: two files", p)
			}
		} else if plain(errA) != plain(errB) {
			t.Fatalf("%q: one call answers %v, steps %v", p, errA, errB)
		}
		unix.Close(a)
		unix.Close(b)
	})
}

// TestExchange swaps a file for links and FIFOs while it is opened: what is opened
// always is the file itself.
func TestExchange(t *testing.T) {
	t.Parallel()
	root := inputs(t)
	secret, err := os.Readlink(filepath.Join(root, "link"))
	if err != nil {
		t.Fatal(err)
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		target, temp := filepath.Join(root, "sub/x"), filepath.Join(root, "sub/t")
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			os.Remove(temp)
			switch i % 3 {
			case 0:
				os.WriteFile(temp, []byte("good"), 0o600)
			case 1:
				os.Symlink(secret, temp)
			case 2:
				unix.Mkfifo(temp, 0o600)
			}
			os.Rename(temp, target)
		}
	}()
	opened := 0
	for range 2000 {
		f, err := OpenBeneath(root, "sub/x")
		if err != nil {
			continue
		}
		opened++
		if b, _ := io.ReadAll(f); string(b) != "good" && len(b) != 0 {
			t.Fatalf("read %q", b)
		}
		f.Close()
	}
	close(stop)
	<-stopped
	t.Logf("%d of 2000 opened", opened)
}

func FuzzOpenBeneath(f *testing.F) {
	for _, p := range []string{"clip.mp4", "../x", "link-folder/secret", "sub/./deep//clip.mp4", "a\x00", "/", "fifo", "sub/link-deep/../clip.mp4"} {
		f.Add(p)
	}
	root := inputs(f)
	f.Fuzz(func(t *testing.T, p string) {
		file, err := OpenBeneath(root, p)
		if err != nil {
			if _, ok := err.(*cutroom.Error); !ok {
				t.Fatalf("%q: %T", p, err)
			}
			return
		}
		defer file.Close()
		b, _ := io.ReadAll(file)
		if clean := strings.TrimPrefix(filepath.Clean(p), root+"/"); string(b) != clean {
			t.Fatalf("%q opened %q", p, b)
		}
	})
}
