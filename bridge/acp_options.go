package bridge

import (
	"context"
	"fmt"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/mapping/acp"
	"github.com/a2astdio/a2astdio/mapping/spell"
)

// This file has the choices that an ACP editor offers its user: the permission mode,
// told twice, as a session mode and as a configuration option (ACP, Session Config
// Options: agents are to send both, and keep them in step).

// configPermission is the option's name. Its values are the modes'.
const configPermission = "mode"

// abilities are what an editor has announced that it can do. It gets nothing else: it may reject
// the whole message.
type abilities struct {
	form, url bool // elicitation/create with a form, with a page
	// terminal and command: it runs a sign-in in a terminal. It says that in either of two ways: as
	// ACP has it (auth.terminal), or in the older one (_meta["terminal-auth"]), which wants the
	// whole command.
	terminal, command bool
	notices           bool // session/update with notice
	reads, writes     bool // fs/read_text_file, fs/write_text_file
	// runsTogether: see [spell.ACP.RunsTogether].
	runsTogether bool
	// output is the member of _meta in which the output of commands goes; "": none.
	output spell.TerminalMember
}

// asks reports whether the editor has announced elicitations of that mode.
func (can abilities) asks(q *spell.Elicitation) bool {
	if q.Mode == acp.ElicitURL {
		return can.url
	}
	return can.form
}

func readAbilities(p *acp.InitializeRequest, v2 bool) (can abilities) {
	// By their names: for the editors that keep messages apart, all text is the agent's own
	// (sources of August 2026; avante does the same, and does not say who it is).
	can.runsTogether = p.ClientInfo != nil && (p.ClientInfo.Name == "CodeCompanion.nvim" || p.ClientInfo.Name == "agent-shell")
	caps := gjson.ParseBytes(p.ClientCapabilities)
	can.form, can.url = caps.Get("elicitation.form").IsObject(), caps.Get("elicitation.url").IsObject()
	can.terminal, can.command = caps.Get("auth.terminal").Bool(), caps.Get("_meta.terminal-auth").Bool()
	if v2 {
		can.terminal = caps.Get("auth.terminal").IsObject()
	}
	can.notices = v2 || caps.Get("session.notices").IsObject()
	can.reads, can.writes = caps.Get("fs.readTextFile").Bool(), caps.Get("fs.writeTextFile").Bool()
	for _, member := range []spell.TerminalMember{spell.TerminalOutput, spell.TerminalDelta} { // the latter is preferred
		if caps.Get("_meta." + string(member)).Bool() {
			can.output = member
		}
	}
	return can
}

func modes(s *Session) *acp.SessionModes {
	return &acp.SessionModes{CurrentModeID: s.Mode(), AvailableModes: []acp.SessionMode{
		{ID: ModeDefault, Name: "Default", Description: "Ask before each tool that the agent wants approved"},
		{ID: ModeAcceptEdits, Name: "Accept edits", Description: "Allow edits of files in the session's directories, but for hidden ones; ask before everything else"},
		{ID: ModeYolo, Name: "Allow everything", Description: "Allow whatever the agent asks for, without asking you"},
	}}
}

func (e *acpEditor) configOptions(s *Session) []acp.ConfigOption {
	m := modes(s)
	option := acp.ConfigOption{ID: configPermission, Name: "Permissions", Description: "What the agent may do without asking you",
		Category: acp.ConfigMode, Type: acp.ConfigSelect, CurrentValue: m.CurrentModeID}
	for _, mode := range m.AvailableModes {
		option.Options = append(option.Options, acp.ConfigValue{Value: mode.ID, Name: mode.Name, Description: mode.Description})
	}
	if e.v2 {
		option.ID, option.ConfigID = "", option.ID
	}
	return []acp.ConfigOption{option}
}

func (e *acpEditor) setMode(c *editorRequest, p *acp.SessionRequest) {
	e.changeMode(c, p.SessionID, p.ModeID, func(*Session) any { return struct{}{} })
}

// setConfig sets the only option. The result lists all options, as ACP requires.
func (e *acpEditor) setConfig(c *editorRequest, p *acp.SetConfigRequest) {
	value, must := gjson.ParseBytes(p.Value), "be a string"
	ok := value.Type == gjson.String
	if e.v2 {
		ok, must = ok && p.Type == "id", "be of type id, a string"
	}
	switch {
	case p.ConfigID != configPermission:
		c.fail(acp.CodeInvalidParams, fmt.Sprintf("editor: %s: there is no option %q: the one there is, is %q", c.method, p.ConfigID, configPermission), "")
	case !ok:
		c.fail(acp.CodeInvalidParams, fmt.Sprintf("editor: %s: the value of %q must %s", c.method, configPermission, must), "")
	default:
		e.changeMode(c, p.SessionID, value.Str, func(s *Session) any { return map[string]any{"configOptions": e.configOptions(s)} })
	}
}

// changeMode sets a session's mode, answers, and tells the mode: in both ways that version 1 has,
// or in the one of version 2.
func (e *acpEditor) changeMode(c *editorRequest, id, mode string, result func(*Session) any) {
	session := e.session(c, id)
	if session == nil {
		return
	}
	if err := session.SetMode(mode); err != nil {
		c.fail(acp.CodeInvalidParams, err.Error(), "")
		return
	}
	c.reply(result(session))
	e.server.spawn(func(ctx context.Context) {
		// Both tell the present mode: another change may have come meanwhile.
		out, lines := e.spelling(session), []byte(nil)
		if !e.v2 {
			lines = out.Mode(lines, session.Mode())
		}
		e.send(ctx, out.Config(lines, e.configOptions(session)))
	})
}
