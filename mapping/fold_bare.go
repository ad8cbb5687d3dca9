package mapping

import (
	"strconv"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/internal/rawjson"
)

// bareRequest shows a data part that is a ConfirmationRequest without a ToolCall
// around it; false if it is none. The development-tool extension has both (§3.2:
// a message "contains a ConfirmationRequest"). It is taken for the question of the
// one call that is pending, if there is one; otherwise it becomes a call under an
// ID of ours, and is answered for the task.
func (f *Fold) bareRequest(data, messageID string) bool {
	if !f.speaks(devtoolIndex) || !isBareRequest(data) {
		return false
	}
	c := &f.calls.data.call
	*c = ToolCall{dialect: devtool{}, Status: ToolPending, Asks: true, Confirmation: devtoolConfirmation(gjson.Parse(data))}
	if pending := f.calls.onlyPending(); pending != nil {
		asks, confirmation := c.Asks, c.Confirmation
		*c = *pending.ToolCall
		c.Asks, c.Confirmation = asks, confirmation
		f.update(c)
		return true
	}
	c.Bare = true
	name := "confirmation-" + strconv.FormatUint(markSum(f.TaskID, messageID, data), 36)
	for n := 2; ; n++ {
		if old := f.calls.task.calls[name]; old == nil || f.whole || !old.answered {
			break // it is new, or repeated
		}
		// The agent asks the same again, after an answer.
		name += "~" + strconv.Itoa(n)
	}
	c.ID = name
	f.update(c)
	return true
}

// isBareRequest reports whether data has members of a ConfirmationRequest and no
// others.
func isBareRequest(data string) bool {
	options, details, others := false, false, false
	rawjson.EachMember(data, func(key, value string) bool {
		switch key {
		case "options":
			options = rawjson.IsArray(value)
		case "execute_details", "executeDetails", "file_edit_details", "fileEditDetails", "mcp_details", "mcpDetails",
			"generic_details", "genericDetails":
			details = details || rawjson.IsObject(value)
		default:
			others = true
		}
		return !others
	})
	return (options || details) && !others
}

// onlyPending returns the one call of the task that waits to be run and has asked
// nothing; nil if there is none, or more than one.
func (k *calls) onlyPending() (found *call) {
	for _, c := range k.task.calls {
		if c.Status != ToolPending || c.Asks || c.answered || c.dialect != (devtool{}) {
			continue
		}
		if found != nil {
			return nil
		}
		found = c
	}
	return found
}
