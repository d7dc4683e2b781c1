package main

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"cutroom"
	"cutroom/internal/picture"
	"cutroom/internal/provider/providertest"
	"cutroom/internal/testenv"
	"cutroom/internal/tools/media"
)

// What a picture's file says of itself, such as where it was taken, is not sent with the
// picture; its orientation is. One that cannot be taken apart is sent as a copy.
func TestAPictureSaysNothingOfItself(t *testing.T) {
	t.Parallel()
	acme, spare := providertest.New(t, saw("a street")), providertest.New(t)
	l := newLab(t, oneReader, map[string]*providertest.Server{"acme": acme, "spare": spare})
	testenv.Run(t, l.dir, "ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc2=s=64x48:d=1", "-frames:v", "1", "plain.jpg")
	plain, err := os.ReadFile(filepath.Join(l.dir, "plain.jpg"))
	if err != nil {
		t.Fatal(err)
	}
	const place = "48.2082N 16.3738E"
	// One field, turned by 90°; the place follows.
	exif := "Exif\x00\x00II*\x00\x08\x00\x00\x00\x01\x00\x12\x01\x03\x00\x01\x00\x00\x00\x06\x00\x00\x00\x00\x00\x00\x00" + place
	segment := string(binary.BigEndian.AppendUint16([]byte{0xff, 0xe1}, uint16(len(exif)+2))) + exif
	write(t, filepath.Join(l.dir, "photo.jpg"), "\xff\xd8"+segment+string(plain[2:]))
	write(t, filepath.Join(l.dir, "odd.jpg"), "\xff\xd8"+segment+"\x00\x00"+string(plain[2:])) // bytes that belong to nothing

	for i, c := range []struct {
		name string
		copy bool
	}{{"photo.jpg", false}, {"odd.jpg", true}} {
		if out := l.image(media.ReadImageInput{Source: cutroom.InPath(c.name)}); out.Meta.Provider != "registered:acme" {
			t.Fatalf("%s: %v", c.name, attempts(out))
		}
		sent := pictureOf(t, acme.Requests()[i])
		if bytes.Contains(sent, []byte(place)) {
			t.Errorf("%s: the place was sent", c.name)
		}
		if whole := bytes.HasSuffix(sent, plain[len(plain)/2:]); whole == c.copy {
			t.Errorf("%s: sent as it is: %v", c.name, whole)
		}
		if c.copy {
			continue
		}
		at := filepath.Join(l.dir, "sent.jpg")
		write(t, at, string(sent))
		if o := picture.OrientationOf(at); o != 6 {
			t.Errorf("orientation %d", o)
		}
	}
}

// pictureOf is the picture in a request.
func pictureOf(t *testing.T, r providertest.Request) []byte {
	t.Helper()
	var doc struct {
		Messages []struct{ Content json.RawMessage }
	}
	if err := json.Unmarshal(r.Body, &doc); err != nil {
		t.Fatal(err)
	}
	_, rest, found := bytes.Cut(doc.Messages[len(doc.Messages)-1].Content, []byte(";base64,"))
	text, _, ended := bytes.Cut(rest, []byte(`"`))
	data, err := base64.StdEncoding.AppendDecode(nil, text)
	if !found || !ended || err != nil {
		t.Fatalf("no picture in %.200s: %v", r.Body, err)
	}
	return data
}
