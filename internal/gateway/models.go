package gateway

import (
	"net/http"
	"slices"

	"cutroom"
)

// listed is a model in the form of both APIs at once.
type listed struct {
	ID          string `json:"id"`
	Object      string `json:"object"` // OpenAI
	Created     int64  `json:"created"`
	OwnedBy     string `json:"owned_by"`
	Type        string `json:"type"` // Anthropic
	DisplayName string `json:"display_name"`
	CreatedAt   string `json:"created_at"`
}

// beginning is when all models are said to have been made: nobody knows.
const beginning = "1970-01-01T00:00:00Z"

func modelOf(id, name string) listed {
	return listed{ID: id, Object: "model", OwnedBy: "cutroom", Type: "model", DisplayName: name, CreatedAt: beginning}
}

// list is every model that may be asked for, each upstream before its second name.
func (g *Gateway) list(r *http.Request) []listed {
	all, upstreams := []listed{}, g.Upstreams()
	if g.Listed != nil {
		upstreams = append(upstreams, g.Listed(r.Context())...)
	}
	for _, u := range upstreams {
		if slices.ContainsFunc(all, func(l listed) bool { return l.ID == u.Model }) {
			continue // the same model over another wire
		}
		all = append(all, modelOf(u.Model, u.shown()))
		if _, err := g.wrap(u); err == nil {
			all = append(all, modelOf(Prefix+u.Model, u.shown()+" (cutroom vision)"))
		}
	}
	return all
}

func (g *Gateway) models(rw http.ResponseWriter, r *http.Request) {
	all := g.list(r)
	doc := struct {
		Object  string   `json:"object"`
		Data    []listed `json:"data"`
		HasMore bool     `json:"has_more"`
		FirstID *string  `json:"first_id"`
		LastID  *string  `json:"last_id"`
	}{Object: "list", Data: all}
	if len(all) > 0 {
		doc.FirstID, doc.LastID = &all[0].ID, &all[len(all)-1].ID
	}
	writeJSON(rw, http.StatusOK, doc)
}

func (g *Gateway) model(rw http.ResponseWriter, r *http.Request) {
	id := r.PathValue("model")
	for _, l := range g.list(r) {
		if l.ID == id {
			writeJSON(rw, http.StatusOK, l)
			return
		}
	}
	g.fail(rw, wireFor(r), cutroom.Errorf(cutroom.NotFound, "there is no model %q", short(id)).WithHint("GET /v1/models lists those there are"))
}
