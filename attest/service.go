package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"

	"github.com/go-json-experiment/json/jsontext"

	"cutroom/internal/provider"
	"cutroom/internal/provider/providertest"
)

// upstreamKey is what the scripted upstream is to be asked with.
const upstreamKey = "key-of-the-scripted-upstream"

// service is `cutroom serve` in a workspace, before a scripted upstream.
type service struct {
	upstream  *providertest.Server
	address   string // of the gateway, without a path
	token     string
	workspace string
	said      <-chan struct{} // closed when standard error has ended
	cmd       *exec.Cmd
}

// gatewayConfig is the user's cutroom.yaml: a model that takes in text alone, and one that
// sees and hears, on two wires each. The keys are in a file. No model reads media: what is
// of this machine does.
const gatewayConfig = `models:
  - {id: blind, provider: lab, base_url: "%[1]s", key: "file:%[2]s", modalities: [text]}
  - {id: keen, provider: lab, base_url: "%[1]s", key: "file:%[2]s", modalities: [text, image, audio, video]}
  - {id: blind-claude, provider: lab-messages, base_url: "%[1]s", wire: messages, key: "file:%[2]s", modalities: [text]}
  - {id: keen-claude, provider: lab-messages, base_url: "%[1]s", wire: messages, key: "file:%[2]s", modalities: [text, image, audio, video]}
lens:
  models: {image: "", audio: "", video: ""}
  inject:
    enabled: true
    families: [""]
`

// modelOf is the configured model of a kind that speaks a wire.
func modelOf(kind string, w provider.Wire) string {
	if w == provider.Messages {
		return kind + "-claude"
	}
	return kind
}

// serve starts the server for a new workspace of the lab.
func (l *lab) serve(ctx context.Context, name string) (s *service, err error) {
	s = &service{workspace: l.path("projects", name)}
	if err := os.MkdirAll(s.workspace, 0o700); err != nil {
		return nil, err
	}
	s.upstream = providertest.Start(func(string, ...any) {}) // what cannot be read is answered with 400
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	key := l.path("key")
	err = errors.Join(os.WriteFile(key, []byte(upstreamKey+"\n"), 0o600), l.configure(fmt.Sprintf(gatewayConfig, s.upstream.URL, key)))
	if err != nil {
		return s, err
	}
	if s.token, err = l.token(s.workspace); err != nil {
		return s, err
	}
	return s, s.start(ctx, l)
}

// start starts the server.
func (s *service) start(ctx context.Context, l *lab) error {
	s.cmd = exec.CommandContext(ctx, l.real(), "serve", "--addr", "127.0.0.1:0")
	s.cmd.Dir, s.cmd.Env = s.workspace, l.env()
	s.cmd.Cancel = func() error { return s.cmd.Process.Signal(syscall.SIGTERM) }
	s.cmd.WaitDelay = endTime
	said, err := s.cmd.StderrPipe()
	if err != nil {
		return err
	}
	if err := s.cmd.Start(); err != nil {
		return err
	}
	s.address, s.said, err = listening(said, io.Discard)
	return err
}

// token makes a token for the gateway.
func (l *lab) token(dir string) (string, error) {
	out, err := l.command(dir, l.real(), "token", "create", "--scope", "gateway", "--json", "--quiet")
	if err != nil {
		return "", err
	}
	var made struct {
		Token string `json:"token"`
	}
	return made.Token, json.Unmarshal([]byte(out), &made)
}

var servingAt = regexp.MustCompile(`serving (http://\S+) `)

// listening reads what a server says until it says where it is, and lets the rest go on to
// w until it ends.
func listening(from io.Reader, w io.Writer) (address string, ended <-chan struct{}, err error) {
	lines, done := bufio.NewReader(from), make(chan struct{})
	var before bytes.Buffer
	for {
		line, err := lines.ReadString('\n')
		before.WriteString(line)
		if m := servingAt.FindStringSubmatch(line); m != nil {
			address = m[1]
			break
		}
		if err != nil {
			close(done)
			return "", done, fmt.Errorf("the server did not start: %s", tail(before.String()))
		}
	}
	go func() {
		defer close(done)
		_, _ = io.Copy(w, lines)
	}()
	return address, done, nil
}

// stop ends the server.
func (s *service) stop() {
	if s.cmd == nil || s.cmd.Process == nil {
		return
	}
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	if s.said != nil {
		<-s.said
	}
	_ = s.cmd.Wait()
}

// close ends server and upstream.
func (s *service) close() {
	s.stop()
	s.upstream.Close()
}

// last is the newest request of the upstream.
func (s *service) last() (providertest.Request, bool) {
	list := s.upstream.Requests()
	if len(list) == 0 {
		return providertest.Request{}, false
	}
	return list[len(list)-1], true
}

// font writes the words of pictures.
const font = "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf"

// drawPicture makes a picture that says words.
func drawPicture(ctx context.Context, to, words string) error {
	return ffmpeg(ctx, "-f", "lavfi", "-i", "color=white:s=640x200:d=1", "-vf", "drawtext=fontfile="+font+":text='"+words+"':fontsize=56:x=40:y=70", "-frames:v", "1", "-update", "1", to)
}

// putMedia makes media in the workspace whose contents nothing else has, and returns the
// blocks for them: a picture, a recording and a video as content, and a picture by its
// path. The picture says words, the one at the path paths.
func (l *lab) putMedia(ctx context.Context, workspace, name, words, paths string) ([]medium, error) {
	clip := filepath.Join(l.repository, filepath.FromSlash(clipFile))
	at := func(suffix string) string { return filepath.Join(workspace, name+suffix) }
	only := []string{"-t", "5", "-i", clip, "-metadata", "comment=" + name}
	err := errors.Join(
		drawPicture(ctx, at(".png"), words), drawPicture(ctx, at("-path.png"), paths),
		ffmpeg(ctx, append(only, "-vn", "-ar", "16000", "-ac", "1", at(".wav"))...),
		ffmpeg(ctx, append(only, "-vf", "scale=480:-2", "-preset", "veryfast", at(".mp4"))...),
	)
	if err != nil {
		return nil, err
	}
	list := []medium{{Kind: "image", Type: "image/png", Name: name + ".png"}, {Kind: "audio", Type: "audio/wav", Name: name + ".wav"}, {Kind: "video", Type: "video/mp4", Name: name + ".mp4"}}
	for i := range list {
		if list[i].Data, err = os.ReadFile(filepath.Join(workspace, list[i].Name)); err != nil {
			return nil, err
		}
		if err := os.Remove(filepath.Join(workspace, list[i].Name)); err != nil { // it is in the block alone
			return nil, err
		}
	}
	return append(list, medium{Kind: "image", Path: name + "-path.png", Name: name + "-path.png"}), nil
}

func ffmpeg(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, "ffmpeg", append([]string{"-v", "error", "-nostdin", "-y"}, args...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("ffmpeg: %w: %s", err, tail(string(out)))
	}
	return nil
}

// marker begins the text that stands for a medium which was read.
const marker = "[cutroom: evidence of "

// evidence are the texts of a request that stand for media.
func evidence(body []byte) []string {
	var list []string
	d := jsontext.NewDecoder(bytes.NewReader(body))
	for {
		t, err := d.ReadToken()
		if err != nil {
			return list
		}
		if t.Kind() == '"' && strings.HasPrefix(t.String(), marker) {
			list = append(list, t.String())
		}
	}
}
