package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"cutroom/internal/provider/providertest"
	"cutroom/internal/testenv"
)

// TestStrictLocalOnlySendsNoPacket: in a network namespace whose every route ends in a
// counter, reading under strictLocalOnly, without consent, and planning move no packet.
// Without strictLocalOnly the same call does, so that the counter counts.
func TestStrictLocalOnlySendsNoPacket(t *testing.T) {
	t.Parallel()
	testenv.Needs(t, "unshare", "ip")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	flags := "-n"
	if os.Getuid() != 0 {
		flags = "-Urn"
	}
	const script = `ip link set lo up && ip route add default dev lo || exit 9
		self=$1; shift
		"$self" "$@" >answer.json; echo "exit $?" >&2
		awk '$1 == "lo:" { print $11 }' /proc/net/dev`
	packets := func(config string, args ...string) int {
		t.Helper()
		l := newLab(t, strings.ReplaceAll(config, "HTTP:acme", "http://203.0.113.7:80/v1"), map[string]*providertest.Server{})
		l.film("a.mp4", "2")
		c := command(t, l.dir)
		c.Path, c.Args = "/usr/bin/unshare", append([]string{"unshare", flags, "sh", "-c", script, "sh", self}, args...)
		c.Env = append(c.Env, "CUTROOM_HOME="+l.home)
		var words strings.Builder
		c.Stderr = &words
		raw, err := c.Output()
		if err != nil {
			t.Fatalf("%v: %s", err, words.String())
		}
		if answer, err := os.ReadFile(filepath.Join(l.dir, "answer.json")); err != nil || len(answer) < 100 {
			t.Fatalf("%v: %s %s", err, answer, words.String())
		}
		n, err := strconv.Atoi(strings.TrimSpace(string(raw)))
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	open := strings.Replace(omni, "price:", "limits: {timeout_seconds: 2}, price:", 1)
	read := []string{"read-video", "a.mp4", "--max-frames", "2", "--json", "--quiet"}
	for name, n := range map[string]int{
		"strictLocalOnly": packets(strings.Replace(open, "allow_upload: true", "allow_upload: true, strictLocalOnly: true", 1), read...),
		"local_only":      packets(open, append(read, "--local-only")...),
		"no consent":      packets(strings.Replace(open, "allow_upload: true", "allow_upload: false", 1), read...),
		"plan":            packets(open, "lens", "plan", "a.mp4", "--json", "--quiet"),
	} {
		if n != 0 {
			t.Errorf("%s: %d packets", name, n)
		}
	}
	if n := packets(open, read...); n == 0 {
		t.Error("the counter does not count")
	}
}
