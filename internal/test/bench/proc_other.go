//go:build !linux

package bench

import "time"

// rest waits.
func rest(d time.Duration) {
	if d > 0 {
		<-time.After(d)
	}
}

// memory and activity are only known on Linux; elsewhere these rows stay empty.
func memory(int) (now, peak int64) { return 0, 0 }

func activity(int) (ran time.Duration, waits int64) { return 0, 0 }
