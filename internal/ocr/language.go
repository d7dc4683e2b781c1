package ocr

import (
	"regexp"
	"slices"
	"strings"

	"cutroom"
)

// DefaultLanguage is read when a call names none.
const DefaultLanguage = "eng"

// languageName is Tesseract's form: an ISO 639-2 code, perhaps with a script, and
// a few models named by script ("script/Latin" is not offered).
var languageName = regexp.MustCompile(`^[a-z]{3}(_[a-z]{3,8}){0,2}$`)

// maxLanguages bounds a request: each language slows every line down.
const maxLanguages = 4

// languages splits a request ("eng+rus") and checks its form. Empty means
// [DefaultLanguage].
func languages(request string) ([]string, error) {
	if request == "" {
		return []string{DefaultLanguage}, nil
	}
	names := strings.Split(request, "+")
	if len(names) > maxLanguages {
		return nil, cutroom.Errorf(cutroom.Invalid, "language %q names %d languages; at most %d are read together", request, len(names), maxLanguages)
	}
	for i, n := range names {
		if !languageName.MatchString(n) || n == "osd" || slices.Contains(names[:i], n) {
			return nil, cutroom.Errorf(cutroom.Invalid, "language %q is not a list of language codes", request).
				WithHint("use Tesseract's codes joined by +, such as eng, rus, eng+rus or chi_sim")
		}
	}
	return names, nil
}

// paddleReads reports whether PP-OCRv4's alphabet covers the language.
func paddleReads(name string) bool {
	return name == "eng" || name == "chi_sim"
}

// paddleReadsAll reports whether no other engine is needed for the request.
func paddleReadsAll(names []string) bool {
	return !slices.ContainsFunc(names, func(n string) bool { return !paddleReads(n) })
}

// Languages returns the languages in a listing of Tesseract's data folder: the
// names of its *.traineddata files, or what `tesseract --list-langs` prints. They
// are sorted; the script detector "osd" is none.
func Languages(listing []string) []string {
	var out []string
	for _, l := range listing {
		l = strings.TrimSuffix(strings.TrimSpace(l), ".traineddata")
		if languageName.MatchString(l) && l != "osd" {
			out = append(out, l)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// CheckLanguage refuses a request that is malformed (invalid) or names a language
// that is not among installed (missing_dependency, with the package to install).
func CheckLanguage(request string, installed []string) error {
	names, err := languages(request)
	if err != nil {
		return err
	}
	for _, n := range names {
		if !slices.Contains(installed, n) {
			return cutroom.Errorf(cutroom.MissingDependency, "the text recognition data for language %q is not installed", n).
				WithHint("install the package %s; installed: %s", languagePackage(n), strings.Join(installed, ", "))
		}
	}
	return nil
}

// languagePackage returns Debian's package for a language.
func languagePackage(name string) string {
	return "tesseract-ocr-" + strings.ReplaceAll(name, "_", "-")
}
