package setup

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/bridge/store"
	"github.com/a2astdio/a2astdio/internal/cli/frame"
	"github.com/a2astdio/a2astdio/internal/safe"
)

func SessionsCommand(p *frame.Program) *cli.Command {
	return p.Group("sessions",
		p.NewCommand("sessions list", listSessions,
			frame.Output(`[{"id","agent","cwd","title","contextId","taskId","updatedAt"}]`)),
		p.NewCommand("sessions delete [ID...]", deleteSessions,
			frame.Option{Flag: "all", Kind: frame.Switch, Help: "delete all of them"},
			frame.Option{Flag: "older-than", Kind: frame.Duration, Takes: "TIME", Help: "delete those that were last used longer ago than that, like 168h"}))
}

func listSessions(p *frame.Program, c *cli.Context) error {
	_, records, err := storedSessions()
	if err != nil {
		return err
	}
	if frame.AsJSON(c) {
		list := make([]store.Record, 0, len(records))
		for _, r := range records {
			r.Previous, r.Webhook = nil, "" // which no script needs
			list = append(list, r)
		}
		return p.PrintJSON(list)
	}
	out := &frame.Page{}
	for _, r := range records {
		title := cmp.Or(r.Title, "(no title)")
		out.Hanging(r.UpdatedAt.Local().Format("2006-01-02 15:04")+"  ", 18, safe.Short(title, frame.MaxValue)+"\n"+r.ID+"\n"+r.Agent+" in "+r.Cwd)
	}
	if len(records) == 0 {
		out.Heading("No session is kept.")
	}
	out.Heading("Conversations of send are tasks of the agent: a2astdio help conversations.")
	return p.Show(out)
}

func storedSessions() (*store.Store, []store.Record, error) {
	s, err := store.Open("")
	if err != nil {
		return nil, nil, err
	}
	records, err := s.List("", "")
	return s, records, err
}

func deleteSessions(p *frame.Program, c *cli.Context) error {
	ids, age := c.Args().Slice(), c.Duration("older-than")
	ways := 0
	for _, given := range []bool{len(ids) > 0, c.Bool("all"), frame.IsSet(c, "older-than")} {
		if given {
			ways++
		}
	}
	if ways != 1 {
		return frame.Usagef("sessions delete needs the IDs of sessions, which a2astdio sessions list shows, or --all, or --older-than TIME")
	}
	s, records, err := storedSessions()
	if err != nil {
		return err
	}
	if len(ids) == 0 {
		deleted, of, err := s.Purge(age)
		if err == nil {
			_, err = fmt.Fprintf(p.Stdout, "Deleted: %d of %d.\n", deleted, of)
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
