package shown

import (
	"slices"
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// A word is an item that comes live: kind and ID ("m1", "a1", "t1"; + behind it appends), a
// state that it comes with, and its parts, divided by "|".
type word struct{ id, state, parts string }

// TestLive shows what the rules of live make of conversations. Views are what people read: a
// message on each line, as the editor names it, without repetitions.
func TestLive(t *testing.T) {
	for name, v := range map[string]struct {
		said []word
		want string
	}{
		"L1: deltas under one ID":                   {[]word{{"m1", "", "One "}, {"m1", "", "two"}}, "m1: One two"},
		"L1: an artifact replaces":                  {[]word{{"a1", "", "One two"}, {"a1", "", "Three four"}}, "a1: One two\na1~1: Three four"},
		"L1: tokens in its place":                   {[]word{{"a1", "", "Yes "}, {"a1", "", "yes, "}, {"a1", "", "42"}, {"a1", "", " times."}, {"a1", "", "Yes yes, 42 times."}}, "a1: Yes yes, 42 times."},
		"L1: tokens, some of space alone":           {[]word{{"a1", "", "The"}, {"a1", "", " "}, {"a1", "", "cat"}, {"a1", "", "\n"}, {"a1", "", "sat"}}, "a1: The cat\nsat"},
		"L1: another text in its place":             {[]word{{"a1", "", "queued"}, {"a1", "", "running"}, {"a1", "", "done"}}, "a1: queued\na1~1: running\na1~2: done"},
		"L1: one with a name in its place":          {[]word{{"n1", "", "One "}, {"n1", "", "two"}}, "n1: One \nn1~1: two"},
		"L1: a draft in its place":                  {[]word{{"a1", "", "\nDear Anna, one"}, {"a1", "", "\nDear Anna, two"}}, "a1: \nDear Anna, one\na1~1: \nDear Anna, two"},
		"L1: what has grown is mended":              {[]word{{"a1", "", "The cat "}, {"a1", "", "The cat sat "}, {"a1", "", "A dog sat "}}, "a1: The cat sat \na1~1: A dog sat "},
		"L1: Chinese tokens in its place":           {[]word{{"a1", "", "今天"}, {"a1", "", "天气"}, {"a1", "", "很好。"}}, "a1: 今天天气很好。"},
		"L6: a short end, behind its whole":         {[]word{{"m1", "", "Done "}, {"m1", "", "so."}, {"m2", "", "Done so."}, {"m3", "completed", "Done so."}}, "m1: Done so."},
		"L6: a question that is asked again":        {[]word{{"m1", "auth-required", "Sign in at http://x/login"}, {"", "working", ""}, {"m2", "auth-required", "Sign in at http://x/login"}}, "m1: Sign in at http://x/login\nm2: Sign in at http://x/login"},
		"L1: a file in its place":                   {[]word{{"a1", "", "One\n"}, {"a1", "", "one\n"}}, "a1: One\n\na1~1: one\n"},
		"L1: behind chunks, in their place":         {[]word{{"a1", "", "One "}, {"a1+", "", "two "}, {"a1", "", "three"}}, "a1: One two \na1~1: three"},
		"L1: appended, and never compared":          {[]word{{"a1", "", "go "}, {"a1+", "", "go "}, {"a1+", "", "go "}}, "a1: go go go "},
		"L2: a token twice":                         {[]word{{"m1", "", "谢"}, {"m1", "", "谢"}}, "m1: 谢谢"},
		"L2: a status that stayed, behind a file":   {[]word{{"m1", "", "Step 2"}, {"n1", "", "The text."}, {"m1", "", "Step 2"}}, "m1: Step 2\nn1: The text."},
		"L1: a word that is all, again":             {[]word{{"m1", "", "สวัสดีครับ"}, {"m1", "", " "}, {"m1", "", "สวัสดีครับ"}}, "m1: สวัสดีครับ สวัสดีครับ"},
		"L2: a line twice, and then more":           {[]word{{"m1", "", "> quoted\n"}, {"m1", "", "> quoted\n"}, {"m1", "", "\n"}, {"m1", "", "The end."}}, "m1: > quoted\n> quoted\n\nThe end."},
		"L2: a status again and again":              {[]word{{"m1", "", "Searching…"}, {"m1", "", "Searching…"}, {"m1", "", "Searching…"}, {"m1", "", "Found 3."}}, "m1: Searching…Found 3."},
		"L2: a message twice, and then another":     {[]word{{"m1", "", "It rains."}, {"m1", "", "It rains."}, {"m2", "", "It snows."}}, "m1: It rains.\nm2: It snows."},
		"L2: a message twice, and then all of it":   {[]word{{"m1", "", "It rains "}, {"m1", "", "It rains "}, {"m1", "", "It rains in Oslo."}}, "m1: It rains in Oslo."},
		"L2: a line twice, a call between":          {[]word{{"m1", "", "> quoted\n"}, {"call", "", ""}, {"m1", "", "> quoted\n"}, {"m1", "", "The end."}}, "m1: > quoted\n\nm1~1: The end."},
		"L1: a token again, in its place":           {[]word{{"a1", "", "3.14 "}, {"a1", "", "3.14 "}, {"a1", "", "3.14 "}, {"a1", "", "and 0"}}, "a1: 3.14 3.14 3.14 and 0"},
		"L1: a text again, and then another":        {[]word{{"a1", "", "queued"}, {"a1", "", "queued"}, {"a1", "", "running"}}, "a1: queued\na1~1: running"},
		"L6: the end says a short answer again":     {[]word{{"m1", "working", "1"}, {"m2", "completed", "1"}}, "m1: 1"},
		"L8: a token equal to the one before":       {[]word{{"m1", "working", "Bye"}, {"m2", "completed", " Bye"}, {"turn", "", ""}, {"m3", "working", "Bye "}, {"m4", "completed", "Bye"}}, "m1: Bye Bye\nm3: Bye Bye"},
		"notes, once an ID has come twice":          {[]word{{"m1", "", "fetch "}, {"m1", "", "one"}, {"m2", "", "fetch "}, {"m2", "", "two"}, {"m3", "", "fetch three"}, {"m4", "", "done"}, {"m5", "", ", all"}}, "m1: fetch one\nm2: fetch two\nm3: fetch three\nm4: done, all"},
		"notes that a letter does not join":         {[]word{{"m1", "", "OK"}, {"m2", "", "Let me see"}, {"m3", "", "1. Read it"}, {"m4", "", `["a"]`}}, "m1: OK\nm2: Let me see\nm3: 1. Read it\nm4: [\"a\"]"},
		"a note in Latin letters, then Chinese":     {[]word{{"m1", "", "Thinking"}, {"m2", "", "你好,"}, {"m3", "", "世界"}}, "m1: Thinking\nm2: 你好,世界"},
		"code that is open":                         {[]word{{"m1", "", "The file has `x :"}, {"m2", "", "= 1` twice."}}, "m1: The file has `x := 1` twice."},
		"bold that is open":                         {[]word{{"m1", "", "- **"}, {"m2", "", "one** item"}}, "m1: - **one** item"},
		"a link":                                    {[]word{{"m1", "", "See [it]"}, {"m2", "", "(https://example.com)."}}, "m1: See [it](https://example.com)."},
		"a block of code, and a note":               {[]word{{"m1", "", "```go\nx\n```"}, {"m2", "", "Run it."}}, "m1: ```go\nx\n```\nm2: Run it."},
		"notes with stars that are not bold":        {[]word{{"m1", "", "Computing 2**8."}, {"m2", "", "Computing 3**8."}}, "m1: Computing 2**8.\nm2: Computing 3**8."},
		"notes with keywords":                       {[]word{{"m1", "", "Calling f(**kwargs)"}, {"m2", "", "Passing **kwargs"}}, "m1: Calling f(**kwargs)\nm2: Passing **kwargs"},
		"a note with a backtick as apostrophe":      {[]word{{"m1", "", "Let`s begin."}, {"m2", "", "Reading it."}, {"m3", "", "Done."}}, "m1: Let`s begin.\nm2: Reading it.\nm3: Done."},
		"a name with stars":                         {[]word{{"m1", "", "Passing **kwargs."}, {"m2", "", "Running the tests."}}, "m1: Passing **kwargs.\nm2: Running the tests."},
		"a note that ends in a number":              {[]word{{"m1", "", "Step 2"}, {"m2", "", "reading it"}}, "m1: Step 2\nm2: reading it"},
		"artifacts, appended but for the first":     {[]word{{"a1", "", "One"}, {"a2+", "", " two"}, {"a3+", "", "three"}}, "a1: One twothree"},
		"tokens of Chinese, each an artifact":       {[]word{{"a1", "", "你好"}, {"a2", "", "世界"}, {"a3", "", "。"}}, "a1: 你好世界。"},
		"L6: an artifact goes on behind it":         {[]word{{"m1", "", "It rains "}, {"m2", "", "It rains in Oslo. And "}, {"n1", "", "It rains in Oslo. And here.|{1}"}}, "m1: It rains in Oslo. And here.<{1}>"},
		"L1: the last chunk appends all of it":      {[]word{{"n1+", "", "It rains "}, {"n1+", "", "in "}, {"n1+", "", "Oslo today."}, {"n1+", "completed", "It rains in Oslo today."}}, "n1: It rains in Oslo today."},
		"L3: one ID for ever":                       {[]word{{"m1", "", "Yes."}, {"turn", "", ""}, {"m1", "", "Yes, at nine."}}, "m1: Yes.\nm1~1: Yes, at nine."},
		"L6: a whole behind its pieces":             {[]word{{"m1", "", "The cat "}, {"m1", "", "saw the cat."}, {"a1", "completed", "The cat saw the cat."}}, "m1: The cat saw the cat."},
		"L6: a whole with other white space":        {[]word{{"m1", "", "The cat\u2028saw "}, {"m1", "", "the cat."}, {"m2", "completed", "The cat saw\u0085the cat."}}, "m1: The cat\u2028saw the cat."},
		"L6: a long whole likewise":                 {[]word{{"m1", "", "The cat saw the cat, and the "}, {"m1", "", "d\u2028og."}, {"m2", "completed", "The cat saw the cat, and the d\u2029og."}}, "m1: The cat saw the cat, and the d\u2028og."},
		"L6: two artifacts of equal text are two":   {[]word{{"a1", "", "No issues found."}, {"a2", "", "No issues found."}}, "a1: No issues found.\na2: No issues found."},
		"L6: an artifact begins with another one":   {[]word{{"a1", "completed", "# Plan\n"}, {"a2", "completed", "# Plan\n1. read"}}, "a1: # Plan\n\na2: # Plan\n1. read"},
		"L6: white space ends a word":               {[]word{{"m1", "", "Search\n"}, {"m2", "completed", "Searching is done."}}, "m1: Search\n\nm2: Searching is done."},
		"L6: two messages of equal text are two":    {[]word{{"m1", "", "はい。"}, {"m2", "", "はい。"}, {"m3", "completed", "Fine."}}, "m1: はい。\nm2: はい。\nm3: Fine."},
		"L6: the end says the last message again":   {[]word{{"m1", "working", "It is sunny in Rome."}, {"m2", "completed", "It is sunny in Rome."}}, "m1: It is sunny in Rome."},
		"L7: cumulative under new IDs":              {[]word{{"m1", "", "Hel"}, {"m2", "", "Hello w"}, {"m3", "", "Hello world"}}, "m1: Hello world"},
		"L7: two of them":                           {[]word{{"m1", "", "Bye "}, {"m2", "", "Bye bye\n"}, {"m3", "", "11"}, {"m4", "", "11 is"}, {"m5", "", "11 is odd"}}, "m1: Bye bye\n\nm3: 11 is odd"},
		"L7: a call between":                        {[]word{{"m1", "", "Hel"}, {"m2", "", "Hello"}, {"call", "", ""}, {"m3", "", "Hello w"}, {"m4", "", "Hello world"}}, "m1: Hello\nm3:  world"},
		"L6: two short wholes":                      {[]word{{"m1", "", "Ja, "}, {"m1", "", "ja. "}, {"w1", "", "Ja, ja. "}, {"m2", "", "Bye "}, {"m2", "", "bye"}, {"w2", "", "Bye bye"}}, "m1: Ja, ja. \nm2: Bye bye"},
		"L8: the word behind a wait":                {[]word{{"m1", "working", "Sign in: "}, {"m2", "auth-required", "http://x"}, {"m3", "working", "Thanks"}}, "m1: Sign in: http://x\nm3: Thanks"},
		"L8: a question":                            {[]word{{"m1", "working", "working on it"}, {"m2", "input-required", "which city?"}}, "m1: working on it\nm2: which city?"},
		"L8: the last chunk comes with the end":     {[]word{{"m1", "working", "ca"}, {"m2", "completed", "t."}}, "m1: cat."},
		"L11: data parts of one artifact":           {[]word{{"a1", "", "{1}"}, {"a1+", "", "{1}"}, {"a1+", "", "{2}"}}, "a1: <{1}><{1}><{2}>"},
		"tokens with IDs of their own":              {[]word{{"m1", "", "The"}, {"m2", "", " cat"}, {"m3", "", " saw"}, {"m4", "", " the"}, {"m5", "", " cat"}}, "m1: The cat saw the cat"},
		"pieces that are artifacts":                 {[]word{{"a1+", "", "You "}, {"a2+", "", "said "}, {"a3+", "", "it."}}, "a1: You said it."},
		"artifacts that are appended to nothing":    {[]word{{"a1+", "", "Looking it up."}, {"a2+", "", "It is 42."}}, "a1: Looking it up.\na2: It is 42."},
		"files that are appended to nothing":        {[]word{{"a1+", "", "one\n"}, {"a1+", "", "two\n"}, {"a2+", "", "three"}}, "a1: one\ntwo\n\na2: three"},
		"files with a name":                         {[]word{{"n1+", "", "one\n"}, {"n2+", "", "two"}}, "n1: one\n\nn2: two"},
		"files with a last chunk":                   {[]word{{"a1+", "completed", "one\n"}, {"a2+", "completed", "two"}}, "a1: one\n\na2: two"},
		"a file behind one that has begun":          {[]word{{"a1", "", "one\n"}, {"a2+", "", "two"}}, "a1: one\n\na2: two"},
		"files that grow in turns":                  {[]word{{"a1+", "", "one\n"}, {"a2+", "", "two\n"}, {"a1+", "", "three"}, {"a2+", "", "four"}}, "a1: one\ntwo\n\na1~1: three\na2: four"},
		"L6: a short end, behind a call":            {[]word{{"m1", "", "O"}, {"m1", "", "K"}, {"m2", "", "OK"}, {"call", "", ""}, {"m3", "completed", "OK"}}, "m1: OK\nm3: OK"},
		"L6: an artifact of a note's words":         {[]word{{"m1", "", "It rains in Oslo today."}, {"a1", "", "It rains in Oslo today."}, {"a2", "", "It rains in Oslo today."}}, "m1: It rains in Oslo today.\na2: It rains in Oslo today."},
		"L6: a file's first chunk, behind a note":   {[]word{{"m1", "", "["}, {"a1", "", "["}, {"a1+", "", "1]"}}, "m1: [\na1: [1]"},
		"L6: a verdict, and then why":               {[]word{{"a1", "completed", "Yes"}, {"m1", "", "Yes"}, {"m2", "", ", since it rains."}}, "a1: Yes\nm1: Yes, since it rains."},
		"L6: files of a short text are each told":   {[]word{{"a1+", "", "0"}, {"a1+", "", ".5"}, {"a2", "completed", "0.5"}, {"a3", "completed", "0.5"}}, "a1: 0.5\na3: 0.5"},
		"L6: a whole goes on behind half a space":   {[]word{{"m1", "", "The cat saw "}, {"m1", "", "the dog.\u3000"}, {"m2", "completed", "The cat saw the dog.、 and more"}}, "m1: The cat saw the dog.\u3000、 and more"},
		"S5: behind the whole, under its ID":        {[]word{{"m1", "", "I will "}, {"m1", "", "look."}, {"w1", "", "I will look."}, {"m1", "", "It rains "}, {"m1", "", "in Oslo."}, {"w2", "", "It rains in Oslo."}}, "m1: I will look.\nm1~1: It rains in Oslo."},
		"L7: lines behind a line":                   {[]word{{"m1", "", "Tests:\n"}, {"m2", "", "ok\n"}, {"m3", "", "ok\nok\n"}, {"m4", "", "end\n"}}, "m1: Tests:\nok\nok\nok\nend\n"},
		"L7: notes around a call":                   {[]word{{"m1", "", "Searching"}, {"call", "", ""}, {"m2", "", "Searching again."}}, "m1: Searching\nm2: Searching again."},
		"notes, the first with a space behind it":   {[]word{{"m1", "", "Let me see. "}, {"m2", "", "Calling tool: weather"}, {"m3", "", "Calling tool: clock"}}, "m1: Let me see. Calling tool: weather\nm3: Calling tool: clock"},
		"notes that end in an emoji":                {[]word{{"m1", "", "Fetched ✔️"}, {"m2", "", "parsing now"}}, "m1: Fetched ✔️\nm2: parsing now"},
		"notes that end in a mark":                  {[]word{{"m1", "", "Checking C#"}, {"m2", "", "Checking C++"}, {"m3", "", "Done"}}, "m1: Checking C#\nm2: Checking C++\nm3: Done"},
		"a note that begins with a percent sign":    {[]word{{"m1", "", "Found it."}, {"m2", "", "%HOME% is set."}}, "m1: Found it.\nm2: %HOME% is set."},
		"files without names, one behind a space":   {[]word{{"a1", "", "The first report, which is long enough to be one. "}, {"a2", "", "And the second."}}, "a1: The first report, which is long enough to be one. \na2: And the second."},
		"files without names, and CR":               {[]word{{"a1", "", "x = 1"}, {"a2", "", "\r\ny = 1"}}, "a1: x = 1\na2: \r\ny = 1"},
		"tokens, and a sentence at the end":         {[]word{{"m1", "", "It "}, {"m2", "", "rains."}, {"m3", "completed", "Task completed successfully."}}, "m1: It rains.\nm3: Task completed successfully."},
		"tokens, the last at the end":               {[]word{{"m1", "", "It "}, {"m2", "", "rains"}, {"m3", "completed", " in Oslo and in Bergen."}}, "m1: It rains in Oslo and in Bergen."},
		"Chinese tokens, a clause at the end":       {[]word{{"m1", "", "今天"}, {"m2", "", "下雨，"}, {"m3", "completed", "明天会是晴天。"}}, "m1: 今天下雨，明天会是晴天。"},
		"Chinese tokens, bold, and on at the end":   {[]word{{"m1", "", "今天，"}, {"m2", "", "这个"}, {"m3", "", "**项目**"}, {"m4", "completed", "是我们的核心。"}}, "m1: 今天，这个**项目**是我们的核心。"},
		"Chinese tokens, and a sentence at the end": {[]word{{"m1", "", "今天"}, {"m2", "", "下雨。"}, {"m3", "completed", "任务已完成。"}}, "m1: 今天下雨。\nm3: 任务已完成。"},
		"a family of emoji in two messages":         {[]word{{"m1", "", "Sure! 👩\u200d"}, {"m2", "", "👧 it is."}}, "m1: Sure! 👩\u200d👧 it is."},
		"a note of a cancel":                        {[]word{{"m1", "", "slow "}, {"m2", "", "slow "}, {"m3", "canceled", "Task cancelled"}, {"m4", "working", " slow"}}, "m1: slow slow \nm3: Task cancelled\nm4:  slow"},
		"notes":                                     {[]word{{"m1", "", "found 42"}, {"m2", "", "It is 42."}}, "m1: found 42\nm2: It is 42."},
		"tokens that end in a mark":                 {[]word{{"m1", "", "हि"}, {"m2", "", "न्दी"}, {"m3", "", "Cafe"}, {"m4", "", "\u0301"}}, "m1: हिन्दीCafe\u0301"},
		"tokens, each an artifact":                  {[]word{{"a1", "", "One"}, {"a2", "", " two"}, {"a3", "", "three"}}, "a1: One twothree"},
		"a heading, and a list":                     {[]word{{"m1", "", "# Title"}, {"m2", "", "Some text"}, {"m3", "", "- a list"}}, "m1: # Title\nm2: Some text\nm3: - a list"},
		"an artifact that grows over turns":         {[]word{{"a1", "", "The plan has one step."}, {"turn", "", ""}, {"a1", "", "The plan has one step. And two."}}, "a1: The plan has one step.\na1~1:  And two."},
		"two artifacts that grow in turns":          {[]word{{"a1", "", "a"}, {"a2", "", "b"}, {"a1+", "", "c"}, {"a2+", "", "d"}}, "a1: ac\na2: bd"},
		"tokens, each an artifact of one name":      {[]word{{"c1", "", "One"}, {"c2", "", " two,"}, {"c3", "", " three"}, {"c4", "", "teen"}}, "c1: One two, threeteen"},
		"tokens of one name, and the result":        {[]word{{"c1", "", "One"}, {"c2", "", " two,"}, {"c3", "", " three"}, {"c4", "completed", "Three in all."}}, "c1: One two, three\nc4: Three in all."},
		"tokens of one name, and replaced":          {[]word{{"c1", "", "Oslo"}, {"c2", "", " Rome"}, {"c1", "", "Paris"}, {"c2", "", " Bern"}}, "c1: Oslo Rome\nc1~1: Paris\nc2:  Bern"},
		"results of one name":                       {[]word{{"c1", "", "It rains."}, {"c2", "", "It snows."}, {"c3", "", "x\n"}, {"c4", "", "y\n"}}, "c1: It rains.\nc2: It snows.\nc3: x\n\nc4: y\n"},
		"text, a thought between":                   {[]word{{"m1", "", "One "}, {"t1", "", "hm"}, {"m1", "", "two"}}, "m1: One \nt1: hm\nm1~1: two"},
	} {
		t.Run(name, func(t *testing.T) {
			var view view
			s := New(view.show)
			s.Task("task")
			s.Begin()
			for _, x := range v.said {
				switch x.id {
				case "turn":
					s.Begin()
					continue
				case "call":
					s.Break()
					continue
				}
				s.SetState(a2a.State(x.state), false, false)
				if x.id != "" {
					s.Live(x.item())
				}
			}
			s.End()
			if got := view.text(); got != v.want {
				t.Errorf("shown is\n%s\nwant\n%s", got, v.want)
			}
		})
	}
}

// ourID is the ID of what the user has said.
const ourID = "ours"

// heldOf are words as a task holds them.
func heldOf(words []word) (held []Item) {
	for _, x := range words {
		in := *x.item()
		if x.id == ourID {
			in.Kind = User
		}
		held = append(held, in)
	}
	return held
}

// TestSnapshot shows what a task that is asked for behind a cut gives. Behind "killed" another process has
// loaded what was shown.
func TestSnapshot(t *testing.T) {
	for name, v := range map[string]struct {
		live, held []word
		want       string
	}{
		"S1: new IDs are matched in order":                {[]word{{"m1", "", "ha "}, {"m2", "", "ha "}}, []word{{ourID, "", "hi"}, {"x1", "", "ha "}, {"x2", "", "ha "}, {"x3", "", "ha!"}}, "m1: ha ha ha!"},
		"S1: the space behind a token is not shown again": {[]word{{"m1", "", "You "}, {"m2", "", "said "}}, []word{{ourID, "", "hi"}, {"x1", "", "You said the cat."}}, "m1: You said the cat."},
		"S1: a question has its ID, the text before it has not": {[]word{{"c1", "", "Let "}, {"c2", "", "me ask."}, {"m2", "", "Where to?"}},
			[]word{{ourID, "", "hi"}, {"x1", "", "Let me ask.|{1}"}, {"m2", "", "Where to?"}}, "c1: Let me ask.\nm2: Where to?\nx1: <{1}>"},
		"S1: cumulative, some of it with new IDs":   {[]word{{"m1", "", "1."}, {"m2", "", "1. Open"}}, []word{{ourID, "", "hi"}, {"m1", "", "1."}, {"m2", "", "1. Open"}, {"m3", "", "1. Open the"}, {"m4", "", "1. Open the file. 2."}}, "m1: 1. Open the file. 2."},
		"S1: the same behind what has its ID":       {[]word{{"m1", "", "Done."}, {"m2", "", "And?"}}, []word{{ourID, "", "hi"}, {"m1", "", "Done."}, {"m2", "", "And?"}, {"x1", "", "Done."}}, "m1: Done.\nm2: And?\nx1: Done."},
		"S1: more than stands before it":            {[]word{{"m1", "", "One."}, {"m3", "", "Three."}}, []word{{ourID, "", "hi"}, {"x1", "", "One. Two."}, {"m3", "", "Three."}}, "m1: One.\nm3: Three.\ngap\nx1: One. Two."},
		"S1: no message says a thought again":       {[]word{{"t1", "", "Hmm "}}, []word{{ourID, "", "hi"}, {"x1", "", "ha "}, {"x2", "", "ha "}, {"x3", "", "ha!"}}, "t1: Hmm \nx1: ha ha ha!"},
		"L7: behind a kill it grows on":             {[]word{{"m1", "", "No"}, {"m2", "", "No, no"}, {"killed", "", ""}}, []word{{ourID, "", "hi"}, {"m1", "", "No"}, {"m2", "", "No, no"}, {"m3", "", "No, no, no."}}, "m1: No, no, no."},
		"S2: pieces of one ID are one":              {[]word{{"m1", "", "One "}}, []word{{ourID, "", "hi"}, {"m1", "", "One "}, {"m1", "", "two"}}, "m1: One two"},
		"S2, L6: pieces, and all of them":           {nil, []word{{ourID, "", "hi"}, {"m1", "", "One "}, {"m1", "", "two"}, {"m2", "", "One two"}}, "m1: One two"},
		"S4: ours is missing":                       {[]word{{"m1", "", "One "}}, []word{{"m1", "", "One two"}}, "m1: One \ngap\nm1: two"},
		"S4: nothing but artifacts":                 {[]word{{"a1", "", "One "}}, []word{{"a1", "", "One two"}}, "a1: One two"},
		"S4: something is missing":                  {[]word{{"m1", "", "One "}}, []word{{ourID, "", "hi"}, {"m2", "", "Two"}}, "m1: One \ngap\nm1: Two"},
		"a whole behind what has grown":             {[]word{{"a1", "", "One "}}, []word{{ourID, "", "hi"}, {"a1", "", "One two"}, {"m1", "completed", "One two"}}, "a1: One two"},
		"each token is an artifact, none was heard": {nil, []word{{ourID, "", "hi"}, {"a1", "", "the"}, {"a2", "", " cat"}, {"a3", "", " saw"}, {"a4", "", " the"}, {"a5", "", " cat"}}, "a1: the cat saw the cat"},
		"each token is an artifact, two were heard": {[]word{{"a1", "", "the"}, {"a2", "", " cat"}}, []word{{ourID, "", "hi"}, {"a1", "", "the"}, {"a2", "", " cat"}, {"a3", "", " saw"}, {"a4", "", " the"}, {"a5", "", " cat"}}, "a1: the cat saw the cat"},
		"an artifact with the whole behind another": {nil, []word{{ourID, "", "hi"}, {"a1", "", "ha ha ha, ha"}, {"a2", "", "ha ha ha, ha"}}, "a1: ha ha ha, ha"},
		"what stands before ours":                   {[]word{{"m1", "", "One "}}, []word{{"m0", "", "Old."}, {ourID, "", "hi"}, {"m1", "", "One two"}}, "m1: One two"},
		"a question that has an answer":             {[]word{{"m0", "", "which city?"}, {"turn", "", ""}, {"m1", "", "One "}}, []word{{ourID, "", "hi"}, {"m0", "", "which city?"}, {"m1", "", "One two"}}, "m0: which city?\nm1: One two"},
	} {
		t.Run(name, func(t *testing.T) {
			var view view
			var journal []Step
			s := New(func(x *Step) {
				view.show(x)
				journal = append(journal, *x)
				journal[len(journal)-1].Text = strings.Clone(x.Text)
			})
			s.Task("task")
			s.Begin()
			for _, x := range v.live {
				switch x.id {
				case "turn":
					s.Begin()
				case "killed":
					s = New(view.show)
					s.Task("task")
					s.Begin()
					for i := range journal {
						s.Restore(&journal[i])
					}
				default:
					s.Live(x.item())
				}
			}
			s.Sent(ourID, "")
			s.Cut()
			from := len(view)
			if s.Snapshot(a2a.StateWorking, heldOf(v.held)) {
				view = slices.Insert(view, from, line{"gap", ""})
			}
			if got := view.inOrder(); got != v.want {
				t.Errorf("shown is\n%s\nwant\n%s", got, v.want)
			}
		})
	}
}

// TestNames: a name is given out once, and IDs that are used once stay what they are. They are views of
// what is read, which the next read overwrites.
func TestNames(t *testing.T) {
	var n Names
	for _, want := range []string{"m", "m~1", "m~2"} {
		id := []byte("m")
		if got := n.Take(rawjson.View(id)); got != want {
			t.Errorf("m is %s, want %s", got, want)
		}
		id[0] = '?'
	}
	for _, row := range [][2]string{{"a", "a"}, {"a~1", "a~1"}, {"a", "a~2"}, {"a", "a~3"}, {"a~1", "a~1~1"}, {"b", "b"}} {
		if got := n.Take(row[0]); got != row[1] {
			t.Errorf("%s is %s, want %s", row[0], got, row[1])
		}
	}
}

func (x word) item() *Item {
	id, appends := strings.CutSuffix(x.id, "+")
	in := &Item{Kind: Message, ID: id, Append: appends, Parts: textParts(strings.Split(x.parts, "|")...)}
	if a2a.State(x.state).Terminal() || waits(a2a.State(x.state)) {
		in.Role = End
	}
	switch id[0] {
	case 'a', 'c', 'n':
		in.Kind, in.Last, in.Role = Artifact, in.Role == End, Said
		in.Name = map[byte]string{'c': "current_result", 'n': id}[id[0]]
	case 't':
		in.Kind = Thought
	}
	return in
}

// A view is what people read.
type view []line

type line struct{ name, text string }

func (v *view) show(s *Step) {
	text := strings.Clone(s.Text)
	if s.Part != nil {
		text = "<" + string(s.Part.Data) + ">"
	}
	switch {
	case s.Op == Gap:
		*v = append(*v, line{"gap", ""})
	case s.Repeats:
	default:
		*v = append(*v, line{s.Name, text})
	}
}

// inOrder has a line for each message as it comes.
func (v view) inOrder() string {
	var b strings.Builder
	last := ""
	for _, l := range v {
		if l.name != last {
			b.WriteString("\n" + l.name)
			if l.name != "gap" {
				b.WriteString(": ")
			}
		}
		last = l.name
		b.WriteString(l.text)
	}
	return strings.TrimPrefix(b.String(), "\n")
}

// text has a line for each message.
func (v view) text() string {
	var all view
	for _, l := range v {
		if i := slices.IndexFunc(all, func(o line) bool { return o.name == l.name }); i >= 0 {
			all[i].text += l.text
		} else {
			all = append(all, l)
		}
	}
	return all.inOrder()
}

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
