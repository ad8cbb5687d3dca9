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
	// script makes the agent's answer; short makes a small one.
	script func(short bool) (*script, error)
}

const (
	// ringSize is how many different events a script has before it repeats itself.
	ringSize = 1024
	// recording is what the tool-heavy scenario replays, from the project's root.
	recording = "testdata/recordings/gemini/0.61/full-flow.jsonl"
)

// Scenarios lists those that compare the bridge with the baselines.
func Scenarios() []Scenario {
	return []Scenario{
		{Name: "small", About: "1.x artifact updates, 200 bytes of text in 517, one a write", sessions: 1,
			script: smallScript("1.0", artifactV1, 1, 300)},
		{Name: "small64", About: "the same, 64 a write", sessions: 1,
			script: smallScript("1.0", artifactV1, 64, 600)},
		{Name: "gemini64", About: "0.3 status updates as Gemini CLI's server sends text, 64 a write", sessions: 1,
			script: smallScript("0.3", statusV03, 64, 500)},
		{Name: "paced", About: "1.x artifact updates at 2,000/s: delay from the agent's write to the editor's read", sessions: 1,
			script: pacedScript},
		{Name: "1MiB", About: "events of 1 MiB of text with line feeds", Big: true, sessions: 1,
			script: bigScript(1<<20, 4, 32)},
		{Name: "tools", About: "tool calls of a recorded Gemini CLI server, one a write", sessions: 1,
			script: toolScript},
		{Name: "slow", About: "small events, one a write, to an editor that reads 64 KiB at most each 2 ms", sessions: 1, slow: 2 * time.Millisecond,
			script: smallScript("1.0", artifactV1, 1, 60)},
		{Name: "sessions100", About: "small events, one a write, in 100 sessions at once", sessions: 100,
			script: smallScript("1.0", artifactV1, 1, 4)},
	}
}

func pacedScript(short bool) (*script, error) {
	s := newScript("1.0", stamped(artifactV1, ringSize), 1, 4)
	s.pace = time.Second / 2000
	if short {
		s.rounds = 1
	}
	return s, nil
}

func toolScript(short bool) (*script, error) {
	n := 1500
	if short {
		n = 20
	}
	payloads, err := replay(recording, n)
	if err != nil {
		return nil, err
	}
	return newScript("0.3", payloads, 1, 1), nil
}

func smallScript(version string, event func(int, string) []byte, perWrite, rounds int) func(bool) (*script, error) {
	return func(short bool) (*script, error) {
		if short {
			rounds = 2
		}
		return newScript(version, small(event, ringSize, false), perWrite, rounds), nil
	}
}

func bigScript(size, n, rounds int) func(bool) (*script, error) {
	return func(short bool) (*script, error) {
		if short {
			rounds = 2
		}
		payloads := make([][]byte, n)
		for i := range payloads {
			payloads[i] = artifactV1(i, text(i, size, true))
		}
		return newScript("1.0", payloads, 1, rounds), nil
	}
}
