package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/bridge"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

const (
	// minShortID is how much of an ID task list shows, if that is unique.
	minShortID = 8
	// maxShortID is how long a word may be to be taken for the beginning of an ID:
	// longer ones are whole, and cost no further request.
	maxShortID = 16
	// maxListPages is how many pages are searched for an ID that begins so.
	maxListPages = 20
)

// taskID returns the whole ID of a task that the user has named by its beginning, as
// task list shows it. What the agent knows as it is stays as it is, and so does what
// cannot be found: the agent's own answer to it tells more.
func (p *program) taskID(c *cli.Context, l *link, word string) (string, error) {
	if len(word) > maxShortID {
		return word, nil
	}
	var agent *a2a.Error
	if _, err := l.client.Get(c.Context, word, 0); err == nil || !errors.As(err, &agent) {
		return word, nil
	}
	return p.wholeID(c, l, word, "tasks", func(t *a2a.Event) string { return t.TaskID })
}

// reachTask reaches the agent, and makes the ID of a task whole, which is the first
// argument.
func (p *program) reachTask(c *cli.Context, args []string) (*link, error) {
	l, err := p.reach(c)
	if err != nil {
		return nil, err
	}
	if args[0], err = p.taskID(c, l, args[0]); err != nil {
		l.close()
		return nil, err
	}
	return l, nil
}

// contextID returns the whole ID of a context that the user has named as task list
// shows it. Shorter words stay as they are: there are agents that let their clients
// name a context, and a new one must not become a stranger's whose ID begins so.
func (p *program) contextID(c *cli.Context, l *link, word string) (string, error) {
	if len(word) < minShortID || len(word) > maxShortID {
		return word, nil
	}
	return p.wholeID(c, l, word, "contexts", func(t *a2a.Event) string { return t.ContextID })
}

// wholeIDs makes the IDs whole that send got.
func (p *program) wholeIDs(c *cli.Context, l *link, agent *bridge.Agent, m *a2a.Outgoing) (err error) {
	if !c.IsSet("task-id") && !c.IsSet("context-id") {
		return nil
	}
	if _, _, err := agent.Ready(c.Context); err != nil {
		return nil // sending meets the same, and says it
	}
	if c.IsSet("task-id") {
		if m.TaskID, err = p.taskID(c, l, m.TaskID); err != nil {
			return err
		}
	}
	m.ContextID, err = p.contextID(c, l, m.ContextID)
	return err
}

// wholeID looks through the agent's tasks for an ID that begins with a word.
func (p *program) wholeID(c *cli.Context, l *link, word, what string, of func(*a2a.Event) string) (string, error) {
	none := 0
	q := a2a.TaskQuery{PageSize: maxPageSize, HistoryLength: &none}
	var found []string
	for range maxListPages {
		page, err := l.client.List(c.Context, q)
		if err != nil {
			return word, nil // it has no list
		}
		for i := range page.Tasks {
			id := of(&page.Tasks[i])
			if id == word {
				return word, nil
			}
			if strings.HasPrefix(id, word) && !slices.Contains(found, id) {
				found = append(found, strings.Clone(id))
			}
		}
		if page.NextPageToken == "" || page.NextPageToken == q.PageToken {
			switch len(found) {
			case 0:
				return word, nil
			case 1:
				return found[0], nil
			}
			return "", fmt.Errorf("%d %s have an ID that begins with %s: %s", len(found), what, word, short(strings.Join(found, ", "), maxValue))
		}
		q.PageToken = page.NextPageToken
	}
	return "", fmt.Errorf("the agent holds too many tasks to look for the one that begins with %s: write its whole ID", word)
}

// shortIDs returns the beginnings of IDs that tell them apart.
func shortIDs(ids []string) map[string]string {
	all := map[string]string{}
	for _, id := range ids {
		n := min(minShortID, len(id))
		for n < len(id) && clashes(id[:n], id, ids) {
			n++
		}
		all[id] = id[:n]
		if n > maxShortID || !validEnd(id, n) {
			all[id] = id
		}
	}
	return all
}

func clashes(begin, id string, ids []string) bool {
	for _, other := range ids {
		if other != id && strings.HasPrefix(other, begin) {
			return true
		}
	}
	return false
}

// validEnd reports whether an ID can be cut at n: not within a character.
func validEnd(id string, n int) bool { return n == len(id) || id[n]&0xc0 != 0x80 }
