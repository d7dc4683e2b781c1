//go:build sdk

package providertest_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go/v2"
	anthropicoption "github.com/anthropics/anthropic-sdk-go/v2/option"
	"github.com/google/go-cmp/cmp"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"

	"cutroom/internal/provider"
	"cutroom/internal/provider/providertest"
)

// answers are what the services' own libraries have to read as we do.
func answers() map[string]providertest.Step {
	usage := provider.Usage{Input: 1200, Output: 34, Cached: 1000}
	return map[string]providertest.Step{
		"text": {Text: "It is a cat – \"ü\" 日本語", Usage: usage},
		"calls": {Text: "Let me look.", Usage: usage, Calls: []provider.ToolCall{
			{ID: "call_a", Name: "look", Input: `{"at":12.5}`}, {ID: "call_b", Name: "hear", Input: `{"from":1}`},
		}},
		"long": {Text: strings.Repeat("abc ", 500), Stop: provider.StopLength, Usage: usage, Size: 100},
	}
}

// read is an answer as somebody read it.
type read struct {
	Text  string
	Calls []provider.ToolCall
	Stop  provider.Stop
	Usage provider.Usage
}

// ours is the answer as the provider's client reads it.
func ours(t *testing.T, e provider.Endpoint, stream bool) read {
	t.Helper()
	c := provider.New(provider.Options{})
	defer c.Close()
	var on func(provider.Delta)
	if stream {
		on = func(provider.Delta) {}
	}
	r, err := c.Complete(t.Context(), e, "k", provider.Request{Messages: []provider.Message{{Role: provider.RoleUser, Parts: []provider.Part{provider.TextPart("hi")}}}}, on)
	if err != nil {
		t.Fatal(err)
	}
	return read{r.Message.Text(), r.Message.Calls, r.Stop, r.Usage}
}

func same(t *testing.T, what string, theirs read, e provider.Endpoint, stream bool) {
	t.Helper()
	if diff := cmp.Diff(theirs, ours(t, e, stream)); diff != "" {
		t.Errorf("%s, streamed %v: %s", what, stream, diff)
	}
}

func chatRead(m openai.ChatCompletion) read {
	r := read{Text: m.Choices[0].Message.Content, Stop: map[string]provider.Stop{"stop": provider.StopEnd, "length": provider.StopLength, "tool_calls": provider.StopTools}[m.Choices[0].FinishReason]}
	for _, c := range m.Choices[0].Message.ToolCalls {
		r.Calls = append(r.Calls, provider.ToolCall{ID: c.ID, Name: c.Function.Name, Input: c.Function.Arguments})
	}
	r.Usage = provider.Usage{Input: m.Usage.PromptTokens, Output: m.Usage.CompletionTokens, Cached: m.Usage.PromptTokensDetails.CachedTokens, Thinking: m.Usage.CompletionTokensDetails.ReasoningTokens}
	return r
}

// TestChatAsOpenAIReadsIt compares OpenAI's library with ours, answer by answer.
func TestChatAsOpenAIReadsIt(t *testing.T) {
	t.Parallel()
	for name, step := range answers() {
		srv := providertest.New(t, step)
		client := openai.NewClient(option.WithBaseURL(srv.URL), option.WithAPIKey("k"), option.WithMaxRetries(0))
		p := openai.ChatCompletionNewParams{Model: "m", Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("hi")}}
		m, err := client.Chat.Completions.New(t.Context(), p)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		e := srv.Endpoint("p", provider.Chat, "m", "k")
		same(t, name, chatRead(*m), e, false)
		var acc openai.ChatCompletionAccumulator
		s := client.Chat.Completions.NewStreaming(t.Context(), p)
		for s.Next() {
			acc.AddChunk(s.Current())
		}
		if s.Err() != nil {
			t.Fatalf("%s: %v", name, s.Err())
		}
		same(t, name, chatRead(acc.ChatCompletion), e, true)
	}
}

func responsesRead(m responses.Response) read {
	r := read{Text: m.OutputText(), Stop: provider.StopEnd}
	for _, i := range m.Output {
		if c, ok := i.AsAny().(responses.ResponseFunctionToolCall); ok {
			r.Calls, r.Stop = append(r.Calls, provider.ToolCall{ID: c.CallID, Name: c.Name, Input: c.Arguments}), provider.StopTools
		}
	}
	if m.Status == "incomplete" {
		r.Stop = provider.StopLength
	}
	r.Usage = provider.Usage{Input: m.Usage.InputTokens, Output: m.Usage.OutputTokens, Cached: m.Usage.InputTokensDetails.CachedTokens, Thinking: m.Usage.OutputTokensDetails.ReasoningTokens}
	return r
}

// TestResponsesAsOpenAIReadsThem is the same for Responses.
func TestResponsesAsOpenAIReadsThem(t *testing.T) {
	t.Parallel()
	for name, step := range answers() {
		srv := providertest.New(t, step)
		client := openai.NewClient(option.WithBaseURL(srv.URL), option.WithAPIKey("k"), option.WithMaxRetries(0))
		p := responses.ResponseNewParams{Model: "m", Input: responses.ResponseNewParamsInputUnion{OfString: openai.String("hi")}}
		m, err := client.Responses.New(t.Context(), p)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		e := srv.Endpoint("p", provider.Responses, "m", "k")
		same(t, name, responsesRead(*m), e, false)
		var last responses.Response
		text := ""
		s := client.Responses.NewStreaming(t.Context(), p)
		for s.Next() {
			switch v := s.Current().AsAny().(type) {
			case responses.ResponseTextDeltaEvent:
				text += v.Delta
			case responses.ResponseCompletedEvent:
				last = v.Response
			case responses.ResponseIncompleteEvent:
				last = v.Response
			}
		}
		if s.Err() != nil || text != step.Text {
			t.Fatalf("%s: %v, %q", name, s.Err(), text)
		}
		same(t, name, responsesRead(last), e, true)
	}
}

func messagesRead(m anthropic.Message) read {
	r := read{Stop: map[anthropic.StopReason]provider.Stop{"end_turn": provider.StopEnd, "max_tokens": provider.StopLength, "tool_use": provider.StopTools}[m.StopReason]}
	for _, b := range m.Content {
		switch b := b.AsAny().(type) {
		case anthropic.TextBlock:
			r.Text += b.Text
		case anthropic.ToolUseBlock:
			r.Calls = append(r.Calls, provider.ToolCall{ID: b.ID, Name: b.Name, Input: string(b.Input)})
		}
	}
	u := m.Usage
	r.Usage = provider.Usage{Input: u.InputTokens + u.CacheCreationInputTokens + u.CacheReadInputTokens, Output: u.OutputTokens, Cached: u.CacheReadInputTokens}
	return r
}

// TestMessagesAsAnthropicReadsThem is the same for Messages.
func TestMessagesAsAnthropicReadsThem(t *testing.T) {
	t.Parallel()
	for name, step := range answers() {
		srv := providertest.New(t, step)
		client := anthropic.NewClient(anthropicoption.WithBaseURL(strings.TrimSuffix(srv.URL, "/v1")), anthropicoption.WithAPIKey("k"), anthropicoption.WithMaxRetries(0))
		p := anthropic.MessageNewParams{Model: "m", MaxTokens: 100, Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock("hi"))}}
		m, err := client.Messages.New(t.Context(), p)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		e := srv.Endpoint("p", provider.Messages, "m", "k")
		same(t, name, messagesRead(*m), e, false)
		var acc anthropic.Message
		s := client.Messages.NewStreaming(t.Context(), p)
		for s.Next() {
			if err := acc.Accumulate(s.Current()); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		if s.Err() != nil {
			t.Fatalf("%s: %v", name, s.Err())
		}
		same(t, name, messagesRead(acc), e, true)
	}
}

// conversation is what both sides of TestRequests write.
func conversation() provider.Request {
	schema := []byte(`{"type":"object","properties":{"at":{"type":"number"}},"required":["at"],"additionalProperties":false}`)
	text := func(s string) []provider.Part { return []provider.Part{provider.TextPart(s)} }
	return provider.Request{
		Messages: []provider.Message{
			{Role: provider.RoleSystem, Parts: text("be brief")},
			{Role: provider.RoleUser, Parts: []provider.Part{provider.TextPart("what is this?"), {Kind: provider.Image, Type: "image/png", Data: []byte("PNG")}}},
			{Role: provider.RoleAssistant, Calls: []provider.ToolCall{{ID: "call_1", Name: "look", Input: `{"at":1.5}`}}},
			{Role: provider.RoleTool, CallID: "call_1", Parts: text("a cat")},
		},
		Tools: []provider.Tool{{Name: "look", Doc: "Looks.", Schema: schema, Strict: true}}, Choice: "look", MaxTokens: 500,
		Schema: &provider.Schema{Name: "evidence", JSON: schema},
	}
}

func plain(t *testing.T, doc []byte) (v any) {
	t.Helper()
	if err := json.Unmarshal(doc, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// sent returns the bodies of the two requests that a server got, the libraries' first.
func sent(t *testing.T, srv *providertest.Server, e provider.Endpoint) (theirs, our any) {
	t.Helper()
	c := provider.New(provider.Options{})
	defer c.Close()
	if _, err := c.Complete(t.Context(), e, "k", conversation(), nil); err != nil {
		t.Fatal(err)
	}
	list := srv.Requests()
	return plain(t, list[0].Body), plain(t, list[1].Body)
}

func schemaOf(t *testing.T) map[string]any {
	t.Helper()
	m, ok := plain(t, conversation().Tools[0].Schema).(map[string]any)
	if !ok {
		t.Fatal("the schema is no object")
	}
	return m
}

// TestRequestsAsOpenAIWritesThem compares what is sent, member by member.
func TestRequestsAsOpenAIWritesThem(t *testing.T) {
	t.Parallel()
	srv := providertest.New(t)
	client := openai.NewClient(option.WithBaseURL(srv.URL), option.WithAPIKey("k"), option.WithMaxRetries(0))
	call := openai.ChatCompletionMessageToolCallUnionParam{OfFunction: &openai.ChatCompletionMessageFunctionToolCallParam{
		ID: "call_1", Function: openai.ChatCompletionMessageFunctionToolCallFunctionParam{Name: "look", Arguments: `{"at":1.5}`},
	}}
	_, err := client.Chat.Completions.New(t.Context(), openai.ChatCompletionNewParams{
		Model: "m", MaxTokens: openai.Int(500),
		Messages: []openai.ChatCompletionMessageParamUnion{
			openai.SystemMessage("be brief"),
			openai.UserMessage([]openai.ChatCompletionContentPartUnionParam{openai.TextContentPart("what is this?"), openai.ImageContentPart(openai.ChatCompletionContentPartImageImageURLParam{URL: "data:image/png;base64,UE5H"})}),
			{OfAssistant: &openai.ChatCompletionAssistantMessageParam{ToolCalls: []openai.ChatCompletionMessageToolCallUnionParam{call}}},
			openai.ToolMessage("a cat", "call_1"),
		},
		Tools:          []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{Name: "look", Description: openai.String("Looks."), Parameters: schemaOf(t), Strict: openai.Bool(true)})},
		ToolChoice:     openai.ToolChoiceOptionFunctionToolChoice(openai.ChatCompletionNamedToolChoiceFunctionParam{Name: "look"}),
		ResponseFormat: openai.ChatCompletionNewParamsResponseFormatUnion{OfJSONSchema: &shared.ResponseFormatJSONSchemaParam{JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{Name: "evidence", Strict: openai.Bool(true), Schema: schemaOf(t)}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	theirs, our := sent(t, srv, srv.Endpoint("p", provider.Chat, "m", "k"))
	if diff := cmp.Diff(pruned(theirs), pruned(our)); diff != "" {
		t.Error(diff)
	}
}

// TestResponsesRequestsAsOpenAIWritesThem is the same for Responses.
func TestResponsesRequestsAsOpenAIWritesThem(t *testing.T) {
	t.Parallel()
	srv := providertest.New(t)
	client := openai.NewClient(option.WithBaseURL(srv.URL), option.WithAPIKey("k"), option.WithMaxRetries(0))
	picture := responses.ResponseInputContentUnionParam{OfInputImage: &responses.ResponseInputImageParam{ImageURL: openai.String("data:image/png;base64,UE5H")}}
	output := responses.ResponseInputItemParamOfFunctionCallOutput("a cat")
	output.OfFunctionCallOutput.CallID = openai.String("call_1")
	tool := responses.ToolParamOfFunction("look", schemaOf(t), true)
	tool.OfFunction.Description = openai.String("Looks.")
	_, err := client.Responses.New(t.Context(), responses.ResponseNewParams{
		Model: "m", MaxOutputTokens: openai.Int(500), Instructions: openai.String("be brief"), Store: openai.Bool(false),
		Input: responses.ResponseNewParamsInputUnion{OfInputItemList: responses.ResponseInputParam{
			responses.ResponseInputItemParamOfMessage(responses.ResponseInputMessageContentListParam{responses.ResponseInputContentParamOfInputText("what is this?"), picture}, "user"),
			responses.ResponseInputItemParamOfFunctionCall(`{"at":1.5}`, "call_1", "look"), output,
		}},
		Tools: []responses.ToolUnionParam{tool}, ToolChoice: responses.ResponseNewParamsToolChoiceUnion{OfFunctionTool: &responses.ToolChoiceFunctionParam{Name: "look"}},
		Text: responses.ResponseTextConfigParam{Format: responses.ResponseFormatTextConfigUnionParam{OfJSONSchema: &responses.ResponseFormatTextJSONSchemaConfigParam{Name: "evidence", Strict: openai.Bool(true), Schema: schemaOf(t)}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	theirs, our := sent(t, srv, srv.Endpoint("p", provider.Responses, "m", "k"))
	if diff := cmp.Diff(pruned(theirs), pruned(our)); diff != "" {
		t.Error(diff)
	}
}

// pruned leaves out what both sides may leave out: null and false members, the type of a
// message, and a list around the one text of an instruction.
func pruned(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = pruned(v[i])
		}
	case map[string]any:
		for name, m := range v {
			if list, ok := m.([]any); ok && name == "system" && len(list) == 1 {
				if block, ok := list[0].(map[string]any); ok {
					v[name] = block["text"]
					continue
				}
			}
			if m == nil || m == false || name == "type" && m == "message" {
				delete(v, name)
				continue
			}
			v[name] = pruned(m)
		}
	}
	return v
}

// TestRequestsAsAnthropicWritesThem is the same for Messages.
func TestRequestsAsAnthropicWritesThem(t *testing.T) {
	t.Parallel()
	srv := providertest.New(t)
	client := anthropic.NewClient(anthropicoption.WithBaseURL(strings.TrimSuffix(srv.URL, "/v1")), anthropicoption.WithAPIKey("k"), anthropicoption.WithMaxRetries(0))
	tool := anthropic.ToolParam{Name: "look", Description: anthropic.String("Looks."), Strict: anthropic.Bool(true)}
	if err := json.Unmarshal(conversation().Tools[0].Schema, &tool.InputSchema); err != nil {
		t.Fatal(err)
	}
	_, err := client.Messages.New(t.Context(), anthropic.MessageNewParams{
		Model: "m", MaxTokens: 500, System: []anthropic.TextBlockParam{{Text: "be brief"}},
		Messages: []anthropic.MessageParam{
			anthropic.NewUserMessage(anthropic.NewTextBlock("what is this?"), anthropic.NewImageBlockBase64("image/png", "UE5H")),
			anthropic.NewAssistantMessage(anthropic.NewToolUseBlock("call_1", json.RawMessage(`{"at":1.5}`), "look")),
			anthropic.NewUserMessage(anthropic.NewToolResultBlock("call_1", "a cat", false)),
		},
		Tools: []anthropic.ToolUnionParam{{OfTool: &tool}}, ToolChoice: anthropic.ToolChoiceParamOfTool("look"),
		OutputConfig: anthropic.OutputConfigParam{Format: anthropic.JSONOutputFormatParam{Schema: schemaOf(t)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	theirs, our := sent(t, srv, srv.Endpoint("p", provider.Messages, "m", "k"))
	if diff := cmp.Diff(pruned(theirs), pruned(our)); diff != "" {
		t.Error(diff)
	}
}

// TestFaultsAsTheLibrariesReadThem: what the server fails with is a failure to them, too,
// with the status that was meant.
func TestFaultsAsTheLibrariesReadThem(t *testing.T) {
	t.Parallel()
	for _, f := range providertest.Faults() {
		if f.Step.Status < 400 {
			continue
		}
		srv := providertest.New(t, f.Step)
		client := openai.NewClient(option.WithBaseURL(srv.URL), option.WithAPIKey("k"), option.WithMaxRetries(0))
		_, err := client.Chat.Completions.New(t.Context(), openai.ChatCompletionNewParams{Model: "m", Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("hi")}})
		if e, ok := errors.AsType[*openai.Error](err); !ok || e.StatusCode != f.Step.Status {
			t.Errorf("%s: %v", f.Name, err)
		}
	}
}
