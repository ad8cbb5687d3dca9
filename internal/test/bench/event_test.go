package bench

import (
	"bytes"
	"fmt"
	"strings"
)

// interleaved are events of two artifacts, in turns.
func interleaved(i int, text string) []byte {
	b := artifactV1(i, text)
	if i%2 == 1 {
		b = bytes.Replace(b, []byte(artifactID), []byte("1"+artifactID[1:]), 1)
	}
	return b
}

// statusV1 is an A2A 1.x status update with a message.
func statusV1(i int, text string) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":2,"result":{"statusUpdate":{"taskId":"%s","contextId":"%s","status":{"state":"TASK_STATE_WORKING",`+
		`"message":{"messageId":"%s","role":"ROLE_AGENT","parts":[{"text":%s}]},"timestamp":"%s"}}}}`,
		taskID, contextID, messageID, quoted(text), clock(i))
}

// artifactV03 is an A2A 0.3 artifact update.
func artifactV03(i int, text string) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":45,"result":{"kind":"artifact-update","taskId":"%s","contextId":"%s","artifact":{"artifactId":"%s",`+
		`"parts":[{"kind":"text","text":%s}]},"append":true,"lastChunk":false,"metadata":{"timestamp":"%s"}}}`,
		taskID, contextID, artifactID, quoted(text), clock(i))
}

// liveOutput are a tool call and what it puts out up to a size, 4 KiB more each time and
// resent whole, as Gemini CLI's server does it. There is no mark in it, because an editor
// that is behind gets the newest state only; a text with marks comes after it.
func liveOutput(size int) [][]byte {
	const step = 4 << 10
	payloads := [][]byte{fmt.Appendf(nil, `{"jsonrpc":"2.0","id":45,"result":{"kind":"status-update","taskId":"%s","contextId":"%s","status":{"state":"working","message":{"kind":"message","role":"agent",`+
		`"messageId":"m","parts":[{"kind":"data","data":{"request":{"callId":"call-1","name":"run_shell_command","args":{"command":"make"}},"status":"executing","tool":{"kind":"execute"}}}]}},`+
		`"final":false,"metadata":{"coderAgent":{"kind":"tool-call-update"}}}}`, taskID, contextID)}
	whole := strings.ReplaceAll(text(0, size, true), string(mark), ".")
	for n := step; n <= size; n += step {
		payloads = append(payloads, fmt.Appendf(nil, `{"jsonrpc":"2.0","id":45,"result":{"kind":"artifact-update","taskId":"%s","contextId":"%s","artifact":{"artifactId":"tool-call-1-output",`+
			`"parts":[{"kind":"text","text":%s}]},"append":true,"lastChunk":false}}`, taskID, contextID, quoted(whole[:n])))
	}
	return append(payloads, statusV03(0, text(0, textSize, false)))
}
