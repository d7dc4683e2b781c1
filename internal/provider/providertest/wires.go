package providertest

import (
	"fmt"
	"strings"

	"cutroom/internal/provider"
)

func (s Step) chatFinish() string {
	switch {
	case s.Stop == provider.StopLength:
		return "length"
	case s.Stop == provider.StopRefused:
		return "content_filter"
	case len(s.Calls) > 0:
		return "tool_calls"
	}
	return "stop"
}

func (s Step) chatUsage() string {
	u := s.Usage
	return fmt.Sprintf(`{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d,"prompt_tokens_details":{"cached_tokens":%d},"completion_tokens_details":{"reasoning_tokens":%d}}`,
		u.Input, u.Output, u.Input+u.Output, u.Cached, u.Thinking)
}

func textOrNull(s string) string {
	if s == "" {
		return "null"
	}
	return quote(s)
}

func (s Step) chatDoc(r Request) string {
	message := `{"role":"assistant","content":` + textOrNull(s.Text) + `,"refusal":` + textOrNull(s.Refusal) + `,"annotations":[]`
	if s.Thinking != "" {
		message += `,"reasoning_content":` + quote(s.Thinking)
	}
	var calls []string
	for _, c := range s.Calls {
		calls = append(calls, fmt.Sprintf(`{"id":%s,"type":"function","function":{"name":%s,"arguments":%s}}`, quote(c.ID), quote(c.Name), quote(c.Input)))
	}
	if len(calls) > 0 {
		message += `,"tool_calls":[` + strings.Join(calls, ",") + `]`
	}
	return fmt.Sprintf(`{"id":"chatcmpl-1","object":"chat.completion","created":1700000000,"model":%s,"choices":[{"index":0,"message":%s},"logprobs":null,"finish_reason":%s}],"usage":%s,"service_tier":"default","system_fingerprint":"fp_1"}`,
		quote(r.Model), message, quote(s.chatFinish()), s.chatUsage())
}

func (s Step) chatEvents(r Request) string {
	var b strings.Builder
	chunk := func(choices, usage string) {
		fmt.Fprintf(&b, `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":%s,"choices":[%s],"usage":%s}`+"\n\n", quote(r.Model), choices, usage)
	}
	delta := func(d string) { chunk(`{"index":0,"delta":`+d+`,"logprobs":null,"finish_reason":null}`, "null") }
	delta(`{"role":"assistant","content":"","refusal":null}`)
	for _, p := range s.pieces(s.Thinking) {
		delta(`{"reasoning_content":` + quote(p) + `}`)
	}
	for _, p := range s.pieces(s.Text) {
		delta(`{"content":` + quote(p) + `}`)
	}
	for _, p := range s.pieces(s.Refusal) {
		delta(`{"refusal":` + quote(p) + `}`)
	}
	for i, c := range s.Calls {
		delta(fmt.Sprintf(`{"tool_calls":[{"index":%d,"id":%s,"type":"function","function":{"name":%s,"arguments":""}}]}`, i, quote(c.ID), quote(c.Name)))
	}
	for i, c := range s.Calls {
		for _, p := range s.pieces(c.Input) {
			delta(fmt.Sprintf(`{"tool_calls":[{"index":%d,"function":{"arguments":%s}}]}`, i, quote(p)))
		}
	}
	chunk(`{"index":0,"delta":{},"logprobs":null,"finish_reason":`+quote(s.chatFinish())+`}`, "null")
	chunk("", s.chatUsage())
	b.WriteString("data: [DONE]\n\n")
	return b.String()
}

func (s Step) responsesItems() []string {
	var items []string
	if s.Thinking != "" {
		items = append(items, `{"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":`+quote(s.Thinking)+`}],"encrypted_content":"c2VhbGVk"}`)
	}
	if s.Text != "" || s.Refusal != "" {
		part := `{"type":"output_text","text":` + quote(s.Text) + `,"annotations":[],"logprobs":[]}`
		if s.Refusal != "" {
			part = `{"type":"refusal","refusal":` + quote(s.Refusal) + `}`
		}
		items = append(items, `{"id":"msg_1","type":"message","status":"completed","role":"assistant","content":[`+part+`]}`)
	}
	for i, c := range s.Calls {
		items = append(items, fmt.Sprintf(`{"id":"fc_%d","type":"function_call","status":"completed","call_id":%s,"name":%s,"arguments":%s}`, i, quote(c.ID), quote(c.Name), quote(c.Input)))
	}
	return items
}

func (s Step) responsesDoc(r Request, status string) string {
	incomplete := "null"
	switch s.Stop {
	case provider.StopLength:
		status, incomplete = "incomplete", `{"reason":"max_output_tokens"}`
	case provider.StopRefused:
		status, incomplete = "incomplete", `{"reason":"content_filter"}`
	}
	u := s.Usage
	return fmt.Sprintf(`{"id":"resp_1","object":"response","created_at":1700000000,"status":%s,"error":null,"incomplete_details":%s,"instructions":null,"metadata":{},"model":%s,"output":[%s],"parallel_tool_calls":true,"temperature":1,"tool_choice":"auto","tools":[],"top_p":1,"usage":{"input_tokens":%d,"input_tokens_details":{"cached_tokens":%d},"output_tokens":%d,"output_tokens_details":{"reasoning_tokens":%d},"total_tokens":%d}}`,
		quote(status), incomplete, quote(r.Model), strings.Join(s.responsesItems(), ","), u.Input, u.Cached, u.Output, u.Thinking, u.Input+u.Output)
}

func (s Step) responsesEvents(r Request) string {
	var b strings.Builder
	n := 0
	send := func(name, rest string) {
		b.WriteString(event(name, fmt.Sprintf(`{"type":%s,"sequence_number":%d,%s}`, quote(name), n, rest)))
		n++
	}
	send("response.created", `"response":`+Step{}.responsesDoc(r, "in_progress"))
	for i, item := range s.responsesItems() {
		at := fmt.Sprintf(`"output_index":%d`, i)
		switch {
		case strings.Contains(item, `"type":"reasoning"`):
			send("response.output_item.added", at+`,"item":{"id":"rs_1","type":"reasoning","summary":[]}`)
			for _, p := range s.pieces(s.Thinking) {
				send("response.reasoning_summary_text.delta", at+`,"item_id":"rs_1","summary_index":0,"delta":`+quote(p))
			}
		case strings.Contains(item, `"type":"message"`):
			send("response.output_item.added", at+`,"item":{"id":"msg_1","type":"message","status":"in_progress","role":"assistant","content":[]}`)
			for _, p := range s.pieces(s.Text) {
				send("response.output_text.delta", at+`,"item_id":"msg_1","content_index":0,"logprobs":[],"delta":`+quote(p))
			}
			for _, p := range s.pieces(s.Refusal) {
				send("response.refusal.delta", at+`,"item_id":"msg_1","content_index":0,"delta":`+quote(p))
			}
		default:
			c := s.Calls[len(s.Calls)-(len(s.responsesItems())-i)]
			id := quote(fmt.Sprintf("fc_%d", len(s.Calls)-(len(s.responsesItems())-i)))
			send("response.output_item.added", fmt.Sprintf(`%s,"item":{"id":%s,"type":"function_call","status":"in_progress","call_id":%s,"name":%s,"arguments":""}`, at, id, quote(c.ID), quote(c.Name)))
			for _, p := range s.pieces(c.Input) {
				send("response.function_call_arguments.delta", at+`,"item_id":`+id+`,"delta":`+quote(p))
			}
			send("response.function_call_arguments.done", at+`,"item_id":`+id+`,"name":`+quote(c.Name)+`,"arguments":`+quote(c.Input))
		}
		send("response.output_item.done", at+`,"item":`+item)
	}
	last := "response.completed"
	if s.Stop == provider.StopLength || s.Stop == provider.StopRefused {
		last = "response.incomplete"
	}
	send(last, `"response":`+s.responsesDoc(r, "completed"))
	return b.String()
}

func (s Step) messagesStop() string {
	switch {
	case s.Stop == provider.StopLength:
		return "max_tokens"
	case s.Stop == provider.StopRefused || s.Refusal != "":
		return "refusal"
	case len(s.Calls) > 0:
		return "tool_use"
	}
	return "end_turn"
}

// messagesBlocks are the blocks, and what of each comes in pieces.
func (s Step) messagesBlocks() (whole, begun, kind, grows []string) {
	add := func(w, b, k, g string) {
		whole, begun, kind, grows = append(whole, w), append(begun, b), append(kind, k), append(grows, g)
	}
	if s.Thinking != "" {
		add(`{"type":"thinking","thinking":`+quote(s.Thinking)+`,"signature":"c2ln"}`, `{"type":"thinking","thinking":"","signature":""}`, "thinking_delta", s.Thinking)
	}
	if text := s.Text + s.Refusal; text != "" {
		add(`{"type":"text","text":`+quote(text)+`,"citations":null}`, `{"type":"text","text":""}`, "text_delta", text)
	}
	for _, c := range s.Calls {
		head := fmt.Sprintf(`{"type":"tool_use","id":%s,"name":%s,"input":`, quote(c.ID), quote(c.Name))
		add(head+object(c)+`}`, head+`{}}`, "input_json_delta", c.Input)
	}
	return whole, begun, kind, grows
}

func (s Step) messagesDoc(r Request) string {
	whole, _, _, _ := s.messagesBlocks()
	return s.messagesHead(r, strings.Join(whole, ","), quote(s.messagesStop()), s.Usage.Output)
}

func (s Step) messagesHead(r Request, content, stop string, output int64) string {
	u := s.Usage
	return fmt.Sprintf(`{"id":"msg_1","type":"message","role":"assistant","model":%s,"content":[%s],"stop_reason":%s,"stop_sequence":null,"usage":{"input_tokens":%d,"cache_creation_input_tokens":0,"cache_read_input_tokens":%d,"output_tokens":%d,"service_tier":"standard"}}`,
		quote(r.Model), content, stop, u.Input-u.Cached, u.Cached, output)
}

func (s Step) messagesEvents(r Request) string {
	var b strings.Builder
	send := func(name, rest string) { b.WriteString(event(name, `{"type":`+quote(name)+rest+`}`)) }
	send("message_start", `,"message":`+s.messagesHead(r, "", "null", min(1, s.Usage.Output)))
	send("ping", "")
	_, begun, kind, grows := s.messagesBlocks()
	for i := range begun {
		at := fmt.Sprintf(`,"index":%d`, i)
		send("content_block_start", at+`,"content_block":`+begun[i])
		field := map[string]string{"thinking_delta": "thinking", "text_delta": "text", "input_json_delta": "partial_json"}[kind[i]]
		for _, p := range s.pieces(grows[i]) {
			send("content_block_delta", at+fmt.Sprintf(`,"delta":{"type":%s,%s:%s}`, quote(kind[i]), quote(field), quote(p)))
		}
		if kind[i] == "thinking_delta" {
			send("content_block_delta", at+`,"delta":{"type":"signature_delta","signature":"c2ln"}`)
		}
		send("content_block_stop", at)
	}
	send("message_delta", fmt.Sprintf(`,"delta":{"stop_reason":%s,"stop_sequence":null},"usage":{"output_tokens":%d}`, quote(s.messagesStop()), s.Usage.Output))
	send("message_stop", "")
	return b.String()
}
