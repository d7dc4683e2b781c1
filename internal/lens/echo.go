package lens

import (
	"regexp"
	"strings"
)

// Some routes do not hand the medium to the model but a text in its place: the name of a
// file, or a handle. The model then speaks of the file, or makes something up.

// handles are texts that routes put in a medium's place.
var handles = []string{"[file:", "[attachment:", "<file ", "<attachment", "file_id", "file-id:", "file handle", "attachment://", "sandbox:/", "read-only path"}

// unseen is a sentence of a model that was shown nothing.
var unseen = regexp.MustCompile(`(?i)\b(can(no|')t|cannot|could ?n[o']t|unable to|not able to|do(es)? ?n[o']t have (the )?(access|ability)|no access)\b.{0,60}\b(file|attachment|video|audio|image|picture|recording|media|content)s?\b`)

// about is a sentence on a file rather than on what it holds.
var about = regexp.MustCompile(`(?i)\b(file|attachment|document|upload)\b.{0,80}\b(named|called|attached|uploaded|provided|shared|available|handle|path|was sent)\b|\b(named|called|attached|uploaded|provided)\b.{0,40}\b(file|attachment)\b`)

// Echo says whether an answer is about a file's handle and not about what the file holds.
// names are those under which the medium was sent: nobody who looks at a picture sees
// them.
func Echo(answer string, f Findings, names ...string) bool {
	low := strings.ToLower(answer)
	for _, n := range names {
		if n != "" && strings.Contains(low, strings.ToLower(n)) {
			return true
		}
	}
	if f.Empty() {
		return aboutFile(answer)
	}
	// What stands in the medium, or is said in it, is the medium's; a model that saw
	// nothing has none of it to tell.
	if len(f.Regions) > 0 || len(f.Transcript) > 0 {
		return false
	}
	said := f.Summary
	for _, m := range f.Timeline {
		if !aboutFile(m.Text) {
			return false
		}
		said += "\n" + m.Text
	}
	return aboutFile(said) && (len(f.Timeline) > 0 || aboutFile(f.Summary))
}

func aboutFile(text string) bool {
	low := strings.ToLower(text)
	for _, h := range handles {
		if strings.Contains(low, h) {
			return true
		}
	}
	return unseen.MatchString(text) || about.MatchString(text)
}
