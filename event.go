package cutroom

// Progress is one step forward of a call in flight. Done and Total count what
// Unit names; Total 0 means unknown.
type Progress struct {
	Tool  string `json:"tool"`            // the tool that is running
	Stage string `json:"stage,omitempty"` // what it is doing, in words
	Done  int64  `json:"done"`
	Total int64  `json:"total,omitempty"`
	Unit  string `json:"unit,omitempty"`
}
