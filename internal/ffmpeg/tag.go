package ffmpeg

import "strings"

// Tag returns a tag of the whole file, of any case. It is known of a document that a
// [Prober] has just made, not of one that was kept.
func (d *Document) Tag(name string) string { return d.tags[strings.ToLower(name)] }

func (d *Document) named(tags map[string]text) {
	for k, v := range tags {
		if d.tags == nil {
			d.tags = map[string]string{}
		}
		if _, seen := d.tags[strings.ToLower(k)]; !seen {
			d.tags[strings.ToLower(k)] = string(v)
		}
	}
}
