package spell

import (
	"strings"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/ask"
)

// This file is for the text of steps, which all spellings share.

// textMax is the most text, in bytes, that one update carries: longer messages
// are split, of longer output of tools a part is left out, with a note. ACP clients die of lines
// from 10 MiB on (coder/acp-go-sdk), older ones sooner; escaping can make a text
// six times as long.
const textMax = 1 << 20

// Piece splits off the steps that are spelled at once: all of them, but of a
// text longer than one update no more than one update's worth. What was taken
// is removed from the text.
func Piece(steps []mapping.Step) (piece, rest []mapping.Step) {
	for i := range steps {
		s := &steps[i]
		if s.Kind != mapping.StepText || len(s.Text) <= textMax {
			continue
		}
		if i > 0 {
			return steps[:i], steps[i:]
		}
		head := *s
		s.Replaces = false // the rest follows
		head.Text, s.Text = ask.Split(s.Text, textMax)
		head.TextJSON, s.TextJSON = "", ""
		return []mapping.Step{head}, steps
	}
	return steps, nil
}

// joins reports whether next is text that goes on with that of s.
func joins(s, next *mapping.Step) bool {
	return s.Kind == mapping.StepText && next.Kind == mapping.StepText && next.Append && s.MessageID == next.MessageID &&
		s.ArtifactID == next.ArtifactID && s.Name == next.Name && s.LastChunk == next.LastChunk &&
		s.TaskID == next.TaskID && s.ContextID == next.ContextID && s.Model == next.Model && s.UserTier == next.UserTier &&
		s.Metadata == next.Metadata && s.Own == next.Own && s.Repeats == next.Repeats
}

// appendText appends a step's text as a JSON string: the agent's own encoding
// of it where that may be copied.
func appendText(dst []byte, s *mapping.Step) []byte {
	if s.TextJSON != "" && (s.Plain || rawjson.Copyable(string(s.TextJSON))) {
		return append(dst, s.TextJSON...)
	}
	return rawjson.AppendString(dst, s.Text)
}

// joinText lets a step's text go on with the JSON string at the end of dst.
func joinText(dst []byte, s *mapping.Step) []byte {
	last := len(dst) - 1
	if s.Plain && s.TextJSON != "" {
		return append(dst[:last], s.TextJSON[1:]...)
	}
	dst = appendText(dst[:last], s) // its opening quote is where the other's end was
	return append(dst[:last], dst[last+1:]...)
}

// Collapse removes from steps, in place, each snapshot of a tool call's content that
// the next step makes out of date: output that grows, for an editor that is behind. The
// first step of a call, changes of its state, questions and everything between two
// snapshots stay, so nothing is lost but what the newest snapshot repeats.
func Collapse(steps []mapping.Step) []mapping.Step {
	kept := steps[:0]
	for i := range steps {
		s := &steps[i]
		if n := len(kept); n > 0 && supersedes(s, &kept[n-1]) {
			kept[n-1] = *s
			continue
		}
		kept = append(kept, *s)
	}
	return kept
}

// supersedes reports whether a step has all that old shows, and old nothing but a call's content.
func supersedes(s, old *mapping.Step) bool {
	const content = mapping.ToolContent
	return s.Kind == mapping.StepTool && old.Kind == mapping.StepTool && !s.New && !old.New && s.Changed == content && old.Changed == content &&
		s.Tool.Shown == old.Tool.Shown && s.Tool.Status == old.Tool.Status && !s.Tool.Asks && !old.Tool.Asks &&
		s.TaskID == old.TaskID && s.Model == old.Model && s.UserTier == old.UserTier
}

// breakLines breaks the lines of a text that have more than n bytes.
func breakLines(text string, n int) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		for len(line) > n {
			head, rest := ask.Split(line, n)
			b.WriteString(head + "\n")
			line = rest
		}
		b.WriteString(line)
	}
	return b.String()
}
