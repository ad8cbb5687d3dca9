package mapping

import (
	"slices"
	"strings"

	"github.com/a2astdio/a2astdio/mapping/acp"
)

// mcpAlwaysServer is the one "always" that an agent remembers better than we
// could: Gemini's server trusts an MCP server for the rest of the session.
const mcpAlwaysServer = "proceed_always_server"

// An Option is a choice that the editor offers, with ACP's kind for it.
type Option struct {
	ID          string
	Name        string
	Description string
	// Kind is allow_once, allow_always, reject_once or reject_always.
	Kind string
}

// Options returns the choices of a call that asks: the agent's, each with a
// kind, at most one of a kind (CodeCompanion keys its buttons by kind), with at
// least one that allows and one that rejects.
func Options(c *ToolCall) []Option {
	if c.Confirmation == nil {
		return nil
	}
	offered := c.Confirmation.Options
	if len(offered) == 0 && c.dialect != nil {
		offered = c.dialect.options(c)
	}
	var options []Option
	seen := map[string]bool{}
	for _, o := range offered {
		kind := optionKind(o.ID, o.Name)
		if kind == "" || seen[kind] {
			continue
		}
		seen[kind] = true
		name := o.Name
		if name == "" {
			name = o.ID
		}
		options = append(options, Option{o.ID, name, o.Description, kind})
	}
	if !seen[acp.OptionRejectOnce] && !seen[acp.OptionRejectAlways] {
		options = append(options, Option{"cancel", "Reject", "", acp.OptionRejectOnce})
	}
	return options
}

// optionKind infers ACP's kind from an option's ID, and from its name where the
// ID says nothing. What cannot be told is a rejection: clients that approve by
// themselves pick by kind, so a wrong "allow" would be dangerous. Choices that
// only an editor of the agent's own can serve have none.
func optionKind(id, name string) string {
	for _, s := range []string{id, name} {
		s = strings.ToLower(strings.NewReplacer("-", "_", " ", "_").Replace(s))
		word, _, _ := strings.Cut(s, "_")
		word = strings.Trim(word, ".,:;!?")
		switch {
		case strings.HasPrefix(s, "modify_with"):
			return ""
		case strings.Contains(s, "always") && (strings.Contains(s, "reject") || strings.Contains(s, "deny") ||
			strings.Contains(s, "cancel") || strings.Contains(s, "not_")):
			return acp.OptionRejectAlways
		case strings.HasPrefix(s, "reject_always"), strings.HasPrefix(s, "deny_always"), word == "never":
			return acp.OptionRejectAlways
		case strings.HasPrefix(s, "proceed_always"), strings.HasPrefix(s, "allow_always"),
			strings.HasPrefix(s, "approve_always"), word == "always":
			return acp.OptionAllowAlways
		}
		switch word {
		case "cancel", "reject", "deny", "no", "abort", "decline", "refuse", "don't", "skip":
			return acp.OptionRejectOnce
		case "proceed", "allow", "once", "yes", "accept", "approve", "ok", "continue", "confirm", "run":
			if strings.Contains(s, "session") || strings.Contains(s, "always") {
				return acp.OptionAllowAlways
			}
			return acp.OptionAllowOnce
		}
	}
	return acp.OptionRejectOnce
}

// Choose turns the option that the user picked into the answer for the agent.
// Remember, if not empty, are the keys (see [AlwaysKeys]) that the session
// allows from now on: "always" is kept by the bridge, because agents forget it
// or fail on it, and the agent is told "once".
func Choose(q Question, optionID string) (a Answer, remember []string) {
	a = Answer{Call: q.Call, OptionID: optionID}
	for _, o := range q.Options {
		if o.ID != optionID || o.Kind != acp.OptionAllowAlways || o.ID == mcpAlwaysServer {
			continue
		}
		remember = AlwaysKeys(q.Call)
		if once, ok := pick(q.Options, acp.OptionAllowOnce); ok {
			a.OptionID = once
		}
	}
	return a, remember
}

// Allow is the answer that lets the call run this once; false if the agent
// offers none.
func Allow(q Question) (Answer, bool) {
	id, ok := pick(q.Options, acp.OptionAllowOnce, acp.OptionAllowAlways)
	return Answer{Call: q.Call, OptionID: id}, ok
}

// Reject is the answer that does not.
func Reject(q Question) Answer {
	id, _ := pick(q.Options, acp.OptionRejectOnce, acp.OptionRejectAlways)
	return Answer{Call: q.Call, OptionID: id}
}

func pick(options []Option, kinds ...string) (id string, ok bool) {
	for _, kind := range kinds {
		for _, o := range options {
			if o.Kind == kind {
				return o.ID, true
			}
		}
	}
	return "", false
}

// AlwaysKeys names what allowing this call always would allow: the MCP server,
// the programs of a command, or the kind of tool. A command whose programs
// cannot be told is its own key: nothing but itself.
func AlwaysKeys(c *ToolCall) []string {
	q := c.Confirmation
	switch {
	case q == nil:
		return nil
	case q.MCP != nil:
		return []string{"mcp:" + q.MCP.ServerName}
	case q.Execute != nil:
		var keys []string
		for _, root := range commandRoots(q.Execute) {
			keys = append(keys, "execute:"+root)
		}
		return keys
	case q.Edit != nil:
		return []string{"edit"}
	case q.Generic != nil && q.Generic.Kind != "" && q.Generic.Kind != "info":
		return nil // a question to the user is never answered by an old answer
	}
	return []string{ToolKind(c) + ":" + c.Name}
}

// commandRoots are the programs that a command starts: the agent's list, or the
// first word of each simple command. Anything that could hide another program
// (substitution, redirection, quotes where the program's name should be,
// assignments) makes the whole command its only root.
func commandRoots(e *ExecuteDetails) []string {
	whole := []string{"=" + e.Command}
	if strings.ContainsAny(e.Command, "`<>(){}\\!") || strings.Contains(e.Command, "$(") {
		return whole
	}
	if len(e.Roots) > 0 {
		if slices.ContainsFunc(e.Roots, isShellWord) {
			return whole
		}
		return e.Roots
	}
	var roots []string
	split := strings.FieldsFunc(e.Command, func(r rune) bool { return r == ';' || r == '&' || r == '|' || r == '\n' })
	for _, simple := range split {
		words := strings.Fields(simple)
		if len(words) == 0 {
			continue
		}
		if strings.ContainsAny(words[0], `'"$=*?[~`) || isShellWord(words[0]) {
			return whole
		}
		roots = append(roots, words[0])
	}
	if len(roots) == 0 {
		return whole
	}
	return roots
}

// isShellWord reports whether the word runs what follows it: allowing such a
// word would allow everything.
func isShellWord(w string) bool {
	switch w[strings.LastIndexByte(w, '/')+1:] {
	case "sh", "bash", "zsh", "dash", "ksh", "fish", "env", "sudo", "doas", "xargs", "nohup", "time", "exec", "eval",
		"command", "nice", "timeout", "watch", "if", "for", "while", "until", "case", "do", "then", "else", "python",
		"python3", "node", "perl", "ruby", "ssh", "source", ".":
		return true
	}
	return false
}
