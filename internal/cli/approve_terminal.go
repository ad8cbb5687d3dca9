package cli

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/acp"
)

// maxShown is how many lines of a change are shown before the question: more
// would scroll it away. The whole of it is in the agent's own files, or can be
// rejected unseen.
const maxShown = 60

// askTerminal puts questions to the user, and closes the terminal. It returns at
// once when ctx ends.
func askTerminal(ctx context.Context, tty io.ReadWriteCloser, questions []mapping.Question) ([]mapping.Answer, error) {
	type reply struct {
		answers []mapping.Answer
		err     error
	}
	replies := make(chan reply, 1)
	go func() { // ends with the user's answer; where Close does not end a read, with the process
		lines := bufio.NewReader(tty)
		var answers []mapping.Answer
		for _, q := range questions {
			a, err := askOne(tty, lines, q)
			if err != nil {
				replies <- reply{nil, err}
				return
			}
			answers = append(answers, a)
		}
		replies <- reply{answers, nil}
	}()
	defer tty.Close()
	select {
	case r := <-replies:
		return r.answers, r.err
	case <-ctx.Done():
		// Best effort: the cursor is behind the question.
		_, _ = io.WriteString(tty, "\n")
		return nil, ctx.Err()
	}
}

// askOne shows a question and reads until there is an answer. The end of input
// is a no.
func askOne(tty io.Writer, lines *bufio.Reader, q mapping.Question) (mapping.Answer, error) {
	var b strings.Builder
	b.WriteString("\n" + describe(q.Call))
	for i, o := range q.Options {
		fmt.Fprintf(&b, "  %d  %s\n", i+1, cmp.Or(o.Name, o.ID))
	}
	// All of it comes from the agent.
	if _, err := io.WriteString(tty, plainText(b.String())); err != nil {
		return mapping.Answer{}, err
	}
	for {
		if _, err := fmt.Fprintf(tty, "Which? [1-%d] ", len(q.Options)); err != nil {
			return mapping.Answer{}, err
		}
		line, err := lines.ReadString('\n')
		if id, ok := choice(strings.ToLower(strings.TrimSpace(line)), q); ok {
			return mapping.Answer{Call: q.Call, OptionID: id}, nil
		}
		if err == io.EOF {
			return mapping.Reject(q), nil
		}
		if err != nil {
			return mapping.Answer{}, err
		}
	}
}

// choice finds the option that a line names: by number, or as yes or no.
func choice(line string, q mapping.Question) (id string, ok bool) {
	if n, err := strconv.Atoi(line); err == nil && n >= 1 && n <= len(q.Options) {
		return q.Options[n-1].ID, true
	}
	want := ""
	switch line {
	case "y", "yes":
		want = acp.OptionAllowOnce
	case "n", "no":
		want = acp.OptionRejectOnce
	}
	for _, o := range q.Options {
		if want != "" && o.Kind == want {
			return o.ID, true
		}
	}
	return "", false
}

// describe says what the agent wants to do.
func describe(c *mapping.ToolCall) string {
	var b strings.Builder
	fmt.Fprintf(&b, "The agent asks: %s\n", toolName(c))
	q := c.Confirmation
	switch {
	case q == nil:
	case q.Execute != nil:
		fmt.Fprintf(&b, "  $ %s\n", strings.ReplaceAll(q.Execute.Command, "\n", "\n    "))
		if q.Execute.WorkingDirectory != "" {
			fmt.Fprintf(&b, "  in %s\n", q.Execute.WorkingDirectory)
		}
	case q.Edit != nil:
		fmt.Fprintf(&b, "  %s\n", cmp.Or(q.Edit.FilePath, q.Edit.FileName))
		b.WriteString(diff(q.Edit))
	case q.MCP != nil:
		fmt.Fprintf(&b, "  %s of the MCP server %s\n", q.MCP.ToolName, q.MCP.ServerName)
		if c.Input != "" {
			fmt.Fprintf(&b, "  with %s\n", c.Input)
		}
	case q.Generic != nil:
		fmt.Fprintf(&b, "  %s\n", strings.ReplaceAll(q.Generic.Description, "\n", "\n  "))
	}
	return b.String()
}

// diff shows what would change: as the agent formats it, or the lines between
// what stays the same before and after.
func diff(f *mapping.FileDiff) string {
	var lines []string
	if f.Formatted != "" {
		lines = strings.Split(strings.TrimRight(f.Formatted, "\n"), "\n")
	} else {
		var before []string
		if f.OldContent != nil {
			before = strings.Split(*f.OldContent, "\n")
		}
		after := strings.Split(f.NewContent, "\n")
		for len(before) > 0 && len(after) > 0 && before[0] == after[0] {
			before, after = before[1:], after[1:]
		}
		for len(before) > 0 && len(after) > 0 && before[len(before)-1] == after[len(after)-1] {
			before, after = before[:len(before)-1], after[:len(after)-1]
		}
		for _, l := range before {
			lines = append(lines, "-"+l)
		}
		for _, l := range after {
			lines = append(lines, "+"+l)
		}
	}
	more := ""
	if n := len(lines) - maxShown; n > 0 {
		lines, more = lines[:maxShown], fmt.Sprintf("    ... and %d lines more\n", n)
	}
	return "    " + strings.Join(lines, "\n    ") + "\n" + more
}
