package engine

import (
	"context"
	"fmt"
	"slices"

	"cutroom"
	"cutroom/internal/sandbox"
	"cutroom/internal/sandbox/argv"
	"cutroom/internal/stage"
	"cutroom/internal/tool"
)

// run is step 8: facts, then the body.
func (k *call) run(ctx context.Context) error {
	if err := k.gather(ctx); err != nil {
		return err
	}
	if k.DryRun {
		return k.preview()
	}
	var err error
	k.worked = true
	switch k.tool.Body() {
	case tool.BodyPlan:
		err = k.runPlan(ctx)
	default:
		k.out, err = k.tool.Run(ctx, &env{k: k}, k.in)
	}
	if err != nil {
		k.undone = tool.IsUndone(err)
		return err
	}
	return k.unchanged()
}

// maxPhases bounds a plan that never ends.
const maxPhases = 64

// runPlan runs the phases of a plan one after another and interprets what they
// left.
func (k *call) runPlan(ctx context.Context) error {
	plan, err := k.tool.Plan(k.facts, k.in)
	if err != nil {
		return err
	}
	r := &results{k: k, steps: map[string]argv.Result{}}
	for phase := 0; ; phase++ {
		r.state = plan.State
		k.expect = append(k.expect, plan.Expect...)
		if err := k.write(plan.Files); err != nil {
			return err
		}
		for _, cmd := range plan.Steps {
			res, err := k.runStep(ctx, cmd)
			if err != nil {
				return err
			}
			r.steps[cmd.Step] = res
		}
		if plan.Then == nil {
			break
		}
		if phase == maxPhases {
			return fmt.Errorf("the plan of %s does not end", k.tool.Name)
		}
		if plan, err = plan.Then(r); err != nil {
			return err
		}
	}
	k.out, err = k.tool.Interpret(k.facts, k.in, r)
	return err
}

// runStep runs one program in the call's private folder.
func (k *call) runStep(ctx context.Context, cmd argv.Command) (argv.Result, error) {
	if !slices.Contains(k.tool.Needs.AllPrograms(), cmd.Program) {
		return argv.Result{}, fmt.Errorf("%s plans %s, which its spec does not name", k.tool.Name, cmd.Program)
	}
	if err := k.write(cmd.Files); err != nil {
		return argv.Result{}, err
	}
	if res, ok := k.remembered(cmd); ok {
		return res, nil
	}
	k.progress(cutroom.Progress{Stage: cmd.Stage})
	line := k.line(cmd)
	for c := k; c != nil; c = c.parent { // what a call's own calls ran, it ran
		c.mu.Lock()
		c.lines = append(c.lines, line)
		c.mu.Unlock()
	}
	k.report(&cmd)
	res, err := k.start(ctx, cmd, k.build.Dir())
	if err != nil {
		return res, err
	}
	if !slices.Contains(k.ran, cmd.Program) {
		k.ran = append(k.ran, cmd.Program)
	}
	k.remember(cmd, res)
	return res, nil
}

// write puts files of a plan's own making into the private folder.
func (k *call) write(files []argv.File) error {
	for _, f := range files {
		if err := k.build.Put(f.Name, f.Data); err != nil {
			return err
		}
	}
	return nil
}

// start runs a program with one folder; of the call's inputs it gets those that the
// command names.
func (k *call) start(ctx context.Context, cmd argv.Command, dir string) (argv.Result, error) {
	for _, i := range cmd.Inputs {
		if i < 0 || i >= len(k.files) || k.files[i] == nil {
			return argv.Result{}, fmt.Errorf("step %s names input %d, which is not a file", cmd.Step, i)
		}
	}
	return k.e.Runner.Run(ctx, cmd, sandbox.Grant{Dir: dir, Inputs: k.files})
}

// unchanged compares the inputs' identity again: a file that changed while it was
// read gives no result.
func (k *call) unchanged() error {
	for i, f := range k.files {
		if f == nil {
			continue
		}
		now, err := stage.IdentityOf(f)
		if err != nil {
			return err
		}
		if now != k.ids[i] {
			return cutroom.Errorf(cutroom.Conflict, "%q changed while it was read", k.inputs[i].Text).
				WithHint("wait until the file is written, then call again")
		}
	}
	return nil
}

// toolchain records which programs ran, for the manifest.
func (k *call) toolchain() map[string]stage.Program {
	programs := map[string]stage.Program{}
	for _, p := range k.ran {
		programs[p] = stage.Program{Fingerprint: k.e.Toolchain.Fingerprint(p), Version: k.e.Toolchain.Version(p)}
	}
	return programs
}
