// Command contract asks a model questions that an agent has to answer from the contract
// alone, and counts what it got right. The answers are computed from the contract of the
// tree that it is built from, so that they follow every change of a tool.
//
//	go run ./evals/contract -endpoint http://127.0.0.1:8080/v1 -model NAME
//
// It must never be given anything besides the contract and the question.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"cutroom/internal/tool"
	"cutroom/internal/tools"
)

func main() {
	var e endpoint
	var keyEnv string
	flag.StringVar(&e.url, "endpoint", "", "address of an OpenAI-compatible API, up to and with /v1")
	flag.StringVar(&e.model, "model", "", "model to ask")
	flag.StringVar(&keyEnv, "key-env", "", "environment variable that holds the key, if there is one")
	flag.Parse()
	if e.url == "" || e.model == "" {
		fmt.Fprintln(os.Stderr, "contract: -endpoint and -model are needed")
		os.Exit(2)
	}
	if keyEnv != "" {
		e.key = os.Getenv(keyEnv)
	}
	if err := run(context.Background(), e, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "contract:", err)
		os.Exit(1)
	}
}

var errWrong = errors.New("not every answer is right")

// run asks every question and prints a line for each that was answered wrong.
func run(ctx context.Context, e endpoint, w io.Writer) error {
	r, err := tool.NewRegistry(tools.Families()...)
	if err != nil {
		return err
	}
	given, err := read(r)
	if err != nil {
		return err
	}
	want, err := answers(r)
	if err != nil {
		return err
	}
	right := 0
	for _, q := range questions {
		got, err := e.ask(ctx, given.text(q), q.Ask)
		if err != nil {
			return fmt.Errorf("%s: %w", q.ID, err)
		}
		if same(want[q.ID], got) {
			right++
			continue
		}
		fmt.Fprintf(w, "%s: %s\n  answered %v\n  right is %v\n", q.ID, q.Ask, got, want[q.ID])
	}
	fmt.Fprintf(w, "%d of %d right\n", right, len(questions))
	if right < len(questions) {
		return errWrong
	}
	return nil
}

// same compares two answers: texts without regard to case and white space at the ends,
// lists as sets.
func same(want, got any) bool { return slices.Equal(flat(want), flat(got)) }

func flat(v any) []string {
	list, ok := v.([]any)
	if !ok {
		return []string{strings.ToLower(strings.TrimSpace(fmt.Sprint(v)))}
	}
	var all []string
	for _, e := range list {
		all = append(all, flat(e)...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// endpoint is a model on the Chat Completions wire.
type endpoint struct{ url, model, key string }

const instruction = `You get a contract, a JSON document about tools, and one question. Answer from the contract alone. ` +
	`Reply with one JSON object, {"answer": …}: a text, a number, true or false, or a list of texts, as the contract spells them. Nothing else.`

// marks around the contract in the request.
const contractBegin, contractEnd = "<contract>\n", "\n</contract>\n"

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

type request struct {
	Model       string    `json:"model"`
	Temperature float64   `json:"temperature"`
	Messages    []message `json:"messages"`
}

type response struct {
	Choices []struct {
		Message message `json:"message"`
	} `json:"choices"`
}

// ask returns what the model answers; an answer that is no JSON is its text.
func (e endpoint) ask(ctx context.Context, contract, question string) (any, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	body, err := json.Marshal(request{e.model, 0, []message{{"system", instruction}, {"user", contractBegin + contract + contractEnd + question}}})
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(e.url, "/")+"/chat/completions", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	if e.key != "" {
		r.Header.Set("Authorization", "Bearer "+e.key)
	}
	answered, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer answered.Body.Close()
	var doc response
	if err := json.NewDecoder(io.LimitReader(answered.Body, 1<<20)).Decode(&doc); err != nil || answered.StatusCode != http.StatusOK || len(doc.Choices) == 0 {
		return nil, fmt.Errorf("the endpoint answers %s: %w", answered.Status, err)
	}
	return said(doc.Choices[0].Message.Content), nil
}

// said takes the answer out of what a model wrote, which may fence it.
func said(text string) any {
	if at, end := strings.Index(text, "{"), strings.LastIndex(text, "}"); at >= 0 && end > at {
		var reply struct {
			Answer any `json:"answer"`
		}
		if json.Unmarshal([]byte(text[at:end+1]), &reply) == nil && reply.Answer != nil {
			return reply.Answer
		}
	}
	return text
}
