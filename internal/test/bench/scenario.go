package bench

import "time"

// A Scenario is a manner in which agents send.
type Scenario struct {
	Name  string
	About string
	// Big: bytes count, not events.
	Big      bool
	sessions int
	slow     time.Duration // the editor's pause after each read
	script   func() (*script, error)
}

const (
	// ringSize is how many different events a script has before it repeats itself.
	ringSize = 1024
	// recording is what the tool-heavy scenario replays, from the project's root.
	recording = "testdata/recordings/gemini/0.61/full-flow.jsonl"
)

// Scenarios lists those that compare the bridge with the baselines.
func Scenarios() []Scenario {
	smalls := func(version string, event func(int, string) []byte, perWrite, rounds int) func() (*script, error) {
		return func() (*script, error) {
			return newScript(version, small(event, ringSize, false), perWrite, rounds), nil
		}
	}
	return []Scenario{
		{Name: "small", About: "1.x artifact updates, 200 bytes of text in 517, one a write", sessions: 1, script: smalls("1.0", artifactV1, 1, 300)},
		{Name: "small64", About: "the same, 64 a write", sessions: 1, script: smalls("1.0", artifactV1, 64, 600)},
		{Name: "gemini64", About: "0.3 status updates as Gemini CLI's server sends text, 64 a write", sessions: 1, script: smalls("0.3", statusV03, 64, 500)},
		{Name: "paced", About: "1.x artifact updates at 2,000/s: delay from the agent's write to the editor's read", sessions: 1, script: pacedScript},
		{Name: "1MiB", About: "events of 1 MiB of text with line feeds", Big: true, sessions: 1, script: bigScript},
		{Name: "tools", About: "tool calls of a recorded Gemini CLI server, one a write", sessions: 1, script: toolScript},
		{Name: "slow", About: "small events, one a write, to an editor that reads 64 KiB at most each 2 ms", sessions: 1, slow: 2 * time.Millisecond,
			script: smalls("1.0", artifactV1, 1, 60)},
		{Name: "sessions100", About: "small events, one a write, in 100 sessions at once", sessions: 100, script: smalls("1.0", artifactV1, 1, 4)},
	}
}

func pacedScript() (*script, error) {
	s := newScript("1.0", small(artifactV1, ringSize, false), 1, 4)
	s.pace = time.Second / 2000
	return s, nil
}

func toolScript() (*script, error) {
	payloads, err := replay(recording, 1500)
	return newScript("0.3", payloads, 1, 1), err
}

func bigScript() (*script, error) {
	var payloads [][]byte
	for i := range 4 {
		payloads = append(payloads, artifactV1(i, text(i, 1<<20, true)))
	}
	return newScript("1.0", payloads, 1, 32), nil
}
