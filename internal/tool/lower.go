package tool

import "reflect"

// Lower returns the input with the limits that its tool keeps by itself, of its member
// limits, lowered to the operator's maxima: a call may ask for less, never for more. Those
// on files are the engine's.
func Lower(in any, b Bounds) any {
	if b == (Bounds{}) || reflect.TypeOf(in).Kind() != reflect.Struct {
		return in
	}
	out := reflect.New(reflect.TypeOf(in)).Elem()
	out.Set(reflect.ValueOf(in))
	for _, f := range fieldsOf(out.Type()) {
		limits := out.FieldByIndex(f.index)
		if f.name != "limits" || limits.Kind() != reflect.Struct {
			continue
		}
		for _, l := range fieldsOf(limits.Type()) {
			var most int64
			switch l.name {
			case "max_frames":
				most = int64(b.Frames)
			case "max_transcript_bytes":
				most = b.TranscriptBytes
			}
			if v := limits.FieldByIndex(l.index); most > 0 && v.CanInt() && v.Int() > most {
				v.SetInt(most)
			}
		}
	}
	return out.Interface()
}
