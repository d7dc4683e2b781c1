package cutroom_test

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// fakeTree is a small repository in which each file breaks the rule that its name
// tells, and those named good break none.
var fakeTree = map[string]string{
	"doc.go":                          "// Package cutroom is.\npackage cutroom",
	"noun_upward.go":                  "package cutroom\nimport _ \"cutroom/internal/stage\"",
	"cmd/cutroom/good.go":             "// Command cutroom is.\npackage main\nimport (_ \"cutroom/internal/cli\"; _ \"cutroom/internal/stage\")",
	"internal/cli/good.go":            "// Package cli is.\npackage cli\nimport (_ \"cutroom\"; _ \"cutroom/internal/engine\"; _ \"github.com/spf13/cobra\")",
	"internal/cli/beside.go":          "package cli\nimport _ \"cutroom/internal/httpapi\"",
	"internal/cli/exec.go":            "package cli\nimport _ \"os/exec\"",
	"internal/cli/newdep.go":          "package cli\nimport _ \"example.org/left/pad\"",
	"internal/cli/testonly.go":        "package cli\nimport _ \"cutroom/internal/testenv\"",
	"internal/engine/good.go":         "// Package engine is.\npackage engine\nimport (_ \"cutroom/internal/tool\"; _ \"cutroom/internal/sandbox/argv\")",
	"internal/engine/upward.go":       "package engine\nimport _ \"cutroom/internal/cli\"",
	"internal/engine/cobra.go":        "package engine\nimport _ \"github.com/spf13/cobra\"",
	"internal/engine/good_test.go":    "package engine\nimport (_ \"cutroom/internal/testenv\"; _ \"os/exec\"; _ \"github.com/google/go-cmp/cmp\")",
	"internal/tools/good.go":          "// Package tools is.\npackage tools\nimport _ \"cutroom/internal/tools/video\"",
	"internal/tools/video/good.go":    "// Package video is.\npackage video\nimport (_ \"cutroom/internal/tool\"; _ \"cutroom/internal/ffmpeg\")",
	"internal/tools/video/os.go":      "package video\nimport _ \"os\"",
	"internal/tools/video/media.go":   "package video\nimport _ \"cutroom/internal/tools/media\"",
	"internal/ffmpeg/doc.go":          "// Package ffmpeg is.\npackage ffmpeg",
	"internal/ffmpeg/second.go":       "// Package ffmpeg is also.\npackage ffmpeg",
	"internal/ffmpeg/cgo.go":          "package ffmpeg\nimport \"C\"",
	"internal/ocr/good.go":            "// Package ocr is.\npackage ocr\nimport (_ \"cutroom/internal/onnx\"; _ \"golang.org/x/image/draw\")",
	"internal/ocr/beside.go":          "package ocr\nimport _ \"cutroom/internal/stage\"",
	"internal/ocr/good_test.go":       "package ocr\nimport _ \"cutroom/internal/sandbox\"",
	"internal/ocr/cmp.go":             "package ocr\nimport _ \"github.com/google/go-cmp/cmp\"",
	"internal/stage/silent.go":        "package stage\nfunc init() {}",
	"internal/sandbox/child/good.go":  "// Package child is.\npackage child\nimport _ \"syscall\"\nfunc init() {}",
	"internal/sandbox/child/heavy.go": "package child\nimport _ \"golang.org/x/sys/unix\"",
	"internal/sandbox/child/noun.go":  "package child\nimport _ \"cutroom\"",
	"internal/sandbox/good.go":        "// Package sandbox is.\npackage sandbox\nimport (_ \"cutroom/internal/sandbox/child\"; _ \"golang.org/x/sys/unix\")",
	"internal/util/nowhere.go":        "// Package util is.\npackage util",
	"internal/event/wrong.go":         "// Package evt is.\npackage evt",
	"internal/policy/long.go":         "// Package policy is.\npackage policy\n" + strings.Repeat("\n", maxLines),
	"internal/policy/notes.go":        "package policy\n// TODO later\n// TODO(#12) is fine\nvar ctx = context.TODO()\nfunc Do(m map[string]any) {}\nfunc do(m map[string]any) {}",
	"internal/policy/p_test.go":       "package policy\nfunc f(t T) { time.Sleep(1); t.Skip() }",
	"testdata/ignored.go":             "this is not Go",
}

func TestTheRulesCanFail(t *testing.T) {
	t.Parallel()
	fsys := fstest.MapFS{}
	for name, text := range fakeTree {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	files := parseTree(t, fsys)
	var got []string
	for _, fault := range append(importFaults(files), houseFaults(files)...) {
		// Keep the place and the first words: the reasons may be reworded.
		words := strings.Fields(fault)
		got = append(got, strings.Join(words[:min(3, len(words))], " "))
	}
	slices.Sort(got)
	want := []string{
		"internal/cli/beside.go: imports cutroom/internal/httpapi:",
		"internal/cli/exec.go: imports os/exec:",
		"internal/cli/newdep.go: imports example.org/left/pad:",
		"internal/cli/testonly.go: imports cutroom/internal/testenv:",
		"internal/engine/cobra.go: imports github.com/spf13/cobra:",
		"internal/engine/upward.go: imports cutroom/internal/cli:",
		"internal/event: holds package",
		"internal/ffmpeg/cgo.go: imports C:",
		"internal/ffmpeg: 2 package",
		"internal/ocr/beside.go: imports cutroom/internal/stage:",
		"internal/ocr/cmp.go: imports github.com/google/go-cmp/cmp:",
		"internal/policy/long.go: 502 lines;",
		"internal/policy/notes.go:2: a TODO",
		"internal/policy/notes.go:4: context.TODO: a",
		"internal/policy/notes.go:5: Do: a",
		"internal/policy/p_test.go:2: t.Skip: only",
		"internal/policy/p_test.go:2: time.Sleep in",
		"internal/sandbox/child/heavy.go: imports golang.org/x/sys/unix:",
		"internal/sandbox/child/noun.go: imports cutroom:",
		"internal/stage/silent.go: has an",
		"internal/stage: 0 package",
		"internal/tools/video/media.go: imports cutroom/internal/tools/media:",
		"internal/tools/video/os.go: imports os:",
		"internal/util/nowhere.go: the folder",
		"internal/util: the name",
		"noun_upward.go: imports cutroom/internal/stage:",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("faults found in the fake tree (-want +got):\n%s", diff)
	}
}

// The table must not name a folder twice: the first layer would hide the second.
func TestLayersNameEachFolderOnce(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, l := range layers {
		for u := range strings.FieldsSeq(l.units) {
			if other, ok := seen[u]; ok {
				t.Errorf("%s is in %s and in %s", u, other, l.name)
			}
			seen[u] = l.name
		}
		if l.reason == "" {
			t.Errorf("layer %s has no reason", l.name)
		}
	}
	for _, h := range homes {
		if h.reason == "" {
			t.Errorf("the home of %s has no reason", h.path)
		}
	}
}
