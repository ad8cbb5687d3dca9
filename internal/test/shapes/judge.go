package shapes

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/a2astdio/a2astdio/internal/test/editor"
)

// The classes of what is wrong.
const (
	Lost        = "words lost"
	Doubled     = "words doubled"
	Misordered  = "words in another order"
	Broken      = "a word is broken over messages"
	Spaced      = "white space is missing, or is too much"
	FalseGap    = "a gap is told where nothing is missing"
	LostCall    = "a call is lost, or ends otherwise"
	Error       = "the turn ends with an error"
	ItemLost    = "an item is missing from a record"
	ItemPartial = "an item in a record is not whole"
)

// Break stands between two messages in the lines of a [View].
const Break = "\v\n"

// View is what a user reads of a turn: the letters alone, and the text with a break between
// messages.
func View(shown []editor.Shown) (letters, lines string, gaps int) {
	var a, b strings.Builder
	id := ""
	for _, s := range shown {
		switch {
		case s.Kind == editor.Gap:
			gaps++
		case s.Kind != editor.Text || s.Repeats || s.Text == "":
		default:
			if s.ID != id && b.Len() > 0 {
				b.WriteString(Break)
			}
			id = s.ID
			a.WriteString(s.Text)
			b.WriteString(s.Text)
		}
	}
	return Letters(a.String()), b.String(), gaps
}

// Letters is a text without white space.
func Letters(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, s)
}

// Judge says what is wrong with a view of a turn, "" for nothing. mayMiss: the agent has
// not kept what it said, so that a gap is true.
func Judge(letters, lines string, gaps int, want string, cut, mayMiss bool) string {
	wanted := Letters(want)
	switch {
	case letters == wanted && gaps > 0 && !mayMiss:
		return FalseGap
	case letters == wanted && gaps == 0 && strings.ContainsAny(want, "aeiou") && !sameWords(lines, want):
		return Broken
	case letters == wanted && gaps == 0 && trimmed(lines) != trimmed(want) && !strings.Contains(lines, Break):
		return Spaced
	case letters == wanted, cut && gaps > 0: // with a gap it is told that something is missing, or comes twice
		return ""
	case len(letters) < len(wanted):
		return Lost
	case len(letters) > len(wanted):
		return Doubled
	}
	return Misordered
}

// trimmed is a text without the white space at its end, which nobody sees.
func trimmed(s string) string { return strings.TrimRightFunc(s, unicode.IsSpace) }

func sameWords(a, b string) bool {
	return strings.Join(strings.Fields(a), " ") == strings.Join(strings.Fields(b), " ")
}

// JudgeRecord says what of a turn is missing in a record: it has each item, by its ID, with
// the whole text. What repeats may be marked, and may stand there more than once.
func JudgeRecord(record map[string]string, items []Item) string {
	for _, want := range items {
		got, ok := record[want.ID]
		switch {
		case !ok:
			return ItemLost
		case !strings.Contains(Letters(got), Letters(want.Text)):
			return ItemPartial
		}
	}
	return ""
}

// Record are the texts by the IDs of their items, as A2A lines tell them.
func Record(shown []editor.Shown) map[string]string {
	record := map[string]string{}
	for _, s := range shown {
		if s.Kind == editor.Text {
			record[s.ID] += s.Text
		}
	}
	return record
}

// A Chosen is a class that no rule can decide (reasons in its words): it is counted apart.
type Chosen struct {
	Name string
	Fits func(s Shape, answers []string, turn int, class string) bool
}

// AllChosen are these classes. Nothing else is excused.
var AllChosen = []Chosen{
	{"an answer of one token, or of less than 8 bytes, said in pieces and again as a whole, is shown twice", func(s Shape, answers []string, turn int, class string) bool {
		short := len(Tokens(answers[turn], s.Tokens)) == 1 || len(answers[turn]) < 8
		return s.Form == "pieces+whole" && class == Doubled && short
	}},
	{"a token that comes with input-required begins a message of its own", func(s Shape, _ []string, _ int, class string) bool {
		return s.OneTask && s.IDs == "token" && class == Broken
	}},
	{"a token that equals all of the message before it, under another ID, begins a message", func(s Shape, answers []string, turn int, class string) bool {
		tokens := Tokens(answers[turn], s.Tokens)
		return s.IDs == "token" && class == Broken && len(tokens) > 1 && tokens[0] == tokens[1]
	}},
	{"the last piece, equal to the one before it, in a task event that brings another state, is that piece again", func(s Shape, answers []string, turn int, class string) bool {
		tokens := Tokens(answers[turn], s.Tokens)
		n := len(tokens)
		return s.Carrier == "task" && s.Form == "delta" && s.End == "last" && s.IDs != "token" && class == Lost && n > 1 && tokens[n-1] == tokens[n-2]
	}},
	{"a history whose IDs are new at each writing, cut in a stream with an ID for each token: a gap", func(s Shape, _ []string, _ int, class string) bool {
		return s.History == "fresh" && s.IDs == "token" && class == FalseGap
	}},
}

// ChosenFor is the class that excuses a wrong turn, "" for none.
func ChosenFor(s Shape, answers []string, turn int, class string) string {
	for _, c := range AllChosen {
		if c.Fits(s, answers, turn, class) {
			return c.Name
		}
	}
	return ""
}

// ByCount are the names of counts, the most frequent first.
func ByCount(counts map[string]int) []string {
	return slices.SortedFunc(maps.Keys(counts), func(a, b string) int { return cmp.Or(cmp.Compare(counts[b], counts[a]), strings.Compare(a, b)) })
}
