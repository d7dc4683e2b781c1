package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"cutroom/internal/tool"
	"cutroom/internal/tools"
)

func registry(t *testing.T) *tool.Registry {
	t.Helper()
	r, err := tool.NewRegistry(tools.Families()...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestQuestionsHaveAnswers: each has exactly one, and says it in the words that the
// reader sees, too.
func TestQuestionsHaveAnswers(t *testing.T) {
	t.Parallel()
	want, err := answers(registry(t))
	if err != nil {
		t.Fatal(err)
	}
	if len(want) < 40 {
		t.Errorf("%d questions", len(want))
	}
	asked := map[string]bool{}
	for _, q := range questions {
		if asked[q.Ask] || !strings.ContainsAny(q.Ask, "?.") {
			t.Errorf("%s is asked twice, or is no question: %s", q.ID, q.Ask)
		}
		asked[q.Ask] = true
		switch v := want[q.ID].(type) {
		case bool, float64:
		case string:
			if v == "" {
				t.Errorf("%s: the answer is empty", q.ID)
			}
		case []any:
			if len(flat(v)) == 0 {
				t.Errorf("%s: the answer is an empty list", q.ID)
			}
		default:
			t.Errorf("%s: the answer is a %T", q.ID, v)
		}
	}
	if n := len(slices.Compact(slices.Sorted(func(yield func(string) bool) {
		for _, v := range want {
			if !yield(strings.Join(flat(v), " ")) {
				return
			}
		}
	}))); n < 25 { // a reader that always says the same is wrong most of the time
		t.Errorf("only %d answers differ", n)
	}
}

// reader is a model that reads what it was sent, and nothing else. It knows by the
// question where to look; spoil changes what it says.
func reader(t *testing.T, spoil func(id string, v any) any) endpoint {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var req request
		if err := json.NewDecoder(r.Body).Decode(&req); err != nil || r.URL.Path != "/v1/chat/completions" || r.Header.Get("Authorization") != "Bearer secret" || len(req.Messages) != 2 {
			t.Errorf("%v: %s %+v", err, r.URL, r.Header)
			http.Error(w, "no", http.StatusBadRequest)
			return
		}
		_, rest, _ := strings.Cut(req.Messages[1].Content, contractBegin)
		contract, question, _ := strings.Cut(rest, contractEnd)
		n := slices.IndexFunc(questions, func(q Question) bool { return q.Ask == question })
		var doc any
		if err := json.Unmarshal([]byte(contract), &doc); err != nil || n < 0 {
			t.Errorf("%v: %q", err, question)
			return
		}
		path := questions[n].Path
		if questions[n].Tool != "" {
			path = "tools/tool_id=" + questions[n].Tool + "/" + path
		}
		v, err := find(doc, path)
		if err != nil {
			t.Errorf("%s: what is given does not say it: %v", questions[n].ID, err)
		}
		said, err := json.Marshal(map[string]any{"answer": spoil(questions[n].ID, v)})
		if err != nil {
			t.Error(err)
		}
		reply := response{}
		reply.Choices = append(reply.Choices, struct {
			Message message `json:"message"`
		}{message{"assistant", "```json\n" + string(said) + "\n```"}})
		if err := json.NewEncoder(w).Encode(reply); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(s.Close)
	return endpoint{s.URL + "/v1", "reader", "secret"}
}

func TestAPerfectReaderIsRight(t *testing.T) {
	t.Parallel()
	var said strings.Builder
	if err := run(t.Context(), reader(t, func(_ string, v any) any { return v }), &said); err != nil {
		t.Errorf("%v\n%s", err, said.String())
	}
}

// TestAWrongReaderIsNot: each single wrong answer is noticed, and so is a reader that
// knows nothing.
func TestAWrongReaderIsNot(t *testing.T) {
	t.Parallel()
	var said strings.Builder
	err := run(t.Context(), reader(t, func(id string, v any) any {
		switch v := v.(type) {
		case bool:
			return !v
		case float64:
			return v + 1
		case []any:
			return append(slices.Clone(v), "edit.none")
		}
		return "something else"
	}), &said)
	if err != errWrong || !strings.HasSuffix(said.String(), "\n0 of "+strings.Fields(said.String())[len(strings.Fields(said.String()))-2]+" right\n") {
		t.Errorf("%v: %s", err, said.String())
	}
	said.Reset()
	err = run(t.Context(), reader(t, func(id string, v any) any {
		if id == "scope" {
			return "tool:edit.fit"
		}
		return v
	}), &said)
	if err != errWrong || !strings.HasPrefix(said.String(), "scope: ") || strings.Count(said.String(), "answered") != 1 {
		t.Errorf("%v: %s", err, said.String())
	}
	if err := run(t.Context(), endpoint{"http://127.0.0.1:1/v1", "none", ""}, &said); err == nil || err == errWrong {
		t.Errorf("nobody answered: %v", err)
	}
}

func TestAnswersAreCompared(t *testing.T) {
	t.Parallel()
	list := func(s ...any) any { return s }
	for _, row := range []struct {
		want, got any
		same      bool
	}{
		{"edit.cut", " Edit.Cut ", true},
		{true, true, true},
		{true, "true", true},
		{48.0, 48.0, true},
		{48.0, "48", true},
		{48.0, 47.0, false},
		{list("a", "b"), list("b", "a"), true},
		{list("a", "b"), list("a"), false},
		{list(list("a", "b")), list("a", "b"), true},
		{list("a"), "a", true},
		{false, nil, false},
		{"x", "y", false},
	} {
		if same(row.want, row.got) != row.same {
			t.Errorf("%v and %v: %v", row.want, row.got, !row.same)
		}
	}
	if said("I do not know") != any("I do not know") || said(`{"answer":null}`) == nil {
		t.Error("what is no answer counts as one")
	}
}
