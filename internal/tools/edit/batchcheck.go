package edit

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"cutroom"
)

// clashes are the items that cannot be made beside others, by their place in items: two
// results of one name, and a result that the next look would take for a file of the batch.
func (b *batching) clashes(items []item) map[int]string {
	faults := map[int]string{}
	by := map[string]int{}
	for i, it := range items {
		for _, o := range it.outputs {
			if o == "" {
				continue
			}
			if k, ok := by[strings.ToLower(o)]; ok && k != i {
				faults[i] = fmt.Sprintf("%s and %s would both be %s", items[k].file, it.file, o)
			}
			by[strings.ToLower(o)] = i
			if folder := filepath.Dir(o); folder == filepath.Dir(it.file) && b.takes(filepath.Base(o)) {
				faults[i] = fmt.Sprintf("%s: its result, %s, would be a file of the next run", it.file, o)
			}
		}
	}
	return faults
}

// check names all that stands in the way before anything is done: files that cannot be
// read, and results that cannot lie beside others.
func (b *batching) check(ctx context.Context, items []item) ([]item, error) {
	clashes := b.clashes(items)
	bad := make([]*BatchBad, len(items))
	b.each(ctx, len(items), func(i int) {
		b.say("looking at", items[i].file, i, len(items))
		if _, err := b.env.Call(ctx, "measure.probe", struct {
			Inputs []string `json:"inputs"`
		}{[]string{items[i].file}}); err != nil {
			bad[i] = &BatchBad{items[i].file, cutroom.AsError(err).Msg}
		}
	})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var good []item
	var faults, overlaps []string
	if b.in.Watch == 0 {
		for _, x := range b.faulty {
			faults = append(faults, fmt.Sprintf("%s: %s", x.File, x.Error))
		}
	}
	for i, it := range items {
		switch clash := clashes[i]; {
		case bad[i] != nil:
			b.bad[it.name] = *bad[i]
			faults = append(faults, fmt.Sprintf("%s: %s", it.file, bad[i].Error))
		case clash != "" && b.in.Watch > 0: // the others are worth doing
			b.out.Total++
			b.out.Failures++
			b.out.Results = append(b.out.Results, BatchItem{File: it.file, Code: string(cutroom.Conflict), Error: clash})
		case clash != "":
			overlaps = append(overlaps, clash)
		default:
			good = append(good, it)
		}
	}
	if b.in.OnBad == "skip" || b.in.Watch > 0 { // one that cannot be read yet is looked at again when it changed
		faults = nil
	}
	if faults = append(faults, overlaps...); len(faults) > 0 {
		return nil, cutroom.Errorf(cutroom.Invalid, "nothing was done; %d of %d files cannot be worked on: %s", len(faults), len(items)+len(b.faulty), strings.Join(faults, "; ")).
			WithHint("mend or move them, or name another folder for results; on_bad skip goes on without what cannot be read")
	}
	return good, nil
}

// close fills what the whole batch says.
func (b *batching) close() {
	b.out.Total += len(b.bad) + len(b.faulty)
	b.out.Bad = append(b.out.Bad, b.faulty...)
	for _, x := range b.bad {
		b.out.Bad = append(b.out.Bad, x)
	}
	slices.SortFunc(b.out.Bad, func(x, y BatchBad) int { return strings.Compare(x.File, y.File) })
}
