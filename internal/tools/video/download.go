package video

import (
	"net/url"
	"time"

	"cutroom"
	"cutroom/internal/fetch"
	"cutroom/internal/tool"
)

// Download fetches a recording from the network, when a person approved this very
// destination and an executor that enforces it is there.
var Download = tool.Add(Family, tool.Spec[DownloadInput, DownloadOutput]{
	Name:        "video.download",
	Summary:     "Fetch a recording from one approved address",
	Description: "Fetch a recording from an absolute http(s) address. It needs a person's live approval bound to that very destination, and the destination-bound executor. The address is checked before anything else: no user name in it, no private or local host, ports 80 and 443 only.",
	Kind:        cutroom.Execute,
	Exact:       tool.EnvironmentDependent,
	Revision:    1,
	Timeout:     900 * time.Second,
	Network:     true,
	Needs:       tool.Needs{Optional: []tool.Optional{{Program: "yt-dlp", When: "pages of video sites; direct media addresses need no program"}}},
	Formats:     mediaFormats,
	Examples:    []DownloadInput{{Source: cutroom.Source{Kind: cutroom.URL, Value: "https://media.example.com/talk.mp4"}}},
	Available:   noExecutor,
	Plan:        func(tool.Facts, DownloadInput) (tool.Plan, error) { return tool.Plan{}, errNoExecutor },
	Interpret: func(tool.Facts, DownloadInput, tool.Results) (DownloadOutput, error) {
		return DownloadOutput{}, errNoExecutor
	},
})

// DownloadInput is the request.
type DownloadInput struct {
	Source   cutroom.Source   `json:"source" doc:"The address (kind url)."`
	Approval *NetworkApproval `json:"approval,omitempty" cli:"-" doc:"The approval that a person gave for this destination. One in a request is a claim: it counts only when the server recorded it."`
	Limits   Limits           `json:"limits,omitzero" doc:"Bounds of this call."`
}

// NetworkApproval is a claim of an approval, bound to one destination.
type NetworkApproval struct {
	ApprovalID           string         `json:"approval_id" min:"1" max:"4096" doc:"Id of the recorded approval."`
	Action               string         `json:"action,omitempty" enum:"video.download" default:"video.download" doc:"What it allows."`
	DestinationOrigin    string         `json:"destination_origin" min:"1" max:"4096" doc:"Scheme, host and port that it names."`
	SourceIdentitySHA256 cutroom.Digest `json:"source_identity_sha256" doc:"SHA-256 of the canonical address."`
	ApprovedAt           string         `json:"approved_at" max:"64" doc:"When it was given, RFC 3339."`
	ExpiresAt            string         `json:"expires_at" max:"64" doc:"When it ends, RFC 3339; at most 15 minutes later."`
}

// Validate checks the address and the form of the approval before policy is asked.
func (in DownloadInput) Validate() error {
	if err := only(in.Source, "video.download", cutroom.URL); err != nil {
		return err
	}
	u, err := fetch.ParseAddress(in.Source.Value)
	if err != nil {
		return err
	}
	if in.Approval != nil {
		return in.Approval.check(u)
	}
	return nil
}

// Bounds are the limits of the call.
func (in DownloadInput) Bounds() tool.Bounds { return in.Limits.Bounds() }

// DownloadOutput is the answer.
type DownloadOutput struct {
	cutroom.Output
	DownloadedMedia cutroom.ArtifactRef `json:"downloaded_media" doc:"The file that was fetched."`
}

var errNoExecutor = cutroom.Errorf(cutroom.Unavailable, "this installation has no executor that binds a download to its approved destination").
	WithHint("fetch the file by other means, put it into the workspace and watch it there")

func noExecutor(DownloadInput) error { return errNoExecutor }

// check compares an approval's own words with each other and with the address.
func (a NetworkApproval) check(u *url.URL) error {
	from, err1 := time.Parse(time.RFC3339, a.ApprovedAt)
	until, err2 := time.Parse(time.RFC3339, a.ExpiresAt)
	switch {
	case err1 != nil || err2 != nil:
		return cutroom.Errorf(cutroom.Invalid, "approved_at and expires_at have to be RFC 3339 times")
	case !until.After(from) || until.Sub(from) > 15*time.Minute:
		return cutroom.Errorf(cutroom.Invalid, "an approval lasts at most 15 minutes")
	case a.DestinationOrigin != u.Scheme+"://"+u.Host:
		return cutroom.Errorf(cutroom.Invalid, "the approval names another origin than the source")
	case a.SourceIdentitySHA256 != cutroom.DigestOf([]byte(u.String())):
		return cutroom.Errorf(cutroom.Invalid, "the approval names another address than the source")
	}
	return nil
}
