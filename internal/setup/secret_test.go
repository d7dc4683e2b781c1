package setup

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"cutroom/internal/config"
	"cutroom/internal/redact"
)

// TestSecrets: every value that a key of the config leads to is known, each of several
// alone, and what is in a config that is not right is no reason to know nothing else.
func TestSecrets(t *testing.T) {
	home := t.TempDir()
	t.Setenv("CUTROOM_HOME", home)
	t.Setenv("CUTROOM_TEST_PLAIN", "value-of-one-variable")
	t.Setenv("CUTROOM_TEST_LIST", "first-of-a-list, second-of-a-list")
	file := filepath.Join(home, "keys.txt")
	text := "lens:\n  providers: {openai: {baseUrl: https://x, model: m, apiKey: 'env:CUTROOM_TEST_PLAIN, file:" + file + "'}}\n  asr: {endpoints: [{url: https://x, key: 'env:CUTROOM_TEST_LIST'}]}\nmodels:\n- {id: a, provider: openai, key: 'env:CUTROOM_TEST_NONE, env:CUTROOM_TEST_LIST'}\n"
	err := errors.Join(
		os.MkdirAll(filepath.Join(home, "config"), 0o700),
		os.WriteFile(filepath.Join(home, "config", config.Name), []byte(text), 0o600),
		os.WriteFile(file, []byte("first-in-a-file,second-in-a-file\n"), 0o600),
	)
	if err != nil {
		t.Fatal(err)
	}
	got := Secrets()
	r := redact.New(Secrets)
	for _, want := range []string{"value-of-one-variable", "first-of-a-list", "second-of-a-list", "first-in-a-file", "second-in-a-file"} {
		if !slices.Contains(got, want) {
			t.Errorf("%s is not known", want)
		}
		if said := r.Text("the key is " + want + "."); said == "the key is "+want+"." {
			t.Errorf("%s is said", want)
		}
	}
	for _, never := range []string{"", "openai", "https://x", "m"} {
		if slices.Contains(got, never) {
			t.Errorf("%q is called a secret", never)
		}
	}
}
