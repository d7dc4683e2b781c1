package setup

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"cutroom/internal/config"
	"cutroom/internal/provider"
)

// listTime is how long a service may take to say which models it has.
const listTime = 5 * time.Second

// shelf is what a service lists, with the first entry of models that names the service.
type shelf struct {
	entry  config.Model
	models []provider.Model
}

// shelves asks services for their lists, which their client keeps for a while: until the
// config changes at most.
type shelves struct{ change atomic.Int64 }

// of asks the services of entries, all at the same time; the answers are in
// the order of the entries. A service that does not answer has no models.
func (k *shelves) of(ctx context.Context, s *readerSet, client *provider.Client, entries []config.Model) []shelf {
	if k.change.Swap(s.change) != s.change {
		client.Forget()
	}
	list := make([]shelf, len(entries))
	var all sync.WaitGroup
	for i, c := range entries {
		all.Go(func() {
			list[i].entry = c
			e, err := s.endpoint(c)
			if err != nil {
				return // whoever asks the model is told
			}
			within, cancel := context.WithTimeout(ctx, listTime)
			defer cancel()
			list[i].models, _ = client.Models(within, e)
		})
	}
	all.Wait()
	return list
}
