package stage

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"cutroom"
)

// review is reviewed.json: that a person looked at a result. It is kept apart so
// that result.json never changes.
type review struct {
	Version    int               `json:"version"`
	Invocation cutroom.Digest    `json:"invocation"`
	Result     string            `json:"result"` // MAC of the manifest it is about
	Reviewed   time.Time         `json:"reviewed"`
	By         cutroom.Principal `json:"by"`
	MAC        string            `json:"mac,omitempty"`
}

func (r *review) mac() string     { return r.MAC }
func (r *review) setMAC(s string) { r.MAC = s }

// Review marks the result with that invocation (16 digits or more) as reviewed.
// A second review replaces the first.
func (s *Stage) Review(ctx context.Context, invocation string, by cutroom.Principal) (*Result, error) {
	r, err := s.Find(ctx, invocation)
	if err != nil {
		return nil, err
	}
	root, err := s.madeRoot()
	if err != nil {
		return nil, s.fault("open", ".", err)
	}
	defer root.close()
	h, err := hold(ctx, root, r.name.Invocation.Short(), true)
	if err != nil {
		return nil, s.fault("lock", lockFolder, err)
	}
	defer h.release()
	// Only now, under the lock, is it sure to stay.
	if r, err = s.Lookup(ctx, r.name); err != nil {
		return nil, err
	}
	if r == nil {
		return nil, cutroom.Errorf(cutroom.NotFound, "the result %s is no longer there", invocation)
	}
	d, err := r.openFolder(root)
	if err != nil {
		return nil, err
	}
	defer d.close()
	v := &review{
		Version: 1, Invocation: r.name.Invocation, Result: r.Manifest.MAC,
		Reviewed: s.now().UTC().Truncate(time.Microsecond), By: by,
	}
	text, err := sealText(s.key, reviewKind, v)
	if err != nil {
		return nil, err
	}
	if err := s.replace(ctx, root, d, reviewedFile, text); err != nil {
		return nil, s.fault("review", r.name.folder(), err)
	}
	r.Reviewed, r.ReviewedBy = v.Reviewed, v.By
	return r, nil
}

// loadReview reads the review state in the result's folder d.
func (s *Stage) loadReview(d *dir, r *Result) error {
	var v review
	err := s.read(d, reviewedFile, reviewKind, &v)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && (v.Invocation != r.name.Invocation || v.Result != r.Manifest.MAC || v.Version != 1) {
		err = errForged
	}
	if err != nil {
		return s.notThere(r.name.folder(), err)
	}
	r.Reviewed, r.ReviewedBy = v.Reviewed, v.By
	return nil
}
