package timeline

import (
	"encoding/xml"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// rule is what the published grammar of FCPXML 1.10 says of one element: the order of what
// stands in it, as a pattern over names that each end in a space, the attributes that it
// has to have and those that it may have, and their values where they are enumerated.
type rule struct {
	inside, must, may string
	values            map[string]string
}

// grammar holds the elements that are written here, as the grammar declares them.
var grammar = map[string]rule{
	"fcpxml":         {inside: `(import-options )?(resources )?(library |(event )*|(project )*)`, must: "version", values: map[string]string{"version": "1.10"}},
	"resources":      {inside: `((asset|effect|format|media|locator) )*`},
	"format":         {must: "id", may: "name frameDuration fieldOrder width height paspH paspV colorSpace projection stereoscopic"},
	"effect":         {must: "id uid", may: "name src"},
	"asset":          {inside: `(media-rep )+(metadata )?`, must: "id", may: "name uid start duration hasVideo format hasAudio videoSources audioSources audioChannels audioRate customLUTOverride colorSpaceOverride projectionOverride stereoscopicOverride auxVideoFlags"},
	"media-rep":      {inside: `(bookmark )?`, must: "src", may: "kind sig suggestedFilename", values: map[string]string{"kind": "original-media proxy-media"}},
	"library":        {inside: `((event|smart-collection) )*`, may: "location colorProcessing"},
	"event":          {inside: `((clip|audition|mc-clip|ref-clip|sync-clip|asset-clip|collection-folder|keyword-collection|smart-collection|project) )*`, may: "name uid"},
	"project":        {inside: `sequence `, may: "name uid id modDate"},
	"sequence":       {inside: `(note )?spine (metadata )?`, must: "format", may: "duration tcStart tcFormat audioLayout audioRate renderFormat keywords", values: map[string]string{"tcFormat": "DF NDF"}},
	"spine":          {inside: `((audio|video|clip|title|mc-clip|ref-clip|sync-clip|asset-clip|audition|gap|transition) )*`, may: "lane offset name format"},
	"gap":            {inside: `(note )?` + anchored + marked + `(metadata )?`, must: "duration", may: "name offset start enabled", values: map[string]string{"enabled": "0 1"}},
	"transition":     {inside: `(filter-video )?(filter-audio )?` + marked + `(metadata )?(reserved )?`, must: "duration", may: "name offset"},
	"filter-video":   {inside: `(data )*(param )*`, must: "ref", may: "name enabled"},
	"asset-clip":     {inside: `(note )?(conform-rate )?(timeMap )?(adjust-[a-z]+ )*` + anchored + marked + `(audio-channel-source )*((filter-video|filter-video-mask) )*(filter-audio )*(metadata )?`, must: "ref", may: "lane offset name start duration enabled srcEnable audioStart audioDuration format tcStart tcFormat modDate audioRole videoRole"},
	"timeMap":        {inside: `(timept )*`, may: "frameSampling preservesPitch"},
	"timept":         {must: "time value", may: "interp inTime outTime", values: map[string]string{"interp": "smooth2 linear smooth"}},
	"marker":         {must: "start value", may: "duration completed note"},
	"chapter-marker": {must: "start value", may: "duration note posterOffset"},
}

const (
	anchored = `((audio|video|clip|title|caption|mc-clip|ref-clip|sync-clip|asset-clip|audition|spine) )*`
	marked   = `((marker|chapter-marker|rating|keyword|analysis-marker) )*`
)

// A time is a whole number of seconds, or a fraction of them (the format's documentation).
var fraction = regexp.MustCompile(`^-?[0-9]+(/[0-9]+)?s$`)

var timed = strings.Fields("start duration offset frameDuration tcStart audioStart audioDuration posterOffset time")

// Whatever is written holds to the published grammar, and every reference in it is to
// something that is there.
func TestFCPXMLHoldsToItsGrammar(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text, _, err := Write(FCPXML, drawn(t, FCPXML))
		if err != nil {
			t.Fatal(err)
		}
		ids := map[string]bool{}
		var refs []string
		d := xml.NewDecoder(strings.NewReader(string(text)))
		type open struct{ name, inside string }
		stack := []open{{}}
		for {
			token, err := d.Token()
			if err != nil {
				break
			}
			switch e := token.(type) {
			case xml.StartElement:
				name := e.Name.Local
				stack[len(stack)-1].inside += name + " "
				stack = append(stack, open{name: name})
				refs = append(refs, attributes(t, name, e.Attr, ids)...)
			case xml.EndElement:
				top := stack[len(stack)-1]
				stack = stack[:len(stack)-1]
				if ok, err := regexp.MatchString(`^(`+grammar[top.name].inside+`)$`, top.inside); err != nil || !ok {
					t.Fatalf("%s holds %q: %v\n%s", top.name, top.inside, err, text)
				}
			}
		}
		for _, r := range refs {
			if !ids[r] {
				t.Fatalf("%s is referred to and is not there\n%s", r, text)
			}
		}
		if stack[0].inside != "fcpxml " {
			t.Fatalf("the document is %q", stack[0].inside)
		}
	})
}

// attributes checks those of one element and returns what they refer to.
func attributes(t *rapid.T, name string, attrs []xml.Attr, ids map[string]bool) (refs []string) {
	r, ok := grammar[name]
	if !ok {
		t.Fatalf("there is no element %s", name)
	}
	must := strings.Fields(r.must)
	for _, a := range attrs {
		key, value := a.Name.Local, a.Value
		if i := slices.Index(must, key); i >= 0 {
			must = slices.Delete(must, i, i+1)
		} else if !slices.Contains(strings.Fields(r.may), key) {
			t.Fatalf("%s has no attribute %s", name, key)
		}
		if list, ok := r.values[key]; ok && !slices.Contains(strings.Fields(list), value) {
			t.Fatalf("%s of %s is %q", key, name, value)
		}
		if (slices.Contains(timed, key) || name == "timept" && key == "value") && !fraction.MatchString(value) {
			t.Fatalf("%s of %s is no time: %q", key, name, value)
		}
		switch key {
		case "id":
			if ids[value] {
				t.Fatalf("%s stands twice", value)
			}
			ids[value] = true
		case "ref", "format":
			refs = append(refs, value)
		}
	}
	if len(must) > 0 {
		t.Fatalf("%s lacks %v", name, must)
	}
	return refs
}
