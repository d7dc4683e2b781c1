package config

import (
	"path/filepath"
	"strings"
)

// Secret says where one secret is.
type Secret struct {
	From string // env, file or keyring
	Name string // of the variable, the file (absolute) or the entry
}

// The places where a secret may be.
const (
	Env       = "env"
	PlainFile = "file"
	Keyring   = "keyring"
)

// howToRefer is the hint of everyone who refuses a key in plain text.
const howToRefer = "write where it is instead: env:NAME, file:/PATH (a file that only you may read) or keyring:NAME"

// Secrets reads what a key of the config says about secrets: references with commas
// between. ok is false when one of them is none, such as a key in plain text.
func Secrets(text string) (list []Secret, ok bool) {
	if text == "" {
		return nil, true
	}
	for one := range strings.SplitSeq(text, ",") {
		from, name, _ := strings.Cut(strings.TrimSpace(one), ":")
		r := Secret{from, name}
		if !r.right() {
			return nil, false
		}
		list = append(list, r)
	}
	return list, true
}

func (r Secret) right() bool {
	if r.Name == "" || len(r.Name) > maxText || strings.ContainsFunc(r.Name, func(c rune) bool { return c < ' ' || c == 0x7f }) {
		return false
	}
	switch r.From {
	case Env:
		return strings.Trim(r.Name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") == ""
	case PlainFile:
		return filepath.IsAbs(r.Name)
	case Keyring:
		return true
	}
	return false
}

// String is the reference as the file spells it.
func (r Secret) String() string { return r.From + ":" + r.Name }
