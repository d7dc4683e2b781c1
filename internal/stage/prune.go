package stage

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"cutroom"
)

// PruneOptions say what a prune takes away. The zero value takes nothing.
type PruneOptions struct {
	// OlderThan deletes results made longer ago than this; 0 deletes none. It also
	// bounds Pending: with 0 every leftover counts as old enough.
	OlderThan time.Duration
	// Unreviewed also deletes results that nobody marked as reviewed.
	Unreviewed bool
	// Invalid moves results that do not verify to .rejected.
	Invalid bool
	// Pending deletes the leftovers of crashes.
	Pending bool
	// DryRun only says what would happen.
	DryRun bool
}

// Report says what a prune did. Folders are relative to the workspace.
type Report struct {
	Pruned    []string // results that were deleted
	Kept      int      // results that stay
	Busy      []string // results left alone because a call is at work on them
	Invalid   []string // results that do not verify and stay
	Rejected  []string // results that do not verify and were moved to .rejected
	Leftovers []string // leftovers that were deleted
	Bytes     int64    // freed
}

// Prune deletes old results and leftovers, and sets aside what does not verify.
// It deletes only files that a record of ours lists; a folder with anything else
// in it does not verify and stays. A result leaves in one step: a kill during a
// prune leaves nothing half-deleted in sight, and the next prune ends the work.
func (s *Stage) Prune(ctx context.Context, opt PruneOptions) (Report, error) {
	var rep Report
	root, err := s.root()
	if errors.Is(err, fs.ErrNotExist) {
		return rep, nil
	}
	if err != nil {
		return rep, s.fault("open", ".", err)
	}
	defer root.close()
	if !opt.DryRun {
		s.sweep(root)
		s.finishPruning(root)
	}
	for at, err := range s.folders(ctx) {
		if err != nil {
			return rep, err
		}
		if err := s.pruneOne(ctx, root, at, opt, &rep); err != nil {
			return rep, s.fault("prune", at, err)
		}
	}
	if opt.Pending {
		return rep, s.prunePending(ctx, root, opt, &rep)
	}
	return rep, nil
}

// pruneOne decides about what stands in the folder at, under its lock.
func (s *Stage) pruneOne(ctx context.Context, root *dir, at string, opt PruneOptions, rep *Report) error {
	if !opt.DryRun {
		h, err := hold(ctx, root, path.Base(at), false)
		if err == errBusy {
			rep.Busy = append(rep.Busy, s.shown(at))
			return nil
		}
		if err != nil {
			return err
		}
		defer h.release()
	}
	r, err := s.load(root, at)
	if r != nil && err == nil {
		err = r.Verify(ctx)
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil && cutroom.AsError(err).Code == cutroom.Conflict:
		return s.reject(root, at, opt, rep)
	case err != nil:
		return err
	case r == nil:
		return nil
	case opt.OlderThan <= 0 || s.now().Sub(r.Manifest.Created) <= opt.OlderThan || (r.Reviewed.IsZero() && !opt.Unreviewed):
		rep.Kept++
		return nil
	}
	if !opt.DryRun {
		if err := s.takeOut(root, r); err != nil {
			return err
		}
	}
	rep.Pruned = append(rep.Pruned, s.shown(at))
	for _, a := range r.Manifest.Artifacts {
		rep.Bytes += a.Size
	}
	return nil
}

// reject moves what does not verify out of the way, whole.
func (s *Stage) reject(root *dir, at string, opt PruneOptions, rep *Report) error {
	if !opt.Invalid {
		rep.Invalid = append(rep.Invalid, s.shown(at))
		return nil
	}
	rep.Rejected = append(rep.Rejected, s.shown(at))
	if opt.DryRun {
		return nil
	}
	return s.moveAside(root, at)
}

// moveAside moves the folder at to .rejected.
func (s *Stage) moveAside(root *dir, at string) error {
	parent, err := root.openDir(path.Dir(at))
	if err != nil {
		return err
	}
	defer parent.close()
	// The name in .rejected says where it stood.
	home, err := root.makeDirs(rejectedFolder)
	if err != nil {
		return err
	}
	defer home.close()
	target := s.now().UTC().Format("20060102T150405.000Z") + "-" + strings.ReplaceAll(at, "/", ".") + "." + random()
	err = parent.rename(path.Base(at), home, target, false)
	if errors.Is(err, errUnsupported) {
		err = parent.rename(path.Base(at), home, target, true)
	}
	if err == nil {
		s.dropParents(root, at)
	}
	return err
}

// takeOut removes a verified result: out of sight in one step, then file by file.
func (s *Stage) takeOut(root *dir, r *Result) error {
	at := r.name.folder()
	parent, err := root.openDir(path.Dir(at))
	if err != nil {
		return err
	}
	defer parent.close()
	home, err := root.makeDirs(pruningFolder)
	if err != nil {
		return err
	}
	defer home.close()
	target := path.Base(at) + "." + random()
	err = parent.rename(path.Base(at), home, target, false)
	if errors.Is(err, errUnsupported) {
		err = parent.rename(path.Base(at), home, target, true)
	}
	if err != nil {
		return err
	}
	s.dropParents(root, at)
	return s.dissolve(home, target, &r.Manifest)
}

// dissolve deletes what m lists, its own record last.
func (s *Stage) dissolve(home *dir, name string, m *Manifest) error {
	d, err := home.openDir(name)
	if err != nil {
		return err
	}
	defer d.close()
	var files, folders []string
	for _, a := range m.Artifacts {
		files = append(files, a.Path)
		for p := path.Dir(a.Path); p != "."; p = path.Dir(p) {
			folders = append(folders, p)
		}
	}
	slices.SortFunc(folders, func(a, b string) int { return strings.Compare(b, a) }) // the deepest first
	folders = slices.Compact(folders)
	if err := deleteListed(d, append(files, reviewedFile), folders); err != nil {
		return err
	}
	if err := deleteListed(d, []string{resultFile}, nil); err != nil {
		return err
	}
	return home.rmdir(name)
}

// finishPruning ends what a killed prune began.
func (s *Stage) finishPruning(root *dir) {
	home, err := root.openDir(pruningFolder)
	if err != nil {
		return
	}
	defer home.close()
	names, err := home.names()
	if err != nil {
		return
	}
	for _, name := range names {
		d, err := home.openDir(name)
		if err != nil {
			continue
		}
		var m Manifest
		err = s.read(d, resultFile, resultKind, &m)
		d.close()
		switch {
		case err == nil:
			_ = s.dissolve(home, name, &m)
		case errors.Is(err, fs.ErrNotExist):
			_ = home.rmdir(name) // fails, rightly, when something else is in it
		}
	}
}

// dropParents removes the folders above at that are empty now.
func (s *Stage) dropParents(root *dir, at string) {
	for p := path.Dir(at); p != "."; p = path.Dir(p) {
		if deleteOne(root, p, (*dir).rmdir) != nil {
			return
		}
	}
}

// prunePending deletes leftovers and their records.
func (s *Stage) prunePending(ctx context.Context, root *dir, opt PruneOptions, rep *Report) error {
	all, err := s.Pending(ctx)
	if err != nil || len(all) == 0 {
		return err
	}
	home, err := root.openDir(pendingFolder)
	if err != nil {
		return s.fault("prune", pendingFolder, err)
	}
	defer home.close()
	for _, v := range all {
		if !v.Recorded || (opt.OlderThan > 0 && s.now().Sub(v.Moved) <= opt.OlderThan) {
			continue
		}
		if !opt.DryRun {
			l, err := s.leftover(home, v.Name)
			if err == nil {
				err = s.dropBytes(home, l)
			}
			if err == nil {
				err = home.unlink(v.Name + ".json")
			}
			if err != nil {
				continue // something of another writer is in it
			}
		}
		rep.Leftovers = append(rep.Leftovers, v.Folder)
		if !v.Dropped {
			rep.Bytes += v.Bytes
		}
	}
	return nil
}
