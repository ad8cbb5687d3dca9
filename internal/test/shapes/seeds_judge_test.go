package shapes

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/a2astdio/a2astdio/internal/test/agent"
	"github.com/a2astdio/a2astdio/internal/test/editor"
)

// A Violation is what is wrong with a world. Turn is -1 where it is no turn's.
type Violation struct {
	Class, Detail string
	Turn          int
}

// A view is a turn, as the judge sees it.
type view struct {
	plan    *Plan
	world   *Played
	n       int
	turn    *Turn
	played  *PlayedTurn
	said    []agent.Said
	heard   []agent.Heard
	letters string
	gaps    int
	stop    string // end_turn, cancelled, refusal, error
	acted   bool
	late    bool // what the user did came behind the turn
	whole   bool // the agent has said all
}

func newView(p *Plan, r *Played, n int) *view {
	v := &view{plan: p, world: r, n: n, turn: p.Turns[n], played: r.Turns[n]}
	for _, s := range r.Said {
		if s.Turn == n {
			v.said = append(v.said, s)
		}
	}
	for _, h := range r.Heard {
		if h.Turn == n {
			v.heard = append(v.heard, h)
		}
	}
	v.letters, _, v.gaps = View(v.played.Shown)
	v.letters = strings.ReplaceAll(v.letters, "Why.", "")
	v.acted = !v.played.Acted.IsZero() && !v.played.Ended.Before(v.played.Acted)
	v.late = !v.played.Acted.IsZero() && !v.acted
	v.whole = len(v.said) >= len(p.Script.Turns[n].Steps)
	switch stop := v.played.Stop; {
	case v.played.Err != "":
		v.stop = "error"
	case stop == "completed" || stop == "input-required":
		v.stop = "end_turn"
	case stop == "canceled":
		v.stop = "cancelled"
	case stop == "rejected":
		v.stop = "refusal"
	default:
		v.stop = stop
	}
	return v
}

// A question is one that the judge asks of each turn: its answer is what is wrong.
type question struct {
	class string
	wrong func(v *view) string
}

// questions are all of them. What excuses an answer is in excuses.
var questions = []question{
	{"the turn does not end", func(v *view) string { return when(v.played.Stuck, "in %v", patience) }},
	{"a question waits, and the turn ends", func(v *view) string {
		return when(v.stop == "end_turn" && len(v.played.Open) > 0, "%v", v.played.Open)
	}},
	{"the turn ends, and the task goes on", func(v *view) string {
		return when(v.stop == "end_turn" && !v.late && v.played.State != agent.Completed && v.played.State != agent.InputRequired, "it is %s", v.played.State)
	}},
	{"a cancel behind the turn does not reach its task", func(v *view) string { // version 2 of ACP has a place for it
		return when(v.plan.Protocol == editor.ACP2 && v.late && v.turn.Act.Kind == Cancel && !v.played.Later.Over(), "it is %s", v.played.Later)
	}},
	{"the turn ends before the agent's end", func(v *view) string {
		return when(v.stop == "end_turn" && !v.whole, "%d of %d steps", len(v.said), len(v.plan.Script.Turns[v.n].Steps))
	}},
	{"an error of nobody's", func(v *view) string {
		return when(v.stop == "error" && !v.acted && v.played.State != agent.Failed && v.played.State != agent.Rejected, "%s", v.played.Err)
	}},
	{"cancelled by nobody", func(v *view) string {
		return when(v.stop == "cancelled" && v.turn.Act.Kind == None && !v.played.Stuck, "")
	}},
	{"cancelled, and the task goes on", func(v *view) string {
		stopped := v.stop == "cancelled" || v.stop == "error" && v.turn.Act.Kind != Cancel
		return when(v.acted && v.turn.Act.Kind != Kill && stopped && len(v.said) > 0 && !v.played.Later.Over(), "it is %s", v.played.Later)
	}},
	{"an error in the place of cancelled", func(v *view) string {
		unasked := v.stop == "error" && v.played.State != agent.Failed && v.played.State != agent.Rejected
		return when(unasked && v.acted && v.turn.Act.Kind == Cancel || v.turn.Act.Kind != Kill && strings.Contains(v.played.Err, "context canceled"), "%s", v.played.Err)
	}},
	{"the bridge ends late, or with an error", func(v *view) string {
		return when((v.turn.Act.Kind == Leave || v.turn.Act.Kind == Terminate) && (v.world.Closing > time.Second || v.world.ServeErr != nil), "%v %v", v.world.Closing, v.world.ServeErr)
	}},
	{"the words are not the agent's", func(v *view) string {
		class := ""
		if v.judged() && v.whole { // else that is what is wrong
			class = Judge(v.letters, v.want(), v.gaps, v.want(), v.troubled(), true)
		}
		return when(class != "", "%s: %q, and the agent said %q", class, v.letters, v.want())
	}},
	{"a gap is told where nothing is missing", func(v *view) string {
		return when(v.judged() && v.gaps > 0 && v.letters == v.want(), "")
	}},
	{"a gap is told twice", func(v *view) string { return when(v.gaps > 1 || v.gaps > 0 && !v.troubled(), "%d times", v.gaps) }},
	{"a thought is lost or doubled", func(v *view) string {
		got := v.shown(editor.Thought)
		return when(v.judged() && v.plan.Protocol != editor.Lines && len(got) != len(v.turn.Thoughts) && v.gaps == 0, "%q", got)
	}},
	{"a question is not asked", func(v *view) string {
		for _, s := range v.said {
			if c := s.Step.Call; v.judged() && c != nil && c.Status == agent.Pending && !slices.Contains(v.shown(editor.Question), c.ID) {
				return c.ID
			}
		}
		return ""
	}},
	{"a question is asked twice", func(v *view) string {
		asked := v.shown(editor.Question)
		for i, id := range asked {
			if slices.Contains(asked[:i], id) {
				return id
			}
		}
		return ""
	}},
	{"a call's end is not shown", func(v *view) string {
		last := map[string]string{}
		for _, s := range v.played.Shown {
			if s.Kind == editor.Call && s.Text != "" {
				last[s.ID] = strings.ToLower(s.Text)
			}
		}
		for _, s := range v.said {
			if c := s.Step.Call; v.judged() && c != nil && c.Status == agent.Succeeded && !strings.HasPrefix(last[c.ID], "comp") && !strings.HasPrefix(last[c.ID], "succ") {
				return c.ID + " is " + last[c.ID]
			}
		}
		return ""
	}},
	{"a message is sent twice, or refused", func(v *view) string {
		for _, h := range v.heard {
			if h.Refused != 0 && h.Refused != -32600 && !v.acted { // a task that is over takes none, and did nothing
				return fmt.Sprintf("%s: %d", h.Method, h.Refused)
			}
		}
		prompts := 0
		for _, h := range v.heard {
			if strings.HasPrefix(h.Method, "message/") && len(h.Answers) == 0 && h.Refused == 0 {
				prompts++
			}
		}
		return when(prompts > 1, "%d prompts", prompts)
	}},
	{"a stream is closed while the turn lives", func(v *view) string {
		for _, h := range v.heard {
			if h.Method == "hang-up" && h.At.Before(v.played.Ended) && !v.acted {
				return h.At.Sub(v.played.Began).String()
			}
		}
		return ""
	}},
	{"the turn ends late", func(v *view) string {
		if v.acted || len(v.said) == 0 || v.stop == "error" {
			return ""
		}
		bound := 5 * time.Second
		if v.faulty() {
			bound = 50*time.Second + v.turn.Faults[0].For
		}
		late := v.played.Ended.Sub(v.said[len(v.said)-1].At)
		return when(late > bound, "%v behind the agent's last word", late)
	}},
	{"a loaded session does not show the conversation", func(v *view) string {
		if v.turn.Act.Kind != Kill || v.played.Acted.IsZero() {
			return ""
		}
		want := ""
		for _, t := range v.plan.Turns[:v.n+1] {
			want += strings.Join(t.Texts, "")
		}
		letters, _, gaps := View(v.world.Loaded)
		letters = strings.ReplaceAll(letters, "Why.", "")
		want = Letters(want)
		if !v.whole && strings.HasPrefix(want, letters) { // it waits for an answer, and nobody gives one
			return ""
		}
		return when(gaps == 0 && letters != want, "%q, and it was %q", letters, want)
	}},
}

// when is a detail, "" if it is not so.
func when(so bool, format string, args ...any) string {
	if !so {
		return ""
	}
	return fmt.Sprintf(format, args...) + " "
}

// judged reports whether all that the agent said has to be shown.
func (v *view) judged() bool {
	return v.played.Acted.IsZero() && v.stop != "error" && !v.played.Stuck
}

func (v *view) faulty() bool { return len(v.turn.Faults) > 0 }
func (v *view) want() string { return Letters(strings.Join(v.turn.Texts, "")) }

// shown are the IDs of what was shown of a kind; of thoughts their texts.
func (v *view) shown(kind editor.Kind) (ids []string) {
	for _, s := range v.played.Shown {
		if s.Kind == kind {
			ids = append(ids, s.ID)
		}
	}
	return ids
}

// judgeWorld says what is wrong, and which excuses were needed.
func judgeWorld(p *Plan, r *Played) (found []Violation, excused []string) {
	for n := range r.Turns {
		v := newView(p, r, n)
		for _, q := range questions {
			detail := q.wrong(v)
			if detail == "" {
				continue
			}
			if name := v.excuse(q.class); name != "" {
				excused = append(excused, name)
				continue
			}
			found = append(found, Violation{q.class, strings.TrimSpace(detail), n})
		}
	}
	return found, excused
}
