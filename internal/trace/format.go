package trace

import (
	"encoding/json"
	"time"
)

// Format is the number of the trace's format. An older reader shows what it knows of a
// newer trace: new members may come, and known ones keep their meaning.
const Format = 2

// Values of [Record.Wire].
const (
	WireEditor = "editor" // JSON-RPC, a line a message
	WireAgent  = "agent"  // HTTP
	WireBridge = "bridge" // what is said about neither
)

// Values of [Record.Dir], seen from the recording program.
const (
	DirIn  = "in"
	DirOut = "out"
)

// Values of [Record.Kind].
const (
	KindStart    = "start"    // the first record of a file
	KindMessage  = "message"  // a line of the editor's wire
	KindStderr   = "stderr"   // a line that the command of `tap` wrote to stderr
	KindRequest  = "request"  // to the agent
	KindResponse = "response" // its status and header
	KindEvent    = "event"    // of its stream
	KindBody     = "body"     // its body, if that is no stream
	KindEnd      = "end"      // of the exchange, whatever ended it
	KindDecision = "decision" // of the bridge
	KindStop     = "stop"     // the last record of a trace that was closed
)

// Values of [Record.Reason]: what ended an exchange.
const (
	EndDone     = "done"     // everything was read; or the agent was done, and nobody wanted the rest
	EndEOF      = "eof"      // the stream ended before the agent was done
	EndCut      = "cut"      // the connection broke off, or the response ended within an event
	EndClosed   = "closed"   // we closed it before the agent was done
	EndCanceled = "canceled" // its caller gave up
	EndFailed   = "failed"   // no response came
	EndOpen     = "open"     // it was still open when the trace was closed
)

// Values of [Decision.What].
const (
	DecideLost      = "lost"      // the connection to the agent is lost
	DecideReconnect = "reconnect" // it is made anew
	DecidePoll      = "poll"      // the task is asked for, because it cannot be followed
	DecideGiveUp    = "give-up"   // no further attempt
	DecideSettle    = "settle"    // no further calls come: the waiting ones are asked about
	DecideAsk       = "ask"       // the user is asked
	DecideAnswer    = "answer"    // what the user, or somebody in the user's place, decided
	DecideMerge     = "merge"     // updates were merged, or replaced by newer ones
	DecideFold      = "fold"      // events of the agent that give the editor nothing
	DecideCancel    = "cancel"
)

// A Record is one line of a trace. docs/trace-format.md describes its members.
type Record struct {
	N      int64           `json:"n"`
	Time   time.Time       `json:"t"`
	Micros int64           `json:"us"`
	Wire   string          `json:"wire"`
	Dir    string          `json:"dir,omitempty"`
	Kind   string          `json:"kind"`
	ID     json.RawMessage `json:"id,omitempty"`
	Method string          `json:"method,omitempty"`

	Exchange int64               `json:"x,omitempty"`
	Event    int64               `json:"e,omitempty"`
	HTTP     string              `json:"http,omitempty"`
	URL      string              `json:"url,omitempty"`
	Header   map[string][]string `json:"header,omitempty"`
	Status   int                 `json:"status,omitempty"`
	Proto    string              `json:"proto,omitempty"`
	Name     string              `json:"name,omitempty"`
	LastID   string              `json:"last_id,omitempty"`
	Comment  string              `json:"comment,omitempty"`

	JSON   json.RawMessage `json:"json,omitempty"`
	Text   string          `json:"text,omitempty"`
	Base64 []byte          `json:"base64,omitempty"`
	Size   int64           `json:"size,omitempty"`
	Head   string          `json:"head,omitempty"`
	Masked bool            `json:"masked,omitempty"`

	Bytes  int64      `json:"bytes,omitempty"`
	Took   int64      `json:"took,omitempty"`
	Reason string     `json:"reason,omitempty"`
	Error  string     `json:"error,omitempty"`
	From   []EventRef `json:"from,omitempty"`

	What    string `json:"what,omitempty"`
	Why     string `json:"why,omitempty"`
	Session string `json:"session,omitempty"`
	Task    string `json:"task,omitempty"`
	Call    string `json:"call,omitempty"`
	Attempt int    `json:"attempt,omitempty"`
	Option  string `json:"option,omitempty"`
	Outcome string `json:"outcome,omitempty"`
	By      string `json:"by,omitempty"`

	Format  int    `json:"format,omitempty"`
	Program string `json:"program,omitempty"`
	Version string `json:"version,omitempty"`
	System  string `json:"system,omitempty"`
	Mode    string `json:"mode,omitempty"`
	Limit   int64  `json:"limit,omitempty"`
	Redact  bool   `json:"redact,omitempty"`
	Run     string `json:"run,omitempty"`
	Records int64  `json:"records,omitempty"`
}

// An EventRef names an event of the agent's: its exchange, and its number in that, from
// 1.
type EventRef [2]int64
