package scripts_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"cutroom"
	"cutroom/internal/testenv"
)

// shop is a copy of models.sh with a lock of its own and an npm that hands out one
// package, and notes each time it is asked.
type shop struct {
	dir, target string
	path        []string // folders searched before PATH
}

const (
	modelText = "a model"
	vocabText = "<unk>\n<s>\n"
)

func newShop(t *testing.T) *shop {
	t.Helper()
	s := &shop{dir: t.TempDir(), target: filepath.Join(t.TempDir(), "with space", "models")}
	script, err := os.ReadFile("models.sh")
	if err != nil {
		t.Fatal(err)
	}
	s.write(t, "models.sh", string(script))
	s.write(t, "models.lock", fmt.Sprintf("# comment\n%s %d a/b/model.bin thing@1.0.0 deep/model.bin\n%s %d vocab.txt thing@1.0.0 vocab\n",
		cutroom.DigestOf([]byte(modelText)), len(modelText), cutroom.DigestOf([]byte(vocabText)), len(vocabText)))
	s.pack(t, modelText)
	s.write(t, "bin/npm", "#!/bin/sh\necho \"$*\" >>"+s.dir+"/asked\ncp "+s.dir+"/thing.tgz .\necho thing.tgz\n")
	s.path = []string{filepath.Join(s.dir, "bin")}
	return s
}

func (s *shop) write(t *testing.T, name, text string) {
	t.Helper()
	p := filepath.Join(s.dir, name)
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}

// pack makes the package that npm hands out.
func (s *shop) pack(t *testing.T, model string) {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	vocab := base64.StdEncoding.EncodeToString([]byte(vocabText))
	for name, text := range map[string]string{
		"package/deep/model.bin":     model,
		"package/llama-tokenizer.js": `x.llama_vocab_base64 = "` + vocab + "\";\n",
		"package/../../escape":       "must stay inside",
	} {
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(len(text))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	s.write(t, "thing.tgz", b.String())
}

// run installs and returns what was said.
func (s *shop) run(t *testing.T) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "bash", filepath.Join(s.dir, "models.sh"), s.target)
	cmd.Env = append(os.Environ(), "PATH="+strings.Join(append(s.path, os.Getenv("PATH")), ":"))
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// asked returns how often npm was run.
func (s *shop) asked(t *testing.T) int {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(s.dir, "asked"))
	if os.IsNotExist(err) {
		return 0
	}
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Count(b, []byte("\n"))
}

func (s *shop) holds(t *testing.T, name, want string) {
	t.Helper()
	got, err := os.ReadFile(filepath.Join(s.target, name))
	if err != nil || string(got) != want {
		t.Errorf("%s holds %q (%v), not %q", name, got, err, want)
	}
}

func TestModelsAreFetchedOnceAndMended(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	if out, err := s.run(t); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	s.holds(t, "a/b/model.bin", modelText)
	s.holds(t, "vocab.txt", vocabText)
	if n := s.asked(t); n != 1 {
		t.Errorf("one package was fetched %d times", n)
	}
	if out, err := s.run(t); err != nil || s.asked(t) != 1 {
		t.Errorf("all was there, and npm ran again (%v): %s", err, out)
	}
	if err := os.WriteFile(filepath.Join(s.target, "vocab.txt"), []byte("damaged"), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := s.run(t); err != nil || s.asked(t) != 2 {
		t.Errorf("damaged file (%v): %s", err, out)
	}
	s.holds(t, "vocab.txt", vocabText)
}

func TestModelsWithAnotherHashAreRefused(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.pack(t, "another model")
	out, err := s.run(t)
	if err == nil || !strings.Contains(out, "another SHA-256") {
		t.Errorf("accepted (%v): %s", err, out)
	}
	if _, err := os.Stat(filepath.Join(s.target, "a/b/model.bin")); err == nil {
		t.Error("the wrong file was installed")
	}
	if left, _ := filepath.Glob(filepath.Join(s.target, ".fetch-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestModelsAreRefusedWhereUnproven(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.write(t, "arm/uname", "#!/bin/sh\ncase $1 in -m) echo aarch64;; *) echo Linux;; esac\n")
	s.path = append(s.path, filepath.Join(s.dir, "arm"))
	out, err := s.run(t)
	if err == nil || !strings.Contains(out, "aarch64") || s.asked(t) != 0 {
		t.Errorf("accepted, or fetched %d times (%v): %s", s.asked(t), err, out)
	}
}

func TestTwoInstallersShareTheWork(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() {
			if out, err := s.run(t); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
	both.Wait()
	s.holds(t, "a/b/model.bin", modelText)
	if n := s.asked(t); n != 1 {
		t.Errorf("fetched %d times", n)
	}
}

// A machine without ffmpeg, whose apt-get does nothing: setup has to say what is
// missing, and fail.
func TestSetupFailsWhenAProgramStaysMissing(t *testing.T) {
	t.Parallel()
	for _, read := range []string{"setup.sh", "programs.txt"} {
		if _, err := os.Stat(read); err != nil { // tells the test cache what the script reads
			t.Fatal(err)
		}
	}
	bin := t.TempDir()
	for _, p := range []string{"bash", "grep", "sort", "dirname", "tesseract", "ffprobe"} {
		real, err := exec.LookPath(p)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(real, filepath.Join(bin, p)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(bin, "apt-get"), []byte("#!"+filepath.Join(bin, "bash")+"\nexit 0\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), filepath.Join(bin, "bash"), "setup.sh")
	cmd.Env = []string{"PATH=" + bin, "HOME=" + t.TempDir()}
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "ffmpeg") {
		t.Errorf("no ffmpeg, and setup said (%v): %s", err, out)
	}
	if strings.Contains(string(out), "tesseract-ocr ") {
		t.Errorf("tesseract is there, and setup asks for it: %s", out)
	}
}

// The sample clip has to stay what its generator promises.
func TestDemoClip(t *testing.T) {
	t.Parallel()
	testenv.Needs(t, "ffmpeg", "ffprobe")
	clip := filepath.Join(testenv.Root(t), "testdata", "media", "demo.mp4")
	info, err := os.Stat(clip)
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > 1e6 {
		t.Errorf("%d bytes, more than a megabyte", info.Size())
	}
	got := string(testenv.Run(t, "", "ffprobe", "-v", "error", "-show_entries", "stream=codec_name,nb_frames:format=duration", "-of", "csv=p=0", clip))
	if want := "h264,650\naac,1220\n26.000000\n"; got != want {
		t.Errorf("probe says %q, not %q", got, want)
	}
	cmd := exec.CommandContext(t.Context(), "ffmpeg", "-nostdin", "-i", clip, "-af", "silencedetect=n=-50dB:d=3", "-vf", "scdet=t=10", "-f", "null", "-")
	said, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	if n := len(regexp.MustCompile(`lavfi\.scd\.time`).FindAll(said, -1)); n != 4 {
		t.Errorf("%d hard cuts, not 4", n)
	}
	if n := len(regexp.MustCompile(`silence_end`).FindAll(said, -1)); n != 1 {
		t.Errorf("%d silences of 3 s or more, not 1", n)
	}
}
