package replay

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// A lane is a session, as recorded and as it is now.
type lane struct {
	then, now told
	done      int          // units that agree
	cancelled map[int]bool // units of which a cancel decides how much comes
}

// told is what the editor was told in a session.
type told struct {
	units []*unit // those that have ended
	open  unit
	calls []call // of the turn so far
}

// A unit is a request or reply, and what came before it.
type unit struct {
	n     int64
	text  map[string]string // by kind
	calls []call            // with a reply: those of its turn
	doc   gjson.Result
}

// A call is a tool call: how it began, and its newest state.
type call struct{ id, title, status string }

// add takes a message; n is its record's number.
func (s *told) add(n int64, doc gjson.Result) {
	update := doc.Get("params.update")
	kind, method := update.Get("sessionUpdate").Str, doc.Get("method")
	switch {
	case !method.Exists() || doc.Get("id").Exists():
		u := s.open
		if u.n, u.doc = n, doc; !method.Exists() {
			u.calls, s.calls = s.calls, nil
		}
		s.units, s.open = append(s.units, &u), unit{}
	case strings.HasSuffix(kind, "_chunk"):
		s.says(n, kind, update.Get("content.text").Str)
	case method.Str == "event/text":
		s.says(n, method.Str, doc.Get("params.text").Str)
	case update.Get("toolCallId").Exists():
		s.call(call{update.Get("toolCallId").Str, update.Get("title").Str, update.Get("status").Str})
	default:
		c := doc.Get("params.toolCall")
		s.call(call{c.Get("tool_call_id").Str, c.Get("tool_name").Str, c.Get("status").String()})
	}
}

func (s *told) says(n int64, kind, text string) {
	if s.open.text == nil {
		s.open.n, s.open.text = n, map[string]string{}
	}
	s.open.text[kind] += text
}

func (s *told) call(c call) {
	i := slices.IndexFunc(s.calls, func(known call) bool { return known.id == c.id })
	switch {
	case c.id == "":
		return
	case i < 0:
		s.calls = append(s.calls, c)
		return
	}
	if c.title != "" {
		s.calls[i].title = c.title
	}
	if c.status != "" {
		s.calls[i].status = c.status
	}
}

// unit returns the i-th unit, and whether it has ended.
func (s *told) unit(i int) (u *unit, ended bool) {
	if i < len(s.units) {
		return s.units[i], true
	}
	return &s.open, false
}

// compare compares what has come. missing is the first that has not; with all, it is an
// error that it has not, or that there is more than was recorded.
func (e *editor) compare(all bool) (missing *Difference, err error) {
	for _, name := range slices.Sorted(maps.Keys(e.lanes)) {
		l := e.lanes[name]
		for {
			was, wasEnded := l.then.unit(l.done)
			is, isEnded := l.now.unit(l.done)
			late, err := e.unit(l, was, is, wasEnded || all, isEnded)
			if err != nil {
				return nil, err
			}
			switch {
			case late == nil && wasEnded && !isEnded:
				late = &Difference{Record: was.n, Then: clipLine(was.doc.Raw)}
			case isEnded && !wasEnded && all:
				return nil, &Difference{Where: "the bridge says what was not recorded", Now: clipLine(is.doc.Raw)}
			}
			if late != nil && (missing == nil || late.Record < missing.Record) {
				missing = late
			}
			if !wasEnded || !isEnded {
				break
			}
			l.done++
		}
	}
	if all && missing != nil {
		missing.Where = "the bridge has ended"
		return nil, missing
	}
	return missing, nil
}

// unit compares a unit. It returns the text that is still missing.
func (e *editor) unit(l *lane, was, is *unit, wasEnded, isEnded bool) (missing *Difference, err error) {
	cancelled := l.cancelled[l.done]
	if !cancelled {
		missing, err = e.texts(was, is, wasEnded, isEnded)
	}
	if err != nil || !wasEnded || !isEnded || !was.doc.Exists() {
		return missing, err
	}
	where := ""
	if then, now := ends(was.calls), ends(is.calls); then != now && !cancelled {
		where = "the tool calls are " + now + ", and were " + then
	} else {
		where = e.differ(was.doc, is.doc, "", "")
	}
	if where != "" {
		return nil, &Difference{Record: was.n, Where: where, Then: clipLine(was.doc.Raw), Now: clipLine(is.doc.Raw)}
	}
	if was.doc.Get("method").Exists() {
		e.asked[was.doc.Get("id").Raw] = is.doc.Get("id").Raw
	}
	e.same++
	return nil, nil
}

// lead is how much equal text precedes a difference in what is reported.
const lead = 40

// texts compares the texts of a unit, by kind. It returns what is still missing.
func (e *editor) texts(was, is *unit, wasEnded, isEnded bool) (missing *Difference, err error) {
	kinds := slices.AppendSeq(slices.Collect(maps.Keys(was.text)), maps.Keys(is.text))
	slices.Sort(kinds)
	for _, kind := range slices.Compact(kinds) {
		then, now := was.text[kind], is.text[kind]
		n := 0 // how much is equal
		for n < min(len(then), len(now)) && then[n] == now[n] {
			n++
		}
		from := max(0, n-lead)
		d := &Difference{Record: was.n, Then: kind + " " + clipLine(string(quote(then[from:]))), Now: kind + " " + clipLine(string(quote(now[from:])))}
		switch {
		case n < len(then) && (isEnded || n < len(now)), n < len(now) && wasEnded:
			d.Where = "the text is another one"
			return nil, d
		case n < len(then):
			missing = d
		case isEnded:
			e.same++
		}
	}
	return missing, nil
}

// ends lists calls.
func ends(calls []call) string {
	list := []string{}
	for _, c := range calls {
		list = append(list, c.title+" "+c.status)
	}
	return fmt.Sprintf("%q", list)
}

// volatile reports whether a member differs each time.
func volatile(path string) bool {
	switch path {
	case ".id", ".params.request", ".result.agentInfo.version", ".result.seq":
		return true
	}
	return strings.HasSuffix(path, ".timestamp") || strings.HasSuffix(path, ".updatedAt")
}

// differ tells where two documents differ, "" if they do not. It binds IDs.
func (e *editor) differ(then, now gjson.Result, path, key string) (where string) {
	switch {
	case volatile(path):
		return ""
	case then.IsObject() && now.IsObject():
		now.ForEach(func(k, v gjson.Result) bool {
			if !then.Get(gjson.Escape(k.Str)).Exists() {
				where = e.differ(gjson.Result{}, v, path+"."+k.Str, k.Str)
			}
			return where == ""
		})
		then.ForEach(func(k, v gjson.Result) bool {
			if where == "" {
				where = e.differ(v, now.Get(gjson.Escape(k.Str)), path+"."+k.Str, k.Str)
			}
			return where == ""
		})
		return where
	case then.IsArray() && now.IsArray() && len(then.Array()) == len(now.Array()):
		for i, v := range then.Array() {
			if where = e.differ(v, now.Array()[i], fmt.Sprintf("%s.%d", path, i), key); where != "" {
				return where
			}
		}
		return ""
	case then.Type == gjson.String && now.Type == gjson.String:
		if gjson.ParseBytes(e.ids.apply([]byte(then.Raw))).Str == now.Str || isID(key) && e.ids.bind(then.Str, now.Str) {
			return ""
		}
	case then.Raw == now.Raw:
		return ""
	}
	return fmt.Sprintf("%s is %s, and was %s", strings.TrimPrefix(path, "."), said(now), said(then))
}

func said(v gjson.Result) string {
	if !v.Exists() {
		return "absent"
	}
	return clipLine(v.Raw)
}

// clipLine shortens a line.
func clipLine(s string) string {
	const most = 400
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}
