package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"

	"google.golang.org/adk/v2/model"
	"google.golang.org/genai"
)

// A script is a model that obeys the first word of the last prompt, and repeats a
// tool's answer.
type script struct{}

func (script) Name() string { return "scripted" }

func (script) GenerateContent(_ context.Context, req *model.LLMRequest, stream bool) iter.Seq2[*model.LLMResponse, error] {
	word, answer := last(req.Contents)
	return func(yield func(*model.LLMResponse, error) bool) {
		say := speaker{stream, yield}
		switch {
		case answer != nil:
			say.parts(nil, fmt.Sprintf("The tool %s said: %v.", answer.Name, said(answer.Response)), nil)
		case word == "think":
			say.parts(&genai.Part{Text: "I should greet. ", Thought: true}, "Hello there, this is the answer.", nil)
		case word == "tool":
			say.parts(nil, "Looking it up. ", &genai.FunctionCall{Name: "weather", Args: map[string]any{"city": "Oslo"}})
		case word == "confirm":
			say.parts(nil, "", &genai.FunctionCall{Name: "wipe", Args: map[string]any{"path": "build"}})
		case word == "fail":
			yield(nil, errors.New("model quota exceeded"))
		default:
			say.parts(nil, "You said "+word+", which is the answer.", nil)
		}
	}
}

func said(response map[string]any) any {
	if e, ok := response["error"]; ok {
		return e
	}
	return response["result"]
}

// last returns the first word of the last prompt, and the answer of a tool since.
func last(contents []*genai.Content) (word string, answer *genai.FunctionResponse) {
	for _, c := range contents {
		for _, p := range c.Parts {
			switch {
			case p.FunctionResponse != nil:
				answer = p.FunctionResponse
			case c.Role == genai.RoleUser && strings.TrimSpace(p.Text) != "" && !strings.HasPrefix(p.Text, "For context"):
				word, answer = strings.Fields(p.Text)[0], nil
			}
		}
	}
	return word, answer
}

// A speaker streams a response word by word, and then says all of it.
type speaker struct {
	stream bool
	yield  func(*model.LLMResponse, error) bool
}

func (s speaker) piece(p *genai.Part) bool {
	return !s.stream || s.yield(&model.LLMResponse{Content: genai.NewContentFromParts([]*genai.Part{p}, genai.RoleModel), Partial: true}, nil)
}

func (s speaker) parts(thought *genai.Part, text string, call *genai.FunctionCall) {
	var all []*genai.Part
	if thought != nil {
		all = append(all, thought)
		if !s.piece(thought) {
			return
		}
	}
	if text != "" {
		all = append(all, &genai.Part{Text: text})
		for _, w := range strings.SplitAfter(text, " ") {
			if w != "" && !s.piece(&genai.Part{Text: w}) {
				return
			}
		}
	}
	if call != nil {
		all = append(all, &genai.Part{FunctionCall: call})
	}
	s.yield(&model.LLMResponse{Content: genai.NewContentFromParts(all, genai.RoleModel), TurnComplete: true,
		UsageMetadata: &genai.GenerateContentResponseUsageMetadata{PromptTokenCount: 11, CandidatesTokenCount: 7, TotalTokenCount: 18}}, nil)
}
