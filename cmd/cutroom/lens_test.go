package main

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"cutroom"
	"cutroom/internal/provider/providertest"
	"cutroom/internal/setup"
	"cutroom/internal/testenv"
	"cutroom/internal/tool"
	"cutroom/internal/tools"
	"cutroom/internal/tools/media"
)

// lab is an installation with a home, a config and services of its own. The services
// answer under names of other machines: what counts as leaving this one does.
type lab struct {
	*workspace
	home  string
	hosts map[string]string // name:port to the scripted server's address
	dials *int
}

// newLab opens an installation whose config is text; in it, each word of the form HOST
// stands for a scripted server of that name.
func newLab(t *testing.T, config string, servers map[string]*providertest.Server) *lab {
	t.Helper()
	pin(t)
	l := &lab{home: t.TempDir(), hosts: map[string]string{}, dials: new(int)}
	shared := os.Getenv("CUTROOM_HOME")
	for _, name := range []string{"state/toolchain.json", "state/keys/mac.key"} {
		data, err := os.ReadFile(filepath.Join(shared, name))
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(l.home, name), string(data))
	}
	if err := os.Mkdir(filepath.Join(l.home, "data"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(testenv.Models(t), filepath.Join(l.home, "data", "models")); err != nil {
		t.Fatal(err)
	}
	for name, s := range servers {
		u, err := url.Parse(s.URL)
		if err != nil {
			t.Fatal(err)
		}
		l.hosts[name+".test:80"] = u.Host
		config = strings.ReplaceAll(config, "HTTP:"+name, "http://"+name+".test/v1")
		config = strings.ReplaceAll(config, "LOCAL:"+name, s.URL)
	}
	for _, key := range []string{"a", "b", "c"} {
		config = strings.ReplaceAll(config, "KEY:"+key, "file:"+filepath.Join(l.home, "secrets", key))
		write(t, filepath.Join(l.home, "secrets", key), "sk-canary-"+key+"-0123456789abcdef")
	}
	write(t, filepath.Join(l.home, "config", "cutroom.yaml"), config)
	l.workspace = l.reopen(t, t.TempDir())
	return l
}

// write puts a file with its folders.
func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// reopen is another process over the same home.
func (l *lab) reopen(t *testing.T, dir string) *workspace {
	t.Helper()
	return l.reopenAt(t, dir, nil)
}

// reopenAt is one whose clock says something else.
func (l *lab) reopenAt(t *testing.T, dir string, now func() time.Time) *workspace {
	t.Helper()
	registry, err := tool.NewRegistry(tools.Families()...)
	if err != nil {
		t.Fatal(err)
	}
	i, err := setup.Open(t.Context(), setup.Options{
		Dir: dir, Root: dir, Home: l.home, Registry: registry, Now: now,
		Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
			*l.dials++
			to := l.hosts[address]
			if to == "" && strings.HasPrefix(address, "127.0.0.1:") {
				to = address
			}
			if to == "" {
				return nil, fmt.Errorf("no route to %s", address)
			}
			return new(net.Dialer).DialContext(ctx, network, to)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := i.Close(); err != nil {
			t.Error(err)
		}
	})
	return &workspace{i, t, dir}
}

func (l *lab) image(in media.ReadImageInput) *media.ReadOutput {
	l.t.Helper()
	return must[media.ReadOutput](l.workspace, "media.read_image", in)
}

func (l *lab) video(in media.ReadVideoInput) *media.ReadOutput {
	l.t.Helper()
	if in.MaxFrames == 0 {
		in.MaxFrames = 4
	}
	return must[media.ReadOutput](l.workspace, "media.read_video", in)
}

// attempts are what was tried, in short: provider, and how it went.
func attempts(out *media.ReadOutput) []string {
	var list []string
	for _, a := range out.Meta.Attempts {
		how := "ok"
		switch {
		case a.Skipped != "":
			how = "skipped " + a.Skipped
		case !a.OK:
			how = string(a.Class)
		}
		if a.Cooled {
			how += " cooled"
		}
		list = append(list, a.Provider+" "+how)
	}
	return list
}

// saw is an answer of a reader.
func saw(text string) providertest.Step {
	return providertest.Say(fmt.Sprintf(`{"timeline":[{"start":0,"end":null,"text":%q,"frame":null,"confidence":"high","uncertain":false}],"transcript":[],"regions":[],"summary":null}`, text))
}

// slide is a picture with words on it.
func (l *lab) slide(name string) string {
	l.t.Helper()
	testenv.Run(l.t, l.dir, "ffmpeg", "-v", "error", "-f", "lavfi", "-i", "color=white:s=640x360:d=1,drawtext=text='Quarterly results':fontsize=40:x=60:y=150", "-frames:v", "1", name)
	return name
}

// film is a short video with a voice or without.
func (l *lab) film(name, seconds string, more ...string) string {
	l.t.Helper()
	args := []string{"-v", "error", "-f", "lavfi", "-i", "testsrc2=s=320x240:r=10:d=" + seconds}
	testenv.Run(l.t, l.dir, "ffmpeg", append(append(args, more...), "-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p", name)...)
	return name
}

const oneReader = `
models:
  - {id: eye, provider: acme, base_url: HTTP:acme, key: KEY:a, modalities: [text, image]}
lens:
  allow_upload: true
  providers: {openai: {baseUrl: HTTP:spare, apiKey: KEY:b, model: spare-1}}
`

// A picture goes along its chain: the registered model, the configured service, what this
// machine reads, what the file says of itself. Whoever answers first ends it, and the next
// equal call is answered from the record.
func TestPictureChain(t *testing.T) {
	t.Parallel()
	acme, spare := providertest.New(t, saw("a slide")), providertest.New(t, saw("a page"))
	l := newLab(t, oneReader, map[string]*providertest.Server{"acme": acme, "spare": spare})
	slide := cutroom.InPath(l.slide("a.png"))
	out := l.image(media.ReadImageInput{Source: slide})
	if out.Meta.Provider != "registered:acme" || len(out.Timeline) != 1 || out.Timeline[0].Text != "a slide" || out.Provenance.NetworkDestination != "http://acme.test" {
		t.Errorf("%+v", out)
	}
	r, err := l.call("media.read_image", media.ReadImageInput{Source: slide})
	if err != nil || !r.Reused || len(acme.Requests()) != 1 {
		t.Errorf("asked again: %v, %v, %d", r, err, len(acme.Requests()))
	}

	acme.Queue(providertest.Fail(500, "broken"))
	acme.Answer(func(providertest.Request) providertest.Step { return providertest.Fail(500, "broken") })
	out = l.image(media.ReadImageInput{Source: slide, Prompt: "1"})
	want := []string{"registered:acme unavailable", "configured:openai ok"}
	if got := attempts(out); !slices.Equal(got, want) || !out.Transient() || out.Provenance.NetworkDestination != "http://acme.test http://spare.test" {
		t.Errorf("%v, %q", got, out.Provenance.NetworkDestination)
	}
	if len(out.Meta.Warnings) == 0 || !strings.Contains(out.Meta.Warnings[0], "failover") {
		t.Errorf("going on is silent: %q", out.Meta.Warnings)
	}

	spare.Answer(func(providertest.Request) providertest.Step { return providertest.Say("A nice page.") })
	out = l.image(media.ReadImageInput{Source: slide, Prompt: "2"})
	want = []string{"registered:acme unavailable", "configured:openai empty_or_unparsable", "local:ocr ok"}
	if got := attempts(out); !slices.Equal(got, want) || !strings.Contains(out.Timeline[0].Text, "Quarterly results") || len(out.Regions) == 0 {
		t.Errorf("%v, %+v", got, out.Timeline)
	}

	testenv.Run(t, l.dir, "ffmpeg", "-v", "error", "-f", "lavfi", "-i", "color=gray:s=64x64:d=1", "-frames:v", "1", "grey.png")
	out = l.image(media.ReadImageInput{Source: "grey.png"})
	if out.Degraded != "local-metadata-only" || out.Meta.Provider != "local:metadata" || out.Status != cutroom.Partial || !strings.Contains(out.Summary, "64×64") {
		t.Errorf("%+v", out)
	}
}

// What the operator did not allow is not sent, and that is said; strictLocalOnly and
// local_only ask nobody.
func TestNothingLeavesWithoutConsent(t *testing.T) {
	t.Parallel()
	acme, spare := providertest.New(t, saw("a slide")), providertest.New(t, saw("a page"))
	servers := map[string]*providertest.Server{"acme": acme, "spare": spare}
	begun := time.Now()
	closed := newLab(t, strings.Replace(oneReader, "allow_upload: true", "allow_upload: false", 1), servers)
	out := closed.image(media.ReadImageInput{Source: cutroom.InPath(closed.slide("a.png"))})
	want := []string{"registered:acme skipped no_consent", "configured:openai skipped no_consent", "local:ocr ok"}
	if got := attempts(out); !slices.Equal(got, want) || len(out.Meta.Warnings) < 2 || out.Provenance.NetworkDestination != "" {
		t.Errorf("%v, %q", got, out.Meta.Warnings)
	}
	closed.fails("media.read_image", media.ReadImageInput{Source: "a.png", Send: true}, cutroom.NeedsApproval)

	strict := newLab(t, strings.Replace(oneReader, "allow_upload: true", "allow_upload: true\n  strictLocalOnly: true", 1), servers)
	out = strict.image(media.ReadImageInput{Source: cutroom.InPath(strict.slide("a.png"))})
	if got := attempts(out); !slices.Equal(got, []string{"local:ocr ok"}) {
		t.Error(got)
	}
	film := strict.video(media.ReadVideoInput{Source: cutroom.InPath(strict.film("a.mp4", "2"))})
	if film.Meta.Provider == "" || *strict.dials != 0 {
		t.Errorf("%q, %d dials", film.Meta.Provider, *strict.dials)
	}

	open := newLab(t, oneReader, servers)
	out = open.image(media.ReadImageInput{Source: cutroom.InPath(open.slide("a.png")), LocalOnly: true})
	if got := attempts(out); !slices.Equal(got, []string{"local:ocr ok"}) {
		t.Error(got)
	}
	if n := *closed.dials + *strict.dials + *open.dials; n != 0 || acme.Dials()+spare.Dials() != 0 {
		t.Errorf("%d connections, %d and %d arrived, in %v", n, acme.Dials(), spare.Dials(), time.Since(begun))
	}
}
