package world

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// A Feature is an ability of worlds. Its number is its bit in a mask, for ever: new
// ones are added at the end.
type Feature uint

// The features.
const (
	V1 Feature = iota
	Lines
	Artifacts
	Mixed
	DirectMessages
	SharedID
	Constant
	Anew
	Replaces
	Grows
	Wholes
	Repeats
	Snapshots
	Openings
	Forgetful
	Resumes
	Echoes
	Reads
	Cuts
	Silence
	Restarts
	Kills
	Prose
	Fails
	Tools
	Asks
	OddOptions
	Parallel
	OpenPauses
	Elsewhere
	SlowUser
	SlowEditor
	DeadEditor
	Cancels
	Sessions
	Contexts
	Noises
	Thoughts
	Continues
	Dismisses
	Heads
	Unstreamed
	Outages
	Deaf
	Parts
	Lingers
	Long
	Unread
	Pushes
	Passes
	featureCount
)

// featureTable has each feature's name, how many of a hundred crowded worlds have it,
// and its meaning.
var featureTable = [featureCount]struct {
	name  string
	odds  int
	about string
}{
	V1:             {"v1", 50, "the agent speaks A2A 1.0, else 0.3"},
	Lines:          {"lines", 35, "the editor speaks A2A lines, else ACP"},
	Artifacts:      {"artifacts", 55, "answers are artifacts, else working status messages"},
	Mixed:          {"mixed", 25, "each answer has a carrier of its own"},
	DirectMessages: {"direct", 12, "some prompts are answered by a message without a task"},
	SharedID:       {"shared-id", 25, "the chunks of a status answer share one message ID, else each has its own"},
	Constant:       {"constant", 30, "all artifacts have one ID"},
	Anew:           {"anew", 40, "the IDs of artifacts, messages and calls begin anew in each task"},
	Replaces:       {"replaces", 20, "artifacts are replaced by other text"},
	Grows:          {"grows", 15, "artifacts are replaced by the same text and more"},
	Wholes:         {"wholes", 30, "what was said in parts is said whole again, elsewhere"},
	Repeats:        {"repeats", 30, "answers repeat themselves and each other on purpose"},
	Snapshots:      {"snapshots", 20, "the task is sent in the middle of streams"},
	Openings:       {"openings", 40, "streams begin in other ways than with the task"},
	Forgetful:      {"forgetful", 45, "the agent does not hold all messages"},
	Resumes:        {"resumes", 60, "subscriptions do something else than the task and what follows"},
	Echoes:         {"echoes", 20, "the newest event comes again behind a snapshot"},
	Reads:          {"reads", 20, "tasks/get fails, or its answer is cut"},
	Cuts:           {"cuts", 60, "streams are cut at any byte"},
	Silence:        {"silence", 12, "streams are silent for minutes, or for ever"},
	Restarts:       {"restarts", 10, "the agent is restarted, and forgets everything"},
	Kills:          {"kills", 8, "the bridge is killed, and another one loads the session"},
	Prose:          {"prose", 30, "turns end with a question in prose, and the next goes on in the task"},
	Fails:          {"fails", 20, "tasks fail, are rejected, cancelled by the agent, or want authentication"},
	Tools:          {"tools", 35, "tool calls that ask nobody"},
	Asks:           {"asks", 45, "tool calls that want approval"},
	OddOptions:     {"odd-options", 50, "options that are unknown, contradictory, several of a kind, or none that rejects"},
	Parallel:       {"parallel", 45, "several calls want approval at once"},
	OpenPauses:     {"open-pauses", 50, "streams stay open while calls wait for approval, and after questions"},
	Elsewhere:      {"elsewhere", 30, "calls that wait go on by themselves; questions are repeated after their answer"},
	SlowUser:       {"slow-user", 30, "the user takes seconds to answer"},
	SlowEditor:     {"slow-editor", 12, "the editor reads slowly"},
	DeadEditor:     {"dead-editor", 4, "the editor stops reading, or ends"},
	Cancels:        {"cancels", 15, "the user cancels"},
	Sessions:       {"sessions", 20, "two conversations at once"},
	Contexts:       {"contexts", 35, "the agent takes its own contexts only, changes them, or names none"},
	Noises:         {"noise", 30, "events that say nothing, user's messages that come back, comments in the stream"},
	Thoughts:       {"thoughts", 20, "the agent thinks aloud"},
	Continues:      {"continues", 40, "completed tasks can be gone on with, or are refused in other ways"},
	Dismisses:      {"dismisses", 20, "the user closes questions, the editor fails or picks what nobody offered"},
	Heads:          {"heads", 12, "connections fail before the first byte of the answer"},
	Unstreamed:     {"unstreamed", 5, "the agent does not stream"},
	Outages:        {"outages", 12, "the agent cannot be reached for a while after a cut"},
	Parts:          {"parts", 25, "texts come in several parts"},
	Long:           {"long", 12, "answers are longer than what a client may keep of them"},
	Lingers:        {"lingers", 15, "streams stay open for a while behind the last event (0.3)"},
	Unread:         {"unread", 6, "the agent cannot be asked for a task (-32601)"},
	Pushes:         {"pushes", 20, "the agent can push, and the bridge has a webhook"},
	Passes:         {"passes", 15, "calls that ask for approval are approved by the agent itself, a moment later"},
	Deaf:           {"deaf", 15, "the agent ignores, refuses or does not know a cancel"},
}

func (f Feature) String() string { return featureTable[f].name }

// A Mask is a set of features.
type Mask uint64

// Has reports whether the feature is on.
func (m Mask) Has(f Feature) bool { return m>>f&1 == 1 }

// Features lists those that are on.
func (m Mask) Features() (list []Feature) {
	for f := range featureCount {
		if m.Has(f) {
			list = append(list, f)
		}
	}
	return list
}

// A Replay names a world.
type Replay struct {
	Seed uint64
	On   Mask
	// Removed are the labels of what was removed.
	Removed []string
}

// NewReplay draws the features of a seed's world. Some worlds have many, some few, so
// that one fault does not always hide another.
func NewReplay(seed uint64) Replay {
	r := Replay{Seed: seed}
	crowd := []int{25, 60, 100, 100}[r.draw("crowd").IntN(4)]
	for f := range featureCount {
		if r.draw("feature", int(f)).IntN(100*100) < featureTable[f].odds*crowd {
			r.On |= 1 << f
		}
	}
	return r
}

// String writes a replay: the seed, the mask in hexadecimal, and what was removed, each
// behind a dash.
func (r Replay) String() string {
	s := fmt.Sprintf("%d %x", r.Seed, uint64(r.On))
	for _, label := range r.Removed {
		s += "-" + label
	}
	return s
}

// ParseReplay reads the output of String.
func ParseReplay(s string) (Replay, error) {
	var r Replay
	seed, rest, ok := strings.Cut(strings.TrimSpace(s), " ")
	words := strings.Split(rest, "-")
	var err, maskErr error
	var mask uint64
	r.Seed, err = strconv.ParseUint(seed, 10, 64)
	mask, maskErr = strconv.ParseUint(words[0], 16, 64)
	if !ok || err != nil || maskErr != nil || Mask(mask)>>featureCount != 0 {
		return r, fmt.Errorf("world: %q is no seed and mask", s)
	}
	r.On, r.Removed = Mask(mask), words[1:]
	if len(r.Removed) == 0 {
		r.Removed = nil
	}
	return r, nil
}

// draw returns the stream of one decision.
func (r Replay) draw(what string, at ...int) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(what))
	for _, n := range at {
		h.Write([]byte{byte(n), byte(n >> 8)})
	}
	return rand.New(rand.NewPCG(r.Seed, h.Sum64()))
}

// removed reports whether a label, or what it is part of, was removed.
func (r Replay) removed(label string) bool {
	return slices.ContainsFunc(r.Removed, func(gone string) bool {
		rest, ok := strings.CutPrefix(label, gone)
		return ok && (rest == "" || rest[0] < '0' || rest[0] > '9')
	})
}
