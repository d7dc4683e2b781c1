package host

import (
	_ "embed"
	"encoding/json"
)

// Qualification is what was seen of one version of a host with this version of ours.
// Any other version is not qualified, whatever it does.
type Qualification struct {
	Host      string   `json:"host"`
	Title     string   `json:"title"`
	Version   string   `json:"version,omitempty"` // of the host; empty when it was never tried
	Qualified bool     `json:"qualified"`
	Failed    []string `json:"failed,omitempty"` // what did not go as it has to
}

// observed is written by `make attest`.
//
//go:embed qualified.json
var observed []byte

// Qualified lists every host with what was seen of it.
func Qualified() []Qualification {
	var seen []struct {
		Host    string `json:"host"`
		Version string `json:"version"`
		Rows    []struct {
			Check  string `json:"check"`
			Passed bool   `json:"passed"`
		} `json:"rows"`
	}
	if err := json.Unmarshal(observed, &seen); err != nil {
		panic(err) // the file is part of the program, and a test reads it
	}
	var list []Qualification
	for _, h := range Hosts() {
		q := Qualification{Host: h.Name, Title: h.Title}
		for _, s := range seen {
			if s.Host != h.Name {
				continue
			}
			q.Version, q.Qualified = s.Version, len(s.Rows) > 0
			for _, r := range s.Rows {
				if !r.Passed {
					q.Qualified, q.Failed = false, append(q.Failed, r.Check)
				}
			}
		}
		list = append(list, q)
	}
	return list
}

// Say is a qualification in a few words.
func (q Qualification) Say() string {
	switch {
	case q.Qualified:
		return "qualified with version " + q.Version + ", no other"
	case q.Version == "":
		return "not qualified: never tried"
	}
	return "not qualified: version " + q.Version + " failed " + plural(len(q.Failed))
}

func plural(n int) string {
	if n == 1 {
		return "1 check"
	}
	b, _ := json.Marshal(n)
	return string(b) + " checks"
}
