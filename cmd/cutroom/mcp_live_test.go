package main_test

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"cutroom/internal/testenv"
)

// speech makes a recording of so many minutes in which somebody speaks.
func speech(t *testing.T, to string, minutes int) {
	t.Helper()
	testenv.FFmpeg(t, "-stream_loop", fmt.Sprint(minutes*60/26), "-i", filepath.Join(testenv.Root(t), "testdata", "media", "demo.mp4"),
		"-vn", "-ac", "1", "-ar", "16000", "-c:a", "pcm_s16le", to)
}

// progressOf are the notifications under a token, and when each came.
func (s *mcpServer) progressOf(token string) (numbers []float64, times []time.Time) {
	s.t.Helper()
	for _, m := range s.seen() {
		var p struct {
			Token    json.RawMessage `json:"progressToken"`
			Progress float64
			Message  string
		}
		if m.Method != "notifications/progress" {
			continue
		}
		if decode(s.t, m.Params, &p); string(p.Token) != token {
			continue
		}
		if p.Message == "" {
			s.t.Errorf("progress without words: %s", m.line)
		}
		numbers, times = append(numbers, p.Progress), append(times, m.at)
	}
	return numbers, times
}

// TestProgress: whoever asked to know hears at least every 5 s, in numbers that grow,
// and nothing after the answer; what else stands in _meta is accepted.
func TestProgress(t *testing.T) {
	i := install(t)
	dir := t.TempDir()
	speech(t, filepath.Join(dir, "talk.wav"), 4)
	s := i.serve(t, dir, "mcp", "--patience", "1h").open("2025-11-25")
	began := time.Now()
	id := s.send("tools/call", `{"name":"media_watch","arguments":`+source("talk.wav", `"mode":"transcript"`)+
		`,"_meta":{"progressToken":"t-1","claudecode/toolUseId":"x","com.example/other":{"a":[1,null,"b"]}}}`)
	quiet := s.send("tools/call", callParams("measure_probe", `{"inputs":["talk.wav"]}`))
	numbered := s.send("tools/call", `{"name":"measure_signals","arguments":{"input":"talk.wav"},"_meta":{"progressToken":7}}`)
	slow, pings := 0*time.Second, 0
	for end := false; !end; {
		asked := time.Now()
		m := s.answer(s.send("ping", ""))
		if slow, pings = max(slow, m.at.Sub(asked)), pings+1; m.Error != nil {
			t.Fatal(m.line)
		}
		for _, m := range s.seen() {
			end = end || string(m.ID) == fmt.Sprint(id)
		}
		<-time.After(100 * time.Millisecond)
	}
	if slow > time.Second {
		t.Errorf("a ping was answered after %v", slow)
	}
	m := s.answer(id)
	s.took("media_watch", m)
	s.took("measure_probe", s.answer(quiet))
	s.took("measure_signals", s.answer(numbered))
	s.must("tools/list", "{}")
	numbers, times := s.progressOf(`"t-1"`)
	last, widest := began, 0*time.Second
	for n, at := range times {
		if n > 0 && numbers[n] <= numbers[n-1] {
			t.Errorf("progress falls from %v to %v", numbers[n-1], numbers[n])
		}
		if at.After(m.at) {
			t.Errorf("progress is told %v after the answer", at.Sub(m.at))
		}
		widest, last = max(widest, at.Sub(last)), at
	}
	if widest = max(widest, m.at.Sub(last)); widest > 5*time.Second {
		t.Errorf("%v passed without a word", widest)
	}
	t.Logf("%v of work, %d notifications, at most %v apart; %d pings, the slowest %v", m.at.Sub(began), len(times), widest, pings, slow)
	if sevens, _ := s.progressOf("7"); len(times) < 2 || len(sevens) == 0 {
		t.Errorf("%d notifications for a text, %d for a number", len(times), len(sevens))
	}
	for _, m := range s.seen() {
		if m.Method != "" && m.Method != "notifications/progress" {
			t.Errorf("nobody asked for %s", m.line)
		}
	}
}

// TestCancel stops calls in the middle of each kind of program: what works for them
// is gone within a second, nothing answers, and what nobody knows is ignored.
func TestCancel(t *testing.T) {
	i := install(t)
	dir := t.TempDir()
	speech(t, filepath.Join(dir, "talk.wav"), 30)
	testenv.FFmpeg(t, "-f", "lavfi", "-i", "testsrc2=d=60:s=1280x720:r=30", "-c:v", "libx264", "-preset", "ultrafast", filepath.Join(dir, "film.mp4"))
	s := i.serve(t, dir, "mcp", "--toolsets", "all", "--patience", "1h").open("2025-06-18")
	for _, odd := range []string{`{"requestId":4711}`, `{"requestId":"x"}`, `{"requestId":null}`, `{}`, `{"requestId":1,"reason":7}`, `[]`} {
		s.write(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":` + odd + `}`)
	}
	s.must("ping", "")
	caught := 0
	for _, c := range []struct{ tool, input, program string }{
		{"media_watch", source("talk.wav", `"mode":"transcript"`), "speech"},
		{"measure_signals", `{"input":"film.mp4"}`, "ffmpeg"},
		{"video_extract_audio", source("talk.wav", `"sample_rate_hz":48000,"channels":2`), "ffmpeg"},
		{"media_watch", source("film.mp4", `"mode":"timeline","detail":"high"`), "ocr"},
	} {
		id := s.send("tools/call", `{"name":"`+c.tool+`","arguments":`+c.input+`,"_meta":{"progressToken":"`+c.program+c.tool+`"}}`)
		list := s.runs(c.program, id)
		if list == nil {
			t.Logf("%s was done before %s was seen", c.tool, c.program)
			continue
		}
		s.write(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d,"reason":"the user pressed escape"}}`, id))
		cancelled := time.Now()
		caught++
		took, left := s.idle(10 * time.Second)
		if took > time.Second {
			t.Errorf("%s: %d processes are gone after %v, left %v", c.tool, len(list), took, left)
		}
		t.Logf("%s: %d processes are gone %v after the cancel", c.tool, len(list), took)
		s.must("ping", "")
		s.write(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, id)) // once more
		s.good("measure_probe", `{"inputs":["talk.wav"]}`)
		for _, m := range s.seen() {
			if string(m.ID) == fmt.Sprint(id) {
				t.Errorf("a cancelled call is answered: %.300s", m.line)
			}
		}
		if _, times := s.progressOf(`"` + c.program + c.tool + `"`); len(times) > 0 && times[len(times)-1].Sub(cancelled) > time.Second {
			t.Errorf("%s: progress is told after the cancel", c.tool)
		}
	}
	if caught < 3 {
		t.Errorf("%d calls were caught at work", caught)
	}
	// What was cancelled left nothing that is in the way.
	s.good("video_extract_audio", source("talk.wav", `"sample_rate_hz":48000,"channels":2`))
}

// runs waits until a program works for a call and returns all processes of the
// server; nil when the call was answered before.
func (s *mcpServer) runs(program string, id int) []process {
	s.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); <-time.After(3 * time.Millisecond) {
		list := descendants(s.cmd.Process.Pid)
		for _, p := range list {
			raw, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p.pid))
			name, _, _ := strings.Cut(string(raw), "\x00")
			if strings.TrimPrefix(filepath.Base(name), "cutroom-") == program {
				return list
			}
		}
		for _, m := range s.seen() {
			if string(m.ID) == fmt.Sprint(id) {
				return nil
			}
		}
	}
	s.t.Fatalf("%s does not start", program)
	return nil
}

// TestFourCallsAtOnce: each gets its own answer, also when two are the same.
func TestFourCallsAtOnce(t *testing.T) {
	t.Parallel()
	i := install(t)
	dir := t.TempDir()
	sample(t, dir)
	s := i.serve(t, dir, "mcp", "--toolsets", "all", "--patience", "1h").modern()
	calls := []string{
		callParams("media_watch", source("demo.mp4", `"mode":"transcript"`)),
		callParams("media_watch", source("demo.mp4", `"mode":"transcript"`)),
		callParams("measure_signals", `{"input":"demo.mp4"}`),
		callParams("video_extract_frames", source("demo.mp4", `"timestamps_seconds":[3]`)),
	}
	var ids []int
	for _, c := range calls {
		ids = append(ids, s.send("tools/call", c))
	}
	var texts []string
	for n, id := range ids {
		a := s.took(calls[n], s.answer(id))
		if a.IsError {
			t.Errorf("%s: %s", calls[n], a.text())
		}
		texts = append(texts, a.text())
	}
	if texts[0] != texts[1] {
		t.Errorf("equal calls are answered\n%s\nand\n%s", texts[0], texts[1])
	}
	if !strings.Contains(texts[2], "silence") || !strings.Contains(texts[3], "frame-0001.jpg") {
		t.Errorf("signals: %s\nframes: %s", texts[2], texts[3])
	}
}

// TestClientGone: the host closes the pipe, or dies, or kills us, in the middle of a
// call. Nothing goes on working.
func TestClientGone(t *testing.T) {
	i := install(t)
	dir := t.TempDir()
	speech(t, filepath.Join(dir, "talk.wav"), 30)
	call := callParams("media_watch", source("talk.wav", `"mode":"transcript"`))
	t.Run("input closed", func(t *testing.T) {
		s := i.serve(t, dir, "mcp", "--patience", "1h").open("2025-11-25")
		list := s.runs("speech", s.send("tools/call", call))
		_ = s.in.Close()
		i.over(t, s, list, nil)
	})
	t.Run("server interrupted", func(t *testing.T) {
		s := i.serve(t, dir, "mcp", "--patience", "1h").open("2025-11-25")
		list := s.runs("speech", s.send("tools/call", call))
		_ = s.cmd.Process.Signal(syscall.SIGTERM)
		i.over(t, s, list, func(state *os.ProcessState) bool { return state.ExitCode() == 143 || state.ExitCode() == 0 })
	})
	t.Run("server killed", func(t *testing.T) {
		s := i.serve(t, dir, "mcp", "--patience", "1h").open("2025-11-25")
		list := s.runs("speech", s.send("tools/call", call))
		_ = s.cmd.Process.Kill()
		i.over(t, s, list, func(*os.ProcessState) bool { return true })
	})
	t.Run("client killed", func(t *testing.T) { i.clientKilled(t, dir, call) })
}

// over checks that a server ends, well unless said otherwise, and its programs before
// it or within a second.
func (i *installation) over(t *testing.T, s *mcpServer, list []process, good func(*os.ProcessState) bool) {
	t.Helper()
	began := time.Now()
	select {
	case err := <-s.ended:
		s.ended <- err
		if good == nil && err != nil || good != nil && !good(s.cmd.ProcessState) {
			t.Errorf("the server ends with %v: %s", err, s.said.String())
		}
	case <-time.After(20 * time.Second):
		t.Error("the server goes on")
	}
	t.Logf("the server ended after %v", time.Since(began))
	if took, left := allGone(list, time.Second); len(left) > 0 {
		t.Errorf("left of %d processes after %v: %v", len(list), took, left)
	}
	if strings.Contains(s.said.String(), canary) {
		t.Errorf("a value of the environment is in %s", s.said.String())
	}
}

// clientKilled lets a process of its own be the client, and kills it.
func (i *installation) clientKilled(t *testing.T, dir, call string) {
	t.Helper()
	requests := filepath.Join(t.TempDir(), "requests")
	text := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}` + "\n" +
		`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n" + `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":` + call + "}\n"
	if err := os.WriteFile(requests, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	inR, inW := pipe(t)
	outR, outW := pipe(t)
	s := &mcpServer{t: t, cmd: exec.Command(i.bin, "mcp", "--patience", "1h"), ended: make(chan error, 1), in: io.WriteCloser(inW)}
	s.cmd.Dir, s.cmd.Env, s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = dir, i.environ(), inR, outW, &s.said
	client := exec.Command("sh", "-c", `cat "$0" >&3; exec cat <&4 >/dev/null`, requests)
	client.ExtraFiles = []*os.File{inW, outR}
	for _, c := range []*exec.Cmd{s.cmd, client} {
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range []*os.File{inR, inW, outR, outW} {
		_ = f.Close()
	}
	go func() { s.ended <- s.cmd.Wait() }()
	list := s.runs("speech", 0)
	_ = client.Process.Kill()
	_ = client.Wait()
	// That nobody reads what it says any more is for it to say.
	i.over(t, s, list, func(state *os.ProcessState) bool { return state.Exited() })
}

func pipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	return r, w
}
