package platform

// Preset is how a file for one purpose is made.
type Preset struct {
	Name     string   `json:"name"`
	Title    string   `json:"title"`
	Aliases  []string `json:"aliases"`
	Platform string   `json:"platform"` // whose limits and loudness hold; "" none

	Container string `json:"container"` // suffix of the file; "" keeps the input's
	Copy      bool   `json:"copy"`      // streams are copied as they are
	Width     int    `json:"width"`     // of the frame; 0 keeps the source's
	Height    int    `json:"height"`    // of the frame; 0 follows the width, or is the source's
	Rate      Ratio  `json:"frame_rate"`

	Video Video `json:"video"`
	Audio Audio `json:"audio"`
	Color Color `json:"color"`
}

// Video is how the picture of a preset is encoded.
type Video struct {
	Codec       string `json:"codec"`   // h264, hevc, av1, prores, gif; "" there is no picture
	Quality     int    `json:"quality"` // on the encoder's CRF scale
	Effort      string `json:"effort"`
	Profile     string `json:"profile"`
	PixelFormat string `json:"pixel_format"`
}

// Audio is how the sound of a preset is encoded. No codec: there is none.
type Audio struct {
	Codec   string `json:"codec"`
	Bitrate int    `json:"bitrate"` // bit/s
	Rate    int    `json:"rate"`    // Hz; 0 keeps the source's
}

// Color says what a preset does with high dynamic range.
type Color string

// The choices.
const (
	SDR  Color = "sdr"  // tone-mapped and tagged BT.709
	Keep Color = "keep" // as the source is
	HDR  Color = "hdr"  // has to be there: SDR is refused
)
