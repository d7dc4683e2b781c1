package main_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cutroom/internal/testenv"
)

// planted is a secret as it stands in a text, and what of it must never be seen again.
type planted struct{ kind, text, secret string }

// plant makes one secret of each kind. They are written in parts: no one of them is a
// secret of anybody's.
func plant() []planted {
	random := func(n int) string { return strings.Repeat("q7Zk3Xw9Lm2Vb8Rt5Yc1", 4)[:n] }
	jwt := "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJqYW5lIn0." + random(24)
	pem := "-----BEGIN " + "PRIVATE KEY-----MC4CAQAw" + random(40) + "-----END PRIVATE KEY-----"
	return []planted{
		{"a token of GitHub", "ghp_" + random(36), random(36)},
		{"a token of GitLab", "glpat-" + "g1" + random(18), "g1" + random(18)},
		{"an access key of AWS", "AKIA" + "Q7ZK3XW9LM2VB8RT", "Q7ZK3XW9LM2VB8RT"},
		{"a secret key of AWS", "aws_secret_access_key=a2" + random(38), "a2" + random(38)},
		{"a token of Slack", "xoxb-" + "17-" + random(24), "17-" + random(24)},
		{"a key of a model's vendor", "sk-" + "proj-s3" + random(30), "s3" + random(30)},
		{"a key of Google", "AIza" + "Sy4" + random(32), "Sy4" + random(32)},
		{"a key of Stripe", "sk_live_" + "p5" + random(22), "p5" + random(22)},
		{"a token of a model hub", "hf_" + "h6" + random(32), "h6" + random(32)},
		{"a JSON Web Token", jwt, jwt[22:]},
		{"a private key", pem, "MC4CAQAw"},
		{"a bearer header", "Authorization: Bearer b8" + random(20), "b8" + random(20)},
		{"a basic header", "Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte("jane:b9-secret-word")), base64.StdEncoding.EncodeToString([]byte("jane:b9-secret-word"))[8:]},
		{"a cookie", "Cookie: session=c10" + random(20) + "; theme=dark", "c10" + random(20)},
		{"a cookie that is set", "Set-Cookie: sid=c11" + random(20) + "; HttpOnly", "c11" + random(20)},
		{"a password", "password=hunter12-correct-horse", "hunter12-correct"},
		{"a passkey in JSON", `{"passkey": "horse13-battery-staple"}`, "horse13-battery"},
		{"the user of an address", "https://jane:staple14-swordfish@media.example/talk.mp4", "staple14-swordfish"},
		{"a signed address", "https://bucket.example/talk.mp4?X-Amz-Date=20260101&X-Amz-Signature=d15" + strings.Repeat("0e9f", 12), "d15" + strings.Repeat("0e9f", 12)},
		{"a shared address", "https://account.example/talk.mp4?sv=2024&sig=e16" + random(30) + "%3D", "e16" + random(30)},
		{"a tracker's key", "https://tracker.example/f17" + strings.Repeat("abc9", 8) + "/announce", "f17" + strings.Repeat("abc9", 8)},
		{"an option", "--api-key k18" + random(20), "k18" + random(20)},
		{"an XML element", "<secret>x19" + random(20) + "</secret>", "x19" + random(20)},
		{"a value that the config refers to", "only configured 20 words", "only configured 20 words"},
	}
}

// burrow is a place that holds the secrets, and everything that was said about it.
type burrow struct {
	t     *testing.T
	i     *installation
	dir   string
	kinds []planted
	said  bytes.Buffer // all that commands wrote, with what they were
}

// TestSecretsStayInside plants secrets in captions, metadata, names, arguments and
// addresses, makes every kind of call by both doors, and looks for them in all that was
// written: answers, errors, logs, records, the database, attestations.
func TestSecretsStayInside(t *testing.T) {
	t.Parallel()
	b := &burrow{t: t, i: install(t).own(t, os.Getenv("PATH")), dir: t.TempDir(), kinds: plant()}
	b.prepare()
	b.commands()
	b.host()
	b.look()
}

// prepare writes the inputs.
func (b *burrow) prepare() {
	t := b.t
	var srt, all strings.Builder
	for n, p := range b.kinds {
		fmt.Fprintf(&srt, "%d\n00:00:%02d,000 --> 00:00:%02d,900\n%s\n\n", n+1, n, n, p.text)
		fmt.Fprintf(&all, "%s\n", p.text)
	}
	write := func(name, text string) {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(b.dir, "talk.srt"), srt.String())
	token := filepath.Join(b.i.home, "config", "token")
	write(token, b.kinds[23].secret+"\n")
	write(filepath.Join(b.i.home, "config", "cutroom.yaml"), "speech:\n  endpoint:\n    url: http://127.0.0.1:9/v1/audio/transcriptions\n    key: file:"+token+"\n    speaks: [xx]\n")
	testenv.FFmpeg(t, "-f", "lavfi", "-i", "testsrc2=d=2:s=160x90:r=25", "-f", "lavfi", "-i", "sine=d=2",
		"-metadata", "title="+b.kinds[0].text, "-metadata", "comment="+all.String(), "-metadata", "artist="+b.kinds[23].text, "-c:v", "libx264", "-g", "25", filepath.Join(b.dir, "meta.mp4"))
	data, err := os.ReadFile(filepath.Join(b.dir, "meta.mp4"))
	if err != nil {
		t.Fatal(err)
	}
	write(filepath.Join(b.dir, b.named()), string(data))
}

// named is a file whose name holds a secret.
func (b *burrow) named() string { return "take " + b.kinds[0].text + ".mp4" }

// run makes a call on the command line, whatever comes of it.
func (b *burrow) run(args ...string) string {
	b.t.Helper()
	cmd := exec.CommandContext(b.t.Context(), b.i.bin, args...)
	cmd.Dir, cmd.Env = b.dir, b.i.environ()
	var out, complaints bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaints
	err := cmd.Run()
	fmt.Fprintf(&b.said, "call %d: %v\n%s\n%s\n", b.said.Len(), err, out.Bytes(), complaints.Bytes())
	return out.String()
}

// commands makes the calls of the command line.
func (b *burrow) commands() {
	t := b.t
	answers := 0
	for _, args := range [][]string{
		{"watch", "talk.srt", "--mode", "timeline"},
		{"watch", "talk.srt", "--mode", "timeline", "--json"},
		{"watch", "talk.srt", "--mode", "timeline", "--debug", "--question", "what of " + b.kinds[1].text},
		{"probe", "meta.mp4"},
		{"probe", "meta.mp4", "--json"},
		{"probe", b.named(), "--json", "--debug"},
		{"video", "probe", "meta.mp4", "--json"},
		{"edit", "cut", "meta.mp4", "--start", "0.2", "--end", "1", "--output", "cut.mp4", "--json"},
		{"edit", "cut", b.named(), "--start", "0.2", "--end", "1.2", "--output", "cut2.mp4", "--json"},
		{"edit", "cut", "meta.mp4", "--start", "0.2", "--end", "1", "--output", "out " + b.kinds[4].text + ".mp4", "--dry-run"},
		{"provenance", "cut.mp4"},
		{"provenance", "cut2.mp4", "--json"},
		{"provenance", "cut2.mp4", "--graph"},
		{"attest", "cut2.mp4", "--json"},
		{"attest", "cut2.mp4", "--verify", "--json"},
		{"attest", b.named()},
	} {
		if out := b.run(args...); strings.TrimSpace(out) != "" {
			answers++
		}
	}
	if answers < 14 {
		t.Fatalf("only %d calls were answered:\n%s", answers, b.said.String())
	}
	for _, p := range b.kinds { // bad paths, bad words, bad values
		b.run("probe", "gone/"+p.text, "--json")
		b.run("probe", "talk.srt", p.text, "--debug")
	}
	for _, p := range b.kinds[:4] {
		b.run(p.text)
		b.run("edit", "cut", "meta.mp4", "--start", p.text, "--json")
		b.run("provenance", p.text)
		b.run("jobs", "get", p.text, "--json")
	}
	request, err := json.Marshal(map[string]any{
		"source": map[string]string{"kind": "local_file", "value": "talk.srt"}, "mode": "timeline", "question": "what of " + b.kinds[5].text + " and " + b.kinds[15].text,
	})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "request.json")
	if err := os.WriteFile(path, request, 0o600); err != nil {
		t.Fatal(err)
	}
	var job struct {
		ID string `json:"job_id"`
	}
	if out := b.run("jobs", "submit", "media.watch", "--input", path, "--json"); json.Unmarshal([]byte(out), &job) != nil || job.ID == "" {
		t.Fatalf("submit: %s", out)
	}
	b.run("jobs", "work", "--json")
	if out := b.run("jobs", "result", job.ID, "--json"); !strings.Contains(out, `"timeline"`) {
		t.Fatalf("result: %s", out)
	}
	b.run("audit", "show", "--json")
	b.run("audit", "export")
}

// host makes the calls of an agent's host, and keeps all that it is told.
func (b *burrow) host() {
	s := b.i.serve(b.t, b.dir, "mcp", "--toolsets", "all", "--debug").open("2025-11-25")
	say := func(v any) string {
		text, err := json.Marshal(v)
		if err != nil {
			b.t.Fatal(err)
		}
		return string(text)
	}
	call := func(tool string, arguments map[string]any) message {
		return s.ask("tools/call", say(map[string]any{"name": tool, "arguments": arguments, "_meta": map[string]any{"progressToken": tool}}))
	}
	talk := map[string]string{"kind": "local_file", "value": "talk.srt"}
	call("media_watch", map[string]any{"source": talk, "mode": "timeline", "question": "what of " + b.kinds[2].text})
	call("measure_probe", map[string]any{"inputs": []string{"meta.mp4", b.named()}})
	call("video_probe", map[string]any{"source": map[string]string{"kind": "local_file", "value": "meta.mp4"}})
	s.must("resources/list", "{}")
	for _, m := range s.seen() {
		for _, uri := range strings.Split(m.line, `"uri":"`)[1:] {
			uri, _, _ = strings.Cut(uri, `"`)
			s.ask("resources/read", say(map[string]string{"uri": uri}))
			s.ask("resources/read", say(map[string]string{"uri": uri + "/timeline.md"}))
			s.ask("resources/read", say(map[string]string{"uri": uri + "/timeline.json"}))
		}
	}
	for _, p := range b.kinds {
		call("measure_probe", map[string]any{"inputs": []string{"gone/" + p.text}})
		call("tool_search", map[string]any{"query": p.text, p.text: 1})
		call(p.text, map[string]any{})
		s.ask("resources/read", say(map[string]string{"uri": "cutroom://run/" + url.PathEscape(p.text)}))
		s.ask("prompts/get", say(map[string]any{"name": "watch", "arguments": map[string]string{"file": "talk.srt", "question": p.text}}))
		s.ask(p.text, "{}")
	}
	b.said.WriteString("host:\n")
	for _, m := range s.seen() {
		b.said.WriteString(m.line + "\n")
	}
	s.end()
	b.said.WriteString(s.said.String())
}

// look searches all that was written for what was planted.
func (b *burrow) look() {
	t := b.t
	b.search("what was said", b.said.Bytes())
	seen := 0
	for _, root := range []string{filepath.Join(b.i.home, "state"), filepath.Join(b.dir, ".cutroom"), b.dir} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || b.users(path) {
				return err
			}
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			seen++
			b.search(path, data)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if seen < 20 {
		t.Errorf("only %d files were looked at", seen)
	}
	if n := bytes.Count(b.said.Bytes(), []byte("[redacted]")); n < 3*len(b.kinds) {
		t.Errorf("only %d masks were written: were the calls answered?", n)
	}
}

// users says which files are the user's own data: the media and texts of the workspace,
// and the texts and media that were made of them.
func (b *burrow) users(path string) bool {
	if filepath.Dir(path) == filepath.Join(b.i.home, "state", "keys", "attestation") {
		return filepath.Ext(path) == ".key" // the key itself, which has the form of a secret because it is one
	}
	if filepath.Dir(path) == b.dir {
		return !strings.HasSuffix(path, ".intoto.jsonl")
	}
	inStage := strings.HasPrefix(path, filepath.Join(b.dir, ".cutroom"))
	return inStage && slices.Contains([]string{
		"timeline.json", "timeline.md", "transcript.json", "transcript.srt", "transcript.vtt", "transcript.txt", "evidence.json", // what was said, in the user's words
		"out.mp4", // the written film, with its own metadata
	}, filepath.Base(path))
}

// search looks for every secret, as it is and as it stands in base64.
func (b *burrow) search(where string, data []byte) {
	for _, p := range b.kinds {
		for _, form := range []string{p.secret, url.QueryEscape(p.secret), base64.StdEncoding.EncodeToString([]byte(p.secret))[:12]} {
			if at := bytes.Index(data, []byte(form)); at >= 0 {
				b.t.Errorf("%s holds %s: …%s…", where, p.kind, data[max(0, at-120):min(len(data), at+80)])
			}
		}
	}
}
