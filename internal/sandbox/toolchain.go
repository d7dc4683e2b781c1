package sandbox

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"cutroom"
)

// Identity is what tells an unchanged file without reading it. Times are
// nanoseconds since 1970.
type Identity struct {
	Dev   uint64 `json:"dev"`
	Ino   uint64 `json:"ino"`
	Size  int64  `json:"size"`
	Mtime int64  `json:"mtime"`
	Ctime int64  `json:"ctime"`
}

// Object is one pinned file.
type Object struct {
	Path     string         `json:"path"` // without symbolic links
	Identity Identity       `json:"identity"`
	Hashed   int64          `json:"hashed"` // when hashing began, nanoseconds since 1970
	SHA256   cutroom.Digest `json:"sha256"`
}

// Pin is one program as setup found it: the program, the shared objects that it
// loads, and the data files that it is given.
type Pin struct {
	Name    string `json:"name"`
	Path    string `json:"path"`    // the program without symbolic links; "" for our own binary
	Version string `json:"version"` // the exact line it prints
	// Objects holds the program first (unless it is our own binary), then its shared
	// objects in order of path.
	Objects []Object `json:"objects"`
	// Data are models, libraries and word lists by name. A folder is pinned file by
	// file: Folders names its path, Data each file beneath it as name/file.
	Data    map[string]Object `json:"data,omitempty"`
	Folders map[string]string `json:"folders,omitempty"`
	// Abilities are the filters, encoders, decoders and so on that it says it has.
	Abilities map[string][]string `json:"abilities,omitempty"`
	// Fingerprint is the digest over the names, paths and contents of all of the
	// above but Abilities: what the program is, for keys.
	Fingerprint cutroom.Digest `json:"fingerprint"`
}

// Toolchain is the programs of one machine. It lies in the user's state folder and
// carries a MAC of the user's key.
type Toolchain struct {
	Platform string         `json:"platform"` // runtime.GOOS
	Arch     string         `json:"arch"`     // runtime.GOARCH
	Pins     map[string]Pin `json:"pins"`     // by name
}

// NewToolchain returns an empty toolchain of this machine's kind.
func NewToolchain(pins ...Pin) *Toolchain {
	t := &Toolchain{Platform: runtime.GOOS, Arch: runtime.GOARCH, Pins: map[string]Pin{}}
	for _, p := range pins {
		t.Pins[p.Name] = p
	}
	return t
}

// Fingerprint is the digest over the pins of the named programs; names that are not
// pinned count as missing. Without names it covers all.
func (t *Toolchain) Fingerprint(names ...string) cutroom.Digest {
	if len(names) == 0 {
		names = slices.Collect(maps.Keys(t.Pins))
	}
	h := sha256.New()
	fmt.Fprintf(h, "toolchain 1 %s %s\n", t.Platform, t.Arch)
	for _, n := range slices.Compact(slices.Sorted(slices.Values(names))) {
		fmt.Fprintf(h, "%q %s\n", n, t.Pins[n].Fingerprint)
	}
	return cutroom.DigestSum(h)
}

// fingerprint computes p.Fingerprint.
func (p *Pin) fingerprint() cutroom.Digest {
	h := sha256.New()
	fmt.Fprintf(h, "pin 1 %q %q %q\n", p.Name, p.Path, p.Version)
	for _, o := range p.Objects {
		fmt.Fprintf(h, "object %q %s\n", o.Path, o.SHA256)
	}
	for _, n := range slices.Sorted(maps.Keys(p.Data)) {
		fmt.Fprintf(h, "data %q %s\n", n, p.Data[n].SHA256)
	}
	return cutroom.DigestSum(h)
}

// Seal sets p's version, abilities and fingerprint, once they are known.
func (p *Pin) Seal(version string, abilities map[string][]string) {
	p.Version, p.Abilities = version, abilities
	p.Fingerprint = p.fingerprint()
}

// dataPaths returns the paths that argv.Data names are rendered as.
func (p *Pin) dataPaths() map[string]string {
	paths := make(map[string]string, len(p.Data)+len(p.Folders))
	for n, o := range p.Data {
		paths[n] = o.Path
	}
	maps.Copy(paths, p.Folders)
	return paths
}

// sealed is the file's form: the MAC is over the bytes of Toolchain as they stand.
type sealed struct {
	MAC       []byte         `json:"mac"`
	Toolchain jsontext.Value `json:"toolchain"`
}

// macContext keeps a MAC made for something else from passing for a toolchain's.
const macContext = "cutroom toolchain 1\n"

func macOf(key, body []byte) []byte {
	m := hmac.New(sha256.New, key)
	m.Write([]byte(macContext))
	m.Write(body)
	return m.Sum(nil)
}

// maxToolchain bounds the file; a real one has some hundred kilobytes.
const maxToolchain = 16 << 20

// LoadToolchain reads what Save wrote. It answers missing_dependency when there is
// none, denied when the MAC does not fit the key, and missing_dependency when it was
// made on another kind of machine.
func LoadToolchain(path string, key []byte) (*Toolchain, error) {
	f, err := os.Open(path)
	if os.IsNotExist(err) {
		return nil, cutroom.Errorf(cutroom.MissingDependency, "no programs are set up").WithHint("run `cutroom setup`")
	}
	if err != nil {
		return nil, fmt.Errorf("open toolchain: %w", err)
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxToolchain+1))
	if err != nil {
		return nil, fmt.Errorf("read toolchain: %w", err)
	}
	return parseToolchain(raw, key)
}

func parseToolchain(raw, key []byte) (*Toolchain, error) {
	forged := cutroom.Errorf(cutroom.Denied, "the record of pinned programs is damaged or not by this user").WithHint("run `cutroom setup`")
	if len(raw) > maxToolchain {
		return nil, forged
	}
	// Every call reads some hundred kilobytes here: this decoder takes a fifth of the
	// time of encoding/json.
	var s sealed
	if err := jsonv2.Unmarshal(raw, &s); err != nil || !hmac.Equal(s.MAC, macOf(key, s.Toolchain)) {
		return nil, forged
	}
	var t Toolchain
	if err := jsonv2.Unmarshal(s.Toolchain, &t); err != nil {
		return nil, forged
	}
	if t.Platform != runtime.GOOS || t.Arch != runtime.GOARCH {
		return nil, cutroom.Errorf(cutroom.MissingDependency, "the programs were set up on %s/%s", t.Platform, t.Arch).WithHint("run `cutroom setup`")
	}
	return &t, nil
}

// Save writes t to path, readable by the user alone, in one step.
func (t *Toolchain) Save(path string, key []byte) error {
	body, err := json.Marshal(t)
	if err != nil {
		return fmt.Errorf("encode toolchain: %w", err)
	}
	raw, err := json.Marshal(sealed{MAC: macOf(key, body), Toolchain: body})
	if err != nil {
		return fmt.Errorf("encode toolchain: %w", err)
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".toolchain-*") // mode 0600
	if err != nil {
		return fmt.Errorf("save toolchain: %w", err)
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.Write(append(raw, '\n'))
	if err == nil {
		err = tmp.Sync()
	}
	if cerr := tmp.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("save toolchain: %w", err)
	}
	return nil
}
