package timeline

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// members are the members of the objects that we write, each by its schema, as
// OpenTimelineIO's serialised data model lists them. Its own readers miss one that is
// left out, so all are written.
func members(schema string) []string {
	item := []string{"metadata", "name", "source_range", "effects", "markers", "enabled"}
	switch schema {
	case "Timeline.1":
		return []string{"metadata", "name", "global_start_time", "tracks"}
	case "Stack.1":
		return append(item, "children")
	case "Track.1":
		return append(item, "children", "kind")
	case "Clip.2":
		return append(item, "media_references", "active_media_reference_key")
	case "Gap.1":
		return item
	case "Transition.1":
		return []string{"metadata", "name", "in_offset", "out_offset", "transition_type"}
	case "ExternalReference.1":
		return []string{"metadata", "name", "available_range", "available_image_bounds", "target_url"}
	case "LinearTimeWarp.1":
		return []string{"metadata", "name", "effect_name", "time_scalar"}
	case "Marker.2":
		return []string{"metadata", "name", "color", "marked_range", "comment"}
	}
	return nil
}

// MarshalJSON writes all members of the object's schema.
func (o otioObject) MarshalJSON() ([]byte, error) {
	names := members(o.Schema)
	if names == nil {
		return nil, fmt.Errorf("no members of %s are known", o.Schema)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	fmt.Fprintf(&b, `{"OTIO_SCHEMA":%q`, o.Schema)
	for _, name := range names {
		fmt.Fprintf(&b, `,%q:`, name)
		if err := e.Encode(o.member(name)); err != nil {
			return nil, err
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// member is the value of one member; an absent list is empty, an absent object null.
func (o otioObject) member(name string) any {
	switch name {
	case "metadata":
		if o.Metadata == nil {
			return struct{}{}
		}
		return o.Metadata
	case "name":
		return o.Name
	case "source_range":
		return o.Range
	case "effects":
		return list(o.Effects)
	case "markers":
		return list(o.Markers)
	case "enabled":
		return o.Enabled == nil || *o.Enabled
	case "children":
		return list(o.Children)
	case "kind":
		return o.Kind
	case "global_start_time":
		return o.Global
	case "tracks":
		return o.Tracks
	case "media_references":
		return o.References
	case "active_media_reference_key":
		return o.Active
	case "in_offset":
		return o.Before
	case "out_offset":
		return o.After
	case "transition_type":
		return o.Type
	case "available_range":
		return o.Available
	case "target_url":
		return o.URL
	case "effect_name":
		return o.EffectName
	case "time_scalar":
		return o.Scalar
	case "color":
		return o.Color
	case "marked_range":
		return o.Marked
	case "comment":
		return o.Comment
	}
	return nil // available_image_bounds
}

func list(l []otioObject) []otioObject {
	if l == nil {
		return []otioObject{}
	}
	return l
}
