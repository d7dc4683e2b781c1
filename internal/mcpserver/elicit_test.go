package mcpserver

import (
	"fmt"
	"sync"
	"testing"
)

// What is remembered of closed dialogs is bounded, and safe for calls side by side.
func TestClosedIsBounded(t *testing.T) {
	t.Parallel()
	var c closed
	if c.has("") || c.has("a") {
		t.Error("something is closed that never was")
	}
	var all sync.WaitGroup
	for w := range 4 {
		all.Go(func() {
			for i := range mostClosed {
				id := fmt.Sprint(w, "-", i)
				c.add(id)
				c.has(id)
			}
		})
	}
	all.Wait()
	c.add("last")
	if !c.has("last") || len(c.ids) > mostClosed {
		t.Errorf("%d are remembered, the last one: %t", len(c.ids), c.has("last"))
	}
}
