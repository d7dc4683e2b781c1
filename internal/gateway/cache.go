package gateway

import (
	"container/list"
	"context"
	"sync"
	"time"
)

// cache keeps texts up to a number of bytes; what was not asked for longest goes first.
type cache struct {
	mu    sync.Mutex
	texts map[string]*list.Element
	order *list.List // of *kept, the latest first
	bytes int
}

type keptText struct {
	key, text string
	until     time.Time // zero: for good
}

func (c *cache) init() { c.texts, c.order = map[string]*list.Element{}, list.New() }

func (c *cache) get(key string, now time.Time) (string, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.texts[key]
	if !ok {
		return "", false
	}
	t := e.Value.(*keptText)
	if !t.until.IsZero() && !now.Before(t.until) {
		c.drop(e)
		return "", false
	}
	c.order.MoveToFront(e)
	return t.text, true
}

func (c *cache) put(key, text string, until time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.texts[key]; ok {
		c.drop(e)
	}
	c.texts[key] = c.order.PushFront(&keptText{key, text, until})
	c.bytes += len(key) + len(text)
	for c.bytes > cacheBytes && c.order.Len() > 1 {
		c.drop(c.order.Back())
	}
}

func (c *cache) drop(e *list.Element) {
	t := e.Value.(*keptText)
	c.order.Remove(e)
	delete(c.texts, t.key)
	c.bytes -= len(t.key) + len(t.text)
}

// flights lets one caller read a content while others that want it wait for what it finds.
type flights struct {
	mu   sync.Mutex
	open map[string]*flight
}

type flight struct {
	landed chan struct{}
	text   string
	err    error
	gone   bool // its caller left: what became of it says nothing
}

// do returns what read finds, or what another caller finds that is at it already. One
// whose own context ends stops waiting; when the reading one's does, the next one reads.
func (f *flights) do(ctx context.Context, key string, read func() (string, error)) (string, error) {
	for {
		f.mu.Lock()
		other, busy := f.open[key]
		if !busy {
			mine := &flight{landed: make(chan struct{}), gone: true}
			if f.open == nil {
				f.open = map[string]*flight{}
			}
			f.open[key] = mine
			f.mu.Unlock()
			return f.fly(ctx, key, mine, read)
		}
		f.mu.Unlock()
		select {
		case <-other.landed:
		case <-ctx.Done():
			return "", ctx.Err()
		}
		if !other.gone {
			return other.text, other.err
		}
	}
}

func (f *flights) fly(ctx context.Context, key string, mine *flight, read func() (string, error)) (string, error) {
	defer func() { // a panic, too, lets the others go on
		f.mu.Lock()
		delete(f.open, key)
		f.mu.Unlock()
		close(mine.landed)
	}()
	mine.text, mine.err = read()
	mine.gone = ctx.Err() != nil && mine.err != nil
	return mine.text, mine.err
}
