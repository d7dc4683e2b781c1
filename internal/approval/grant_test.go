package approval

import (
	"testing"
	"time"

	"cutroom"
)

func standing() cutroom.Grant {
	return cutroom.Grant{
		Principal: "agent", Workspace: "/w", Tools: []string{"edit.*"}, Beneath: []string{"clips", "out.mp4"},
		Where: []string{"crf>=18", "preset=fast"}, Overwrite: true, Uses: 2,
	}
}

func covered() Candidate {
	return Candidate{Bound: overwriting(), Input: []byte(`{"crf":20,"preset":"fast"}`), Files: []string{"/w/clips/a.mp4", "/w/out.mp4"}}
}

// TestGrant: within its bounds a grant allows, as often as it says and no oftener.
func TestGrant(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d *desk) {
		g, err := d.Grant(t.Context(), cutroom.Operator, nil, standing(), time.Hour)
		if err != nil {
			t.Fatal(err, cutroom.AsError(err).Err)
		}
		use := func() string {
			p, why, err := d.Find(t.Context(), covered())
			if err != nil {
				return cutroom.AsError(err).Msg
			}
			if p.ID != g.ID {
				return "none: " + why
			}
			if err := d.Spend(t.Context(), covered(), p); err != nil {
				return cutroom.AsError(err).Msg
			}
			return ""
		}
		for range 2 {
			if why := use(); why != "" {
				t.Fatal(why)
			}
		}
		if why := use(); why != "none: " {
			t.Errorf("a third time: %q", why)
		}
		d.exec(`update automation_grant set used = 0 where id = $1`, g.ID) // the marks still know
		if why := use(); why != "none: " {
			t.Errorf("set back: %q", why)
		}
		list, err := d.Grants(t.Context(), cutroom.Operator)
		if err != nil || len(list) != 1 || list[0].Expires.Sub(list[0].Created) != time.Hour {
			t.Errorf("%+v, %v", list, err)
		}
	})
}

// TestGrantCovers: what a grant does not speak of is not within it.
func TestGrantCovers(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*cutroom.Grant, *Candidate){
		"principal":   func(_ *cutroom.Grant, c *Candidate) { c.Principal.Name = "other" },
		"workspace":   func(_ *cutroom.Grant, c *Candidate) { c.Workspace = "/v" },
		"tool":        func(_ *cutroom.Grant, c *Candidate) { c.Tool = "video.download" },
		"folder":      func(_ *cutroom.Grant, c *Candidate) { c.Files = append(c.Files, "/w/other/a.mp4") },
		"escape":      func(_ *cutroom.Grant, c *Candidate) { c.Files = []string{"/w/clips/../b.mp4"} },
		"prefix":      func(_ *cutroom.Grant, c *Candidate) { c.Files = []string{"/w/clips2/b.mp4"} },
		"overwriting": func(g *cutroom.Grant, _ *Candidate) { g.Overwrite = false },
		"number":      func(_ *cutroom.Grant, c *Candidate) { c.Input = []byte(`{"crf":17,"preset":"fast"}`) },
		"word":        func(_ *cutroom.Grant, c *Candidate) { c.Input = []byte(`{"crf":20,"preset":"slow"}`) },
		"missing":     func(_ *cutroom.Grant, c *Candidate) { c.Input = []byte(`{"preset":"fast"}`) },
		"other type":  func(_ *cutroom.Grant, c *Candidate) { c.Input = []byte(`{"crf":{"x":20},"preset":"fast"}`) },
		"network":     func(_ *cutroom.Grant, c *Candidate) { c.Destination = "https://example.com" },
		"other origin": func(g *cutroom.Grant, c *Candidate) {
			g.Origins, c.Destination = []string{"https://example.com"}, "https://example.net"
		},
		"bytes": func(g *cutroom.Grant, c *Candidate) {
			g.Origins, g.MaxBytes, c.Destination, c.MaxBytes = []string{"https://example.com"}, 10, "https://example.com", 11
		},
	} {
		g, c := standing(), covered()
		if !covers(g, c) {
			t.Fatal("the untouched call is not covered")
		}
		if change(&g, &c); covers(g, c) {
			t.Errorf("%s: covered", name)
		}
	}
}

// TestGrantForgery: an edited grant, one of another key, one that ended allow nothing.
func TestGrantForgery(t *testing.T) {
	t.Parallel()
	for name, forge := range map[string]func(d *desk, g cutroom.Grant){
		"more uses": func(d *desk, g cutroom.Grant) { d.exec(`update automation_grant set uses = 1000 where id = $1`, g.ID) },
		"more tools": func(d *desk, g cutroom.Grant) {
			d.exec(`update automation_grant set tools = '["*"]' where id = $1`, g.ID)
		},
		"longer": func(d *desk, g cutroom.Grant) {
			d.exec(`update automation_grant set expires = expires + 1 where id = $1`, g.ID)
		},
		"no bounds": func(d *desk, g cutroom.Grant) {
			d.exec(`update automation_grant set bounds = 'null' where id = $1`, g.ID)
		},
		"expired": func(d *desk, _ cutroom.Grant) { d.pass(time.Hour) },
		"another key": func(d *desk, _ cutroom.Grant) {
			if err := d.keys.Reset(); err != nil {
				d.t.Error(err)
			}
		},
		"revoked": func(d *desk, g cutroom.Grant) {
			if err := d.RevokeGrant(d.t.Context(), cutroom.Operator, g.ID); err != nil {
				d.t.Error(err)
			}
			d.exec(`update automation_grant set revoked = 0 where id = $1`, g.ID)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			each(t, func(t *testing.T, d *desk) {
				g, err := d.Grant(t.Context(), cutroom.Operator, nil, standing(), time.Hour)
				if err != nil {
					t.Fatal(err)
				}
				if p, _, err := d.Find(t.Context(), covered()); err != nil || p.ID != g.ID {
					t.Fatalf("%v, %v", p, err)
				}
				forge(d, g)
				if p, _, err := d.Find(t.Context(), covered()); err != nil || p.ID != "" {
					t.Errorf("%v, %v", p, err)
				}
				if err := d.Spend(t.Context(), covered(), Pass{g.ID, true}); err == nil {
					t.Error("spent")
				}
			})
		})
	}
}

func TestGrantIsChecked(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*cutroom.Grant){
		"no tool": func(g *cutroom.Grant) { g.Tools = nil }, "glob": func(g *cutroom.Grant) { g.Tools = []string{"["} },
		"no uses": func(g *cutroom.Grant) { g.Uses = 0 }, "uses": func(g *cutroom.Grant) { g.Uses = MostUses + 1 },
		"folder": func(g *cutroom.Grant) { g.Beneath = []string{"../x"} }, "absolute": func(g *cutroom.Grant) { g.Beneath = []string{"/x"} },
		"bound": func(g *cutroom.Grant) { g.Where = []string{"crf>=high"} }, "no name": func(g *cutroom.Grant) { g.Where = []string{"=x"} },
		"no bound": func(g *cutroom.Grant) { g.Where = []string{"crf"} }, "nobody": func(g *cutroom.Grant) { g.Principal = "" },
	} {
		g := standing()
		if change(&g); checkGrant(g, time.Hour) == nil {
			t.Errorf("%s is taken", name)
		}
	}
	if checkGrant(standing(), LongestGrant+1) == nil || checkGrant(standing(), 0) == nil {
		t.Error("any life is taken")
	}
}

// TestGrantsAreTakenBackWithTheRest: what was granted up to a time is void from then on,
// also when the row is set back, and the list says so.
func TestGrantsAreTakenBackWithTheRest(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d *desk) {
		g, err := d.Grant(t.Context(), cutroom.Operator, nil, standing(), time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		if p, _, err := d.Find(t.Context(), covered()); err != nil || p.ID != g.ID {
			t.Fatalf("%+v, %v", p, err)
		}
		if n, err := d.RevokeBefore(t.Context(), cutroom.Operator, d.Now()); err != nil || n != 1 {
			t.Fatalf("%d, %v", n, err)
		}
		d.exec(`update automation_grant set revoked = 0 where id = $1`, g.ID) // as a backup would
		if p, _, err := d.Find(t.Context(), covered()); err != nil || p.ID != "" {
			t.Errorf("it allows: %+v, %v", p, err)
		}
		list, err := d.Grants(t.Context(), cutroom.Operator)
		if err != nil || len(list) != 1 || list[0].Revoked.IsZero() {
			t.Errorf("%+v, %v", list, err)
		}
	})
}
