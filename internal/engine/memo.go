package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"cutroom"
	"cutroom/internal/sandbox/argv"
)

// maxMemo bounds what is kept of one run.
const maxMemo = 4 << 20

// memo is where what a run found is kept, in the user's state folder beside what probing
// found; "" when it is not. The name says all that the run depends on: the program, its
// arguments, what its inputs and files hold.
func (k *call) memo(cmd argv.Command) string {
	program := k.e.Toolchain.Fingerprint(cmd.Program)
	if cmd.Memo == nil || len(cmd.Outputs) > 0 || program == "" || k.e.Facts == "" {
		return ""
	}
	id := []string{"memo 1", cmd.Program, string(program), cmd.Step}
	for _, a := range cmd.Args {
		if _, hole := a.(argv.Hole); hole {
			return ""
		}
		id = append(id, fmt.Sprintf("%T %v", a, a))
	}
	for _, i := range cmd.Inputs {
		id = append(id, string(k.inputs[i].Digest))
	}
	for _, f := range cmd.Files {
		id = append(id, f.Name, string(cutroom.DigestOf(f.Data)))
	}
	text, err := json.Marshal(id)
	if err != nil {
		return ""
	}
	key := string(cutroom.DigestOf(text))
	return filepath.Join(k.e.Facts, "memo", key[:2], key)
}

// remembered answers a run from what the same run found before.
func (k *call) remembered(cmd argv.Command) (argv.Result, bool) {
	path := k.memo(cmd)
	if path == "" {
		return argv.Result{}, false
	}
	text, err := os.ReadFile(path)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			k.e.Log.Warn("memo", "cause", err)
		}
		return argv.Result{}, false
	}
	values, err := cmd.Memo.Load(text)
	if err != nil {
		return argv.Result{}, false
	}
	if !slices.Contains(k.ran, cmd.Program) {
		k.ran = append(k.ran, cmd.Program) // now or when it was found, by the same pin
	}
	return argv.Result{Values: values}, true
}

// remember keeps what a run found that went well and complained of nothing.
func (k *call) remember(cmd argv.Command, res argv.Result) {
	path := k.memo(cmd)
	if path == "" || res.Exit != 0 || res.Complaints.Lines > 0 {
		return
	}
	text, err := cmd.Memo.Save(res.Values)
	if err != nil || text == nil || len(text) > maxMemo {
		return
	}
	if err := writeFile(path, text); err != nil {
		k.e.Log.Warn("memo", "cause", err)
	}
}
