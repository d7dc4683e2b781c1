package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// hostile draws texts out of what the rules look for.
func hostile() *rapid.Generator[string] {
	part := rapid.OneOf(
		rapid.SampledFrom([]string{
			"password", "token", "=", ":", ": ", "\"", "'", "\\\"", "\\", "://", "@", "?", "&", "sig=", "Authorization: Bearer ", "Cookie: ", "a=b; ",
			"ghp_", "AKIA", "sk-", "eyJ", ".", "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----", "\n", " ", "…", "[redacted]", "***", "**", "[redacted",
			"known-secret-value", "known-sec", "kn\\u006fwn-secret-value", "known%2Dsecret-value", "known&#45;secret", "&amp;", "%25", "KNOWN-", "[", "]", ":=", "postgres://", "rtmp://", "/", "none", "123456", "%3D", "%26", "--token ", "<secret>", "</secret>", "basic ", "curl -u ", "密码：", "пароль=", "cGFzc3dvcmQ9aHVudGVyMjJzZWNyZXQ=", "/announce/", "{", "}", "=>", ",", ";", "é", "\u2028", "\x00",
		}),
		rapid.StringMatching(`[A-Za-z0-9_]{1,40}`),
		rapid.String(),
	)
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(part, 0, 24).Draw(t, "parts"), "")
	})
}

func knowing() *Redactor {
	return New(func() []string { return []string{"known-secret-value", "line one of a key\nline two of that key"} })
}

func TestTwiceIsOnce(t *testing.T) {
	t.Parallel()
	r := knowing()
	rapid.Check(t, func(t *rapid.T) {
		s := hostile().Draw(t, "text")
		once := r.Text(s)
		if twice := r.Text(once); twice != once {
			t.Fatalf("%q\nonce  %q\ntwice %q", s, once, twice)
		}
		if len(once) > len(s) {
			t.Fatalf("%q became longer: %q", s, once)
		}
		if strings.Contains(once, "known-secret-value") {
			t.Fatalf("%q holds the value: %q", s, once)
		}
	})
}

func TestDocumentsKeepTheirShape(t *testing.T) {
	t.Parallel()
	r := knowing()
	value := rapid.Deferred(func() *rapid.Generator[any] { return anyValue(3) })
	rapid.Check(t, func(t *rapid.T) {
		doc, err := json.Marshal(value.Draw(t, "value"))
		if err != nil {
			t.Fatal(err)
		}
		safe := r.JSON(doc)
		var before, after any
		if err := json.Unmarshal(safe, &after); err != nil {
			t.Fatalf("%s\nis no JSON any more: %s", doc, safe)
		}
		if err := json.Unmarshal(doc, &before); err != nil {
			t.Fatal(err)
		}
		if a, b := outline(before), outline(after); a != b {
			t.Fatalf("%s\nbecame %s", doc, safe)
		}
		if again := r.JSON(safe); !bytes.Equal(again, safe) {
			t.Fatalf("once  %s\ntwice %s", safe, again)
		}
	})
}

func anyValue(depth int) *rapid.Generator[any] {
	if depth == 0 {
		return rapid.OneOf(hostile().AsAny(), rapid.Float64Range(-1e9, 1e9).AsAny(), rapid.Bool().AsAny(), rapid.Just[any](nil))
	}
	name := rapid.OneOf(rapid.SampledFrom([]string{"password", "token", "a", "b", "cookies", "text"}), hostile())
	return rapid.OneOf(
		anyValue(0),
		rapid.SliceOfN(anyValue(depth-1), 0, 4).AsAny(),
		rapid.MapOfN(name, anyValue(depth-1), 0, 4).AsAny(),
	)
}

// outline is a value's kinds and sizes.
func outline(v any) string {
	switch v := v.(type) {
	case map[string]any:
		total := 0
		for _, x := range v {
			total += len(outline(x))
		}
		return strings.Repeat("k", len(v)) + strings.Repeat("m", total)
	case []any:
		var b strings.Builder
		for _, x := range v {
			b.WriteString("[" + outline(x) + "]")
		}
		return b.String()
	case nil:
		return "n"
	}
	return reflect.TypeOf(v).String()[:1]
}

// TestPiecesAreTheWhole writes a text in pieces: it comes out as the whole text would.
func TestPiecesAreTheWhole(t *testing.T) {
	t.Parallel()
	r := knowing()
	rapid.Check(t, func(t *rapid.T) {
		s := hostile().Draw(t, "text")
		var out bytes.Buffer
		w := r.Writer(&out)
		for rest := s; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "n")
			if _, err := w.Write([]byte(rest[:n])); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(byLines(r, s), out.String()); diff != "" && !strings.Contains(s, "-----BEGIN") {
			t.Fatalf("%q: %s", s, diff)
		}
		if strings.Contains(out.String(), "known-secret-value") {
			t.Fatalf("%q leaks", s)
		}
	})
}

// TestSpellings writes known values in spellings of spellings: none comes through.
func TestSpellings(t *testing.T) {
	t.Parallel()
	hex := func(s string) string {
		var b strings.Builder
		for _, c := range []byte(s) {
			fmt.Fprintf(&b, "%%%02x", c)
		}
		return b.String()
	}
	asJSON := func(s string) string {
		b, err := json.Marshal(s)
		if err != nil {
			return s
		}
		return string(b[1 : len(b)-1])
	}
	codes := func(s string) string {
		var b strings.Builder
		for _, c := range s {
			fmt.Fprintf(&b, "&#%d;", c)
		}
		return b.String()
	}
	units := func(s string) string {
		var b strings.Builder
		for _, c := range utf16.Encode([]rune(s)) {
			fmt.Fprintf(&b, `\u%04X`, c)
		}
		return b.String()
	}
	ways := []func(string) string{asJSON, html.EscapeString, url.QueryEscape, url.PathEscape, codes, hex, units}
	values := []string{`p"a\ss&w<o>r%d/é+x y`, "plain-known-value", "\\\\server\\new%41&amp;x", "two lines\nof one 🔑 value"}
	r := New(func() []string { return values })
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.SampledFrom(values).Draw(t, "value")
		if s == "plain-known-value" && rapid.Bool().Draw(t, "upper") {
			s = strings.ToUpper(s)
		}
		for range rapid.IntRange(0, 3).Draw(t, "times") {
			s = ways[rapid.IntRange(0, len(ways)-1).Draw(t, "way")](s)
		}
		if got := r.Text("<" + s + ">"); got != "<"+Mask+">" {
			t.Fatalf("%q became %q", s, got)
		}
	})
	for _, v := range values[:2] {
		text := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", 50) + v + strings.Repeat("y", 90)))
		for _, width := range []int{64, 76} {
			for cut := range 60 {
				whole := text[cut&^3:]
				var b strings.Builder
				for ; len(whole) > width; whole = whole[width:] {
					b.WriteString(whole[:width] + "\r\n")
				}
				safe := strings.ReplaceAll(r.Text(b.String()+whole), Mask, "")
				if n := len(strings.ReplaceAll(safe, "\r\n", "")); n > len(text)-cut&^3-len(v) {
					t.Fatalf("lines of %d, cut at %d: %q", width, cut, safe)
				}
			}
		}
	}
}

// byLines is what a writer makes of a text: no rule but a private key's goes on over a
// line's end.
func byLines(r *Redactor, s string) string {
	var b strings.Builder
	for line := range strings.Lines(s) {
		b.WriteString(r.Text(line))
	}
	return b.String()
}

// TestLongPieces cuts secrets at every place of a line that is longer than what is held.
func TestLongPieces(t *testing.T) {
	t.Parallel()
	r := knowing()
	const token = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"
	key := "-----BEGIN PRIVATE KEY-----\n" + strings.Repeat("QUJDREVGR0hJSktMTU5PUA==\n", 4000) + "-----END PRIVATE KEY-----"
	for at := holdMost - 100; at < holdMost+100; at += 7 {
		text := strings.Repeat("word ", at/5) + token + " " + strings.Repeat("more ", holdMost/5) + "password=hunter2hunter2 known-secret-value\n" + key + "\nend " +
			strings.Repeat("x", 2*holdMost) + " " + "token=" + strings.Repeat("y7", holdMost) + " last\n"
		for _, piece := range []int{1 << 20, 4096, 1000} {
			var out bytes.Buffer
			w := r.Writer(&out)
			for rest := []byte(text); len(rest) > 0; {
				n := min(piece, len(rest))
				if _, err := w.Write(rest[:n]); err != nil {
					t.Fatal(err)
				}
				rest = rest[n:]
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			got := out.String()
			for _, leak := range []string{"ghp_", "hunter2", "known-secret", "QUJDREVG", "y7y7", "PRIVATE KEY"} {
				if strings.Contains(got, leak) {
					t.Fatalf("pieces of %d, token at %d: %q comes through", piece, at, leak)
				}
			}
			for _, kept := range []string{"word word", "more more", "end xxx", " last\n"} {
				if !strings.Contains(got, kept) {
					t.Fatalf("pieces of %d, token at %d: %q is gone", piece, at, kept)
				}
			}
		}
	}
}

// TestTheRepositoryStays redacts schemas, references, sessions and captions: nothing in
// them is a secret.
func TestTheRepositoryStays(t *testing.T) {
	t.Parallel()
	n := 0
	for _, root := range []string{"../../testdata", "../../docs/reference", "../caption", "../evidence", "../ffmpeg", "../tools"} {
		err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() || filepath.Ext(path) == ".mp4" || slices.Contains([]string{"redact.txtar", "config.txtar", "token.txtar"}, d.Name()) { // which are about secrets
				return err
			}
			raw, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			n++
			users := false
			for i, line := range strings.Split(string(raw), "\n") {
				if strings.Contains(line, "://") && strings.Contains(line, "@") {
					users = true
					continue // addresses with a user, which are meant to be masked
				}
				if safe := Text(line); safe != line {
					t.Errorf("%s:%d: %s", path, i+1, cmp.Diff(line, safe))
				}
			}
			if safe := JSON(raw); !users && json.Valid(raw) && !bytes.Equal(safe, raw) {
				t.Errorf("%s: %s", path, cmp.Diff(string(raw), string(safe)))
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if n < 100 {
		t.Fatalf("only %d files were looked at", n)
	}
}

// TestCostIsLinear redacts texts of nothing but beginnings, short and eight times as
// long.
func TestCostIsLinear(t *testing.T) {
	t.Parallel()
	r := knowing()
	for _, unit := range []string{
		"token:", "token=$", "password=\"$\\", "token:'a\"", "Cookie: ", "Cookie: a=", "Authorization: Bearer ", "Authorization: Bearer $", "://", "a://b@", "a://", "sk-", "eyJ.", "eyJ",
		"AKIA ", "xoxb-", "bearer ", "basic ", "basic QQ", "--token ", "--token -", "<token>", "/announce", "a/announce/", "-----BEGIN ", "-----BEGIN PRIVATE KEY-----", "known-sec", "known-secret-value",
		"%25", "%2525", "&amp;", "&amp;amp;", "&", "\\u00", "\\u006b", "\\ud83d", "\\n", "kn%6Fwn-sec", "\nknown-sec", "k\n", "password:=", "password&#61;", "<token a=", "<token a=\"b\">", "password:[\"a\",",
		"password:['", "a://b:c/", "postgres://b:1/", "rtmp://a/b/", "DB_PASS=",
		"%3D", "a%3Da%26", "&sig=", "?code=", "=", ":", "\\", "\"", "hooks.slack.com/services/", "password=***", Mask, "token:\\\"", "…", "ghp_…", "\n", "x",
	} {
		took := func(n int) time.Duration {
			s := strings.Repeat(unit, n/len(unit))
			best := time.Hour
			for range 3 {
				start := time.Now()
				r.Text(s)
				best = min(best, time.Since(start))
			}
			return best
		}
		short, long := took(32<<10), took(256<<10)
		if long > 40*short+250*time.Millisecond {
			t.Errorf("%q: 32 kB take %s, 256 kB %s", unit, short, long)
		}
	}
}

func BenchmarkText(b *testing.B) {
	line := "frame=  120 fps= 30 q=28.0 size=     256kB time=00:00:04.00 bitrate= 524.3kbits/s speed=1.2x  Stream #0:0(und): Video: h264 (High), yuv420p(tv, bt709), 1920x1080\n"
	log := strings.Repeat(line, 1<<20/len(line))
	picture := strings.Repeat("/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAUDBAQEAwUEBAQFBQUGBww", 1<<20/56)
	r := knowing()
	for name, s := range map[string]string{"log": log, "base64": picture} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(s)))
			for b.Loop() {
				r.Text(s)
			}
		})
	}
	doc, err := json.Marshal(strings.Split(log, "\n"))
	if err != nil {
		b.Fatal(err)
	}
	b.Run("json", func(b *testing.B) {
		b.SetBytes(int64(len(doc)))
		for b.Loop() {
			r.JSON(doc)
		}
	})
}

func FuzzJSON(f *testing.F) {
	for _, s := range []string{`{"a":"password=x"}`, `["\ud800","token: abcdefgh1234"]`, `{"token":["a",{"b":"c"}]}`, "{}\n{\"password\":\"x\"}\n"} {
		f.Add([]byte(s))
	}
	r := knowing()
	f.Fuzz(func(t *testing.T, doc []byte) {
		safe := r.JSON(doc)
		if json.Valid(doc) && !json.Valid(safe) {
			t.Fatalf("%q became %q", doc, safe)
		}
		if again := r.JSON(safe); !bytes.Equal(again, safe) {
			t.Fatalf("%q: once %q, twice %q", doc, safe, again)
		}
	})
}
