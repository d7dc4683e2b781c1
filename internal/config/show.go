package config

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// Where a value comes from.
const (
	FromDefault   = "default"
	FromUser      = "user"      // the user's own file
	FromWorkspace = "workspace" // the workspace's, which narrows
)

// Value is what one key amounts to. Secrets are references, as in the file.
type Value struct {
	Key   string          `json:"key"`
	Value json.RawMessage `json:"value"` // null: nothing is set
	From  string          `json:"from"`
	Line  int             `json:"line,omitempty"` // of that file
}

// Beneath says whether the key is at or beneath another, as lens and lens.models are of
// lens.models.image.
func (v Value) Beneath(key string) bool {
	rest, ok := strings.CutPrefix(v.Key, key)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// Show lists every key as both files together make it, in the order of the reference.
// Keys of the workspace that are kept beside the user's, such as its rules, come last.
func Show(user, workspace File) ([]Value, error) {
	c, w, err := Load(user, workspace)
	if err != nil {
		return nil, err
	}
	_, lines, _ := read(user.Text)
	_, theirs, _ := read(workspace.Text)
	alone, _, err := Load(user, File{})
	if err != nil {
		return nil, err
	}
	before := map[string]string{}
	for _, v := range values(reflect.ValueOf(alone), "") {
		before[v.Key] = string(v.Value)
	}
	defaults := map[string]string{}
	for _, k := range Reference() {
		defaults[k.Name] = k.Default
	}
	list := values(reflect.ValueOf(c), "")
	for i := range list {
		v := &list[i]
		own, said := theirs[v.Key]
		switch {
		case said && string(v.Value) != before[v.Key]:
			v.From, v.Line = FromWorkspace, own
		case lines.says(v.Key):
			v.From, v.Line = FromUser, lines.near(v.Key)
		default:
			v.From, v.Value = FromDefault, byDefault(defaults[v.Key], v.Value)
		}
	}
	for _, v := range values(reflect.ValueOf(w), "") {
		section, _, _ := strings.Cut(v.Key, ".")
		if apart := section == "agent" || section == "operator" || section == "policy"; apart && theirs.says(v.Key) {
			list = append(list, Value{v.Key, v.Value, FromWorkspace, theirs.near(v.Key)})
		}
	}
	return list, nil
}

// says says whether a file sets a key, or the list that it is an element of.
func (p places) says(key string) bool {
	for {
		if _, ok := p[key]; ok {
			return true
		}
		// Of an element everything comes from where the element does.
		cut := strings.LastIndex(key, "]")
		if cut < 0 || cut == len(key)-1 {
			return false
		}
		key = key[:cut+1]
	}
}

// byDefault is the value of a key that no file sets: the one of the reference where the
// program itself only has none.
func byDefault(text string, value json.RawMessage) json.RawMessage {
	if string(value) != "null" || text == "" {
		return value
	}
	if _, err := strconv.ParseInt(text, 10, 64); err == nil || text == "true" || text == "false" {
		return json.RawMessage(text)
	}
	return json.RawMessage(quote(text))
}

// values lists the keys beneath a part of a config with what they are. What is as if
// nothing was set is null.
func values(v reflect.Value, prefix string) []Value {
	var list []Value
	for i := range v.NumField() {
		field, tag := v.Field(i), v.Type().Field(i).Tag
		name := prefix + tag.Get("yaml")
		_, defaulted := tag.Lookup("default")
		switch {
		case tag.Get("yaml") == "-":
		case field.Kind() == reflect.Struct:
			list = append(list, values(field, name+".")...)
		case field.Kind() == reflect.Slice && field.Type().Elem().Kind() == reflect.Struct && field.Len() > 0:
			for n := range field.Len() {
				list = append(list, element(field.Index(n), fmt.Sprintf("%s[%d].", name, n))...)
			}
		case field.IsZero() && !(defaulted && strings.HasPrefix(name, "lens.")):
			list = append(list, Value{Key: name, Value: json.RawMessage("null")})
		default:
			list = append(list, Value{Key: name, Value: valueJSON(field)})
		}
	}
	return list
}

// element lists what an element of a list sets.
func element(v reflect.Value, prefix string) []Value {
	var list []Value
	for _, x := range values(v, prefix) {
		if string(x.Value) != "null" {
			list = append(list, x)
		}
	}
	return list
}

func valueJSON(v reflect.Value) json.RawMessage {
	switch x := v.Interface().(type) {
	case Scalar:
		if x == "" {
			return json.RawMessage("null")
		}
		return json.RawMessage(x)
	case Choice:
		return json.RawMessage(quote(string(x)))
	}
	raw, err := json.Marshal(v.Interface())
	if err != nil {
		panic(err) // texts, numbers and lists of them
	}
	return raw
}

// Refers is a key that refers to secrets.
type Refers struct {
	Key  string // dotted
	Text string // as the file says it
	Line int
}

// Referring lists the keys of a file's text that refer to secrets.
func Referring(text []byte) []Refers {
	c, lines, _ := read(text)
	var list []Refers
	for _, r := range c.referring() {
		if r.Text != "" {
			list = append(list, Refers{r.Key, r.Text, lines.near(r.Key)})
		}
	}
	return list
}

func (c Config) referring() []Refers {
	list := []Refers{
		{Key: "database_password", Text: c.Password},
		{Key: "speech.endpoint.key", Text: c.Speech.Endpoint.Key},
		{Key: "lens.providers.openai.apiKey", Text: c.Lens.Providers.OpenAI.APIKey},
	}
	for i, e := range c.Lens.ASR.Endpoints {
		list = append(list, Refers{Key: fmt.Sprintf("lens.asr.endpoints[%d].key", i), Text: e.Key})
	}
	for i, m := range c.Models {
		list = append(list, Refers{Key: fmt.Sprintf("models[%d].key", i), Text: m.Key})
	}
	return list
}

// Remarks are what a right file probably does not mean.
func Remarks(text []byte) []Fault {
	c, lines, faults := read(text)
	if len(faults) > 0 {
		return nil
	}
	var all []Fault
	add := func(key, hint, message string) {
		all = append(all, Fault{lines.near(key), key + ": " + message, hint})
	}
	l := c.Lens
	if l.Inject.Enabled && len(l.Inject.Families) == 0 {
		add("lens.inject.enabled", `write families: [""] for all, or the beginnings of their names`, "no model is wrapped, since families is empty")
	}
	if l.Refine.Enabled && (l.Refine.Model == Off || l.Refine.Model == Auto) {
		add("lens.refine.enabled", "write model: openai/MODEL", "nothing is refined, since no model is named")
	} else if l.Refine.Enabled && !l.Providers.OpenAI.Configured() {
		add("lens.refine.enabled", "set lens.providers.openai", "nothing is refined, since lens.providers.openai has no address or no key")
	}
	if l.StrictLocalOnly && l.AllowUpload {
		add("lens.allow_upload", "take one of the two out", "nothing is sent all the same, since strictLocalOnly is true")
	}
	for i, m := range c.Models {
		if m.Key != "" && strings.HasPrefix(m.BaseURL, "http://") && !Loopback(m.BaseURL) {
			add(fmt.Sprintf("models[%d].base_url", i), "use https://", "key and media cross the network in plain text")
		}
	}
	if o := l.Providers.OpenAI; o.APIKey != "" && strings.HasPrefix(o.BaseURL, "http://") && !Loopback(o.BaseURL) {
		add("lens.providers.openai.baseUrl", "use https://", "key and media cross the network in plain text")
	}
	return all
}
