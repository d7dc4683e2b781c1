package lens

import "slices"

// Reader is a model or a service that may be asked about a medium.
type Reader struct {
	Step   Step   // Registered, Configured, Multimodal or Endpoint
	Name   string // of the provider: acme, openai, endpoint-1
	Model  string
	Origin string // scheme://host:port that is asked
	Local  bool   // on this machine: nothing leaves it
	Cooled bool   // its keys failed shortly before
	// Command is the number of a program of the operator's own that transcribes, counted
	// from 1; 0 for all others.
	Command int
	// MaxBytes, MaxImages and MaxLength bound one request; zero is not bounded.
	MaxBytes  int64
	MaxImages int
	// Priced says that its price is known; Input and Output are millionths of the
	// currency for a million tokens.
	Priced        bool
	Input, Output int64
	// Most is how many models it stands for: those that a service declares in a list of its
	// own are not known before it is asked. 0 for one.
	Most int
	// ID is the provider part's own name of the reader.
	ID string
}

// Provider is how attempts name the reader at a step.
func (r Reader) Provider(at Step) string { return string(at) + ":" + r.Name }

// Hop is one place of a chain: work of this machine, or one reader.
type Hop struct {
	Step   Step
	Reader *Reader // nil for work of this machine
}

// asked says whether a reader that was offered for the given step is asked at one of the
// chain: at the step that sends a smaller copy the same models are asked.
func asked(at, offered Step) bool { return at == offered || at == Smaller && offered == Multimodal }

// Order is the chain of hops: the readers at their steps, in the order in which they are
// offered; those whose keys failed shortly before at the end, before metadata alone. The
// second result names those.
func Order(chain []Step, readers []Reader) (hops []Hop, cooled []Reader) {
	var late []Hop
	for _, s := range chain {
		if s == Metadata {
			continue
		}
		if !slices.Contains([]Step{Registered, Configured, Multimodal, Smaller, Endpoint}, s) {
			hops = append(hops, Hop{Step: s})
			continue
		}
		for i := range readers {
			if !asked(s, readers[i].Step) {
				continue
			}
			h := Hop{Step: s, Reader: &readers[i]}
			if readers[i].Cooled {
				late, cooled = append(late, h), append(cooled, readers[i])
				continue
			}
			hops = append(hops, h)
		}
	}
	hops = append(hops, late...)
	if slices.Contains(chain, Metadata) {
		hops = append(hops, Hop{Step: Metadata})
	}
	return hops, cooled
}
