package tool

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Snapshot returns the schemas of t as testdata/schema keeps them, so that a
// change of the contract is seen in a diff.
func (t *Tool) Snapshot() ([]byte, error) {
	in, err := json.Marshal(t.InputSchema())
	if err != nil {
		return nil, fmt.Errorf("input schema of %s: %w", t.Name, err)
	}
	out, err := json.Marshal(t.OutputSchema())
	if err != nil {
		return nil, fmt.Errorf("output schema of %s: %w", t.Name, err)
	}
	var b bytes.Buffer
	if err := json.Indent(&b, fmt.Appendf(nil, `{"input_schema":%s,"output_schema":%s}`, in, out), "", "  "); err != nil {
		return nil, fmt.Errorf("schemas of %s: %w", t.Name, err)
	}
	b.WriteByte('\n')
	return b.Bytes(), nil
}
