package cli

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/bridge/store"
)

func (p *program) sessionsCommand() *cli.Command {
	return group("sessions", "list and delete stored conversations", help{
		intro: `Looks after the conversations of editors that are kept on this machine, so
that an editor can load them again: what was said, and with which task of the
agent. They are your files, in clear; a session that nobody uses is removed
after 90 days. What the agent itself keeps is not touched. --no-history keeps
none.`,
		usage: []string{"a2astdio sessions COMMAND [options]"},
		examples: []example{
			{"a2astdio sessions list", "what is there?"},
			{"a2astdio sessions delete --older-than 168h", "delete what is older than a week"},
		},
	}, p.sessionsListCommand(), p.sessionsDeleteCommand())
}

func sessionsCommandOf(name, usage string, action cli.ActionFunc, h help, flags ...cli.Flag) *cli.Command {
	return documented(&cli.Command{Name: name, HelpName: "a2astdio sessions " + name, Usage: usage, Flags: flags, Action: action}, h)
}

func (p *program) sessionsListCommand() *cli.Command {
	return sessionsCommandOf("list", "list what is kept, the newest first", p.listSessions, help{
		intro: "Lists the sessions that are kept, the newest first: when each was last used, the\n" +
			"agent, the directory and what it is called.",
		usage: []string{"a2astdio sessions list [options]"},
		examples: []example{
			{"a2astdio sessions list", "what is there?"},
			{"a2astdio sessions list -o json | jq -r '.[].id'", "their IDs, for a script"},
		},
	}, outputFlag(`[{"id","agent","cwd","title","contextId","taskId","createdAt",
"updatedAt"}]`))
}

func (p *program) sessionsDeleteCommand() *cli.Command {
	return sessionsCommandOf("delete", "delete sessions", p.deleteSessions, help{
		intro: "Deletes sessions and what was said in them, for good: those that are named, all,\n" +
			"or those that nobody has used for a time; and where send --continue would go on.\n" +
			"Close them in the editor first: one that goes on is kept again from then on.",
		usage: []string{"a2astdio sessions delete ID...", "a2astdio sessions delete --all", "a2astdio sessions delete --older-than TIME"},
		examples: []example{
			{"a2astdio sessions delete 4c4fdb17-aa6b-4b1d-8d62-6ce8c49cc3c6", "one that sessions list has shown"},
			{"a2astdio sessions delete --older-than 168h", "what is older than a week"},
		},
	},
		&cli.BoolFlag{Name: "all", Usage: "delete all of them"},
		&cli.DurationFlag{Name: "older-than", Usage: "`TIME`: delete those that were last used longer ago than that, like 168h"})
}

// A storedSession is a session in list -o json.
type storedSession struct {
	ID        string    `json:"id"`
	Agent     string    `json:"agent"`
	Cwd       string    `json:"cwd"`
	Title     string    `json:"title"`
	ContextID string    `json:"contextId,omitempty"`
	TaskID    string    `json:"taskId,omitempty"`
	CreatedAt time.Time `json:"createdAt"`
	UpdatedAt time.Time `json:"updatedAt"`
}

func (p *program) listSessions(c *cli.Context) error {
	_, asJSON, err := p.inputs(c)
	if err != nil {
		return err
	}
	_, records, err := storedSessions()
	if err != nil {
		return err
	}
	if asJSON {
		list := make([]storedSession, 0, len(records))
		for _, r := range records {
			list = append(list, storedSession{r.ID, r.Agent, r.Cwd, r.Title, r.ContextID, r.TaskID, r.CreatedAt, r.UpdatedAt})
		}
		return p.printJSON(list)
	}
	out := &page{}
	for _, r := range records {
		title := cmp.Or(r.Title, "(nothing was said)")
		out.hanging(r.UpdatedAt.Local().Format("2006-01-02 15:04")+"  ", 18, short(title, maxValue)+"\n"+r.ID+"\n"+r.Agent+" in "+r.Cwd)
	}
	if len(records) == 0 {
		out.heading("No session is kept.")
	}
	return p.show(out)
}

func storedSessions() (*store.Store, []store.Record, error) {
	s, err := store.Open("")
	if err != nil {
		return nil, nil, err
	}
	records, err := s.List("", "", "", 0)
	return s, records, err
}

func (p *program) deleteSessions(c *cli.Context) error {
	ids, age := c.Args().Slice(), c.Duration("older-than")
	ways := 0
	for _, given := range []bool{len(ids) > 0, c.Bool("all"), c.IsSet("older-than")} {
		if given {
			ways++
		}
	}
	switch {
	case ways != 1:
		return usagef("sessions delete needs the IDs of sessions, which a2astdio sessions list shows, or --all, or --older-than TIME")
	case c.IsSet("older-than") && age <= 0:
		return usagef("--older-than does not take %v: it takes a time like 168h", age)
	}
	s, records, err := storedSessions()
	if err != nil {
		return err
	}
	if len(ids) == 0 {
		deleted, of, err := s.Purge(age)
		if err == nil {
			_, err = fmt.Fprintf(p.stdout, "Deleted: %d of %d.\n", deleted, of)
		}
		return err
	}
	for _, id := range ids { // all or none: a mistyped ID shows before any session is deleted
		if !slices.ContainsFunc(records, func(r store.Record) bool { return r.ID == id }) {
			return fmt.Errorf("no session %q is kept, so none was deleted: a2astdio sessions list shows them", id)
		}
	}
	for _, id := range ids {
		if err := s.Delete(id); err != nil {
			return err
		}
	}
	return nil
}
