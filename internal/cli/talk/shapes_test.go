package talk

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/bridge"
	"github.com/a2astdio/a2astdio/internal/cli/frame"
	"github.com/a2astdio/a2astdio/internal/test/agent"
	"github.com/a2astdio/a2astdio/internal/test/editor"
	"github.com/a2astdio/a2astdio/internal/test/memnet"
	"github.com/a2astdio/a2astdio/internal/test/must"
	"github.com/a2astdio/a2astdio/internal/test/shapes"
	"github.com/a2astdio/a2astdio/mapping/acp"
	"github.com/a2astdio/a2astdio/transport"
)

// sendTurns are what send writes to stdout and stderr for each turn of a script.
func sendTurns(t *testing.T, script *agent.Script, format string) (outs, errs []string) {
	synctest.Test(t, func(t *testing.T) {
		a := agent.New(script)
		network := &memnet.Network{Handler: a}
		client := must.Get(transport.NewClient(agent.URL, &transport.ClientOptions{RoundTripper: network}))(t)
		agent := bridge.NewAgent(&bridge.Options{Client: client})
		session := agent.NewSession("/")
		for n := range script.Turns {
			var stdout, stderr bytes.Buffer
			p := &frame.Program{Stdout: &stdout, Stderr: &stderr}
			e := &Editor{Format: format, Approver: &Approver{How: ApproveReject, Say: p.Say}}
			switch format {
			case frame.Text:
				e.Output = &TextOutput{Out: &stdout, Say: p.Say, agent: "the agent"}
			case frame.JSON:
				e.Output = &jsonOutput{out: &stdout, say: p.Say}
			default:
				e.Output = &eventsOutput{out: &stdout}
			}
			turn := must.Get(session.Begin())(t)
			result, err := turn.Run(t.Context(), []acp.ContentBlock{{Type: "text", Text: fmt.Sprintf("question %d", n)}}, e)
			if err != nil {
				p.Say("%v", err)
			}
			must.Do(t, e.Output.End(result, ""))
			outs, errs = append(outs, stdout.String()), append(errs, stderr.String())
		}
		agent.Close()
		client.Close()
		network.Sever()
		a.Close()
	})
	return outs, errs
}

// documentRecord is what a document of -o json has, by the IDs of messages and artifacts.
func documentRecord(out string) map[string]string {
	record := map[string]string{}
	add := func(id string, parts gjson.Result) {
		for _, p := range parts.Array() {
			record[id] += p.Get("text").Str
		}
	}
	doc := gjson.Parse(out)
	messages := append(doc.Get("task.history").Array(), doc.Get("task.status.message"), doc.Get("message"))
	for _, m := range messages {
		if m.Get("role").Str == "ROLE_AGENT" {
			add(m.Get("messageId").Str, m.Get("parts"))
		}
	}
	for _, a := range doc.Get("task.artifacts").Array() {
		add(a.Get("artifactId").Str, a.Get("parts"))
	}
	return record
}

// eventsShown is what -o events tells.
func eventsShown(out string) (shown []editor.Shown) {
	for line := range strings.Lines(out) {
		m := gjson.Parse(line)
		if s := editor.Event(m.Get("method").Str, m.Get("params")); s != nil {
			shown = append(shown, *s)
		}
	}
	return shown
}

// TestShapes: send shows what agents by shape say, in each format. The wrong turns are
// today's; their numbers may only shrink.
func TestShapes(t *testing.T) {
	if testing.Short() {
		t.Skip("the transcripts have the same goroutines")
	}
	for format, atMost := range map[string]int{frame.Text: 0, frame.JSON: 1, frame.Events: 0} {
		wrong := map[string]int{}
		all := 0
		for i, s := range shapes.Shapes("none", "ours", "all") {
			if i%8 != 0 { // TestShapes of package shapes has all of them, over ACP
				continue
			}
			answers := shapes.Sentences[i/8%len(shapes.Sentences)]
			outs, errs := sendTurns(t, s.Script(i/8%2 == 1, answers), format)
			items := s.Items(answers)
			for n, out := range outs {
				class := ""
				switch format {
				case frame.Text:
					class = shapes.Judge(shapes.Letters(out), answers[n], strings.Count(errs[n], "may not hold"), answers[n], false, false)
				case frame.JSON:
					if said := gjson.Get(out, "message.parts.#.text"); said.Exists() && len(items[n]) > 1 {
						// Without a task a document has room for one message, which has all that was said.
						text := ""
						for _, p := range said.Array() {
							text += p.Str
						}
						class = shapes.Judge(shapes.Letters(text), answers[n], 0, answers[n], false, false)
						break
					}
					class = shapes.JudgeRecord(documentRecord(out), items[n])
				default:
					shown := eventsShown(out)
					letters, _, gaps := shapes.View(shown)
					if class = shapes.Judge(letters, answers[n], gaps, answers[n], false, false); class == "" {
						class = shapes.JudgeRecord(shapes.Record(shown), items[n])
					}
				}
				if class != "" && shapes.ChosenFor(s, answers, n, class) == "" {
					wrong[class]++
					all++
				}
			}
		}
		t.Logf("-o %s: %d wrong: %v", format, all, wrong)
		must.True(t, all <= atMost, format, all, "turns are wrong, and there were", atMost)
	}
}
