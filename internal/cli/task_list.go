package cli

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/transport"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// maxPageSize is what A2A 1.0 allows (§3.1.4).
const maxPageSize = 100

func (p *program) taskListCommand() *cli.Command {
	return taskCommandOf("list", "list the agent's tasks", p.listTasks, help{
		intro: `Lists the tasks that the agent holds, the newest first, by page. Agents of A2A
0.3 need not have a list, and most have none.`,
		usage: []string{"a2astdio --agent URL task list [options]"},
		examples: []example{
			{"a2astdio task list", "the newest"},
			{"a2astdio task list --all --state input-required", "all that wait for an answer"},
			{"a2astdio task list -o json | jq -r .nextPageToken", "for --page-token of the next page"},
		},
	},
		&cli.StringFlag{Name: "context-id", Usage: "`ID`: only the tasks of this context"},
		&cli.StringFlag{Name: "state", Usage: "`STATE`: only the tasks in this state: " + stateWords()},
		&cli.IntFlag{Name: "page-size", DefaultText: "the agent's choice", Usage: "`N`: how many tasks a page has, 1 to 100"},
		&cli.StringFlag{Name: "page-token", Usage: "`TOKEN`: the page that the one before has named"},
		&cli.BoolFlag{Name: "all", Usage: "all pages"},
		outputFlag("A2A 1.0's ListTasksResponse"))
}

func stateWords() string {
	var words []string
	for _, s := range a2a.States() {
		words = append(words, string(s))
	}
	return strings.Join(words, ", ")
}

// readState reads a state in the spelling of either version.
func readState(word string) (a2a.State, error) {
	s := a2a.State(strings.ReplaceAll(strings.TrimPrefix(strings.ToLower(word), "task_state_"), "_", "-"))
	if word != "" && !slices.Contains(a2a.States(), s) {
		return "", usagef("--state does not take %q: it takes %s", word, stateWords())
	}
	return s, nil
}

func (p *program) listTasks(c *cli.Context) error {
	if _, err := p.arguments(c); err != nil {
		return err
	}
	format, err := oneOf(c, "output", formatText, formatJSON)
	if err != nil {
		return err
	}
	q := a2a.TaskQuery{ContextID: c.String("context-id"), PageSize: c.Int("page-size"), PageToken: c.String("page-token")}
	if q.State, err = readState(c.String("state")); err != nil {
		return err
	}
	if c.IsSet("page-size") && (q.PageSize < 1 || q.PageSize > maxPageSize) {
		return usagef("--page-size does not take %d: it takes 1 to %d", q.PageSize, maxPageSize)
	}
	l, agent, err := p.reach(c)
	if err != nil {
		return err
	}
	defer l.close()
	defer agent.Close()
	list, err := p.pages(c, l.client, q)
	if err != nil {
		return err
	}
	if format == formatJSON {
		return p.listDocument(list)
	}
	return p.listText(c, list)
}

// pages gets a page, or all that follow, as one.
func (p *program) pages(c *cli.Context, client *transport.Client, q a2a.TaskQuery) (*a2a.TaskPage, error) {
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
			return nil, fmt.Errorf("agent: its pages go round in circles: %q was named before", page.NextPageToken)
		}
		seen[page.NextPageToken], q.PageToken = true, page.NextPageToken
	}
}

func (p *program) listDocument(list *a2a.TaskPage) error {
	tasks := make([]json.RawMessage, 0, len(list.Tasks))
	for i := range list.Tasks {
		tasks = append(tasks, v1Task(list.Tasks[i].Raw))
	}
	document, err := encode(struct {
		Tasks []json.RawMessage `json:"tasks"`
		Next  string            `json:"nextPageToken"`
		Size  int               `json:"pageSize"`
		Total int               `json:"totalSize"`
	}{tasks, list.NextPageToken, len(tasks), max(list.TotalSize, len(tasks))})
	if err != nil {
		return err
	}
	return p.document(document)
}

// listText is a table. Contexts are above their tasks: beside them there is no
// room.
func (p *program) listText(c *cli.Context, list *a2a.TaskPage) error {
	if len(list.Tasks) == 0 {
		p.say("the agent holds no such task")
		if stringOf(c, "agent") == demoAgent {
			p.say("%s", demoEnds)
		}
		return nil
	}
	var out page
	width := 0
	for _, t := range list.Tasks {
		width = max(width, utf8.RuneCountInString(t.TaskID))
	}
	fmt.Fprintf(&out.b, "%-*s  %-14s  %s\n", width, "TASK", "STATE", "UPDATED")
	context := ""
	for _, t := range list.Tasks {
		if t.ContextID != context {
			context = t.ContextID
			out.b.WriteString(plainText("context "+oneLine(context)) + "\n")
		}
		updated := ""
		if t.Timestamp != "" {
			updated = when(t.Timestamp)
		}
		line := fmt.Sprintf("%-*s  %-14s  %s", width, oneLine(t.TaskID), oneLine(string(t.State)), oneLine(updated))
		out.b.WriteString(strings.TrimRight(plainText(line), " ") + "\n")
	}
	if err := p.show(&out); err != nil {
		return err
	}
	if list.NextPageToken != "" {
		of := ""
		if list.TotalSize > 0 {
			of = fmt.Sprintf(" of %d", list.TotalSize)
		}
		p.say("these are %d%s: --all shows all, --page-token %s the next page", len(list.Tasks), of, list.NextPageToken)
	}
	return nil
}

// oneLine keeps the agent's text in its place in a table.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
