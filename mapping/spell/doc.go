// Package spell writes steps ([mapping.Step]) for editors: as updates of the Agent Client
// Protocol ([ACP]), as events of A2A lines ([Lines]), and as the text of a tool's result
// ([MCP]). It reads what editors write, too: a prompt ([Prompt]) or a message ([ReadMessage]). A
// [Journal] keeps steps for a session that is loaded again. It is pure, and it knows no dialect
// and no leg.
//
// The table has version 1 of ACP, for an editor that takes no notices. In version 2 (acp2.go) what replaces an item takes its place
// ([Places]), a call begins by an update, a command's output is a terminal's, and the end of a
// turn is a state of the session ([ACP.State]).
//
//	A2A                                      steps               ACP                        A2A lines
//	task state                               StepState           (nothing)                  event/state
//	text of a message                        StepText            agent_message_chunk        event/text
//	text of an artifact                      StepText            agent_message_chunk        event/artifact
//	file or data part                        StepPart            agent_message_chunk        event/message, event/artifact
//	data part: thought                       StepThought         agent_thought_chunk        event/thought
//	data part: tool call                     StepTool            tool_call, …_update, plan  event/toolCall
//	artifact tool-ID-output (gemini)         StepTool            tool_call_update           event/toolCall
//	error in an event's metadata             StepError           agent_message_chunk        event/error
//	connection lost, back                    StepConnection      text for a long loss, gap  event/connection
//	(what the bridge itself says)            StepNotice          agent_message_chunk        event/notice
//	something unknown                        StepUnknown         (nothing)                  event/unknown
//	completed, input-required                                    end_turn                   the leg's result
//	canceled                                                     cancelled                  the leg's result
//	rejected                                                     refusal                    the leg's result
//	failed, auth-required at the end         (TaskError)         -32603, -32000             the leg's result
package spell
