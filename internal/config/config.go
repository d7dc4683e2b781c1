// Package config reads the operator's choices and knows where the product keeps
// its files on this machine.
//
// It promises that a wrong key is named, that a file in a workspace can only
// narrow what the user's own file allows, and that no secret lies in a workspace.
// It must never know a tool or a door.
package config

import (
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"

	"cutroom"
)

// Name is the file's name, in the user's config folder and in a workspace.
const Name = "cutroom.yaml"

// Config is the content of a config file. Empty fields leave the default.
type Config struct {
	Roots      []string    `yaml:"roots" doc:"Absolute folders that may be read besides the workspace. In the user's own file only."`
	Stage      Stage       `yaml:"stage" doc:"Where results are kept."`
	Limits     Limits      `yaml:"limits" doc:"Largest values that a call may ask for."`
	Agent      Bounds      `yaml:"agent" doc:"What an agent may see and do."`
	Operator   Bounds      `yaml:"operator" doc:"What the operator's own calls may see and do."`
	Principals []Principal `yaml:"principals" doc:"Principals with a name of their own, each with less than the plain one of its role. In the user's own file only."`
	Sandbox    Sandbox     `yaml:"sandbox" doc:"What the sandbox must provide."`
	Speech     Speech      `yaml:"speech" doc:"Speech to text."`
	MCP        MCP         `yaml:"mcp" doc:"The server for agents' hosts."`
	Lens       Lens        `yaml:"lens" doc:"What models may be asked about media, what may be sent to them and what that may cost."`
	Models     []Model     `yaml:"models" doc:"Models that media may be read with and that the gateway forwards to. In the user's own file only."`
	Policy     Policy      `yaml:"policy" doc:"What calls are allowed, denied, or need a person's approval."`
	Approvals  Approvals   `yaml:"approvals" doc:"How a person allows what needs a person."`
	Database   string      `yaml:"database" doc:"Address of a PostgreSQL database, postgres://USER@HOST:PORT/NAME, instead of the SQLite file in the state folder. Without its password. In the user's own file only."`
	Password   string      `yaml:"database_password" as:"secret" doc:"Where the password of that database is: env:NAME, file:/PATH or keyring:NAME. Never the password itself. In the user's own file only."`
	Programs   []string    `yaml:"programs" doc:"Folders searched for programs by cutroom setup, before the standard ones."`
}

// Stage says where results are kept.
type Stage struct {
	Root         string `yaml:"root" doc:"Folder of recorded results, relative to the workspace. Default: ops/staging/watch when it exists, else .cutroom/stage."`
	PendingLimit int64  `yaml:"pending_limit" default:"2147483648" doc:"Bytes of leftovers kept after crashes."`
}

// Limits are the largest values that a call may ask for; zero leaves the ceiling
// of the contract.
type Limits struct {
	MaxFileBytes       int64 `yaml:"max_file_bytes" doc:"Largest input file, bytes. Ceiling 8589934592."`
	MaxDurationSeconds int64 `yaml:"max_duration_seconds" doc:"Longest input, seconds. Ceiling 86400."`
	MaxFrames          int64 `yaml:"max_frames" doc:"Most frames of one call. Ceiling 240."`
	MaxTranscriptBytes int64 `yaml:"max_transcript_bytes" doc:"Largest transcript, bytes. Ceiling 33554432."`
	TimeoutSeconds     int64 `yaml:"timeout_seconds" doc:"Longest deadline of one call, seconds. Default: each tool's own."`
}

// Bounds limit one role.
type Bounds struct {
	Tools []string `yaml:"tools" doc:"Globs over tool ids, e.g. video.*; what matches none does not exist for the role."`
	Kinds []string `yaml:"kinds" enum:"read,preview,propose,approve,execute" doc:"Kinds of call: read, preview, propose, approve, execute."`
}

// Sandbox says what the sandbox must provide.
type Sandbox struct {
	Require string `yaml:"require" enum:"floor,namespaces" default:"floor" doc:"floor (Landlock, seccomp, limits) or namespaces (the floor and user, network, PID and IPC namespaces)."`
}

// MCP is how agents' hosts are served.
type MCP struct {
	Toolsets        []string `yaml:"toolsets" default:"default" doc:"Tools that are listed: default, all, or families such as video."`
	PatienceSeconds int64    `yaml:"patience_seconds" default:"45" doc:"How long a call may take before it goes on as a job, seconds."`
}

// Speech chooses the speech engine.
type Speech struct {
	Model    string   `yaml:"model" enum:"base,tiny" default:"base" doc:"Built-in English model: base (better) or tiny (faster)."`
	Engine   Engine   `yaml:"engine" doc:"An engine of your own, pinned by cutroom setup."`
	Endpoint Endpoint `yaml:"endpoint" doc:"A speech service of your own on this machine."`
}

// Endpoint is a speech service with OpenAI's form of /v1/audio/transcriptions.
type Endpoint struct {
	URL    string   `yaml:"url" doc:"Address of the request, on this machine, e.g. http://127.0.0.1:8080/v1/audio/transcriptions."`
	Model  string   `yaml:"model" doc:"Model that it is asked for."`
	Key    string   `yaml:"key" as:"secret" doc:"Where its bearer token is: env:NAME, file:/PATH or keyring:NAME. Never the token itself."`
	Speaks []string `yaml:"speaks" doc:"Languages that it speaks, as BCP 47 tags; empty means any."`
}

// Engine is a speech engine of the operator's own.
type Engine struct {
	Name   string   `yaml:"name" doc:"What transcripts call it."`
	Run    string   `yaml:"program" doc:"The program: a name that cutroom setup finds, or an absolute path."`
	Args   []string `yaml:"args" doc:"Its arguments. {input} stands for the recording (16 kHz mono WAV), {output} for a file to write, {language} for the language, {model} for the model; each is an argument of its own."`
	Model  string   `yaml:"model" doc:"Absolute path of the model file that {model} stands for."`
	Format string   `yaml:"format" enum:"json,srt,vtt" default:"json" doc:"What it writes: json, srt or vtt."`
	Suffix string   `yaml:"suffix" doc:"What it adds to {output}, e.g. .json."`
	Speaks []string `yaml:"speaks" doc:"Languages that it speaks, as BCP 47 tags; empty means any."`
}

// Parse reads one config file. What is wrong with it is one error that names the lines.
func Parse(data []byte) (Config, error) {
	c, faults := Check(data)
	if err := asError(faults); err != nil {
		return Config{}, err
	}
	return c, nil
}

// maxFaults bounds how many faults of a file one error names.
const maxFaults = 8

// short is the beginning of a key, enough to find it by.
func short(key string) string {
	if r := []rune(key); len(r) > 60 {
		return string(r[:60]) + "…"
	}
	return key
}

// check collects what is wrong with the sections that have no check of their own.
func (c Config) check(k *checker) {
	for _, b := range []struct {
		key string
		Bounds
	}{{"agent", c.Agent}, {"operator", c.Operator}} {
		for _, f := range append(kindFaults(0, b.Kinds), globFaults(0, "tools", b.Tools)...) {
			k.say(b.key, f.Hint, "%s", f.Message)
		}
	}
	if p := c.MCP.PatienceSeconds; p < 0 || p > 3600 {
		k.say("mcp.patience_seconds", "use 1 to 3600; hosts give up on a call after 60 s or more", "mcp.patience_seconds is %d", p)
	}
	if l := c.Approvals.LifeMinutes; l < 0 || l > longestLife {
		k.say("approvals.life_minutes", fmt.Sprintf("use 1 to %d", longestLife), "approvals.life_minutes is %d", l)
	}
	for i, r := range c.Roots {
		if !filepath.IsAbs(r) || filepath.Clean(r) == "/" {
			k.say(fmt.Sprintf("roots[%d]", i), "name absolute folders, and not the whole disk", "roots holds %q", r)
		}
	}
	if !slices.Contains([]string{"", "floor", "namespaces"}, c.Sandbox.Require) {
		k.say("sandbox.require", "use floor or namespaces; nothing runs outside a sandbox", "sandbox.require is %q", c.Sandbox.Require)
	}
	if m := c.Speech.Engine.Model; m != "" && !filepath.IsAbs(m) {
		k.say("speech.engine.model", "give the absolute path of the model file", "speech.engine.model is %q", m)
	}
	if !slices.Contains([]string{"", "base", "tiny"}, c.Speech.Model) {
		k.say("speech.model", "use base or tiny", "speech.model is %q", c.Speech.Model)
	}
	k.reference("speech.endpoint.key", c.Speech.Endpoint.Key)
	c.checkDatabase(k)
	for _, n := range []struct {
		key   string
		value int64
	}{
		{"limits.max_file_bytes", c.Limits.MaxFileBytes},
		{"limits.max_duration_seconds", c.Limits.MaxDurationSeconds},
		{"limits.max_frames", c.Limits.MaxFrames},
		{"limits.max_transcript_bytes", c.Limits.MaxTranscriptBytes},
		{"limits.timeout_seconds", c.Limits.TimeoutSeconds},
		{"stage.pending_limit", c.Stage.PendingLimit},
	} {
		if n.value < 0 {
			k.say(n.key, "leave it out for the default", "%s: a limit is negative", n.key)
		}
	}
}

// reference refuses what is not one reference to a secret. The value is not said.
func (k *checker) reference(key, text string) {
	if list, ok := Secrets(text); !ok || len(list) > 1 {
		k.say(key, howToRefer, "%s is not a reference", key)
	}
}

// checkDatabase refuses what is no address of a server, and secrets in plain text. It
// says nothing of the value: what is wrong with it may be that a secret is in it.
func (c Config) checkDatabase(k *checker) {
	const form = "write database: postgres://USER@HOST:PORT/NAME, and its password as database_password: env:NAME, file:/PATH or keyring:NAME"
	k.reference("database_password", c.Password)
	if c.Database == "" {
		if c.Password != "" {
			k.say("database_password", form, "database_password is set and database is not")
		}
		return
	}
	u, err := url.Parse(c.Database)
	if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" || u.Path == "" || u.Path == "/" {
		k.say("database", form, "database is not the address of a PostgreSQL database")
		return
	}
	q, err := url.ParseQuery(u.RawQuery)
	if err != nil || u.Host == "" && q.Get("host") == "" {
		k.say("database", form, "database is not the address of a PostgreSQL database")
		return
	}
	if _, plain := u.User.Password(); plain || q.Has("password") || q.Has("sslpassword") {
		k.say("database", form, "database holds a password in plain text")
	}
}

// MaxFile bounds a config file, in bytes: a few lines are all it holds.
const MaxFile = 1 << 20

// File is the text of one config file; Path is what errors call it. A file that
// does not exist has no text.
type File struct {
	Path string
	Text []byte
}

// Load reads the user's file and then the workspace's. The second can only narrow:
// its limits count where they are lower, its bounds are kept apart in the second
// result, and it cannot choose programs, weaken the sandbox or name an engine.
func Load(user, workspace File) (Config, Config, error) {
	c, _, err := user.parse()
	if err != nil {
		return Config{}, Config{}, err
	}
	w, lines, err := workspace.parse()
	if err != nil {
		return Config{}, Config{}, err
	}
	if err := lensOfWorkspace(w, lines, user.Path); err != nil {
		return Config{}, Config{}, err
	}
	if len(w.Principals) > 0 {
		return Config{}, Config{}, cutroom.Errorf(cutroom.Denied, "%s of the workspace names principals", Name).
			WithHint("only the user's own file may: move the lines to %s", user.Path)
	}
	for _, r := range w.Policy.Rules {
		if r.Effect == "allow" {
			return Config{}, Config{}, cutroom.Errorf(cutroom.Denied, "%s of the workspace, line %d: the rule %q allows, but a workspace can only narrow", Name, r.Line, short(r.Name)).
				WithHint("use deny or ask, or move the rule to %s", user.Path)
		}
	}
	if len(w.Programs) > 0 || w.Speech.Engine.Run != "" || w.Speech.Endpoint.URL != "" || len(w.Roots) > 0 || w.Database != "" || w.Password != "" {
		return Config{}, Config{}, cutroom.Errorf(cutroom.Denied, "%s of the workspace names programs, roots or a database", Name).
			WithHint("only the user's own file may: move the lines to %s", user.Path)
	}
	if len(w.Approvals.ElicitationHosts) > 0 {
		return Config{}, Config{}, cutroom.Errorf(cutroom.Denied, "%s of the workspace names hosts that may ask for approvals", Name).
			WithHint("only the user's own file may: move the line to %s", user.Path)
	}
	c.Approvals = c.Approvals.narrow(w.Approvals)
	c.Limits = c.Limits.narrow(w.Limits)
	c.Lens = c.Lens.narrow(w.Lens, lines)
	if w.Sandbox.Require == "namespaces" {
		c.Sandbox.Require = w.Sandbox.Require
	}
	if w.Stage.Root != "" {
		c.Stage.Root = w.Stage.Root
	}
	if w.Speech.Model != "" {
		c.Speech.Model = w.Speech.Model
	}
	if len(w.MCP.Toolsets) > 0 {
		c.MCP.Toolsets = w.MCP.Toolsets
	}
	if w.MCP.PatienceSeconds > 0 {
		c.MCP.PatienceSeconds = w.MCP.PatienceSeconds
	}
	return c, w, nil
}

func (l Limits) narrow(w Limits) Limits {
	lower := func(a, b int64) int64 {
		if a == 0 || (b != 0 && b < a) {
			return b
		}
		return a
	}
	return Limits{
		MaxFileBytes:       lower(l.MaxFileBytes, w.MaxFileBytes),
		MaxDurationSeconds: lower(l.MaxDurationSeconds, w.MaxDurationSeconds),
		MaxFrames:          lower(l.MaxFrames, w.MaxFrames),
		MaxTranscriptBytes: lower(l.MaxTranscriptBytes, w.MaxTranscriptBytes),
		TimeoutSeconds:     lower(l.TimeoutSeconds, w.TimeoutSeconds),
	}
}

func (f File) parse() (Config, places, error) {
	c, lines, faults := read(f.Text)
	err := asError(faults)
	if e, ok := errors.AsType[*cutroom.Error](err); ok {
		e.Msg = f.Path + ": " + e.Msg
		return Config{}, nil, e
	}
	return c, lines, nil
}
