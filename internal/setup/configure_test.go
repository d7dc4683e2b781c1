package setup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"cutroom"
	"cutroom/internal/config"
)

// setChild is a process that sets one key.
func setChild(key, value string) int {
	if _, err := SetConfig(context.Background(), ".", ".", cutroom.Operator, key, &value); err != nil {
		fmt.Println(err)
		return 1
	}
	return 0
}

// TestSetConfigAtOnce: of many processes that each set a key at once, every change is in
// the file in the end, and at no time is the file anything but whole.
func TestSetConfigAtOnce(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	file := filepath.Join(home, "config", config.Name)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	keys := []string{"lens.cooldownMs", "lens.budget.bytes_per_call", "limits.max_frames", "limits.max_file_bytes", "mcp.patience_seconds", "lens.limits.video.full_seconds", "approvals.life_minutes", "limits.timeout_seconds"}
	done := make(chan struct{})
	var watcher, writers sync.WaitGroup
	watcher.Go(func() {
		for {
			text, err := os.ReadFile(file)
			if _, faults := config.Check(text); err == nil && len(faults) > 0 {
				t.Errorf("not whole: %q", text)
				return
			}
			select {
			case <-done:
				return
			default:
			}
		}
	})
	for n, key := range keys {
		writers.Go(func() {
			cmd := &exec.Cmd{Path: exe, Args: []string{"setconfig", key, fmt.Sprint(n + 100)}, Dir: home, Env: append(os.Environ(), "CUTROOM_HOME="+home)}
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%s: %v\n%s", key, err, out)
			}
		})
	}
	writers.Wait()
	close(done)
	watcher.Wait()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for n, key := range keys {
		if got, err := config.At(text, key); err != nil || string(got) != fmt.Sprint(n+100) {
			t.Errorf("%s is %s, %v in\n%s", key, got, err, text)
		}
	}
	left, err := filepath.Glob(filepath.Join(home, "config", ".*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestSetConfig(t *testing.T) {
	home := t.TempDir()
	t.Setenv("CUTROOM_HOME", home)
	dir := t.TempDir()
	set := func(key, value string) (ConfigChange, error) {
		return SetConfig(t.Context(), dir, "", cutroom.Operator, key, &value)
	}
	for _, who := range []cutroom.Principal{cutroom.Agent, {Name: "ci", Role: cutroom.RoleAgent}, {}} {
		value := "true"
		if _, err := SetConfig(t.Context(), dir, "", who, "lens.allow_upload", &value); cutroom.AsError(err) == nil || cutroom.AsError(err).Code != cutroom.Denied {
			t.Errorf("%+v: %v", who, err)
		}
	}
	// Through a link of the user's the file that it leads to is written.
	real := filepath.Join(t.TempDir(), "dotfile.yaml")
	link := filepath.Join(home, "config", config.Name)
	if err := errors.Join(os.WriteFile(real, []byte("# mine\n"), 0o640), os.MkdirAll(filepath.Dir(link), 0o700), os.Symlink(real, link)); err != nil {
		t.Fatal(err)
	}
	if c, err := set("lens.allow_upload", "true"); err != nil || !c.Changed || string(c.Before) != "null" || string(c.After) != "true" || c.From != config.FromUser {
		t.Errorf("%+v, %v", c, err)
	}
	text, err := os.ReadFile(real)
	if err != nil || string(text) != "# mine\nlens:\n  allow_upload: true\n" {
		t.Errorf("%q, %v", text, err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v", err)
	}
	if info, err := os.Stat(real); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	// A file that is wrong already stays as it is, unless the change is what repairs it.
	if err := os.WriteFile(real, []byte("lens: {cooldownMs: -1}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := set("lens.allow_upload", "true"); err == nil || !strings.Contains(err.Error(), "lens.cooldownMs") {
		t.Error(err)
	}
	if _, err := set("lens.cooldownMs", "1"); err != nil {
		t.Error(err)
	}
}

// TestCheckConfigSecrets: secrets that lie open or nowhere are remarks.
func TestCheckConfigSecrets(t *testing.T) {
	home := t.TempDir()
	t.Setenv("CUTROOM_HOME", home)
	open := filepath.Join(home, "open.key")
	text := "models:\n- {id: a, provider: openai, key: 'file:" + open + "'}\n- {id: b, provider: openai, key: 'file:/none/here'}\n- {id: c, provider: openai, key: 'env:CUTROOM_TEST_NO_SUCH'}\n"
	if err := errors.Join(os.MkdirAll(filepath.Join(home, "config"), 0o700), os.WriteFile(filepath.Join(home, "config", config.Name), []byte(text), 0o600), os.WriteFile(open, []byte("value"), 0o644)); err != nil {
		t.Fatal(err)
	}
	_, found, err := CheckConfig(t.TempDir(), "", "")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range found {
		got = append(got, fmt.Sprintf("%v %d %s | %s", f.Wrong, f.Line, f.Message, f.Hint))
	}
	want := []string{
		"false 2 models[0].key: others may read file:…/open.key | chmod 600 open.key",
		"false 3 models[1].key: there is no secret at file:…/here | write the secret to that file, which only you may read",
		"false 4 models[2].key: there is no secret at env:CUTROOM_TEST_NO_SUCH | set the variable CUTROOM_TEST_NO_SUCH where cutroom starts",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%s", strings.Join(got, "\n"))
	}
}
