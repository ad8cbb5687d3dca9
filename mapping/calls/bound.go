package calls

import (
	"hash/maphash"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// This file bounds what is kept. What is forgotten may be shown twice.

const (
	// maxTasks is how many tasks of a conversation are remembered.
	maxTasks = 64
	// maxCalls is how many calls are kept. Of more, the older half is forgotten.
	maxCalls = 1 << 12
	// maxHeard is how many mentions, and how many names, are remembered: 6 MiB.
	maxHeard = 1 << 18
	// maxOpen is how many questions may be open. More are not put to the user.
	maxOpen = 1 << 10
	// maxBytes is how much is kept of calls that have not ended: what a hundred of them put
	// out. Of more, the output that was sent is forgotten, and then the older calls.
	maxBytes = 64 << 20
	// maxSum is how much of a long value is hashed at either end, with its length.
	maxSum = 4 << 10
	// maxInput is the longest input that is kept of a call that has ended.
	maxInput = 1 << 10
)

// seed is that of all hashes: they are compared within the process only.
var seed = maphash.MakeSeed()

// A sum is the hash of a list of values: each is hashed for itself, and taken in by two steps that
// lose nothing, so that their order and their ends count. (Rejected: one maphash.Hash, which
// copies each value into its buffer.)
type sum uint64

// text adds a value.
func (s *sum) text(v string) { s.number(hashOf(v)) }

// number adds a number, or the hash of a value.
func (s *sum) number(n uint64) {
	const odd = 0x9E3779B97F4A7C15
	*s = sum(bits.RotateLeft64((uint64(*s)^n)*odd, 29))
}

// long is text for what may be long: output that grows by a little is sent whole each time.
func (s *sum) long(v string) {
	if n := len(v); n > 2*maxSum {
		s.number(uint64(n))
		s.text(v[:maxSum])
		v = v[n-maxSum:]
	}
	s.text(v)
}

func hashOf(v string) uint64 { return maphash.String(seed, v) }

// digest is the hash of JSON, however it is written.
func digest(v a2a.JSON) uint64 { return rawjson.Digest(seed, string(v)) }

// names are the hashes of the names that the editor knows calls by, each with how many others
// were made of it. shown.Shown.TakeName is the same for messages.
type names map[uint64]int

// take returns a name for an ID: a copy, with ~ and a number behind it if that is taken.
func (n names) take(id string) string {
	if len(n) >= maxHeard {
		clear(n)
	}
	name, of := strings.Clone(id), hashOf(id)
	for {
		sum := hashOf(name)
		if _, taken := n[sum]; !taken {
			n[sum] = 0
			return name
		}
		n[of]++
		name = id + "~" + strconv.Itoa(n[of])
	}
}

// charge counts anew how many bytes are kept of a call.
func (c *Calls) charge(one *kept) {
	c.size -= one.size
	one.size = one.ToolCall.size()
	if g := one.growing; g != nil {
		one.size += len(g.sent) + len(g.json)
	}
	c.size += one.size
}

// strip forgets of a call what is not needed to tell what changes. The step that shows it holds
// the whole call. What it asks is not kept: the user is asked again only by a mention that says it
// again, and shown that.
func (c *Calls) strip(one *kept) {
	left := *one.ToolCall
	left.OutputSoFar, left.outputJSON, left.Output, left.Extra, left.Confirmation = "", "", nil, "", nil
	if len(left.Input) > maxInput {
		left.Input = ""
	}
	if left.Asks {
		left.Confirmation = &Confirmation{}
		one.dataSum, one.sinceAnswer, one.taken = 0, false, true // neither AskNewest nor AskAgain opens it
	}
	one.ToolCall, one.growing = &left, nil
	c.charge(one)
}

// bound strips calls that take too many bytes, and forgets the older half of too many: those
// that have ended, then the others, whose end the steps show. The one in hand, and those that are
// open, stay.
func (c *Calls) bound(now *kept, to []Step) []Step {
	if c.size > maxBytes {
		for _, one := range c.list {
			if one != now && !one.Open() && one.size > maxInput {
				c.strip(one)
			}
		}
	}
	if len(c.list) <= maxCalls {
		return to
	}
	left := len(c.list)
	for _, running := range [...]bool{false, true} {
		c.list = slices.DeleteFunc(c.list, func(one *kept) bool {
			if left <= maxCalls/2 || slices.Contains(c.open, one) || one == now || !running && !one.Status.Ended() {
				return false
			}
			if left--; one.task.calls[one.ID] == one {
				if !one.Status.Ended() {
					to = append(to, c.close(one, false))
				}
				delete(one.task.calls, one.ID)
			}
			c.size -= one.size
			return true
		})
	}
	c.asking = slices.DeleteFunc(c.asking, func(one *kept) bool { return one.task.calls[one.ID] != one })
	return to
}
