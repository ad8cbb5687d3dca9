package shown

import (
	"slices"
	"testing"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// TestInPlace shows what a task that is asked for mends where an item can be shown in place of
// itself. A view has an item's last name and text.
func TestInPlace(t *testing.T) {
	for name, v := range map[string]struct {
		live, held []word
		want       string
		gap        bool
	}{
		"more in the middle":                     {[]word{{"m1", "", "One "}, {"m1", "", "three"}}, []word{{ourID, "", "hi"}, {"m1", "", "One two three"}}, "m1~1: One two three", false},
		"more in two places":                     {[]word{{"m1", "", "One "}, {"m1", "", "three, which is a number, and"}, {"m1", "", " seven."}}, []word{{ourID, "", "hi"}, {"m1", "", "One two three, which is a number, and five and seven. "}}, "m1~1: One two three, which is a number, and five and seven. ", false},
		"a replaced artifact":                    {[]word{{"a1", "", "One two"}}, []word{{ourID, "", "hi"}, {"a1", "", "Four"}}, "a1~1: Four", false},
		"the newest piece alone":                 {[]word{{"a1", "", "One "}, {"a1+", "", "two"}}, []word{{ourID, "", "hi"}, {"a1", "", "two"}}, "a1: One two", true},
		"a newest piece that was not heard":      {[]word{{"a1", "", "One "}, {"a1+", "", "two"}}, []word{{ourID, "", "hi"}, {"a1", "", "three, which is long"}}, "a1: One two", true},
		"the rest of a message behind a thought": {[]word{{"m1", "", "One "}, {"t1", "", "hm"}}, []word{{ourID, "", "hi"}, {"m1", "", "One two"}}, "m1: One two\nt1: hm", false},
		"another text of a message":              {[]word{{"m1", "", "Searching."}}, []word{{ourID, "", "hi"}, {"m1", "", "Found it, at last."}}, "m1: Searching.", true},
	} {
		t.Run(name, func(t *testing.T) {
			var view view
			s := New(func(x *Step) {
				if x.Op == Replace {
					view = slices.DeleteFunc(view, func(l line) bool { return l.name == x.ID })
				}
				view.show(x)
			})
			s.InPlace = true
			s.Task("task")
			s.Begin()
			s.Sent(ourID, "")
			for _, x := range v.live {
				s.Live(x.item())
			}
			s.Cut()
			s.Snapshot(a2a.StateWorking, heldOf(v.held))
			if got := view.text(); got != v.want {
				t.Errorf("shown is\n%s\nwant\n%s", got, v.want)
			}
			if (s.gap == owed) != v.gap {
				t.Errorf("a gap is owed: %v", s.gap == owed)
			}
		})
	}
}
