package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"cutroom/internal/modeltest"
)

// pointing is how a host is pointed at the gateway, as docs/gateway.md says, and shown a
// picture.
type pointing struct {
	env func(token, model string) []string
	// file is the host's file and what stands there; "" for one that takes its environment.
	file func(l *lab, project, model string) (path, text string, err error)
	// args shows the picture at a path and asks; script is what the model then does.
	args   func(picture, question string) []string
	script func(picture string) modeltest.Script
	how    string // for people: how the picture gets into the conversation
}

const prompt = "What does the picture say?"

func claudePointing() pointing {
	return pointing{
		env: func(token, model string) []string {
			return []string{
				"ANTHROPIC_BASE_URL=" + addressWord, "ANTHROPIC_AUTH_TOKEN=" + token, "ANTHROPIC_MODEL=" + model, "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
				"DISABLE_TELEMETRY=1", "DISABLE_ERROR_REPORTING=1", "DISABLE_AUTOUPDATER=1", "DISABLE_BUG_COMMAND=1",
			}
		},
		args: func(picture, question string) []string { return []string{"-p", question + " It is " + picture} },
		script: func(picture string) modeltest.Script {
			return modeltest.Script{modeltest.Use(modeltest.With("Read", struct {
				Path string `json:"file_path"`
			}{picture})), modeltest.Say(seenWords)}
		},
		how: "its own tool " + code("Read") + " shows it",
	}
}

// codexBehind is the user's file of Codex.
const codexBehind = `model = "%s"
model_provider = "cutroom"
check_for_update_on_startup = false
[analytics]
enabled = false
[features]
plugins = false
[model_providers.cutroom]
name = "cutroom"
base_url = "` + addressWord + `/v1"
env_key = "CUTROOM_TOKEN"
wire_api = "responses"
`

func codexPointing() pointing {
	return pointing{
		env: func(token, _ string) []string { return []string{"CUTROOM_TOKEN=" + token} },
		file: func(l *lab, _, model string) (string, string, error) {
			return l.path(".codex", "config.toml"), fmt.Sprintf(codexBehind, model), nil
		},
		args: func(picture, question string) []string {
			return []string{"exec", "--skip-git-repo-check", "-i", picture, "--", question}
		},
		script: func(picture string) modeltest.Script {
			return modeltest.Script{modeltest.Use(modeltest.With("view_image", struct {
				Path string `json:"path"`
			}{picture})), modeltest.Say(seenWords)}
		},
		how: code("codex exec -i PICTURE") + ", and its own tool " + code("view_image"),
	}
}

// openCodeBehind is the user's file of opencode.
const openCodeBehind = `{"$schema":"https://opencode.ai/config.json","autoupdate":false,"share":"disabled",
"model":"cutroom/%[1]s","small_model":"cutroom/%[1]s",
"provider":{"cutroom":{"npm":"@ai-sdk/openai-compatible","name":"cutroom","options":{"baseURL":"` + addressWord + `/v1","apiKey":"{env:CUTROOM_TOKEN}"},
"models":{"%[1]s":{"attachment":true,"tool_call":true,"modalities":{"input":["text","image"],"output":["text"]},"limit":{"context":200000,"output":8000}}}}}}
`

func openCodePointing() pointing {
	return pointing{
		env: func(token, _ string) []string {
			return []string{
				"CUTROOM_TOKEN=" + token,
				"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1", "OPENCODE_DISABLE_DEFAULT_PLUGINS=1",
			}
		},
		file: func(l *lab, _, model string) (string, string, error) {
			return l.path(".config", "opencode", "opencode.json"), fmt.Sprintf(openCodeBehind, model), nil
		},
		args: func(picture, question string) []string {
			return []string{"run", question, "-f", picture}
		},
		script: func(string) modeltest.Script { return modeltest.Script{modeltest.Say(seenWords)} },
		how:    code("opencode run QUESTION -f PICTURE"),
	}
}

// seenWords are what the scripted model says when it has been asked.
const seenWords = "I have seen what there is to see."

// pictureWords are in the picture.
const pictureWords = "PLATFORM 47"

// gatewayConfigOf is the user's cutroom.yaml before a scripted model.
const gatewayConfigOf = `models:
  - {id: scripted, provider: lab, base_url: "%s/v1", wire: %s, key: "file:%s"}
lens:
  inject:
    enabled: true
    families: [""]
`

// look is what one run of a host behind the gateway was seen to do.
type look struct {
	asked    int  // turns of the model
	keyed    bool // all with the upstream's key
	pictures int  // that reached the model
	evidence []string
	code     int
	printed  string
	told     bool // the host showed what the model said
}

// behindGateway runs the host with `cutroom serve` between it and the model.
func (a *attestation) behindGateway(ctx context.Context, project, token, model, picture string) (*look, error) {
	ctx, cancel := context.WithTimeout(ctx, runTime)
	defer cancel()
	var out, complaints bytes.Buffer
	j, err := openJail(&out, &complaints)
	if err != nil {
		return nil, err
	}
	p := a.pointing
	m, err := modeltest.New(modeltest.Options{Script: p.script(picture), Listener: j.listener, Key: upstreamKey})
	if err != nil {
		return nil, err
	}
	defer m.Close()
	key, file, text := a.path("key"), "", ""
	if p.file != nil {
		file, text, err = p.file(a.lab, project, model)
		err = errors.Join(err, write(file, text))
	}
	err = errors.Join(err, write(key, upstreamKey), a.configure(fmt.Sprintf(gatewayConfigOf, m.URL, a.wire, key)))
	if err != nil {
		j.close()
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		j.close()
		return nil, err
	}
	args := append([]string{behindMode, a.real(), file, a.lab.client}, p.args(picture, prompt)...)
	l := &look{keyed: true}
	l.code, err = j.run(ctx, program{Path: self, Args: args, Dir: project, Env: a.lab.env(p.env(token, model)...)}, func(int) {})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", a.title, err)
	}
	l.printed, l.told = tail(out.String())+"\n"+tail(complaints.String()), strings.Contains(out.String(), seenWords)
	for _, r := range m.Requests() {
		if r.IsTurn {
			l.asked++
		}
		l.keyed = l.keyed && (r.Header.Get("Authorization") == "Bearer "+upstreamKey || r.Header.Get("X-Api-Key") == upstreamKey)
		l.pictures += len(r.Images())
		l.evidence = append(l.evidence, evidence(r.Body)...)
	}
	return l, nil
}

// gatewayVisit: the host speaks to a model without sight through the gateway, and has a
// picture in the conversation.
func (a *attestation) gatewayVisit(ctx context.Context) ([]Row, error) {
	project := a.path("projects", "gateway")
	picture := filepath.Join(project, "picture.png")
	if err := os.MkdirAll(project, 0o700); err != nil {
		return nil, err
	}
	if err := drawPicture(ctx, picture, pictureWords); err != nil {
		return nil, err
	}
	token, err := a.token(project)
	if err != nil {
		return nil, err
	}
	plain, err := a.behindGateway(ctx, project, token, "scripted", picture)
	if err != nil {
		return nil, err
	}
	wrapped, err := a.behindGateway(ctx, project, token, "cutroom-vision-scripted", picture)
	if err != nil {
		return nil, err
	}
	return []Row{a.plainRow(plain), a.wrappedRow(wrapped)}, nil
}

// plainRow: under its own name the model gets the picture. Without that the next row
// would say nothing.
func (a *attestation) plainRow(l *look) Row {
	row := Row{Check: "pointed at the gateway, a model's own name passes a picture as it is"}
	row.Passed = l.ok() && l.pictures > 0 && len(l.evidence) == 0
	note(&row, a.pointing.how+"; the picture reaches the model")
	a.looked(l, row)
	return row
}

// wrappedRow: under the second name it gets what the picture says, and no picture.
func (a *attestation) wrappedRow(l *look) Row {
	row := Row{Check: "under the second name the model gets evidence in its place"}
	row.Passed = l.ok() && l.pictures == 0 && len(l.evidence) > 0 && !slices.ContainsFunc(l.evidence, func(text string) bool {
		return !strings.HasPrefix(text, marker+"an image") || !strings.Contains(text, pictureWords)
	})
	note(&row, "the words in it reach the model, and no picture; the token stays here")
	a.looked(l, row)
	return row
}

// ok says that the host came through, and that the model was asked with the right key.
func (l *look) ok() bool { return l.code == 0 && l.told && l.asked > 0 && l.keyed }

// looked shows what a run was, when its row did not pass.
func (a *attestation) looked(l *look, r Row) {
	if !r.Passed {
		a.say("not passed: %s: asked %d times, by the key %t, %d pictures, evidence %q, exit code %d; the host printed: %s", r.Check, l.asked, l.keyed, l.pictures, l.evidence, l.code, l.printed)
	}
}
