package mapping

import (
	"hash/maphash"
	"strconv"
)

// names gives out names that are used once in a conversation: IDs of messages and
// of tool calls are unique within their task by A2A, and within their session by
// ACP. Most agents' IDs are unique anyway, and stay what they are.
type names struct {
	seed  maphash.Seed
	taken past[struct{}]
}

// take returns a name that has not been given out: id itself, or id with a number. The
// number for an ID that is used again is found by doubling, so that an agent with a
// constant ID does not cost more with each message.
func (n *names) take(id string) string {
	if n.seed == (maphash.Seed{}) {
		n.seed = maphash.MakeSeed()
	}
	name := id
	if n.used(name) {
		free := 1
		for n.used(numbered(id, free)) {
			free *= 2
		}
		low := free/2 + 1 // the last one known to be used, and one more
		for low < free {
			if mid := (low + free) / 2; n.used(numbered(id, mid)) {
				low = mid + 1
			} else {
				free = mid
			}
		}
		name = numbered(id, free)
	}
	n.taken.put(maphash.String(n.seed, name), struct{}{})
	return name
}

func (n *names) used(name string) bool {
	_, used := n.taken.get(maphash.String(n.seed, name))
	return used
}

func numbered(id string, number int) string { return id + "~" + strconv.Itoa(number) }
