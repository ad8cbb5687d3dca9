package ask

import (
	"slices"
	"strings"
	"unicode"

	"github.com/a2astdio/a2astdio/mapping/acp"
)

// optionMeaning tells what an option means from its ID and its name, as ACP's kind. The
// development-tool extension leaves both to the agent (§3.2, ConfirmationOption), so a
// wrong guess would answer in the user's name. Hence an option allows, or rejects, for
// certain only if one of the two texts says so in words that are all known, and the
// other says the same or nothing. Every other option, a contradiction above all, gets
// the kind allow_once, so that a client which rejects by kind never picks it. width
// orders options of one kind by how much they allow.
func optionMeaning(id, name string) (kind string, width Width, certain bool) {
	a, b := readWords(id), readWords(name)
	says := a.says
	if says == saysNothing {
		says = b.says
	}
	width = max(a.width, b.width)
	agree := a.agreesWith(says) && b.agreesWith(says)
	plain := a.says == says && a.plain || b.says == says && b.plain
	always := width >= WidthSession
	switch certain = agree && plain && (says != saysAllow || always || reachIsKnown(a, b)); {
	case certain && says == saysReject && always:
		return acp.OptionRejectAlways, width, true
	case certain && says == saysReject:
		return acp.OptionRejectOnce, width, true
	case certain && says == saysAllow && always:
		return acp.OptionAllowAlways, width, true
	case certain && says == saysAllow:
		return acp.OptionAllowOnce, width, true
	}
	return acp.OptionAllowOnce, width, false
}

// agreesWith reports whether a text says the same as another, or nothing.
func (m meaning) agreesWith(says saying) bool { return m.says == says || m.says == saysNothing }

// reachIsKnown reports whether texts that allow tell how far they reach: by all their
// words ("Allow git *" may reach anywhere), or because one says "once".
func reachIsKnown(a, b meaning) bool {
	known := func(m meaning) bool { return m.plain || m.says == saysNothing }
	return a.once || b.once || known(a) && known(b)
}

// applyDescription widens an option that allows, if its description reaches further than its name:
// then only the user picks it.
func (o *Option) applyDescription() {
	if o.rejects() {
		return
	}
	if width := readWords(o.Description).width; width >= WidthSession && width > o.Width {
		o.Width, o.Certain = width, false
	}
}

// A saying is what words say of the call.
type saying uint8

const (
	saysNothing saying = iota
	saysAllow
	saysReject
	saysUnclear // both, or something that only looks like one of them
)

// Width is how far an option reaches.
type Width int

// The widths of options, from the narrowest. Those from WidthSession on concern
// more than the call that is asked for.
const (
	WidthCall Width = iota
	WidthStop       // a rejection that ends the turn too
	WidthSession
	WidthServer
	WidthStored // what outlives the session, or reaches other places
	WidthAll
)

// A meaning is what the words of one text mean together.
type meaning struct {
	says  saying
	plain bool // all words are known
	once  bool // one of them is "once"
	width Width
}

// readWords reads an option's ID or its name.
func readWords(text string) meaning {
	words := optionWords(text)
	m := meaning{plain: len(words) > 0}
	allow, reject, unclear := false, false, false
	dontAsk, refuses, unknown := false, false, false // refuses: by a word that can mean nothing else
	for i := 0; i < len(words); i++ {
		w, next := words[i], ""
		if i+1 < len(words) {
			next = words[i+1]
		}
		switch {
		case slices.Contains(negations, w) && next == "ask", w == "stop" && next == "asking", w == "without" && next == "asking":
			m.width, dontAsk = max(m.width, WidthSession), true // "don't ask again" allows
			i++
		case slices.Contains(negations, w) && slices.Contains(allowWords, next):
			reject, refuses = true, true // "don't allow"
			i++
		case slices.Contains(allowWords, w):
			allow = true
		case slices.Contains(rejectWords, w):
			reject = true
			if slices.Contains(stopWords, w) {
				m.width = max(m.width, WidthStop)
			} else {
				refuses = refuses || w != "skip"
			}
		case w == "never" && len(words) == 1:
			reject, m.width = true, WidthSession
		case slices.Contains(negations, w):
			unclear = true
		case w == "once":
			m.once = true
		default:
			width, ok := wordWidth(w)
			m.width = max(m.width, width)
			known := ok || slices.Contains(fillers, w)
			m.plain, unknown = m.plain && known, unknown || !known && !slices.Contains(stopObjects, w)
		}
	}
	switch {
	case unclear || allow && reject, reject && !refuses && unknown, dontAsk && !allow && !reject:
		// What is cancelled, or skipped, may be what protects the user.
		m.says = saysUnclear
	case allow:
		m.says = saysAllow
	case reject:
		m.says = saysReject
	case m.plain && (m.once || slices.Contains(words, "always")): // labels like "Once"
		m.says = saysAllow
	}
	return m
}

// optionWords returns the words of a text in lower case. "no" is a word of its
// own only where it stands alone or before punctuation: "No, thanks" rejects, and
// "No sandbox" does not.
func optionWords(text string) []string {
	var words []string
	var word strings.Builder
	end := func(mark rune) {
		if word.Len() == 0 {
			return
		}
		w := strings.ToLower(word.String())
		word.Reset()
		if w == "no" && strings.ContainsRune(",.;:!-–—", mark) {
			w = "reject"
		}
		words = append(words, w)
	}
	lower := false
	for _, r := range text {
		switch {
		case r == '\'' || r == '’': // don't
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			end(r)
		case unicode.IsUpper(r) && lower: // allowOnce
			end(0)
			word.WriteRune(r)
		default:
			word.WriteRune(r)
		}
		lower = unicode.IsLower(r)
	}
	end(0)
	if slices.Contains(words, "no") && onlyFillers(words) {
		for i := range words {
			if words[i] == "no" {
				words[i] = "reject"
			}
		}
	}
	return words
}

// onlyFillers reports whether all words but "no" say nothing by themselves.
func onlyFillers(words []string) bool {
	return !slices.ContainsFunc(words, func(w string) bool {
		return w != "no" && w != "once" && !slices.Contains(fillers, w) && !slices.Contains(rejectWords, w)
	})
}

// The words that options of known agents and editors have.
var (
	allowWords = []string{"allow", "allowed", "allows", "approve", "approved", "approves", "accept", "accepted", "permit",
		"permitted", "grant", "granted", "yes", "y", "ok", "okay", "proceed", "continue", "confirm", "confirmed", "run", "execute",
		"apply", "agree", "authorize", "authorized", "authorise", "authorised"}
	rejectWords = []string{"reject", "rejected", "rejects", "deny", "denied", "denies", "decline", "declined", "refuse", "refused",
		"cancel", "canceled", "cancelled", "abort", "aborted", "disallow", "disallowed", "disapprove", "disapproved", "n", "nope",
		"skip", "stop"}
	stopWords = []string{"cancel", "canceled", "cancelled", "abort", "aborted", "stop"}
	// stopObjects are what a rejection may cancel, stop or skip.
	stopObjects = []string{"task", "turn", "step"}
	negations   = []string{"no", "not", "dont", "never", "cannot", "nothing", "none"}
	// fillers say nothing by themselves.
	fillers = []string{"this", "that", "it", "the", "a", "time", "just", "now", "only", "call", "command", "edit", "edits", "change",
		"changes", "file", "request", "action", "operation", "execution", "use", "one", "and", "please", "thanks", "esc", "option", "to",
		"for", "tool", "in", "of", "me", "my", "with", "feedback"}
)

// wordWidth returns how far a word reaches beyond the call; false if it is not known to.
func wordWidth(w string) (width Width, ok bool) {
	switch w {
	case "always", "session", "again", "future", "further", "subsequent", "similar", "conversation", "whenever":
		return WidthSession, true
	case "server":
		return WidthServer, true
	case "remember", "trust", "save", "project", "workspace", "forever", "permanently", "permanent", "user":
		return WidthStored, true
	case "global", "all", "every", "everything", "any", "anything":
		return WidthAll, true
	}
	return 0, false
}
