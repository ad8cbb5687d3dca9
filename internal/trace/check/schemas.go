package check

import "embed"

// The documents. Those of ACP and A2A lines come from testdata/schema, without
// descriptions (a test writes them); those of A2A are written here.
const (
	docACP   = "acp-1"
	docLines = "a2a-lines"
	doc03    = "a2a-0.3"
	doc10    = "a2a-1.0"
)

//go:embed schema
var schemaFiles embed.FS

// schemas are the documents that were read.
type schemas map[string]*document

// get reads a document. It cannot fail: documents are part of the program, and a test
// reads each.
func (s *schemas) get(name string) *document {
	if *s == nil {
		*s = schemas{}
	}
	if d := (*s)[name]; d != nil {
		return d
	}
	text, err := schemaFiles.ReadFile("schema/" + name + ".json")
	if err != nil {
		panic(err)
	}
	d, err := parse(text)
	if err != nil {
		panic("check: " + name + ": " + err.Error())
	}
	(*s)[name] = d
	return d
}

// An operation is an operation of A2A.
type operation struct {
	version string // of the protocol
	params  string // the schema of its parameters
	result  string // the schema of its result, or of each event
}

// operationOf returns the operation of a JSON-RPC method (A2A 0.3, section 7; 1.0,
// section 9.4), without a version if there is none.
func operationOf(method string) operation {
	for _, known := range [...]struct {
		method string
		operation
	}{
		{"message/send", operation{"0.3", "SendParams", "Sent"}},
		{"message/stream", operation{"0.3", "SendParams", "Event"}},
		{"tasks/get", operation{"0.3", "TaskID", "Task"}},
		{"tasks/cancel", operation{"0.3", "TaskID", "Task"}},
		{"tasks/resubscribe", operation{"0.3", "TaskID", "Event"}},
		{"tasks/pushNotificationConfig/set", operation{"0.3", "TaskPushConfig", "TaskPushConfig"}},
		{"tasks/pushNotificationConfig/get", operation{"0.3", "TaskID", "TaskPushConfig"}},
		{"tasks/pushNotificationConfig/list", operation{"0.3", "TaskID", "TaskPushConfigs"}},
		{"tasks/pushNotificationConfig/delete", operation{"0.3", "TaskID", ""}},
		{"agent/getAuthenticatedExtendedCard", operation{"0.3", "", "Card"}},
		{"SendMessage", operation{"1.0", "SendParams", "Sent"}},
		{"SendStreamingMessage", operation{"1.0", "SendParams", "Event"}},
		{"GetTask", operation{"1.0", "TaskID", "Task"}},
		{"CancelTask", operation{"1.0", "TaskID", "Task"}},
		{"ListTasks", operation{"1.0", "ListParams", "Tasks"}},
		{"SubscribeToTask", operation{"1.0", "TaskID", "Event"}},
		{"CreateTaskPushNotificationConfig", operation{"1.0", "PushConfig", "PushConfig"}},
		{"GetTaskPushNotificationConfig", operation{"1.0", "TaskOf", "PushConfig"}},
		{"ListTaskPushNotificationConfigs", operation{"1.0", "TaskOf", "PushConfigs"}},
		{"DeleteTaskPushNotificationConfig", operation{"1.0", "TaskOf", ""}},
		{"GetExtendedAgentCard", operation{"1.0", "", "Card"}},
	} {
		if known.method == method {
			return known.operation
		}
	}
	return operation{}
}
