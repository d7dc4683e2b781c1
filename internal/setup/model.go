package setup

import (
	"os"
	"path/filepath"
	"strings"

	"cutroom"
	"cutroom/internal/object"
	"cutroom/internal/ocr"
	"cutroom/internal/sandbox"
	"cutroom/internal/speech"
)

// model is one file of the models folder with the only content it may have.
type model struct {
	path   string // beneath the folder, forward slashes; its name in the toolchain
	sha256 cutroom.Digest
	size   int64 // bytes
}

// models are the files that the built-in engines use. scripts/models.lock says where
// they come from; a test compares the two.
func models() []model {
	return []model{
		{"lib/libonnxruntime.so", "4b3607aebd1784b26b6f9b20e4bd974c7ab8287043e4d095cb7d2cb40b5e566e", 27026609},
		{"vad/silero_vad_v6.onnx", "1a153a22f4509e292a94e67d6f9b85e8deb25b4988682b7e174c65279d8788e3", 2327524},
		{"asr/base/quantized/encoder_model.onnx", "1dd9ab0a7f987113d30affcba5a068d11c8f90fa0223caa3e491ade431ad9751", 20513063},
		{"asr/base/quantized/decoder_model_merged.onnx", "cc9f3cd6698a369c6008b41aa60aa3fb3322e7f03c9bdf19d8e6b7200afca4f3", 42498870},
		{"asr/tiny/quantized/encoder_model.onnx", "c6fc4b7bc5af75c0591fd157a1f3829b533d18e9769a888fd95a62e470dd4f4a", 7937661},
		{"asr/tiny/quantized/decoder_model_merged.onnx", "eed87831c3a6103534aae7d47a5d485025c659a1323901513961c39fe8a1a367", 20243286},
		{"asr/vocab.txt", "0f97b4337921e6e7e9b4620fc73338ee570aecd3c16038bc23870a887e995045", 242918},
		{"ocr/ch_PP-OCRv4_det_infer.onnx", "30a86f5731181461d08021402766601e4302a9b9b9666be8aff402696339cdff", 4745517},
		{"ocr/ch_PP-OCRv4_rec_infer.onnx", "06b3e6af6c59a1ba5d53790ed8c2e4b2de389870b6cf5a97f349f3412cb269c0", 10822323},
		{"ocr/ppocr_keys_v1.txt", "28b2362ad4ab2dc38769aa72feb535e3a9ddb3fd2a7585a05920e6393b1dc7f7", 26249},
		{object.GraphFile, "bfb942eaacc5becf738d536663bc4580a0ae9e560722306e6d4dd7fe4a09de05", 201673},
		{object.WeightsFile, "1b635a15009071f506f9f2b3519b31c072c534888989f30d269ffd44734ef7ef", 4030290},
		{object.SampleFile, "f5310f98bc9d6db7f1d4073b323ded78969b30941de24f48fb1579c7d9ce6e58", 71292},
	}
}

// child is one of the engines in our own binary.
type child struct {
	program string
	always  []string   // models it cannot do without
	choices [][]string // sets of models of which the first is needed and the rest are extras
}

func children() []child {
	common := []string{"lib/libonnxruntime.so"}
	return []child{
		{"speech", common, [][]string{speech.DataFiles(speech.Base), speech.DataFiles(speech.Tiny)}},
		{"ocr", common, [][]string{{ocr.RuntimeFile, ocr.DetectFile, ocr.ReadFile, ocr.AlphabetFile}}},
		{object.Program, []string{object.GraphFile, object.WeightsFile, object.SampleFile}, nil},
	}
}

// data maps the names of the models that are there to their paths. missing names
// those that the child cannot do without.
func (c child) data(folder string) (data map[string]string, missing []string) {
	data = map[string]string{}
	for n, set := range append([][]string{c.always}, c.choices...) {
		optional := n > 1
		found, absent := map[string]string{}, []string(nil)
		for _, name := range set {
			path := filepath.Join(folder, filepath.FromSlash(name))
			if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
				absent = append(absent, name)
				continue
			}
			found[name] = path
		}
		if len(absent) > 0 {
			if !optional {
				missing = append(missing, absent...)
			}
			continue
		}
		for name, path := range found {
			data[name] = path
		}
	}
	return data, missing
}

// wrongModel returns the name of a model whose content is not the pinned one, "" when
// all are.
func wrongModel(p sandbox.Pin) string {
	for _, m := range models() {
		if o, ok := p.Data[m.path]; ok && o.SHA256 != m.sha256 {
			return m.path
		}
	}
	return ""
}

// childVersion is the version line of an engine in our own binary: the product's, as
// its fingerprint tells the models apart.
func childVersion(c child) string {
	return "cutroom-" + c.program + " " + strings.TrimPrefix(cutroom.Version, "v")
}
