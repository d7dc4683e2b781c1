package stage

import (
	"context"
	"errors"
	"io/fs"
	"strings"

	"cutroom"
)

// VerifyParents verifies the results that r was made from, whose files r may point
// at. It reports whether one of them is gone, as after a prune; one that does not
// verify is a conflict that names its folder.
func (s *Stage) VerifyParents(ctx context.Context, r *Result) (gone bool, err error) {
	if len(r.Manifest.Parents) == 0 {
		return false, nil
	}
	near, err := s.beside(ctx, r)
	if err != nil {
		return false, err
	}
	for _, id := range r.Manifest.Parents {
		var parent *Result
		if at, ok := near[id.Short()]; ok {
			parent, err = s.verified(ctx, at)
		} else {
			parent, err = s.Find(ctx, string(id))
		}
		switch {
		case err != nil && cutroom.AsError(err).Code == cutroom.NotFound:
			gone = true
		case err != nil:
			return false, err // what was changed outweighs what is gone
		case parent == nil:
			gone = true
		}
	}
	return gone, nil
}

// beside lists the results of r's own source, where most of its parents lie, by
// the short form of their invocation: one look instead of one per parent.
func (s *Stage) beside(ctx context.Context, r *Result) (map[string]string, error) {
	root, err := s.root()
	if err != nil {
		return nil, s.fault("open", ".", err)
	}
	defer root.close()
	home, err := root.openDir(r.name.Source.Short())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, s.notThere(r.name.Source.Short(), err)
	}
	defer home.close()
	near := map[string]string{}
	s.descend(ctx, home, r.name.Source.Short()+"/", []func(string) bool{toolName, hex16}, func(at string, e error) bool {
		err = e
		near[at[strings.LastIndexByte(at, '/')+1:]] = at
		return e == nil
	})
	return near, err
}

// SetAside moves r to .rejected, whole, so that the call that holds its lock can
// make it anew: for a result that verifies but points at what is gone.
func (s *Stage) SetAside(lock *Lock, r *Result) error {
	if lock.name != r.name {
		return cutroom.Errorf(cutroom.Internal, "the lock is of another result")
	}
	root, err := s.root()
	if err != nil {
		return s.fault("open", ".", err)
	}
	defer root.close()
	at := r.name.folder()
	return s.fault("set aside", at, s.moveAside(root, at))
}
