package task

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/internal/cli/frame"
	"github.com/a2astdio/a2astdio/internal/cli/reach"
	"github.com/a2astdio/a2astdio/internal/cli/talk"
	"github.com/a2astdio/a2astdio/internal/safe"
	"github.com/a2astdio/a2astdio/transport"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

func stateWords() string {
	var words []string
	for _, s := range a2a.States() {
		words = append(words, string(s))
	}
	return strings.Join(words, ", ")
}

// readState also takes A2A 1.0's names, which -o json writes.
func readState(word string) (a2a.State, error) {
	s := a2a.State(strings.ReplaceAll(strings.TrimPrefix(strings.ToLower(word), "task_state_"), "_", "-"))
	if word != "" && !slices.Contains(a2a.States(), s) {
		return "", frame.Usagef("--state does not take %q: it takes %s", word, stateWords())
	}
	return s, nil
}

func listTasks(p *frame.Program, c *cli.Context, l *reach.Link) (err error) {
	q := a2a.TaskQuery{ContextID: c.String("context-id")}
	if q.State, err = readState(c.String("state")); err != nil {
		return err
	}
	if !frame.AsJSON(c) {
		q.HistoryLength = new(promptHistory)
	}
	list, err := pages(c, l.Client, q)
	if err != nil {
		return notOffered(err, "to list its tasks")
	}
	if frame.AsJSON(c) {
		return listDocument(p, list, l.Asked(c))
	}
	return listText(p, c, list)
}

// pages gets a page, or all pages that follow as one.
func pages(c *cli.Context, client *transport.Client, q a2a.TaskQuery) (*a2a.TaskPage, error) {
	all := &a2a.TaskPage{}
	seen := map[string]bool{}
	for {
		page, err := client.List(c.Context, q)
		if err != nil {
			return nil, err
		}
		all.Tasks = append(all.Tasks, page.Tasks...)
		all.NextPageToken, all.TotalSize = page.NextPageToken, page.TotalSize
		if !c.Bool("all") || page.NextPageToken == "" {
			return all, nil
		}
		if seen[page.NextPageToken] {
			return nil, fmt.Errorf("agent: its list of tasks repeats the page %q", page.NextPageToken)
		}
		seen[page.NextPageToken], q.PageToken = true, page.NextPageToken
	}
}

func listDocument(p *frame.Program, list *a2a.TaskPage, from transport.Chosen) error {
	tasks := make([]any, 0, len(list.Tasks))
	for i := range list.Tasks {
		tasks = append(tasks, talk.V1Task(list.Tasks[i].Raw, from))
	}
	return p.PrintJSON(struct {
		Tasks []any  `json:"tasks"`
		Next  string `json:"nextPageToken"`
		Size  int    `json:"pageSize"`
		Total int    `json:"totalSize"`
	}{tasks, list.NextPageToken, len(tasks), max(list.TotalSize, len(tasks))})
}

// promptHistory is how many messages of each task are fetched to find its prompt. A
// task with more shows a later one.
const promptHistory = 50

// listText writes a table in the agent's order, newest first, in local time. A terminal
// gets the shortest IDs, and one line a task.
func listText(p *frame.Program, c *cli.Context, list *a2a.TaskPage) error {
	if len(list.Tasks) == 0 {
		if frame.IsSet(c, "context-id") || frame.IsSet(c, "state") {
			p.Say("the agent holds no such task")
		} else {
			p.Say("the agent holds no tasks")
		}
		if c.String("agent") == reach.DemoAgent {
			p.Say("%s", reach.DemoEnds)
		}
		return nil
	}
	var ids []string
	for _, t := range list.Tasks {
		ids = append(ids, t.TaskID)
	}
	shown, width := map[string]string{}, 36 // of a UUID
	if frame.IsTerminal(p.Stdout) {
		shown, width = shortIDs(ids), minShortID
	}
	var out frame.Page
	row := func(id, state, updated, prompt string) {
		line := fmt.Sprintf("%-*s  %-14s  %-16s  %s", width, frame.OneLine(id), frame.OneLine(state), frame.OneLine(updated), frame.OneLine(prompt))
		if line = strings.TrimRight(safe.Plain(line), " "); frame.IsTerminal(p.Stdout) {
			line = frame.CutTo(line, max(frame.WidthOf(p.Stdout), talk.MinText))
		}
		out.B.WriteString(line + "\n")
	}
	row("TASK", "STATE", "UPDATED", "PROMPT")
	context := ""
	for i := range list.Tasks {
		t := &list.Tasks[i]
		if t.ContextID != context {
			context = t.ContextID
			out.B.WriteString("context " + frame.OneLine(safe.Plain(context)) + "\n")
		}
		row(cmp.Or(shown[t.TaskID], t.TaskID), string(t.State), frame.When(t.Timestamp, "2006-01-02 15:04"), promptOf(t))
	}
	if err := p.Show(&out); err != nil {
		return err
	}
	if list.NextPageToken != "" {
		of := ""
		if list.TotalSize > 0 {
			of = fmt.Sprintf(" of %d", list.TotalSize)
		}
		p.Say("these are %d%s: --all shows all", len(list.Tasks), of)
	}
	return nil
}

// promptOf returns the beginning of the user's first text in a task.
func promptOf(t *a2a.Event) string {
	for m := range a2a.Each(t.History) {
		if m.Role != a2a.RoleUser {
			continue
		}
		for part := range m.Parts.All() {
			if part.Kind == a2a.PartText && strings.TrimSpace(part.Text) != "" {
				return safe.Short(part.Text, maxPromptShown)
			}
		}
	}
	return ""
}

// maxPromptShown bounds a prompt in a table without a terminal's width.
const maxPromptShown = 60

// minShortID is the length of an ID in task list on a terminal, if that is unique.
const minShortID = 8

// shortIDs cuts IDs to the shortest beginnings that differ.
func shortIDs(ids []string) map[string]string {
	all := map[string]string{}
	for _, id := range ids {
		all[id] = id
		for n := minShortID; n <= min(reach.MaxShortID, len(id)); n++ {
			begins := func(other string) bool { return other != id && strings.HasPrefix(other, id[:n]) }
			if !slices.ContainsFunc(ids, begins) && strings.ToValidUTF8(id[:n], "") == id[:n] {
				all[id] = id[:n]
				break
			}
		}
	}
	return all
}
