package task

import (
	"slices"
	"strings"

	"github.com/a2astdio/a2astdio/internal/cli/reach"
)

// minShortID is the length of an ID in task list on a terminal, if that is unique.
const minShortID = 8

// shortIDs cuts IDs to the shortest beginnings that differ.
func shortIDs(ids []string) map[string]string {
	all := map[string]string{}
	for _, id := range ids {
		all[id] = id
		for n := minShortID; n <= min(reach.MaxShortID, len(id)); n++ {
			begins := func(other string) bool { return other != id && strings.HasPrefix(other, id[:n]) }
			if !slices.ContainsFunc(ids, begins) && strings.ToValidUTF8(id[:n], "") == id[:n] {
				all[id] = id[:n]
				break
			}
		}
	}
	return all
}
