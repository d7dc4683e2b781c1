package edit

import (
	"path/filepath"
	"slices"
	"strings"

	"cutroom"
	"cutroom/internal/project"
)

// project is the edit as edit.render reads it: one clip for each shot, one recording's
// sound under them all. A project names files relative to itself; away are those that
// lie where it cannot, and are looked for beside it.
func (m *cameras) project() (p project.Project, away []string) {
	g := m.graph()
	p.Frame = &project.Frame{Width: g.Picture.Width, Height: g.Picture.Height, FPS: project.FPS(m.rate), Fit: m.in.Fit}
	named := make([]cutroom.InPath, len(m.files))
	for i, path := range m.in.Inputs {
		rel, err := filepath.Rel(filepath.Dir(string(m.in.Project)), string(path))
		if err != nil || filepath.IsAbs(string(path)) && strings.HasPrefix(rel, "..") {
			rel = filepath.Base(string(path))
			away = append(away, rel)
		}
		named[i] = cutroom.InPath(filepath.ToSlash(rel))
	}
	for _, c := range g.Clips {
		k := project.Clip{Src: named[c.Source], In: moment(c.Start), Exact: true}
		if c.End < lengthOf(m.files[c.Source]) {
			k.Out = moment(c.End)
		}
		if c.Speed.Known() {
			k.Speed = c.Speed.Float()
		}
		p.Clips = append(p.Clips, k)
	}
	if s := g.Sound; s != nil {
		b := s.Work.Replace
		p.Audio = &project.Audio{Replace: named[b.Source], ReplaceOffset: b.Offset}
		if m.in.FixDrift {
			p.Audio.ReplaceDrift = m.matches[m.in.Audio].Drift * 1e6
		}
	}
	if m.in.Codec != "" || m.in.Quality > 0 {
		p.Export = &project.Export{Codec: m.in.Codec, CRF: m.in.Quality}
	}
	away = slices.Compact(away)
	return p, away
}

func moment(t cutroom.Micros) cutroom.Moment { return cutroom.Moment(t.String()) }
