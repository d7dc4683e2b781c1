package engine

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"

	"cutroom"
	"cutroom/internal/stage"
	"cutroom/internal/tool"
)

// encoded is the output as every door shows it, and as it is recorded. What is masked
// in the document is masked in the typed output too.
func (k *call) encoded() ([]byte, error) {
	doc, err := tool.Encode(k.out)
	if err != nil {
		return nil, err
	}
	safe := k.e.Redact.JSON(doc)
	if bytes.Equal(safe, doc) {
		return doc, nil
	}
	if k.out, err = k.tool.DecodeOutput(safe); err != nil {
		return nil, fmt.Errorf("the masked output of %s: %w", k.tool.Name, err)
	}
	return safe, nil
}

// masked is where sources are, as it is recorded: a name can be a secret.
func (k *call) masked(sources []stage.Source) []stage.Source {
	list := slices.Clone(sources)
	for i := range list {
		list[i].Locator = k.e.Redact.Text(list[i].Locator)
	}
	return list
}

// holds reports whether the principal can open a file and it has that content.
func (k *call) holds(ctx context.Context, name string, content cutroom.Digest) (bool, error) {
	f, _, err := k.e.openBeneath(k.Principal, name)
	if err != nil {
		return false, err
	}
	defer f.Close()
	digest, _, err := k.e.Identity.Digest(ctx, f)
	return digest == content, err
}

// maskedHolds looks for a source whose recorded name was masked: a file of its folder
// with that content whose name is masked like that.
func (k *call) maskedHolds(ctx context.Context, s stage.Source) bool {
	dir := filepath.Dir(k.e.located(s.Locator))
	at := dir
	if !filepath.IsAbs(at) {
		at = filepath.Join(k.e.Workspace, dir)
	}
	entries, err := os.ReadDir(at)
	if err != nil {
		return false
	}
	for _, e := range entries {
		locator := path.Join(path.Dir(s.Locator), e.Name())
		if locator == s.Locator || k.e.Redact.Text(locator) != s.Locator {
			continue
		}
		if same, err := k.holds(ctx, filepath.Join(dir, e.Name()), s.SHA256); err == nil && same {
			return true
		}
	}
	return false
}
