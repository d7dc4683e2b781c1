package setup

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"cutroom"
	"cutroom/internal/approval"
	"cutroom/internal/audit"
	"cutroom/internal/config"
	"cutroom/internal/engine"
	"cutroom/internal/job"
	"cutroom/internal/meter"
	"cutroom/internal/provider"
	"cutroom/internal/redact"
	"cutroom/internal/sandbox"
	"cutroom/internal/stage"
	"cutroom/internal/token"
	"cutroom/internal/tool"
)

// Options say what to open.
type Options struct {
	Dir      string // absolute; where paths start from
	Root     string // workspace; "" finds it from Dir
	Home     string // folder that holds the user's config, state and data; "" finds them
	Stage    string // folder of results beneath the workspace; "" is the configured one
	Registry *tool.Registry
	Redact   *redact.Redactor // of what leaves the engine and the queue; nil knows forms only
	Log      *slog.Logger
	Debug    io.Writer   // what programs say on standard error; nil drops it
	Warn     func(error) // a config file changed and is wrong; nil tells nobody
	Now      func() time.Time
	Dial     provider.Dial // how services of other machines are reached; nil is the network
	First    bool          // of setup: nothing that is recorded may be replaced
}

// Installation is what a door works with.
type Installation struct {
	Workspace     string // absolute
	StageRelative string // folder of results, relative to the workspace, forward slashes
	Folders       config.Folders
	Config        config.Config // as it was when this was opened
	Live          *config.Live  // the sections lens and models, as the files say them now
	Engine        *engine.Engine
	Stage         *stage.Stage
	Identity      *stage.IdentityCache
	Toolchain     *Pinned
	Jobs          *job.Queue // nothing of it is opened before it is needed
	Audit         *audit.Log // as Jobs

	Approvals *approval.Book // as Jobs
	Tokens    *token.Book    // as Jobs

	settings settings
	database *database
	redact   *redact.Redactor
	readers  *readers
	key      []byte // of the installation, which seals what is stored
	log      *slog.Logger
}

// settings are what the config files, the flags and the machine say together.
type settings struct {
	folders   config.Folders
	config    config.Config
	narrower  config.Config
	workspace string
}

func settle(dir, root string) (settings, error) {
	s, err := located(dir, root)
	if err != nil {
		return s, err
	}
	user, own := s.files()
	mine, err := user()
	if err != nil {
		return s, err
	}
	theirs, err := own()
	if err != nil {
		return s, err
	}
	s.config, s.narrower, err = config.Load(mine, theirs)
	return s, err
}

// located are the settings before any file is read.
func located(dir, root string) (settings, error) {
	var s settings
	var err error
	if s.folders, err = config.FindFolders(); err == nil {
		s.workspace, err = workspace(dir, root)
	}
	return s, err
}

// files read the user's file and the workspace's.
func (s settings) files() (user, own func() (config.File, error)) {
	return func() (config.File, error) { return configFile(s.folders.Config, true) },
		func() (config.File, error) { return configFile(s.workspace, false) }
}

// live is the config that is read again where its files change.
func (s settings) live(warn func(error), now func() time.Time) (*config.Live, error) {
	user, own := s.files()
	return config.NewLive(config.LiveOptions{User: user, Workspace: own, Now: now, Warn: warn})
}

// configFile reads the config file of a folder. The user's own may be a link; in a
// workspace, which is not trusted, a link would show the lines of another file in
// an error, and a FIFO would never end.
func configFile(folder string, links bool) (config.File, error) {
	path := filepath.Join(folder, config.Name)
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return config.File{Path: path}, nil
	}
	at := path
	if links {
		if r, err := filepath.EvalSymlinks(path); err == nil {
			at = r
		}
	}
	unreadable := func(err error) error {
		return cutroom.Errorf(cutroom.Invalid, "the config file %q cannot be read: %w", path, err).
			WithHint("make it a plain file that you may read")
	}
	f, err := stage.OpenBeneath(filepath.Dir(at), filepath.Base(at))
	if err != nil {
		return config.File{}, unreadable(err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, config.MaxFile+1))
	if err != nil {
		return config.File{}, unreadable(err)
	}
	if len(text) > config.MaxFile {
		return config.File{}, cutroom.Errorf(cutroom.Limit, "the config file %q is larger than %d bytes", path, config.MaxFile)
	}
	return config.File{Path: path, Text: text}, nil
}

// workspace is the folder named, or the nearest one that is a workspace.
func workspace(dir, root string) (string, error) {
	if root == "" {
		return config.FindWorkspace(dir), nil
	}
	path := root
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return "", cutroom.Errorf(cutroom.NotFound, "no such folder: %q", root).WithHint("--root names the workspace")
	}
	return filepath.Clean(path), nil
}

// Open puts an engine together. Nothing is probed and no program is started; what
// is not set up is reported by the calls that need it.
func Open(_ context.Context, o Options) (*Installation, error) {
	s, err := located(o.Dir, o.Root)
	if err != nil {
		return nil, err
	}
	if o.Home != "" {
		s.folders = config.FoldersIn(o.Home)
	}
	live, err := s.live(o.Warn, o.Now)
	if err != nil {
		return nil, err
	}
	first := live.Get()
	s.config, s.narrower = first.Config, first.Own
	key, err := stage.KeyFile(s.keyFile())
	if err != nil {
		return nil, stateFault(s, err)
	}
	i := &Installation{
		Workspace: s.workspace, Folders: s.folders, Config: s.config, Live: live, settings: s, redact: o.Redact, key: key, log: o.Log,
		Identity:      stage.NewIdentityCache(filepath.Join(s.folders.State, "identity"), o.Now),
		StageRelative: s.stageRoot(o.Stage),
		Toolchain:     newPinned(s, key, o.Debug),
	}
	i.Stage, err = stage.Open(filepath.Join(s.workspace, filepath.FromSlash(i.StageRelative)), stage.Options{
		Key: key, Workspace: s.workspace, Cache: i.Identity, Now: o.Now, PendingLimit: s.config.Stage.PendingLimit,
	})
	if err != nil {
		return nil, err
	}
	i.database = &database{place: s.place()}
	i.Audit = audit.New(audit.Options{
		Open: i.database.open, Anchors: filepath.Join(s.folders.State, "audit.anchors"), Key: key,
		Policy: s.policy().Digest(), Space: job.Space(s.workspace, i.StageRelative), Redact: o.Redact.Text, Log: o.Log, Now: o.Now,
	})
	i.Approvals = approval.New(approval.Options{
		Open:   i.openRecords,
		Folder: filepath.Join(s.folders.State, "keys"),
		Life:   time.Duration(s.config.Approvals.LifeMinutes) * time.Minute, Log: o.Log, Now: o.Now,
		Note: i.note,
	})
	i.Tokens = token.New(token.Options{
		Open: i.openRecords,
		Key:  key, Now: o.Now,
		Note: i.note,
	})
	l := s.config.Limits
	i.Jobs = job.New(job.Options{
		Open: i.database.open, Exists: i.database.exists,
		Space: job.Space(s.workspace, i.StageRelative), Key: key,
		Note: i.note,
		Log:  o.Log, Now: o.Now,
	})
	i.readers = newReaders(i, o)
	i.Engine = engine.New(engine.Options{
		Readers:  i.readers,
		Registry: o.Registry, Workspace: s.workspace, Roots: s.config.Roots, Stage: i.Stage, StageRoot: i.StageRelative, Identity: i.Identity,
		Facts: filepath.Join(s.folders.State, "facts"), Runner: i.Toolchain, Toolchain: i.Toolchain,
		Abilities: i.Toolchain.Abilities, Layers: sync.OnceValue(held), Languages: i.Toolchain.Languages(), Fonts: newFonts(s), Policy: s.policy(),
		Settings: tool.Settings{SpeechModel: s.config.Speech.Model, SpeechEngine: s.speechEngine(), SpeechService: s.serviceSpeaks(), ASR: s.asrTemplates()},
		Limits: tool.Bounds{
			FileBytes: l.MaxFileBytes, Duration: cutroom.Micros(l.MaxDurationSeconds) * cutroom.Second,
			Frames: int(l.MaxFrames), TranscriptBytes: l.MaxTranscriptBytes,
		},
		Timeout: time.Duration(l.TimeoutSeconds) * time.Second, Jobs: i.Jobs, Meter: meter.Meter{Open: i.database.open}, Audit: i.Audit, Ledger: i.Audit, Approvals: i.Approvals,
		Redact: o.Redact, Log: o.Log, Now: o.Now,
	})
	i.Jobs.Engine = newGate(i.Engine)
	return i, nil
}

// openRecords opens the database for what a person decides. What cannot be audited is
// refused by the call; taking an approval or a token back is not.
func (i *Installation) openRecords(ctx context.Context) (*sql.DB, error) {
	_ = i.Audit.Ready(ctx)
	return i.database.open(ctx)
}

// note writes a row of the audit in a transaction that decides something.
func (i *Installation) note(ctx context.Context, tx *sql.Tx, e cutroom.AuditEvent) error {
	_, err := i.Audit.Append(ctx, tx, e)
	return err
}

// stopTime bounds the handing back of jobs.
const stopTime = 10 * time.Second

// Close hands back the jobs that run here and releases what the installation holds.
func (i *Installation) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), stopTime)
	defer cancel()
	stopped := i.Jobs.Stop(ctx)
	_ = i.Audit.Anchor(ctx) // what was decided here; where it cannot be now, the next row's writer does it
	return errors.Join(stopped, i.Toolchain.Close(), i.database.close())
}

func (s settings) keyFile() string   { return filepath.Join(s.folders.State, "keys", "mac.key") }
func (s settings) toolchain() string { return filepath.Join(s.folders.State, "toolchain.json") }
func (s settings) models() string    { return filepath.Join(s.folders.Data, "models") }

// stageRoot is the folder of results relative to the workspace: the caller's, the
// configured one, the one of 1.2.0 where it exists, else our own.
func (s settings) stageRoot(asked string) string {
	for _, root := range []string{asked, s.config.Stage.Root} {
		if root == "" {
			continue
		}
		if rel, err := filepath.Rel(s.workspace, root); err == nil && filepath.IsAbs(root) {
			root = rel
		}
		return filepath.ToSlash(filepath.Clean(root))
	}
	const old = "ops/staging/watch"
	if info, err := os.Lstat(filepath.Join(s.workspace, filepath.FromSlash(old))); err == nil && info.IsDir() {
		return old
	}
	return ".cutroom/stage"
}

// stateFault explains why the user's own folder cannot be used.
func stateFault(s settings, err error) error {
	if _, marked := errors.AsType[*cutroom.Error](err); marked {
		return err
	}
	return cutroom.Errorf(cutroom.Precondition, "the state folder %s cannot be used", s.folders.State).WithCause(err).
		WithHint("make it a folder that your user may write, on a disk that has space, or set CUTROOM_HOME to a folder of your own")
}

// held are the layers of the sandbox that the kernel gives; none where it does not hold
// programs in.
func held() (names []string) {
	box, err := sandbox.New(sandbox.Options{})
	if err != nil {
		return nil
	}
	layers, err := box.Layers()
	if err != nil {
		return nil
	}
	for _, l := range layers {
		names = append(names, string(l))
	}
	return names
}
