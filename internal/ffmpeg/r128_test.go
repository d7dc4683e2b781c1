package ffmpeg

import (
	"fmt"
	"math"
	"path/filepath"
	"testing"

	"cutroom/internal/testenv"
)

// tech3341 are signals after EBU Tech 3341 and 3342, of sines, and the loudness (and for
// some the range) that the documents ask for.
var tech3341 = []struct {
	name, source string
	lufs, lra    float64 // NaN: not given
}{
	{"3341-1", level3341("-23", 20), -23, math.NaN()},
	{"3341-2", level3341("-33", 20), -33, math.NaN()},
	{"3341-3", level3341("if(lt(t\\,10)+gte(t\\,70)\\,-36\\,-23)", 80), -23, math.NaN()},
	{"3341-4", level3341("if(lt(t\\,10)+gte(t\\,90)\\,-72\\,if(lt(t\\,20)+gte(t\\,80)\\,-36\\,-23))", 100), -23, math.NaN()},
	{"3341-5", level3341("if(between(t\\,20\\,40.1)\\,-20\\,-26)", 60.1), -23, math.NaN()},
	{"3341-6", "aevalsrc=0.03981*sin(2*PI*1000*t)|0.03981*sin(2*PI*1000*t)|0.06310*sin(2*PI*1000*t)|0|0.03162*sin(2*PI*1000*t)|0.03162*sin(2*PI*1000*t):c=5.1:s=48000:d=20", -23, math.NaN()},
	{"3342-1", level3341("if(lt(t\\,20)\\,-20\\,-30)", 40), math.NaN(), 10},
	{"3342-2", level3341("if(lt(t\\,20)\\,-20\\,-15)", 40), math.NaN(), 5},
	{"3342-3", level3341("if(lt(t\\,20)\\,-40\\,-20)", 40), math.NaN(), 20},
	{"3342-4", level3341("if(lt(t\\,20)+gte(t\\,80)\\,-50\\,if(lt(t\\,40)+gte(t\\,60)\\,-35\\,-20))", 100), math.NaN(), 15},
	{"8 kHz", "sine=f=700:r=8000:d=12,volume=-12dB", math.NaN(), math.NaN()},
	{"22 kHz", "anoisesrc=r=22050:d=12:a=0.2:seed=1", math.NaN(), math.NaN()},
	{"44.1 kHz", "anoisesrc=r=44100:c=pink:d=12:a=0.4:seed=2", math.NaN(), math.NaN()},
	{"96 kHz", "sine=f=3000:r=96000:d=12,volume=-9dB", math.NaN(), math.NaN()},
	{"192 kHz", "anoisesrc=r=192000:c=brown:d=8:a=0.4:seed=3", math.NaN(), math.NaN()},
	{"pulses", "aevalsrc=0.8*sin(2*PI*1500*t)*exp(-25*mod(t\\,0.5)):s=48000:d=16", math.NaN(), math.NaN()},
	{"square", "aevalsrc=if(lt(mod(t*200\\,1)\\,0.5)\\,0.99\\,-0.99):s=48000:d=10", math.NaN(), math.NaN()},
	{"sweep", "aevalsrc=0.5*sin(2*PI*(20+400*t)*t):s=48000:d=20", math.NaN(), math.NaN()},
	{"bass", "sine=f=40:r=48000:d=12,volume=6dB", math.NaN(), math.NaN()},
	{"quiet", "sine=f=1000:r=48000:d=12,volume=-40dB", math.NaN(), math.NaN()},
}

// level3341 is a stereo sine of 1 kHz whose peak follows an expression in dBFS.
func level3341(db string, seconds float64) string {
	one := fmt.Sprintf("pow(10\\,(%s)/20)*sin(2*PI*1000*t)", db)
	return fmt.Sprintf("aevalsrc=%s|%s:c=stereo:s=48000:d=%g", one, one, seconds)
}

func TestLoudnessOfGeneratedSignals(t *testing.T) {
	t.Parallel()
	for _, c := range tech3341 {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			in := filepath.Join(t.TempDir(), "in.wav")
			testenv.FFmpeg(t, "-f", "lavfi", "-i", c.source, "-c:a", "pcm_s24le", in)
			l := measure(t, in, MeasureOptions{Loudness: true}).Audio.Loudness
			// Its summary has one decimal, what it says with each frame three.
			ref := stderrOf(t, "-i", "file:"+in, "-af", "ebur128=framelog=verbose:metadata=1,ametadata=print:file=-", "-f", "null", "-")
			last := func(key string) float64 {
				list := numbers(t, ref, key+`=(-?[0-9.]+)`)
				return list[len(list)-1]
			}
			near := func(what string, got *float64, want, slack float64) {
				if got == nil || math.Abs(*got-want) > slack {
					t.Errorf("%s: %s, not %.2f", what, value2(got), want)
				}
			}
			near("integrated beside ebur128", l.Integrated, last(`lavfi\.r128\.I`), 0.05)
			near("range beside ebur128", l.Range, last(`lavfi\.r128\.LRA`), 0.3)
			if !math.IsNaN(c.lufs) {
				near("integrated by Tech 3341", l.Integrated, c.lufs, 0.1)
			}
			if !math.IsNaN(c.lra) {
				near("range by Tech 3342", l.Range, c.lra, 1)
			}
		})
	}
}
