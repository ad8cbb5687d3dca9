package config

// nearest returns the known word that a word was probably meant to be, "" if none is
// near: at most a third of its letters may differ, and two always may.
func nearest(word string, known []string) string {
	best, found := max(2, len(word)/3)+1, ""
	for _, k := range known {
		if d := distance(word, k); d < best && d < len(k) {
			best, found = d, k
		}
	}
	return found
}

// distance counts the letters that were left out, added, changed or swapped with their
// neighbour (optimal string alignment).
func distance(a, b string) int {
	const longest = 64 // no key is longer; a longer word costs nothing
	if len(a) > longest || len(b) > longest {
		return longest
	}
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
