package lens

// Settings are what the operator says about reading, at one moment.
type Settings struct {
	StrictLocalOnly bool       `json:"strict_local_only"`
	AllowUpload     bool       `json:"allow_upload"`
	AutoImage       bool       `json:"auto_image"` // pictures are read by whoever can
	Structured      bool       `json:"structured"` // the configured service takes a schema
	Refine          Refinement `json:"refine"`
	Sizes           Sizes      `json:"sizes"`
}

// Consent is what the settings alone allow to leave this machine.
func (s Settings) Consent() Consent {
	switch {
	case s.StrictLocalOnly:
		return Forbidden
	case s.AllowUpload:
		return Allowed
	}
	return NeedsConsent
}
