package reach

import (
	"fmt"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/internal/cli/frame"
	"github.com/a2astdio/a2astdio/internal/safe"
	"github.com/a2astdio/a2astdio/transport"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// MaxShortID is how long the beginning of a task's ID may be. Longer words are whole IDs,
// and cost no further request.
const MaxShortID = 16

// ProgramFor returns the beginning of a command line for the same agent.
func ProgramFor(c *cli.Context) string {
	command := frame.ProgramName
	for _, name := range []string{"agent", "agent-command", "workspace"} {
		if value := c.String(name); value != "" && value != os.Getenv(frame.Env(name)) {
			command += " --" + name + " " + safe.ShellWord(value)
		}
	}
	return command
}

// OnTask makes an action of one on the task of an agent whose card was read. The command's
// first argument is the task's ID, or its beginning.
func OnTask(do func(p *frame.Program, c *cli.Context, l *Link, id string) error) frame.Action {
	return Reached(func(p *frame.Program, c *cli.Context, l *Link) error {
		id, err := l.TaskID(c, c.Args().First())
		if err != nil {
			return err
		}
		return do(p, c, l, id)
	})
}

// TaskID completes a task's ID from its beginning, as task list shows it: it looks among
// the tasks that the agent lists first. It returns the word itself if the agent knows
// it, and also if no ID is found: the agent's answer to it tells more.
func (l *Link) TaskID(c *cli.Context, word string) (string, error) {
	if len(word) > MaxShortID {
		return word, nil
	}
	if _, err := l.Client.Get(c.Context, word, 0); a2a.ErrorOf(err) == nil {
		return word, nil
	}
	list, err := l.Client.List(c.Context, a2a.TaskQuery{HistoryLength: new(0)})
	if err != nil {
		return word, nil // the agent has no list
	}
	found := []string{}
	for i := range list.Tasks {
		if id := list.Tasks[i].TaskID; strings.HasPrefix(id, word) {
			found = append(found, id)
		}
	}
	if len(found) <= 1 {
		return append(found, word)[0], nil
	}
	return "", fmt.Errorf("%d tasks have an ID that begins with %s: %s", len(found), word, safe.Short(strings.Join(found, ", "), frame.MaxValue))
}

// DemoForgets explains why the demo does not have a task, where that is our doing.
func DemoForgets(c *cli.Context, err error) error {
	if a2a.ErrorOf(err).Has(a2a.CodeTaskNotFound) && c.String("agent") == DemoAgent {
		return fmt.Errorf("%w: %s", err, DemoEnds)
	}
	return err
}

const DemoEnds = "the demo that is built in ends with its command, and its tasks with it: a2astdio demo --listen :4000 serves one that stays"

// Asked returns how an agent that has answered was asked last.
func (l *Link) Asked(c *cli.Context) transport.Chosen {
	how, _ := l.Client.Chosen(c.Context) // there is an error only if nothing could be asked
	return how
}

// ChosenSays names the interface that is used, and why.
func ChosenSays(c transport.Chosen) string {
	return "A2A " + c.Version + " over " + c.Binding + ": " + c.Why
}
