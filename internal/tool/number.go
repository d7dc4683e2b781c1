package tool

import (
	"reflect"
	"strconv"

	"cutroom"
)

func (d *decoder) micros(v reflect.Value, n node, path string) {
	if n.kind != '0' && n.kind != '"' {
		d.fault(path, "it has to be a time in seconds or as hh:mm:ss.mmm, not %s", n.what())
		return
	}
	m, err := cutroom.ParseMicros(n.text)
	if err != nil {
		d.fault(path, "%s", err)
		return
	}
	v.SetInt(int64(m))
}

func (d *decoder) moment(v reflect.Value, n node, path string) {
	if n.kind != '0' && n.kind != '"' {
		d.fault(path, "it has to be a time in seconds, as hh:mm:ss.mmm or as a timecode, not %s", n.what())
		return
	}
	m, err := cutroom.ParseMoment(n.text)
	if err != nil {
		d.fault(path, "%s", err)
		return
	}
	v.SetString(string(m))
}

// integer accepts 12, 12.0 and 1.2e1, up to 2^53-1.
func (d *decoder) integer(v reflect.Value, n node, path string) {
	if n.kind != '0' {
		d.fault(path, "it has to be a whole number, not %s", n.what())
		return
	}
	i, err := strconv.ParseInt(n.text, 10, 64)
	if err != nil {
		f, ferr := strconv.ParseFloat(n.text, 64)
		if ferr != nil || f != float64(int64(f)) {
			d.fault(path, "it has to be a whole number, not %s", cut(n.text))
			return
		}
		i = int64(f)
	}
	if i > maxExact || i < -maxExact {
		d.fault(path, "it has to lie within ±%d", int64(maxExact))
		return
	}
	v.SetInt(i)
}
