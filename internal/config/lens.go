package config

// Lens is what the tools that read media may ask of models, what they may send there and
// what that may cost. A workspace may set strictLocalOnly, allow_upload: false and
// smaller budgets, and nothing else of it.
type Lens struct {
	StrictLocalOnly bool         `yaml:"strictLocalOnly" default:"false" doc:"true: nothing of a medium leaves this machine, whatever else is set; only engines of this machine are asked."`
	CooldownMs      int64        `yaml:"cooldownMs" default:"600000" doc:"How long a key that was refused, or whose quota is used up, is tried last, milliseconds; what the service itself says counts instead."`
	Models          Readers      `yaml:"models" doc:"Which of the models read what."`
	Providers       Providers    `yaml:"providers" doc:"Services that are configured here rather than under models."`
	ASR             ASR          `yaml:"asr" doc:"Speech to text by engines of your own."`
	Refine          Refine       `yaml:"refine" doc:"One more pass, of a text model, over what a reader saw."`
	Inject          Inject       `yaml:"inject" doc:"Models of text alone that are given sight by the gateway."`
	AllowUpload     bool         `yaml:"allow_upload" default:"false" doc:"true: media may be sent to the services that are configured. Without it a call needs an approval of its own. A key is no consent."`
	Budget          Budget       `yaml:"budget" doc:"What may be sent and spent; counted before each request, repeated ones too."`
	Limits          MediumLimits `yaml:"limits" doc:"From which size on a medium is made smaller or read in parts."`
}

// Words that [Readers] may hold instead of a model.
const (
	Auto = "auto" // every model that is known to read the medium
	Off  = ""     // none
)

// Readers says which model reads what: auto, "" (none), or PROVIDER/MODEL.
type Readers struct {
	Image string `yaml:"image" default:"auto" doc:"Reader of pictures: auto (every model that declares images), \"\" (none) or PROVIDER/MODEL."`
	Audio string `yaml:"audio" default:"auto" doc:"Reader of sound: auto, \"\" or PROVIDER/MODEL. A model that declares nothing is reached by its name alone."`
	Video string `yaml:"video" default:"auto" doc:"Reader of video: auto, \"\" or PROVIDER/MODEL."`
}

// Providers are the services configured beside models.
type Providers struct {
	OpenAI OpenAI `yaml:"openai" doc:"A service with OpenAI's form of /chat/completions."`
}

// OpenAI is the hop `configured` of pictures, and the only one that refines.
type OpenAI struct {
	BaseURL          string `yaml:"baseUrl" doc:"Its address as far as /chat/completions, e.g. https://api.example.com/v1."`
	APIKey           string `yaml:"apiKey" as:"secret" doc:"Where its keys are: env:NAME, file:/PATH or keyring:NAME, more than one with commas between. Never a key itself."`
	Model            string `yaml:"model" doc:"Model that it is asked for."`
	StructuredOutput bool   `yaml:"structuredOutput" default:"false" doc:"true: ask for answers by a strict JSON Schema. Services that do not know it refuse the request."`
}

// Configured says whether the service can be asked at all.
func (o OpenAI) Configured() bool { return o.BaseURL != "" && o.APIKey != "" }

// Refine is off unless it is enabled and names openai/MODEL or a bare model.
type Refine struct {
	Enabled bool   `yaml:"enabled" default:"false" doc:"true: evidence passes a text model once, which may drop what is there twice and shorten."`
	Model   string `yaml:"model" doc:"openai/MODEL or MODEL, which opens this pass; providers.openai.model is what is asked. auto and \"\" leave it closed."`
}

// Inject is which models the gateway wraps.
type Inject struct {
	Enabled     bool     `yaml:"enabled" default:"false" doc:"true: the gateway offers models without sight a second time, with it."`
	Families    []string `yaml:"families" doc:"Beginnings of the models' names that are wrapped; \"\" means all. Default none."`
	Omni        []string `yaml:"omni" default:"*mimo*,!*mimo*-pro,!*mimo*-pro-*,*omni*,*gemini*" doc:"Names of models that see and hear by themselves and are never wrapped. * is any text; what follows ! is taken out again; small and capital letters are the same."`
	Specialists []string `yaml:"specialists" default:"*deepseek-vl*,*glm-4v*,*vision*,*-vl,*-vl-*" doc:"Names of models made for pictures, which are never wrapped; written as omni."`
}

// Budget bounds what is sent to services of other machines, for one call and for one day
// (UTC) of this installation. What is left out is not bounded.
type Budget struct {
	BytesPerCall Scalar `yaml:"bytes_per_call" as:"number" default:"268435456" doc:"Bytes that one call may send."`
	CostPerCall  Scalar `yaml:"cost_per_call" as:"number" doc:"What one call may cost, in the currency of the models' prices, e.g. 0.25. A model without a price costs nothing here."`
	BytesPerDay  Scalar `yaml:"bytes_per_day" as:"number" doc:"Bytes that all calls of one day may send."`
	CostPerDay   Scalar `yaml:"cost_per_day" as:"number" doc:"What all calls of one day may cost."`
}

// MediumLimits are the borders of the verdict about a medium.
type MediumLimits struct {
	Video VideoLimits `yaml:"video" doc:"Of video."`
	Audio AudioLimits `yaml:"audio" doc:"Of sound."`
	Image ImageLimits `yaml:"image" doc:"Of pictures."`
}

// VideoLimits are the borders between sending a video, sending a smaller copy of it, and
// sending frames.
type VideoLimits struct {
	FullBytes     int64 `yaml:"full_bytes" default:"10000000" doc:"Largest video that is sent as it is, bytes."`
	ReencodeBytes int64 `yaml:"reencode_bytes" default:"19000000" doc:"Largest video of which a smaller copy is sent, bytes; of a larger one frames are."`
	FullSeconds   int64 `yaml:"full_seconds" default:"600" doc:"Longest video that is sent whole, seconds; of a longer one frames are."`
}

// AudioLimits are the borders between sending a recording, a smaller copy, and parts.
type AudioLimits struct {
	FullBytes      int64 `yaml:"full_bytes" default:"10000000" doc:"Largest recording that is sent as it is, bytes; of a larger one a smaller copy is."`
	FullSeconds    int64 `yaml:"full_seconds" default:"600" doc:"Longest recording that is sent whole, seconds; a longer one is sent in parts, cut at silences."`
	SegmentSeconds int64 `yaml:"segment_seconds" default:"300" doc:"About how long such a part is, seconds."`
	OverlapSeconds int64 `yaml:"overlap_seconds" default:"2" doc:"By how much neighbouring parts overlap, seconds."`
}

// ImageLimits are the borders between sending a picture and a smaller copy.
type ImageLimits struct {
	FullBytes int64 `yaml:"full_bytes" default:"4000000" doc:"Largest picture that is sent as it is, bytes."`
	FullSide  int64 `yaml:"full_side" default:"2048" doc:"Longest side of a picture that is sent as it is, pixels; a larger one is made this size."`
}
