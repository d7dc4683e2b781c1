package setup

import (
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"cutroom/internal/config"
	"cutroom/internal/redact"
)

// maxSecretFile bounds a file that holds a secret, in bytes.
const maxSecretFile = 64 << 10

// Secrets returns every value that this installation knows to be secret: what the user's
// config file refers to as env:NAME, file:/PATH or keyring:NAME, passwords in its addresses, the tokens
// in the state folder, and the variables of the environment whose names say that they are
// secret. What cannot be read is left out; whoever needs it says so.
func Secrets() []string {
	values := environment(os.Environ())
	folders, err := config.FindFolders()
	if err != nil {
		return values
	}
	tokens, _ := filepath.Glob(filepath.Join(folders.State, "keys", "*.token"))
	for _, t := range tokens {
		values = append(values, fileSecret(t)...)
	}
	file, err := configFile(folders.Config, true)
	if err != nil {
		return values
	}
	c, _, err := config.Load(file, config.File{})
	if err != nil {
		return values
	}
	return append(values, referred(reflect.ValueOf(c))...)
}

// environment returns the values of variables that are secret by their name.
func environment(environ []string) []string {
	var values []string
	for _, kv := range environ {
		name, value, _ := strings.Cut(kv, "=")
		if redact.Sensitive(name, value) && !filepath.IsAbs(value) {
			values = append(values, value)
		}
	}
	return values
}

// referred returns the secrets that the texts of a config value refer to or hold.
func referred(v reflect.Value) []string {
	var values []string
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			values = append(values, referred(v.Field(i))...)
		}
	case reflect.Slice:
		for i := range v.Len() {
			values = append(values, referred(v.Index(i))...)
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			values = append(values, referred(v.MapIndex(k))...)
		}
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			values = referred(v.Elem())
		}
	case reflect.String:
		values = secretsOf(v.String())
	}
	return values
}

// secretsOf returns what one text of a config file makes secret.
func secretsOf(text string) []string {
	if list, ok := config.Secrets(text); ok {
		var values []string
		for _, s := range list {
			values = append(values, valuesOf(s)...)
		}
		return values
	}
	if !strings.Contains(text, "://") {
		return nil
	}
	u, err := url.Parse(text)
	if err != nil {
		return nil
	}
	var values []string
	if password, ok := u.User.Password(); ok {
		values = append(values, password)
	}
	if password := u.Query().Get("password"); password != "" {
		values = append(values, password)
	}
	return values
}

// valuesOf returns what one reference leads to, and the keys in it when those are several.
func valuesOf(s config.Secret) []string {
	if s.From == config.PlainFile {
		return fileSecret(s.Name)
	}
	value, err := reveal(s, keyringGlance)
	if err != nil {
		return nil
	}
	return append(split(value), value)
}

// fileSecret reads the secret that a file holds: the whole of it, and its first line.
func fileSecret(path string) []string {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxSecretFile {
		return nil
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	whole := strings.TrimSpace(string(raw))
	values := append(split(whole), whole)
	if first, _, more := strings.Cut(whole, "\n"); more {
		values = append(values, strings.TrimSpace(first))
	}
	return values
}
