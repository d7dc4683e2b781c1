package transport

import (
	"bytes"
	"context"
	"io"
	"sync"
	"time"
)

// together is up to how many bytes of lines are written at once.
const together = 64 << 10

// output writes whole lines, one after another, from one goroutine: whoever answers
// waits for a client that does not read only while too much is queued, and never when
// the session ends.
type output struct {
	w    io.Writer
	room int // bytes that may be queued before those who answer wait

	mu      sync.Mutex
	change  *sync.Cond
	queue   [][]byte
	bytes   int  // queued, or being written
	written int  // in all
	hurry   bool // nobody waits any more
	closing bool // what is queued is the last
	err     error
	done    chan struct{} // closed when run has ended
}

func newOutput(w io.Writer, room int) *output {
	o := &output{w: w, room: room, done: make(chan struct{})}
	o.change = sync.NewCond(&o.mu)
	return o
}

// put queues a line, which keeps belonging to o.
func (o *output) put(ctx context.Context, line []byte) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.full() {
		o.waitWhileFull(ctx)
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	switch {
	case o.err != nil:
		return o.err
	case o.closing, o.full():
		return io.ErrClosedPipe
	}
	o.queue = append(o.queue, line)
	o.bytes += len(line)
	o.change.Broadcast()
	return nil
}

// add queues a line of the transport's own, which are short: who reads waits before it
// has anything to say.
func (o *output) add(line []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.queue = append(o.queue, line)
	o.bytes += len(line)
	o.change.Broadcast()
}

// wait returns when there is room, or when it cannot be waited for; false when the
// client has read nothing for so long.
func (o *output) wait(ctx context.Context, patience time.Duration) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.full() && o.waitable() {
		before := o.written
		limited, cancel := context.WithTimeout(ctx, patience)
		o.waitWhileFull(limited)
		expired := limited.Err() != nil && ctx.Err() == nil
		cancel()
		if expired && o.full() && o.written == before {
			return false
		}
		if ctx.Err() != nil {
			return true
		}
	}
	return true
}

// waitable says that room may come.
func (o *output) waitable() bool { return !o.hurry && !o.closing && o.err == nil }

// full says that lines wait for a client that does not read.
func (o *output) full() bool { return o.bytes > o.room }

func (o *output) waitWhileFull(ctx context.Context) {
	stop := context.AfterFunc(ctx, o.wake)
	defer stop()
	for o.full() && o.waitable() && ctx.Err() == nil {
		o.change.Wait()
	}
}

func (o *output) wake() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.change.Broadcast()
}

// hurryUp ends every waiting, now and later: lines for which there is no room are
// lost.
func (o *output) hurryUp() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.hurry = true
	o.change.Broadcast()
}

// finish lets run end when what is queued is written.
func (o *output) finish() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.hurry, o.closing = true, true
	o.change.Broadcast()
}

// failure is why writing ended, nil when all was written.
func (o *output) failure() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

// run writes until finish, or until writing fails.
func (o *output) run() {
	defer close(o.done)
	var joined bytes.Buffer
	for {
		batch := o.take()
		if batch == nil {
			return
		}
		for len(batch) > 0 {
			text, n := join(&joined, batch)
			if !o.wrote(len(text), write(o.w, text)) {
				return
			}
			batch = batch[n:]
		}
	}
}

// join makes one text of the first n lines. A long line is not copied.
func join(into *bytes.Buffer, lines [][]byte) (text []byte, n int) {
	if len(lines) == 1 || len(lines[0]) > together {
		return lines[0], 1
	}
	into.Reset()
	for n < len(lines) && into.Len()+len(lines[n]) <= together {
		into.Write(lines[n])
		n++
	}
	return into.Bytes(), n
}

// take waits for lines; nil is the end.
func (o *output) take() [][]byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	for len(o.queue) == 0 && !o.closing {
		o.change.Wait()
	}
	batch := o.queue
	o.queue = nil
	return batch
}

// wrote accounts for n bytes, and says whether to go on.
func (o *output) wrote(n int, err error) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.bytes -= n
	o.written += n
	o.err = err
	o.change.Broadcast()
	return err == nil
}

func write(w io.Writer, text []byte) error {
	n, err := w.Write(text)
	if err == nil && n < len(text) {
		err = io.ErrShortWrite
	}
	return err
}
