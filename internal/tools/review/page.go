package review

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"html/template"
	"path"
	"slices"
	"strconv"
	"strings"

	"cutroom"
	"cutroom/internal/tool"
)

// page is what the report shows.
type page struct {
	Title, Notes, Version string
	Commands              []string
	Files                 []side
	Check                 *CheckOutput
	Sound                 []byte
	Verified              []cutroom.Verified
	Made                  *cutroom.Provenance // of the edit; nil when none was named
}

// side is one of the two files.
type side struct {
	What, Name string
	Digest     cutroom.Digest
	Facts      [][2]string
	Sheet      []byte
}

func sideOf(what string, f tool.Input) side {
	d := f.Media
	s := side{What: what, Name: f.Text, Digest: f.Digest}
	if path.IsAbs(s.Name) {
		s.Name = baseName(s.Name) // a page that is handed over tells nobody of this machine's folders
	}
	add := func(name, format string, args ...any) {
		s.Facts = append(s.Facts, [2]string{name, fmt.Sprintf(format, args...)})
	}
	add("Length", "%s s", d.DurationSeconds)
	add("Size", "%.2f MB", float64(f.Size)/1e6)
	if v := d.FirstVideo(); v != nil {
		add("Video", "%s, %d×%d", v.CodecName, v.Video.DisplayWidth, v.Video.DisplayHeight)
		if !v.Video.StillImage {
			add("Rate", "%s frames/s", v.Video.FrameRate)
		}
	}
	for _, a := range d.AudioStreams() {
		add("Sound", "%s, %d channels, %d Hz", a.CodecName, a.Audio.Channels, a.Audio.SampleRate)
	}
	return s
}

// edit adds what the run that made the file says of it.
func (p *page) edit(ctx context.Context, env tool.Env, ref cutroom.Ref) error {
	if ref.Run == "" {
		return nil
	}
	r, err := env.ReadResult(ctx, ref)
	if err != nil {
		return err
	}
	m, ok := r.Output.(tool.Maker)
	if !ok {
		return cutroom.Errorf(cutroom.Invalid, "that run made no file").WithHint("give edit the run of the edit that made the file")
	}
	made := m.AsMade()
	p.Commands = append(slices.Clone(made.Commands), p.Commands...)
	p.Verified, p.Made = made.Verified, &made.Provenance
	return nil
}

func (p *page) html() ([]byte, error) {
	t, err := template.New("report").Funcs(template.FuncMap{"picture": picture, "number": number}).Parse(reportPage)
	if err != nil {
		return nil, fmt.Errorf("the page: %w", err)
	}
	var b bytes.Buffer
	if err := t.Execute(&b, p); err != nil {
		return nil, fmt.Errorf("the page: %w", err)
	}
	return b.Bytes(), nil
}

// picture is a picture as an address that holds it. Its type is told from its bytes, which
// our own ffmpeg wrote.
func picture(data []byte) template.URL {
	return template.URL("data:" + mediaType(data) + ";base64," + base64.StdEncoding.EncodeToString(data))
}

func mediaType(data []byte) string {
	if bytes.HasPrefix(data, []byte("\x89PNG")) {
		return "image/png"
	}
	return "image/jpeg"
}

func number(v *float64, text string) string {
	if v == nil {
		return text
	}
	return strconv.FormatFloat(*v, 'f', -1, 64)
}

func baseName(p string) string { return path.Base(strings.ReplaceAll(p, `\`, "/")) }

func hasSuffix(name string, suffixes ...string) bool {
	return slices.Contains(suffixes, strings.ToLower(path.Ext(name)))
}

const reportPage = `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'">
<title>{{.Title}}</title>
<style>
:root{color-scheme:light dark;--ink:#16191d;--soft:#5b6470;--page:#fff;--line:#d9dee4;--bad:#b3261e;--warn:#8a5a00;--good:#146c2e}
@media (prefers-color-scheme:dark){:root{--ink:#e8eaed;--soft:#a2abb6;--page:#15181c;--line:#333a42;--bad:#ff8a80;--warn:#ffcc66;--good:#7ddc94}}
*{box-sizing:border-box}body{margin:0 auto;max-width:1280px;padding:24px;background:var(--page);color:var(--ink);font:16px/1.5 system-ui,sans-serif;overflow-wrap:anywhere}
h1{font-size:1.6em;margin:0}h2{font-size:1.15em;margin:1.6em 0 .5em}.soft{color:var(--soft)}.FAIL{color:var(--bad);font-weight:600}.WARN{color:var(--warn);font-weight:600}.PASS{color:var(--good)}
.sides{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,420px),1fr));gap:24px}img{max-width:100%;height:auto;display:block;border:1px solid var(--line)}
table{border-collapse:collapse;width:100%}td,th{text-align:left;vertical-align:top;padding:4px 12px 4px 0;border-bottom:1px solid var(--line);font-variant-numeric:tabular-nums}
pre{white-space:pre-wrap;border:1px solid var(--line);padding:12px;font:13px/1.5 ui-monospace,monospace}code{font:13px ui-monospace,monospace}.scroll{overflow-x:auto}
</style>
</head>
<body>
<h1 dir="auto">{{.Title}}</h1>
<p>{{with .Check}}{{if .OK}}<span class="PASS">READY</span>{{else}}<span class="FAIL">{{.Failures}} FAIL</span>{{end}} for {{.Platform}}{{if .Assumed}} <span class="soft">(nobody named the platform)</span>{{end}}{{if .Warnings}}, <span class="WARN">{{.Warnings}} warn</span>{{end}}{{end}}</p>
<div class="sides">
{{range .Files}}<section>
<h2>{{.What}}</h2>
<p dir="auto">{{.Name}}</p>
{{if .Sheet}}<img src="{{picture .Sheet}}" alt="contact sheet, {{.What}}">{{end}}
<table>{{range .Facts}}<tr><th scope="row">{{index . 0}}</th><td>{{index . 1}}</td></tr>{{end}}</table>
</section>
{{end}}</div>
{{if .Sound}}<h2>Sound and loudness</h2>
<img src="{{picture .Sound}}" alt="waveform and loudness">
{{end}}<h2>Checks</h2>
<div class="scroll"><table><tr><th>check</th><th>status</th><th>value</th><th>limit</th><th>kind</th><th>what to do</th></tr>
{{range .Check.Checks}}<tr><td>{{.Check}} {{.Stream}}</td><td class="{{.Status}}">{{.Status}}</td><td>{{number .Value .ValueText}} {{.Unit}}</td><td>{{.Op}} {{number .Limit .LimitText}}</td><td>{{.Kind}}</td><td dir="auto">{{.Fix}} {{.Reason}}</td></tr>
{{end}}</table></div>
{{if .Verified}}<h2>Measured when it was made</h2>
<div class="scroll"><table><tr><th>what</th><th>planned</th><th>measured</th></tr>
{{range .Verified}}<tr><td>{{.Check}} {{.Stream}}</td><td>{{.Expected}} {{.Unit}}</td><td class="{{if .OK}}PASS{{else}}FAIL{{end}}">{{.Measured}} {{.Unit}}</td></tr>
{{end}}</table></div>
{{end}}{{if .Commands}}<h2>Commands</h2>
<pre dir="auto">{{range .Commands}}{{.}}
{{end}}</pre>
{{end}}{{if .Notes}}<h2>Notes</h2>
<pre dir="auto">{{.Notes}}</pre>
{{end}}<h2>Where it comes from</h2>
<div class="scroll"><table>
{{range .Files}}<tr><th scope="row">{{.What}}</th><td>SHA-256 <code>{{.Digest}}</code></td></tr>
{{end}}{{with .Made}}<tr><th scope="row">Made by</th><td>{{.ToolID}} {{.ToolContractVersion}}, run <code>{{.InvocationSHA256}}</code></td></tr>
{{range $name, $version := .ExecutableVersions}}<tr><th scope="row">{{$name}}</th><td>{{$version}}</td></tr>
{{end}}{{end}}<tr><th scope="row">Report</th><td>cutroom {{.Version}}</td></tr>
</table></div>
</body>
</html>
`
