package main

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"
)

func chatBlock(m medium) openai.ChatCompletionContentPartUnionParam {
	switch m.Kind {
	case "image":
		return openai.ImageContentPart(openai.ChatCompletionContentPartImageImageURLParam{URL: m.url(), Detail: "high"})
	case "audio":
		return openai.InputAudioContentPart(openai.ChatCompletionContentPartInputAudioInputAudioParam{Data: m.Data, Format: m.format()})
	}
	return openai.FileContentPart(openai.ChatCompletionContentPartFileFileParam{FileData: openai.String(m.url()), Filename: openai.String(m.Name)})
}

func chat(ctx context.Context, client openai.Client, o order) (a answer, err error) {
	parts := []openai.ChatCompletionContentPartUnionParam{openai.TextContentPart(o.Text)}
	for _, m := range o.Media {
		parts = append(parts, chatBlock(m))
	}
	p := openai.ChatCompletionNewParams{Model: o.Model, Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage(parts)}}
	if o.Again {
		p.Messages = append(p.Messages, openai.AssistantMessage("I have seen it."), openai.UserMessage("And now?"))
	}
	if o.Tools {
		p.Tools = []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{
			Name: "look", Description: openai.String(description), Parameters: schema, Strict: openai.Bool(true),
		})}
	}
	var r *http.Response
	into := option.WithResponseInto(&r)
	var made openai.ChatCompletion
	if !o.Stream {
		m, err := client.Chat.Completions.New(ctx, p, into)
		if err != nil {
			return a, err
		}
		made, a.Doc = *m, json.RawMessage(m.RawJSON())
	} else {
		p.StreamOptions.IncludeUsage = openai.Bool(true)
		var acc openai.ChatCompletionAccumulator
		var events []string
		s := client.Chat.Completions.NewStreaming(ctx, p, into)
		for s.Next() {
			events = append(events, s.Current().RawJSON())
			a.event(events)
			acc.AddChunk(s.Current())
		}
		if s.Err() != nil {
			return a, s.Err()
		}
		made = acc.ChatCompletion
	}
	a.heads(r)
	a.Text = made.Choices[0].Message.Content
	for _, c := range made.Choices[0].Message.ToolCalls {
		a.Calls = append(a.Calls, call{c.ID, c.Function.Name, c.Function.Arguments})
	}
	a.Usage = []int64{made.Usage.PromptTokens, made.Usage.CompletionTokens, made.Usage.PromptTokensDetails.CachedTokens}
	return a, nil
}

func responsesBlock(m medium) responses.ResponseInputContentUnionParam {
	switch m.Kind {
	case "image":
		return responses.ResponseInputContentUnionParam{OfInputImage: &responses.ResponseInputImageParam{ImageURL: openai.String(m.url()), Detail: "high"}}
	case "audio": // which the library has no type for
		type sound struct {
			Data   string `json:"data"`
			Format string `json:"format"`
		}
		return param.Override[responses.ResponseInputContentUnionParam](struct {
			Type  string `json:"type"`
			Sound sound  `json:"input_audio"`
		}{"input_audio", sound{m.Data, m.format()}})
	}
	return responses.ResponseInputContentUnionParam{OfInputFile: &responses.ResponseInputFileParam{FileData: openai.String(m.url()), Filename: openai.String(m.Name)}}
}

func askResponses(ctx context.Context, client openai.Client, o order) (a answer, err error) {
	content := responses.ResponseInputMessageContentListParam{responses.ResponseInputContentParamOfInputText(o.Text)}
	for _, m := range o.Media {
		content = append(content, responsesBlock(m))
	}
	input := responses.ResponseInputParam{responses.ResponseInputItemParamOfMessage(content, "user")}
	if o.Again {
		input = append(input, responses.ResponseInputItemParamOfMessage("I have seen it.", "assistant"), responses.ResponseInputItemParamOfMessage("And now?", "user"))
	}
	p := responses.ResponseNewParams{Model: o.Model, Input: responses.ResponseNewParamsInputUnion{OfInputItemList: input}}
	if o.Tools {
		p.Tools = []responses.ToolUnionParam{{OfFunction: &responses.FunctionToolParam{Name: "look", Description: openai.String(description), Parameters: schema, Strict: openai.Bool(true)}}}
	}
	var r *http.Response
	into := option.WithResponseInto(&r)
	var made responses.Response
	if !o.Stream {
		m, err := client.Responses.New(ctx, p, into)
		if err != nil {
			return a, err
		}
		made, a.Doc = *m, json.RawMessage(m.RawJSON())
	} else {
		var events []string
		s := client.Responses.NewStreaming(ctx, p, into)
		for s.Next() {
			events = append(events, s.Current().RawJSON())
			a.event(events)
			if e := s.Current(); e.Type == "response.completed" {
				made = e.Response
			}
		}
		if s.Err() != nil {
			return a, s.Err()
		}
	}
	a.heads(r)
	a.Text = made.OutputText()
	for _, i := range made.Output {
		if c, ok := i.AsAny().(responses.ResponseFunctionToolCall); ok {
			a.Calls = append(a.Calls, call{c.CallID, c.Name, c.Arguments})
		}
	}
	a.Usage = []int64{made.Usage.InputTokens, made.Usage.OutputTokens, made.Usage.InputTokensDetails.CachedTokens}
	return a, nil
}
