package check

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// Kinds of events.
const (
	kindTask     = "task"
	kindMessage  = "message"
	kindStatus   = "status"
	kindArtifact = "artifact"
)

// An event is an A2A event of either version, as far as the rules need it.
type event struct {
	kind  string
	task  string
	state string // by its 0.3 name
	final bool
	body  gjson.Result
}

func eventOf(result gjson.Result) event {
	e := event{body: result}
	switch result.Get("kind").Str {
	case "task":
		e.kind = kindTask
	case "message":
		e.kind = kindMessage
	case "status-update":
		e.kind = kindStatus
	case "artifact-update":
		e.kind = kindArtifact
	default:
		for _, name := range [...][2]string{{"task", kindTask}, {"message", kindMessage}, {"statusUpdate", kindStatus}, {"artifactUpdate", kindArtifact}} {
			if inner := result.Get(name[0]); inner.IsObject() {
				e.kind, e.body = name[1], inner
			}
		}
		if e.kind == "" && result.Get("status.state").Exists() {
			e.kind = kindTask
		}
	}
	if e.task = e.body.Get("taskId").Str; e.kind == kindTask {
		e.task = e.body.Get("id").Str
	}
	e.state = strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(e.body.Get("status.state").Str, "TASK_STATE_"), "_", "-"))
	e.final = e.body.Get("final").Bool()
	return e
}

func terminal(state string) bool {
	return slices.Contains([]string{"completed", "canceled", "failed", "rejected"}, state)
}

// textOf is the text of a message's or an artifact's parts.
func textOf(parts gjson.Result) string {
	var b strings.Builder
	parts.ForEach(func(_, p gjson.Result) bool {
		b.WriteString(p.Get("text").Str)
		return true
	})
	return b.String()
}
