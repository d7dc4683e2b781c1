package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"cutroom"
	"cutroom/internal/lens"
	"cutroom/internal/provider/providertest"
	"cutroom/internal/testenv"
	"cutroom/internal/tools/media"
)

// Every cell of the table of verdicts for sound and pictures, with files at the borders:
// what is sent in which form. That for video is TestVideoTable.
func TestSoundAndPictureTable(t *testing.T) {
	t.Parallel()
	acme := providertest.New(t)
	l := newLab(t, omni, map[string]*providertest.Server{"acme": acme})
	testenv.Run(t, l.dir, "ffmpeg", "-v", "error", "-f", "lavfi", "-i", "sine=f=300:r=8000:d=599", "-c:a", "pcm_u8", "599.wav")
	for _, n := range []string{"600", "601"} {
		testenv.Run(t, l.dir, "ffmpeg", "-v", "error", "-f", "lavfi", "-i", "sine=f=300:r=8000:d="+n, "-c:a", "pcm_u8", n+".wav")
	}
	testenv.Run(t, l.dir, "ffmpeg", "-v", "error", "-f", "lavfi", "-i", "color=red:s=2048x64:d=1", "-frames:v", "1", "2048.png", "-vf", "scale=2049:64,setsar=1", "-frames:v", "1", "2049.png")
	const heard = `{"timeline":[],"transcript":[{"start":1,"end":2,"text":"a tone","speaker":null}],"regions":[],"summary":null}`
	const seen = `{"timeline":[{"start":0,"end":null,"text":"red","frame":null,"confidence":"high","uncertain":false}],"transcript":[],"regions":[],"summary":null}`
	for _, row := range []struct {
		file    string
		verdict lens.Verdict
		form    string // of what is sent; "" for the file itself. What nobody knows of a picture is not sent
	}{
		{l.wave("a.wav", 9_990_000), lens.Full, ""},
		{l.wave("b.wav", 10_000_000), lens.Full, ""},
		{l.wave("c.wav", 10_000_002), lens.Downsample, "audio/mpeg"},
		{"599.wav", lens.Full, ""},
		{"600.wav", lens.Full, ""},
		{"601.wav", lens.Segment, "audio/mpeg"},
		{l.chunk("a.png", 3_990_000), lens.Full, "image/png"},
		{l.chunk("b.png", 4_000_000), lens.Full, "image/png"},
		{l.chunk("c.png", 4_000_001), lens.Downsample, "image/jpeg"},
		{"2048.png", lens.Full, ""},
		{"2049.png", lens.Downsample, "image/jpeg"},
	} {
		before := len(acme.Requests())
		medium, _ := lens.MediumOf(row.file)
		acme.Answer(func(providertest.Request) providertest.Step {
			return providertest.Say(map[lens.Medium]string{lens.Audio: heard, lens.Image: seen}[medium])
		})
		out := must[media.ReadOutput](l.workspace, "media.read_"+string(medium), map[string]cutroom.InPath{"source": cutroom.InPath(row.file)})
		by := map[lens.Medium]string{lens.Audio: "multimodal:acme", lens.Image: "registered:acme"}[medium]
		requests := acme.Requests()[before:]
		if out.Meta.Budget.Verdict != row.verdict || out.Meta.Provider != by || len(requests) == 0 || (row.verdict == lens.Segment) != (len(requests) > 1) {
			t.Errorf("%s: %s by %s, %d requests", row.file, out.Meta.Budget.Verdict, out.Meta.Provider, len(requests))
			continue
		}
		file, err := os.ReadFile(filepath.Join(l.dir, row.file))
		if err != nil {
			t.Fatal(err)
		}
		kinds, data := sent(t, requests[0])
		if whole := bytes.Equal(data, file); whole != (row.form == "") || !whole && !slices.Equal(kinds, []string{row.form}) {
			t.Errorf("%s: %v of %d bytes was sent", row.file, kinds, len(data))
		}
	}
}

// wave writes a WAV file exactly so large, of less than ten minutes.
func (l *lab) wave(name string, size uint32) string {
	l.t.Helper()
	var b bytes.Buffer
	b.WriteString("RIFF")
	fields := []any{size - 8, []byte("WAVEfmt "), uint32(16), uint16(1), uint16(1), uint32(16000), uint32(32000), uint16(2), uint16(16), []byte("data"), size - 44}
	for _, f := range fields {
		if err := binary.Write(&b, binary.LittleEndian, f); err != nil {
			l.t.Fatal(err)
		}
	}
	b.Write(make([]byte, size-44))
	write(l.t, filepath.Join(l.dir, name), b.String())
	return name
}

// chunk writes a PNG exactly so large: it lets chunks that nobody knows stand before its end.
func (l *lab) chunk(name string, size int) string {
	l.t.Helper()
	testenv.Run(l.t, l.dir, "ffmpeg", "-v", "error", "-f", "lavfi", "-i", "color=red:s=64x64:d=1", "-frames:v", "1", "small-"+name)
	data, err := os.ReadFile(filepath.Join(l.dir, "small-"+name))
	if err != nil {
		l.t.Fatal(err)
	}
	const end = 12 // of the last chunk
	more := append([]byte("zzZz"), make([]byte, size-len(data)-12)...)
	var b bytes.Buffer
	b.Write(data[:len(data)-end])
	fmt.Fprintf(&b, "%s%s%s", binary.BigEndian.AppendUint32(nil, uint32(len(more)-4)), more, binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE(more)))
	b.Write(data[len(data)-end:])
	write(l.t, filepath.Join(l.dir, name), b.String())
	return name
}
