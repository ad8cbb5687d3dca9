package calls

import (
	"encoding/binary"
	"hash/maphash"
	"strconv"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// This file bounds what is kept. Calls that were used last are kept whole; of one that has
// ended long ago a hash tells that it was there, so that another result of it is not shown.
// What is older than maxPast/2 others is forgotten: it may be shown twice.

const (
	// maxTasks is how many tasks of a conversation are remembered.
	maxTasks = 64
	// maxWhole is how many calls are kept whole.
	maxWhole = 1 << 12
	// maxPast is how many calls, and mentions, are known by their hashes: 10 MiB of each.
	maxPast = 1 << 19
	// maxOpen is how many questions may be open. More are not put to the user.
	maxOpen = 1 << 10
	// maxBytes is how much is kept of calls that have not ended: what a hundred of them put
	// out. Beyond it they are known by ID and state only, like those that have ended.
	maxBytes = 64 << 20
	// maxSum is how much of a long value is hashed at either end, with its length.
	maxSum = 4 << 10
	// maxInput is the longest input that is kept of a call beyond that.
	maxInput = 1 << 10
)

// seed is that of all hashes: they are compared within the process only.
var seed = maphash.MakeSeed()

// A sum hashes values with their lengths, so that two lists of values do not hash alike.
type sum struct{ maphash.Hash }

func newSum() (s sum) {
	s.SetSeed(seed)
	return s
}

func (s *sum) text(v string) {
	s.number(uint64(len(v)))
	s.WriteString(v)
}

func (s *sum) number(n uint64) {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], n)
	s.Write(b[:])
}

// long is text for what may be long: output that grows by a little is sent whole each time.
func (s *sum) long(v string) {
	if n := len(v); n > 2*maxSum {
		s.number(uint64(n))
		v = v[:maxSum] + v[n-maxSum:]
	}
	s.text(v)
}

func keyOf(values ...string) uint64 {
	s := newSum()
	for _, v := range values {
		s.text(v)
	}
	return s.Sum64()
}

// digest is the hash of JSON, however it is written.
func digest(v a2a.JSON) string { return strconv.FormatUint(rawjson.Digest(seed, string(v)), 36) }

// endSum is the hash of how a call has ended.
func endSum(c *ToolCall) uint64 {
	values := []string{c.Status.String()}
	if o := c.Output; o != nil {
		values = append(values, "output", o.Text, digest(o.Data))
		if d := o.Diff; d != nil {
			values = append(values, d.FilePath, d.NewContent, d.Formatted)
		}
	}
	if e := c.Error; e != nil {
		values = append(values, "error", e.Message, e.Type, strconv.Itoa(e.StatusCode))
	}
	return keyOf(values...)
}

// past is what is left of things by the hash of their names. The zero value is ready.
type past[V any] struct {
	newer, older map[uint64]V // the older half gives way as a whole
}

func (p *past[V]) get(key uint64) (V, bool) {
	v, ok := p.newer[key]
	if !ok {
		v, ok = p.older[key]
	}
	return v, ok
}

func (p *past[V]) put(key uint64, v V) {
	if len(p.newer) == maxPast/2 {
		p.newer, p.older = nil, p.newer
	}
	if p.newer == nil {
		p.newer = map[uint64]V{}
	}
	p.newer[key] = v
}

// names gives out the names that the editor knows calls by: unique in the conversation,
// where IDs are unique in their task. Most agents' IDs are unique anyway, and stay what they are.
type names struct {
	count past[int] // of an ID: how many numbers were tried
	taken past[struct{}]
}

func (n *names) take(id string) string {
	name := id
	for {
		if _, used := n.taken.get(keyOf(name)); !used {
			n.taken.put(keyOf(name), struct{}{})
			return name
		}
		tried, _ := n.count.get(keyOf(id))
		n.count.put(keyOf(id), tried+1)
		name = id + "~" + strconv.Itoa(tried+1)
	}
}

// charge counts the bytes that are kept of a call, in place of those of its last state.
func (c *Calls) charge(one *kept) {
	c.size -= one.size
	one.size = one.ToolCall.size()
	if g := one.growing; g != nil {
		one.size += len(g.sent) + len(g.json)
	}
	if c.size += one.size; c.size <= maxBytes {
		return
	}
	for _, other := range c.list {
		if other != one && !other.Open() && other.size > 0 {
			c.strip(other)
		}
	}
}

// strip leaves of a call what is needed to tell what changes. A step holds the call itself.
func (c *Calls) strip(one *kept) {
	was := one.ToolCall
	left := ToolCall{ID: was.ID, Shown: was.Shown, Status: was.Status, Asks: was.Asks, Bare: was.Bare, QuestionID: was.QuestionID, Dialect: was.Dialect}
	if !was.Status.Ended() || one.Closed { // it may go on
		left.Name, left.Description, left.DisplayName, left.Kind = was.Name, was.Description, was.DisplayName, was.Kind
		if len(was.Input) <= maxInput {
			left.Input = was.Input
		}
	}
	if was.Asks {
		left.Confirmation = &Confirmation{}
	}
	c.size -= one.size
	one.ToolCall, one.growing, one.size = &left, nil, 0
}

// leave forgets the calls that have ended longest ago, if too many are kept, but for their
// hashes. If too many have not ended, the oldest are taken to have, but for those that ask.
func (c *Calls) leave(to []Step) []Step {
	if len(c.list) <= maxWhole {
		return to
	}
	left := len(c.list)
	for _, open := range [...]bool{false, true} {
		list := c.list[:0]
		for _, one := range c.list {
			switch {
			case one.task.calls[one.ID] != one:
				c.strip(one)
			case left <= maxWhole/2 || one.listed || !open && !one.Status.Ended():
				list = append(list, one)
				continue
			default:
				if !one.Status.Ended() {
					to = append(to, c.close(one, false))
				}
				delete(one.task.calls, one.ID)
				c.past.put(one.task.key(one.ID), one.Closed)
				c.strip(one)
			}
			left--
		}
		clear(c.list[len(list):])
		c.list = list
	}
	return to
}

// key is the hash of a call's ID. What is said outside of a task is known for a turn.
func (t *task) key(id string) uint64 {
	return keyOf(t.id, id, strconv.Itoa(t.epoch))
}

// isPast reports whether a mention of a call that is not kept says nothing new: it has ended
// long ago. An agent that asks waits, whatever was.
func (c *Calls) isPast(now *ToolCall, v Verb) bool {
	closed, known := c.past.get(c.task.key(now.ID))
	return known && !(now.Asks && v != Forward) && !(closed && now.Status.Ended())
}
