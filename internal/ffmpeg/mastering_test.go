package ffmpeg

import "testing"

// What a file says of its mastering becomes numbers that an encoder takes, or nothing.
func TestMasteringIsNumbersOrNothing(t *testing.T) {
	t.Parallel()
	good := sideData{
		Type: "Mastering display metadata", RedX: "34000/50000", RedY: "16000/50000", GreenX: "0.265", GreenY: "69/100", BlueX: "7500/50000", BlueY: "3000/50000",
		WhiteX: "15635/50000", WhiteY: "16450/50000", Least: "0/10000", Most: "1000/1",
	}
	var v VideoFacts
	v.mastering([]sideData{{Type: "Content light level metadata", Content: "1000", Average: "400"}, good})
	if v.MasterDisplay != "" || v.LightLevel != "1000,400" { // 0.265 is no ratio
		t.Errorf("%+v", v)
	}
	good.GreenX = "13250/50000"
	v.mastering([]sideData{good})
	if want := "G(13250,34500)B(7500,3000)R(34000,16000)WP(15635,16450)L(10000000,0)"; v.MasterDisplay != want {
		t.Errorf("%s, not %s", v.MasterDisplay, want)
	}
	for _, bad := range []text{"", "1/0", "-1/50000", "99999999999999999999/1", "2/1", "1:csv=x", "nan"} {
		sd, w := good, VideoFacts{}
		sd.RedX = bad
		w.mastering([]sideData{sd, {Type: "Content light level metadata", Content: bad, Average: "1"}})
		if w.MasterDisplay != "" || w.LightLevel != "" {
			t.Errorf("%q became %q, %q", bad, w.MasterDisplay, w.LightLevel)
		}
	}
}
