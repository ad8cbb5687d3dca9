package main

import (
	"context"
	"errors"
	"strings"

	"github.com/inference-gateway/sdk"
)

// A script is a model that obeys the last prompt.
type script struct{}

func (script) CreateChatCompletion(context.Context, []sdk.Message, ...sdk.ChatCompletionTool) (*sdk.CreateChatCompletionResponse, error) {
	return nil, errors.New("this model streams alone")
}

func (script) CreateStreamingChatCompletion(_ context.Context, said []sdk.Message, _ ...sdk.ChatCompletionTool) (<-chan *sdk.CreateChatCompletionStreamResponse, <-chan error) {
	text, tool, input := "", "", "{}"
	switch prompt, result := last(said); {
	case result != "":
		text = "The tool said: " + result + "."
	case prompt == "tool":
		text, tool, input = "Looking it up.", "weather", `{"city":"Oslo"}`
	case prompt == "ask":
		text, tool, input = "Let me ask.", "input_required", `{"message":"Which city?"}`
	case prompt == "fail":
		failed := make(chan error, 1)
		failed <- errors.New("model refused")
		return make(chan *sdk.CreateChatCompletionStreamResponse), failed
	default:
		text = "You said " + prompt + ", which is the answer."
	}
	words := strings.SplitAfter(text, " ")
	stream := make(chan *sdk.CreateChatCompletionStreamResponse, len(words)+1)
	defer close(stream)
	for _, word := range words {
		stream <- piece(sdk.ChatCompletionStreamResponseDelta{Content: word}, "")
	}
	why, end := sdk.FinishReason("stop"), sdk.ChatCompletionStreamResponseDelta{}
	if tool != "" {
		id := "call-" + tool
		call := sdk.ChatCompletionMessageToolCallChunk{ID: &id, Function: &sdk.ChatCompletionMessageToolCallFunction{Name: tool, Arguments: input}}
		why, end.ToolCalls = "tool_calls", &[]sdk.ChatCompletionMessageToolCallChunk{call}
	}
	stream <- piece(end, why)
	return stream, make(chan error)
}

func piece(delta sdk.ChatCompletionStreamResponseDelta, why sdk.FinishReason) *sdk.CreateChatCompletionStreamResponse {
	return &sdk.CreateChatCompletionStreamResponse{Choices: []sdk.ChatCompletionStreamChoice{{Delta: delta, FinishReason: why}}}
}

// last returns the last prompt, and what a tool has said since.
func last(said []sdk.Message) (prompt, result string) {
	for _, m := range said {
		text, _ := m.Content.AsMessageContent0()
		switch m.Role {
		case sdk.User:
			prompt, result = text, ""
		case sdk.Tool:
			result = text
		}
	}
	return prompt, result
}
