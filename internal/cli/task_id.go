package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

const (
	// minShortID is the length of an ID in task list on a terminal, if that is unique.
	minShortID = 8
	// maxShortID is how long the beginning of an ID may be. Longer words are whole IDs,
	// and cost no further request.
	maxShortID = 16
)

// reachTask reaches the agent, and completes the ID of a task, which is the first
// argument.
func (p *program) reachTask(c *cli.Context, args []string) (*link, error) {
	l, err := p.reach(c)
	if err != nil {
		return nil, err
	}
	if args[0], err = l.taskID(c, args[0]); err != nil {
		l.close()
		return nil, err
	}
	return l, nil
}

// taskID completes a task's ID from its beginning, as task list shows it: it looks among
// the tasks that the agent lists first. It returns the word itself if the agent knows
// it, and also if no ID is found: the agent's answer to it tells more.
func (l *link) taskID(c *cli.Context, word string) (string, error) {
	if len(word) > maxShortID {
		return word, nil
	}
	var agent *a2a.Error
	if _, err := l.client.Get(c.Context, word, 0); err == nil || !errors.As(err, &agent) {
		return word, nil
	}
	none := 0
	list, err := l.client.List(c.Context, a2a.TaskQuery{HistoryLength: &none})
	if err != nil {
		return word, nil // the agent has no list
	}
	found := []string{}
	for i := range list.Tasks {
		if id := list.Tasks[i].TaskID; strings.HasPrefix(id, word) {
			found = append(found, id)
		}
	}
	switch len(found) {
	case 0:
		return word, nil
	case 1:
		return found[0], nil
	}
	return "", fmt.Errorf("%d tasks have an ID that begins with %s: %s", len(found), word, short(strings.Join(found, ", "), maxValue))
}

// shortIDs cuts IDs to the shortest beginnings that differ.
func shortIDs(ids []string) map[string]string {
	all := map[string]string{}
	for _, id := range ids {
		all[id] = id
		for n := minShortID; n <= min(maxShortID, len(id)); n++ {
			begins := func(other string) bool { return other != id && strings.HasPrefix(other, id[:n]) }
			if !slices.ContainsFunc(ids, begins) && strings.ToValidUTF8(id[:n], "") == id[:n] {
				all[id] = id[:n]
				break
			}
		}
	}
	return all
}
