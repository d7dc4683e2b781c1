package tool

import "cutroom/internal/sandbox/argv"

// Script is a chain of runs of which each may depend on what the last left behind:
// a prober, a measurement, a render with its proof.
type Script interface {
	// Next returns the next run, or false when there is none.
	Next() (argv.Command, bool)
	// Feed takes what that run left behind.
	Feed(argv.Result) error
}

// Follow returns the plan that runs s to its end, then goes on with then, which may be
// nil. State is what Interpret finds.
func Follow(s Script, state any, then func(Results) (Plan, error)) (Plan, error) {
	return follow(s, state, then, nil)
}

func follow(s Script, state any, then func(Results) (Plan, error), r Results) (Plan, error) {
	cmd, ok := s.Next()
	switch {
	case ok:
	case then == nil:
		return Plan{State: state}, nil
	default:
		return then(r)
	}
	return Plan{State: state, Steps: []argv.Command{cmd}, Later: later(s, r), Then: func(r Results) (Plan, error) {
		res, _ := r.Step(cmd.Step)
		if err := s.Feed(res); err != nil {
			return Plan{}, err
		}
		return follow(s, state, then, r)
	}}, nil
}

// later are the runs behind the first, for a dry run, when the script can tell them.
func later(s Script, r Results) []argv.Command {
	p, ok := s.(interface{ Planned() []argv.Command })
	if !ok || r != nil {
		return nil
	}
	if list := p.Planned(); len(list) > 1 {
		return list[1:]
	}
	return nil
}
