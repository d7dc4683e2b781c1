package provider_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"cutroom/internal/provider"
	"cutroom/internal/provider/providertest"
)

// chunks are data lines as one stream.
func chunks(lines ...string) string {
	return "data: " + strings.Join(lines, "\n\ndata: ") + "\n\n"
}

// TestQuirks: streams as services are known to write them, each with what is particular
// about it.
func TestQuirks(t *testing.T) {
	t.Parallel()
	type calls = []provider.ToolCall
	for name, c := range map[string]struct {
		wire   provider.Wire
		body   string
		text   string
		calls  calls
		stop   provider.Stop
		usage  provider.Usage
		native string // what the native form has to hold
		class  provider.Class
	}{
		"Gemini: parallel calls of one index": {
			wire: provider.Chat,
			body: chunks(`{"choices":[{"delta":{"role":"assistant","tool_calls":[{"function":{"arguments":"{\"a\":1}","name":"look"},"id":"function-call-1","type":"function","index":0}]},"finish_reason":null,"index":0}],"created":1,"model":"gemini","object":"chat.completion.chunk"}`,
				`{"choices":[{"delta":{"role":"assistant","tool_calls":[{"function":{"arguments":"{\"a\":2}","name":"look"},"id":"function-call-2","type":"function","index":0}]},"finish_reason":"tool_calls","index":0}]}`, `[DONE]`),
			calls: calls{{"function-call-1", "look", `{"a":1}`}, {"function-call-2", "look", `{"a":2}`}}, stop: provider.StopTools,
		},
		"Gemini: a signature of a thought within a call": {
			wire:  provider.Chat,
			body:  chunks(`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c","type":"function","extra_content":{"google":{"thought_signature":"c2ln"}},"function":{"name":"look","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}`, `[DONE]`),
			calls: calls{{"c", "look", `{}`}}, stop: provider.StopTools, native: "c2ln",
		},
		"no ids, the input as an object, no end": {
			wire:  provider.Chat,
			body:  chunks(`{"choices":[{"index":0,"delta":{"content":"","tool_calls":[{"function":{"name":"look","arguments":{"at":1}}}]},"finish_reason":"tool_calls"}]}`),
			calls: calls{{"call_0", "look", `{"at":1}`}}, stop: provider.StopTools,
		},
		"DeepSeek: thoughts beside the text, usage with each piece": {
			wire: provider.Chat,
			body: chunks(`{"choices":[{"index":0,"delta":{"role":"assistant","content":null,"reasoning_content":"hm"}}],"usage":{"prompt_tokens":3,"completion_tokens":1}}`,
				`{"choices":[{"index":0,"delta":{"content":null,"reasoning_content":"m"}}],"usage":{"prompt_tokens":3,"completion_tokens":2}}`,
				`{"choices":[{"index":0,"delta":{"content":"a cat"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":4}}`, `[DONE]`),
			text: "a cat", stop: provider.StopEnd, usage: provider.Usage{Input: 3, Output: 4}, native: `"reasoning_content":"hmm"`,
		},
		"OpenRouter: remarks, details of thoughts in pieces": {
			wire: provider.Chat,
			body: ": OPENROUTER PROCESSING\n\n" + chunks(`{"id":"gen-1","provider":"X","choices":[{"index":0,"delta":{"content":"","reasoning":"t","reasoning_details":[{"type":"reasoning.text","text":"t","index":0}]}}]}`,
				`{"id":"gen-1","choices":[{"index":0,"delta":{"content":"a","reasoning_details":[{"type":"reasoning.encrypted","data":"x","index":1}]},"finish_reason":"stop","native_finish_reason":"end_turn"}]}`, `[DONE]`),
			text: "a", stop: provider.StopEnd, native: `[{"type":"reasoning.text","text":"t","index":0},{"type":"reasoning.encrypted","data":"x","index":1}]`,
		},
		"OpenRouter: it fails in the middle": {
			wire:  provider.Chat,
			body:  chunks(`{"choices":[{"index":0,"delta":{"content":"a"}}]}`, `{"id":"gen-1","error":{"code":"server_error","message":"Provider disconnected"},"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}]}`),
			class: provider.Unavailable,
		},
		"Azure: what was filtered comes first": {
			wire: provider.Chat,
			body: chunks(`{"choices":[],"prompt_filter_results":[{"prompt_index":0}]}`, `{"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"stop","content_filter_results":{}}]}`, `[DONE]`),
			text: "a", stop: provider.StopEnd,
		},
		"a second choice is not ours": {
			wire: provider.Chat,
			body: chunks(`{"choices":[{"index":1,"delta":{"content":"b"}},{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}]}`, `[DONE]`),
			text: "a", stop: provider.StopEnd,
		},
		"only an end": {wire: provider.Chat, body: chunks(`[DONE]`), class: provider.EmptyOrUnparsable},
		"no JSON":     {wire: provider.Chat, body: chunks(`oops`), class: provider.EmptyOrUnparsable},
		"nothing":     {wire: provider.Chat, body: "", class: provider.Unavailable},
		"Anthropic: unknown events and blocks": {
			wire: provider.Messages,
			body: chunks(`{"type":"message_start","message":{"id":"m","model":"c","usage":{"input_tokens":5,"cache_creation_input_tokens":2,"cache_read_input_tokens":3,"output_tokens":1}}}`, `{"type":"brand_new_event","x":1}`,
				`{"type":"content_block_start","index":0,"content_block":{"type":"server_tool_use","id":"srv","name":"web_search","input":{}}}`, `{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"query\":\"x\"}"}}`, `{"type":"content_block_stop","index":0}`,
				`{"type":"content_block_start","index":1,"content_block":{"type":"text","text":"a"}}`, `{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":" cat"}}`,
				`{"type":"content_block_delta","index":1,"delta":{"type":"citations_delta","citation":{"type":"char_location","cited_text":"z"}}}`,
				`{"type":"content_block_delta","index":9,"delta":{"type":"text_delta","text":"lost"}}`, `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":7}}`, `{"type":"message_stop"}`),
			text: "a cat", stop: provider.StopEnd, usage: provider.Usage{Input: 10, Output: 7, Cached: 3}, native: `"input":{"query":"x"}`,
		},
		"Anthropic: overloaded in the middle": {
			wire:  provider.Messages,
			body:  chunks(`{"type":"message_start","message":{}}`) + "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n",
			class: provider.Unavailable,
		},
		"Anthropic: a call whose input is broken": {
			wire: provider.Messages,
			body: chunks(`{"type":"message_start","message":{}}`, `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"look","input":{}}}`,
				`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"at\":"}}`, `{"type":"message_delta","delta":{"stop_reason":"max_tokens"}}`, `{"type":"message_stop"}`),
			calls: calls{{"t", "look", `{"at":`}}, stop: provider.StopLength, native: `"input":{"broken_input":"{\"at\":"}`,
		},
		"Responses: the last event is empty": {
			wire: provider.Responses,
			body: chunks(`{"type":"response.created","response":{"id":"r"}}`, `{"type":"response.output_item.done","output_index":1,"item":{"type":"function_call","call_id":"c","name":"look","arguments":"{}"}}`,
				`{"type":"response.output_item.done","output_index":0,"item":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"a"}]}}`, `{"type":"response.completed","response":{"id":"r","status":"completed","output":[],"usage":{"input_tokens":1,"output_tokens":2}}}`),
			text: "a", calls: calls{{"c", "look", `{}`}}, stop: provider.StopTools, usage: provider.Usage{Input: 1, Output: 2},
		},
		"Responses: it failed": {
			wire:  provider.Responses,
			body:  chunks(`{"type":"response.failed","response":{"id":"r","status":"failed","error":{"code":"rate_limit_exceeded","message":"slow down"},"output":[]}}`),
			class: provider.RateLimited,
		},
		"Responses: an error": {
			wire:  provider.Responses,
			body:  chunks(`{"type":"error","sequence_number":1,"error":{"type":"invalid_request_error","code":"context_length_exceeded","message":"Your input exceeds the context window of this model."}}`),
			class: provider.ContextOverflow,
		},
		"Responses: unknown events": {
			wire: provider.Responses,
			body: chunks(`{"type":"response.brand_new","x":[]}`, `{"type":"response.completed","response":{"status":"completed","output":[{"type":"web_search_call","id":"w"},{"type":"message","content":[{"type":"output_text","text":"a"}]}]}}`),
			text: "a", stop: provider.StopEnd, native: "web_search_call",
		},
	} {
		srv := providertest.New(t, providertest.Step{Status: 200, Kind: "text/event-stream", Body: c.body})
		client := provider.New(provider.Options{})
		t.Cleanup(client.Close)
		var g gathered
		r, err := client.Complete(t.Context(), srv.Endpoint("p", c.wire, "m"), "", asked(), g.add)
		if c.class != "" {
			if f := faultOf(t, err); f.Class != c.class {
				t.Errorf("%s: %+v", name, f)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got := []any{r.Message.Text(), r.Message.Calls, r.Stop, r.Usage}
		if diff := cmp.Diff([]any{c.text, c.calls, c.stop, c.usage}, got, cmpopts.EquateEmpty()); diff != "" || !strings.Contains(string(r.Message.Native.JSON), c.native) {
			t.Errorf("%s: %s\n%s", name, diff, r.Message.Native.JSON)
		}
	}
}
