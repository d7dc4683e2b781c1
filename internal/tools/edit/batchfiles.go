package edit

import (
	"context"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"cutroom"
	"cutroom/internal/tool"
)

// maxFolders bounds how many folders below the first are looked into.
const maxFolders = 2000

// look is what was seen under one name: another size or time is another file.
type look struct {
	size int64
	at   time.Time
}

// found is one file of a batch's folder, by its path in there.
type found struct {
	name string
	look look
}

// files lists what the batch takes, sorted by name, and names what it cannot take though
// its name asks for it: links are not followed, and a pipe is no recording.
func (b *batching) files(ctx context.Context) (files []found, bad []BatchBad, err error) {
	folders := []string{""}
	for i := 0; i < len(folders); i++ {
		if i > maxFolders {
			return nil, nil, cutroom.Errorf(cutroom.Limit, "%q holds more than %d folders", b.in.Folder, maxFolders).WithHint("name a folder further down")
		}
		listed, err := b.env.List(ctx, cutroom.InPath(filepath.Join(b.dir, folders[i])))
		if err != nil && i > 0 {
			bad = append(bad, BatchBad{filepath.Join(b.dir, folders[i]), cutroom.AsError(err).Msg})
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		for _, l := range listed {
			name := filepath.Join(folders[i], l.Name)
			switch {
			case l.Folder && b.in.Recursive && !strings.HasPrefix(l.Name, ".") && filepath.Join(b.dir, name) != b.dest:
				folders = append(folders, name)
			case l.Folder || !b.takes(l.Name):
			case !l.Plain:
				bad = append(bad, BatchBad{filepath.Join(b.dir, name), "it is a link, or no file at all, and is not followed"})
			default:
				files = append(files, found{name, look{l.Size, l.Modified}})
			}
		}
	}
	slices.SortFunc(files, func(x, y found) int { return strings.Compare(x.name, y.name) })
	return files, bad, nil
}

// takes says whether a file is one of the batch's by its name. A name that begins with a
// dot is hidden, as what copies in progress and other systems leave is, unless the pattern
// begins with one.
func (b *batching) takes(name string) bool {
	if strings.HasPrefix(name, ".") && !strings.HasPrefix(b.match, ".") {
		return false
	}
	if b.match != "" {
		ok, _ := path.Match(b.match, name)
		return ok
	}
	return slices.Contains(recordings, strings.ToLower(filepath.Ext(name)))
}

// news are the files that were not worked on yet. While the batch watches, a file counts
// once it stands as the look before found it: one that is being copied grows.
func (b *batching) news(files []found) (fresh []found) {
	now := map[string]look{}
	for _, f := range files {
		now[f.name] = f.look
		if b.seen[f.name] == f.look {
			continue
		}
		if b.in.Watch > 0 && b.before[f.name] != f.look {
			b.last = b.env.Now() // something is coming
			continue
		}
		b.seen[f.name] = f.look
		delete(b.bad, f.name)
		fresh = append(fresh, f)
	}
	for name := range b.bad {
		if _, ok := now[name]; !ok {
			delete(b.bad, name) // it went
		}
	}
	b.before = now
	return fresh
}

// tidy removes what lay between the steps of a file that is done.
func (b *batching) tidy(ctx context.Context, made []tool.Reply) {
	if !b.in.Tidy {
		return
	}
	for _, r := range made {
		if err := b.env.Withdraw(ctx, r); err != nil {
			b.mu.Lock()
			b.out.Notes = append(b.out.Notes, "left between the steps: "+cutroom.AsError(err).Msg)
			b.mu.Unlock()
		}
	}
}
