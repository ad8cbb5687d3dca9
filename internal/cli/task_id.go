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
	// minShortID is the length of an ID in task list, if that is unique.
	minShortID = 8
	// maxShortID is how long the beginning of an ID may be. Longer words are whole IDs,
	// and cost no further request.
	maxShortID = 16
	// maxListPages bounds the pages that are searched for the beginning of an ID.
	maxListPages = 20
)

// taskID completes a task's ID from its beginning, as task list shows it. It returns
// the word itself if the agent knows it, and also if no ID is found: the agent's answer
// to it tells more.
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

// contextID completes a context's ID from what task list shows. Shorter words stay as
// they are: some agents let clients name a context, and a new name must not select
// somebody else's context that begins with it.
func (p *program) contextID(c *cli.Context, l *link, word string) (string, error) {
	if len(word) < minShortID || len(word) > maxShortID {
		return word, nil
	}
	return p.wholeID(c, l, word, "contexts", func(t *a2a.Event) string { return t.ContextID })
}

// wholeIDs completes the IDs of a message.
func (p *program) wholeIDs(c *cli.Context, l *link, agent *bridge.Agent, m *a2a.Outgoing) (err error) {
	if !c.IsSet("task-id") && !c.IsSet("context-id") {
		return nil
	}
	if _, _, err := agent.Ready(c.Context); err != nil {
		return nil // sending meets the same error and reports it
	}
	if c.IsSet("task-id") {
		if m.TaskID, err = p.taskID(c, l, m.TaskID); err != nil {
			return err
		}
	}
	m.ContextID, err = p.contextID(c, l, m.ContextID)
	return err
}

// wholeID searches the agent's tasks for an ID with this beginning.
func (p *program) wholeID(c *cli.Context, l *link, word, what string, of func(*a2a.Event) string) (string, error) {
	none := 0
	q := a2a.TaskQuery{PageSize: maxPageSize, HistoryLength: &none}
	var found []string
	for range maxListPages {
		page, err := l.client.List(c.Context, q)
		if err != nil {
			return word, nil // the agent has no list
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

// shortIDs cuts IDs to the shortest beginnings that differ.
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

// validEnd reports whether n is not within a character.
func validEnd(id string, n int) bool { return n == len(id) || id[n]&0xc0 != 0x80 }
