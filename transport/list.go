package transport

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// List looks up tasks, one page at a time. 0.3 agents need not have the method,
// and most have not: their refusal is an [*a2a.Error] with
// [a2a.CodeMethodNotFound]. Some want to know who is asking
// ([a2a.Error.Unauthenticated]). A query that the agent's version has no words
// for is refused before anything is sent.
func (c *Client) List(ctx context.Context, q a2a.TaskQuery) (*a2a.TaskPage, error) {
	if q.State != "" && !slices.Contains(a2a.States(), q.State) {
		return nil, failf(nil, "tasks cannot be listed by the state %q, which A2A has not", q.State)
	}
	op := newOperation(opList)
	op.query = &q
	e, result, err := c.unary(ctx, op)
	if err != nil {
		return nil, err
	}
	page := readPage(e.protocol, rawjson.View(result))
	if page == nil {
		return nil, failf(nil, "%s answered %s with something that is no list of tasks: %s", shown(e.url), op.what, quote(result))
	}
	return page, nil
}

// readPage reads a page of tasks, nil if it is none. A member that is missing is
// no mistake: a2a-go 0.3.15 leaves out an empty list.
func readPage(p protocol, raw string) *a2a.TaskPage {
	page := new(a2a.TaskPage)
	tasks := func(list string) {
		rawjson.EachElement(list, func(value string) bool {
			page.Tasks = append(page.Tasks, a2a.Event{})
			p.decode(value, &page.Tasks[len(page.Tasks)-1])
			return true
		})
	}
	switch raw = strings.TrimSpace(raw); {
	case rawjson.IsArray(raw):
		tasks(raw)
	case rawjson.IsObject(raw):
		rawjson.EachMember(raw, func(key, value string) bool {
			switch key {
			case "tasks":
				tasks(value)
			// In snake_case they are a2a-go 0.3.15's.
			case "nextPageToken", "next_page_token":
				page.NextPageToken = jsonText(value)
			case "totalSize", "total_size":
				page.TotalSize, _ = strconv.Atoi(jsonText(value))
			}
			return true
		})
	default:
		return nil
	}
	return page
}
