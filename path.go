package cutroom

// InPath is a file that a tool reads, as the caller wrote it. The engine finds
// every InPath in an input by reflection, opens it beneath the roots without
// following links, hashes it, and grants the tool's programs exactly that file.
type InPath string

// OutPath is a file that a tool writes. It is published only after the result
// was proved, and never over an existing file unless the call says overwrite.
type OutPath string

// SourceKind says how a [Source] is to be read.
type SourceKind string

// The kinds of source of the 1.2.0 contracts.
const (
	LocalFile  SourceKind = "local_file"
	URL        SourceKind = "url"
	Transcript SourceKind = "transcript"
)

// Source is the input of the video.* contracts: a file of the workspace, an
// absolute http(s) URL, or transcript text itself.
type Source struct {
	Kind      SourceKind `json:"kind" enum:"local_file,url,transcript" doc:"How to read value: a file of the workspace, an absolute http(s) URL, or transcript text given inline."`
	Value     string     `json:"value" min:"1" max:"8388608" doc:"Path beneath a root, URL, or the transcript text. No NUL character."`
	MediaType string     `json:"media_type,omitempty" max:"255" doc:"Media type the caller believes the value has; the content decides."`
}

// Ref names a recorded result, and optionally one artifact of it by its path
// inside that result. Only what the stage has recorded and verified can be
// named: text or hashes a caller invents are not evidence.
type Ref struct {
	Run      string `json:"run" min:"16" max:"64" doc:"Invocation id of a recorded result (16 hexadecimal digits or more)."`
	Artifact string `json:"artifact,omitempty" max:"4096" doc:"Path of one artifact inside that result."`
}
