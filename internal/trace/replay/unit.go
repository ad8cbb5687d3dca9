package replay

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"sort"
	"strings"

	"github.com/tidwall/gjson"
)

// A lane holds a session's messages in order: recorded ones and current ones that were
// not compared yet.
type lane struct {
	then, now []*unit
	// cancelled: how much comes before the end depends on timing.
	cancelled bool
	calls     [2]map[string]*call // then, now
}

// A call is a tool call after all updates so far.
type call struct {
	status  string
	members map[string]json.RawMessage
}

// A unit is a message to the editor, or a run of text.
type unit struct {
	n   int64
	raw []byte
	doc gjson.Result
	// kind is the kind of a text's update, with the message's name; "" for anything else.
	kind, text string
	// call is the tool call after this unit has changed its state.
	call   []byte
	merged bool
}

func newUnit(n int64, raw []byte) *unit {
	u := &unit{n: n, raw: raw, doc: gjson.ParseBytes(raw)}
	switch update := u.doc.Get("params.update"); {
	case strings.HasSuffix(update.Get("sessionUpdate").Str, "_chunk") && update.Get("content.type").Str == "text":
		u.kind, u.text = update.Get("sessionUpdate").Str, update.Get("content.text").Str
	case u.doc.Get("method").Str == "event/text":
		u.kind, u.text = "event/text", u.doc.Get("params.text").Str
	}
	return u
}

// Sides of a message: from the editor, from the recorded bridge, from the current
// bridge.
const (
	sent = iota
	then
	now
)

// laneOf returns the lane of a message. Lanes have the recorded session's name.
func (e *editor) laneOf(doc gjson.Result, side int) *lane {
	id, method := doc.Get("id").Raw, doc.Get("method")
	name := doc.Get("params.sessionId").Str
	if was, ok := e.ids.then[name]; ok && side == now {
		name = was
	}
	if request := doc.Get("params.request").Raw; name == "" && request != "" {
		name = "request " + request
	}
	switch update := doc.Get("params.update.sessionUpdate").Str; update {
	case "available_commands_update", "session_info_update", "current_mode_update", "config_option_update", "usage_update":
		name += " " + update // they come at any time
	}
	switch {
	case method.Exists() && id != "" && side == sent:
		if name == "" && !strings.HasPrefix(method.Str, "session/") && method.Str != "initialize" {
			name = "request " + id // A2A lines
		}
		e.requests[id] = name
	case !method.Exists() && side != sent:
		name = e.requests[id]
	}
	l := e.lanes[name]
	if l == nil {
		l = &lane{calls: [2]map[string]*call{{}, {}}}
		e.lanes[name] = l
	}
	return l
}

// tool applies a unit to its tool call. ok: it has one; changed: the call's state
// changes. Growing output and repeated members may come in any number of pieces.
func (l *lane) tool(u *unit, side int) (changed, ok bool) {
	update := u.doc.Get("params.update")
	id, said := update.Get("toolCallId").Str, update
	whole := false
	if kind := update.Get("sessionUpdate").Str; id == "" || kind != "tool_call" && kind != "tool_call_update" {
		said, whole = u.doc.Get("params.toolCall"), true
		if id = said.Get("tool_call_id").Str; id == "" || u.doc.Get("method").Str != "event/toolCall" {
			return false, false
		}
	}
	if u.merged {
		return u.call != nil, true
	}
	u.merged = true
	c := l.calls[side][id]
	if c == nil || whole {
		was := c
		c = &call{members: map[string]json.RawMessage{}}
		if was != nil {
			c.status = was.status
		}
		l.calls[side][id] = c
	}
	said.ForEach(func(k, v gjson.Result) bool {
		if k.Str != "sessionUpdate" && k.Str != "_meta" {
			c.members[k.Str] = json.RawMessage(v.Raw)
		}
		return true
	})
	if status := said.Get("status").String(); status == "" || status == c.status {
		return false, true
	} else {
		c.status = status
	}
	members := maps.Clone(c.members)
	switch strings.ToLower(c.status) {
	case "completed", "failed", "succeeded", "cancelled":
	default: // how much of the output there is depends on the moment
		delete(members, "content")
		delete(members, "rawOutput")
		delete(members, "live_content")
	}
	u.call, _ = json.Marshal(members) // it was JSON
	return true, true
}

// compare compares what has come. It returns the first missing unit, nil if there is
// none.
func (e *editor) compare() (missing *unit, err error) {
	for _, name := range e.laneNames() {
		l := e.lanes[name]
		for {
			l.skip(&l.then, 0)
			l.skip(&l.now, 1)
			if len(l.then) == 0 || len(l.now) == 0 {
				break
			}
			if err := e.heads(l); err != nil {
				return nil, err
			}
		}
		if len(l.then) > 0 && (missing == nil || l.then[0].n < missing.n) {
			missing = l.then[0]
		}
	}
	return missing, nil
}

func (e *editor) laneNames() []string {
	var names []string
	for name := range e.lanes {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

// skip removes optional units from the beginning of a list.
func (l *lane) skip(list *[]*unit, side int) {
	for len(*list) > 0 {
		u := (*list)[0]
		changed, tool := l.tool(u, side)
		switch {
		case tool && !changed:
		case u.kind != "" && (u.text == "" || l.cancelled):
		default:
			return
		}
		*list = (*list)[1:]
	}
}

// heads compares the first units of both lists, and removes equal ones.
func (e *editor) heads(l *lane) error {
	was, is := l.then[0], l.now[0]
	if was.kind != "" && is.kind != "" {
		n := min(len(was.text), len(is.text))
		if was.kind != is.kind || was.text[:n] != is.text[:n] {
			return &Difference{Record: was.n, Where: "the text is another one", Then: was.kind + " " + string(quote(was.text)), Now: is.kind + " " + string(quote(is.text))}
		}
		if was.text = was.text[n:]; was.text == "" {
			e.same++
		}
		is.text = is.text[n:]
		return nil
	}
	where := ""
	if was.call != nil && is.call != nil {
		where = e.differ(gjson.ParseBytes(was.call), gjson.ParseBytes(is.call), ".params.update", "")
	} else {
		where = e.differ(was.doc, is.doc, "", "")
	}
	if where != "" {
		return &Difference{Record: was.n, Where: where, Then: clipLine(was.raw), Now: clipLine(is.raw)}
	}
	if was.doc.Get("method").Exists() && was.doc.Get("id").Exists() {
		e.asked[was.doc.Get("id").Raw] = is.doc.Get("id").Raw
	}
	if !was.doc.Get("method").Exists() {
		l.cancelled = false // the cancelled turn has ended
	}
	l.then, l.now = l.then[1:], l.now[1:]
	e.same++
	return nil
}

// volatile reports whether a member differs each time.
func volatile(path string) bool {
	switch path {
	case ".params.update.updatedAt", ".result.agentInfo.version", ".params.seq", ".result.seq":
		return true
	}
	return strings.HasSuffix(path, ".timestamp") || strings.HasSuffix(path, ".updatedAt")
}

// differ tells where two documents differ, "" if they do not. It binds IDs.
func (e *editor) differ(then, now gjson.Result, path, key string) string {
	if volatile(path) {
		return ""
	}
	switch {
	case path == ".id" && then.Exists() == now.Exists():
		return "" // those of the bridge's requests are its own
	case !then.Exists() || !now.Exists():
		if then.Exists() != now.Exists() {
			return fmt.Sprintf("%s is %s, and was %s", path[1:], said(now), said(then))
		}
		return ""
	case then.IsObject() && now.IsObject():
		return e.differMembers(then, now, path)
	case then.IsArray() && now.IsArray():
		a, b := then.Array(), now.Array()
		if len(a) != len(b) {
			return fmt.Sprintf("%s has %d elements, and had %d", path[1:], len(b), len(a))
		}
		for i := range a {
			if where := e.differ(a[i], b[i], fmt.Sprintf("%s.%d", path, i), key); where != "" {
				return where
			}
		}
		return ""
	case then.Type == gjson.String && now.Type == gjson.String:
		a := string(e.ids.apply([]byte(then.Raw)))
		if gjson.Parse(a).Str == now.Str || isID(key) && e.ids.bind(then.Str, now.Str) {
			return ""
		}
	case then.Raw == now.Raw, key == "request": // numbers of requests in A2A lines are ours
		return ""
	}
	return fmt.Sprintf("%s is %s, and was %s", strings.TrimPrefix(path, "."), said(now), said(then))
}

func (e *editor) differMembers(then, now gjson.Result, path string) (where string) {
	then.ForEach(func(k, v gjson.Result) bool {
		where = e.differ(v, now.Get(gjson.Escape(k.Str)), path+"."+k.Str, k.Str)
		return where == ""
	})
	if where != "" {
		return where
	}
	now.ForEach(func(k, v gjson.Result) bool {
		if !then.Get(gjson.Escape(k.Str)).Exists() && !volatile(path+"."+k.Str) {
			where = fmt.Sprintf("%s is new: %s", strings.TrimPrefix(path+"."+k.Str, "."), said(v))
		}
		return where == ""
	})
	return where
}

func said(v gjson.Result) string {
	if !v.Exists() {
		return "absent"
	}
	return clipLine([]byte(v.Raw))
}

// clipLine shortens a line.
func clipLine(b []byte) string {
	const most = 400
	b = bytes.TrimSpace(b)
	if len(b) > most {
		return strings.ToValidUTF8(string(b[:most]), "") + "…"
	}
	return string(b)
}
