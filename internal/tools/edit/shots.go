package edit

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"cutroom"
)

// shot is which camera shows from when to when, on the reference's time.
type shot struct {
	from, to cutroom.Micros
	camera   int
}

// parseShot reads START-END:CAMERA. A time has colons itself: the last one counts.
func parseShot(s string) (start, end string, camera int, err error) {
	i := strings.LastIndexByte(s, ':')
	if i > 0 {
		var ok bool
		if start, end, ok = strings.Cut(s[:i], "-"); ok {
			camera, err = strconv.Atoi(strings.TrimSpace(s[i+1:]))
		}
		if ok && err == nil && camera >= 0 && strings.TrimSpace(start) != "" {
			return strings.TrimSpace(start), strings.TrimSpace(end), camera, nil
		}
	}
	return "", "", 0, cutroom.Errorf(cutroom.Invalid, "%q is not START-END:CAMERA", s).WithHint("write such as 12-20.5:1; cameras are counted from 0, the reference")
}

// alternate shows one camera after the other, each for so long.
func alternate(cameras []int, length, each cutroom.Micros) (list []shot) {
	for i, at := 0, cutroom.Micros(0); at < length; i, at = i+1, at+each {
		list = append(list, shot{at, min(at+each, length), cameras[i%len(cameras)]})
	}
	return list
}

// energyStep is how long the stretches are whose levels are compared.
const energyStep = 250_000

// loudest shows whose sound is loudest, by levels in dB of one stretch after the other,
// each on a camera's own scale: 0 is as loud as it gets there. What is not there, or
// silent, is very low. A camera is left for one that is two decibels louder at least,
// and a shot is never shorter than least, but for the last one.
func loudest(levels map[int][]float64, cameras []int, length, least cutroom.Micros) []shot {
	n := int((length + energyStep - 1) / energyStep)
	choice := make([]int, n)
	now := cameras[0]
	level := func(c, i int) float64 {
		if l := levels[c]; i < len(l) {
			return l[i]
		}
		return math.Inf(-1)
	}
	for i := range n {
		for _, c := range cameras {
			if level(c, i) > level(now, i)+2 {
				now = c
			}
		}
		choice[i] = now
	}
	var list []shot
	for i, c := range choice {
		from, to := cutroom.Micros(i)*energyStep, min(cutroom.Micros(i+1)*energyStep, length)
		if k := len(list) - 1; k >= 0 && list[k].camera == c {
			list[k].to = to
			continue
		}
		list = append(list, shot{from, to, c})
	}
	return folded(list, least)
}

// folded gives shots that are too short to the longer of their neighbours, the shortest
// first.
func folded(list []shot, least cutroom.Micros) []shot {
	list = joined(list)
	for len(list) > 1 {
		k := 0
		for i, s := range list {
			if s.to-s.from < list[k].to-list[k].from {
				k = i
			}
		}
		if list[k].to-list[k].from >= least {
			break
		}
		switch {
		case k == 0:
			list[1].from = list[0].from
		case k == len(list)-1:
			list[k-1].to = list[k].to
		case list[k-1].to-list[k-1].from >= list[k+1].to-list[k+1].from:
			list[k-1].to = list[k].to
		default:
			list[k+1].from = list[k].from
		}
		list = joined(slices.Delete(list, k, k+1))
	}
	return list
}

// joined makes neighbours of one camera one shot; empty ones go.
func joined(list []shot) []shot {
	var out []shot
	for _, s := range list {
		if s.to <= s.from {
			continue
		}
		if k := len(out) - 1; k >= 0 && out[k].camera == s.camera && out[k].to == s.from {
			out[k].to = s.to
			continue
		}
		out = append(out, s)
	}
	return out
}

// covered is the whole length in shots: where none is asked for, or where its camera was
// not running, camera 0 shows. It returns how much that is of what was asked for.
func covered(asked []shot, length cutroom.Micros, running func(camera int) (from, to cutroom.Micros)) (list []shot, lost cutroom.Micros) {
	var at cutroom.Micros
	add := func(from, to cutroom.Micros, camera int) {
		if from = min(from, length); from > at {
			list = append(list, shot{at, from, 0})
			at = from
		}
		if to = min(to, length); to > max(from, at) {
			list = append(list, shot{max(from, at), to, camera})
			at = to
		}
	}
	for _, s := range asked {
		from, to := running(s.camera)
		a, b := max(s.from, from), min(s.to, to)
		if b <= a {
			lost += s.to - s.from
			add(s.from, s.to, 0)
			continue
		}
		lost += a - s.from + s.to - b
		add(s.from, a, 0)
		add(a, b, s.camera)
		add(b, s.to, 0)
	}
	add(length, length, 0)
	return joined(list), lost
}
