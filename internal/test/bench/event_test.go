package bench

import (
	"bytes"
	"fmt"
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
