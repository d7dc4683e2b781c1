package object

import "sync"

// grain is how many numbers are worth a goroutine of their own.
const grain = 16 << 10

// work is what a program is worked out with: memory and threads.
type work struct {
	threads int
	slabs   [][]float32
}

func newWork(p *program, threads int) *work {
	w := &work{threads: max(1, threads), slabs: make([][]float32, len(p.slabs))}
	for i, n := range p.slabs {
		w.slabs[i] = make([]float32, n)
	}
	return w
}

// of returns the memory of a value.
func (w *work) of(v value) []float32 { return w.slabs[v.slab][:v.volume()] }

// run works p out. The outputs stay valid until the next run.
func (p *program) run(w *work, input []float32) [][]float32 {
	copy(w.of(p.values[p.input]), input)
	var in [4][]float32
	for _, s := range p.steps {
		from := in[:0]
		for _, v := range s.in {
			from = append(from, w.of(p.values[v]))
		}
		s.do(w, w.of(p.values[s.out]), from)
	}
	var out [][]float32
	for _, v := range p.outputs {
		out = append(out, w.of(p.values[v]))
	}
	return out
}

// split has f do the parts of 0..n on all threads, each part at least least long. No
// part depends on another, so that the number of threads changes nothing.
func (w *work) split(n, least int, f func(from, to int)) {
	parts := min(w.threads, n/max(1, least))
	if parts < 2 {
		f(0, n)
		return
	}
	var done sync.WaitGroup
	for i := range parts {
		done.Go(func() { f(i*n/parts, (i+1)*n/parts) })
	}
	done.Wait()
}
