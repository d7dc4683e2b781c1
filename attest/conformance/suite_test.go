package conformance_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"cutroom/internal/testenv"
)

// unscored are the scenarios that a revision does not require and that may fail:
// everything else that runs has to pass.
var unscored = []struct{ prefix, reason string }{
	{"tasks-", "an extension that is not offered: jobs are tools, which every host can call"},
	{"server-sse-polling", "resuming a stream needs stored events; the reference server does not pass either"},
}

// TestConformance runs the official suite against the real transport layer.
func TestConformance(t *testing.T) {
	t.Parallel()
	fixture := build(t, "attest/conformance/fixture")
	suites := []struct {
		name, pin string
		least     int // scenarios that are scored; a suite that runs fewer proves less
		args      []string
	}{
		{"2025-11-25", "conformance-alpha", 30, []string{"--requirements", "2025-11-25"}},
		{"2026-07-28", "conformance-alpha", 37, []string{"--requirements", "2026-07-28"}},
		{"stable", "conformance-stable", 30, []string{"--suite", "active"}},
	}
	for _, s := range suites {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			folders := testenv.Hosts(t, "node22", s.pin)
			j := newJail(t, folders...)
			results := filepath.Join(j.home, "results")
			command := append([]string{fixture, "node", filepath.Join(folders[1], "bin", "conformance"), "server", "--url", "{url}", "-o", results}, s.args...)
			code, out, complaints := j.run(t, command...)
			if code != 0 {
				t.Errorf("exit code %d\n%s\n%s", code, summary(out), complaints)
			}
			ran := scenariosOf(t, results)
			judge(t, ran, requiredBy(t, folders[1], s.name), s.least)
		})
	}
}

// summary is the end of what the suite prints.
func summary(out string) string {
	if _, end, ok := strings.Cut(out, "=== SUMMARY ==="); ok {
		return end
	}
	return out
}

// check is one thing that a scenario looked at, as checks.json holds it.
type check struct {
	ID, Status, ErrorMessage string
	Details                  json.RawMessage
}

// stamp is the time at the end of a result's folder.
var stamp = regexp.MustCompile(`-\d{4}-\d\d-\d\dT[\d-]+Z$`)

// scenariosOf reads what a run left behind.
func scenariosOf(t *testing.T, dir string) map[string][]check {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "server-*", "checks.json"))
	if err != nil {
		t.Fatal(err)
	}
	ran := map[string][]check{}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		var checks []check
		if err := json.Unmarshal(text, &checks); err != nil {
			t.Fatalf("%s: %v", f, err)
		}
		name := stamp.ReplaceAllString(strings.TrimPrefix(filepath.Base(filepath.Dir(f)), "server-"), "")
		ran[name] = append(ran[name], checks...)
	}
	return ran
}

// requiredBy returns the scenarios that a revision requires of a server, by the suite's
// own list; none for a suite that has no such list, where every one that ran counts.
func requiredBy(t *testing.T, folder, revision string) []string {
	t.Helper()
	text, err := fs.ReadFile(os.DirFS(folder), "node_modules/@modelcontextprotocol/conformance/requirements/"+revision+".yaml")
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	return serverList(string(text))
}

// serverList reads the list under the key server of a list of requirements.
func serverList(yaml string) []string {
	var names []string
	inside := false
	for line := range strings.Lines(yaml) {
		line = strings.TrimRight(line, "\r\n")
		name, item := strings.CutPrefix(line, "  - ")
		switch {
		case line == "server:":
			inside = true
		case inside && item:
			names = append(names, strings.TrimSpace(name))
		case line != "" && line[0] != ' ' && line[0] != '#':
			inside = false
		}
	}
	return names
}

// judge requires that each scenario ran and passed, and says of each that did not why.
func judge(t *testing.T, ran map[string][]check, required []string, least int) {
	t.Helper()
	if required == nil {
		required = slices.Sorted(maps.Keys(ran))
	}
	if len(required) < least {
		t.Errorf("%d scenarios are scored, not at least %d", len(required), least)
	}
	checks := 0
	for _, name := range required {
		for _, fault := range faultsOf(ran[name]) {
			t.Errorf("%s: %s", name, fault)
		}
		checks += len(ran[name])
	}
	for _, name := range slices.Sorted(maps.Keys(ran)) {
		if slices.Contains(required, name) {
			continue
		}
		faults := faultsOf(ran[name])
		if reason := mayFail(name); reason != "" {
			t.Logf("not scored: %s: %d faults (%s)", name, len(faults), reason)
			continue
		}
		for _, fault := range faults {
			t.Errorf("not scored, but passed before: %s: %s", name, fault)
		}
	}
	t.Logf("%d scored scenarios, %d checks", len(required), checks)
}

func mayFail(name string) string {
	for _, u := range unscored {
		if strings.HasPrefix(name, u.prefix) {
			return u.reason
		}
	}
	return ""
}

// faultsOf says what is wrong with a scenario. A warning, which the suite lets pass, is
// a recommendation not followed.
func faultsOf(checks []check) []string {
	var faults []string
	passed := 0
	for _, c := range checks {
		switch c.Status {
		case "SUCCESS":
			passed++
		case "INFO":
		case "SKIPPED": // says itself why it does not apply
		default:
			faults = append(faults, fmt.Sprintf("%s %s: %s %.600s", c.Status, c.ID, c.ErrorMessage, c.Details))
		}
	}
	if passed == 0 {
		faults = append(faults, "nothing of it passed, or it did not run")
	}
	return faults
}
