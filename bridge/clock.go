package bridge

import "time"

// An alarm is a time that a leg, or its turn, waits for.
type alarm uint8

const (
	noAlarm         alarm = iota
	atTick                // the next attempt behind a cut
	atSilent              // the streams have said nothing for as long as they may
	atSettle              // calls have waited so long that the user is asked
	atHint                // a look that hints have asked for, and that has to wait
	atSilenceNotice       // the turn's: the user is told that nothing comes
	atGrace               // the turn's: the time after a cancel is over
	alarms
)

// A clock has a leg's alarms, on one timer: each event waits for all that may come next, which costs by
// their number. It is used by the turn's goroutine alone.
type clock struct {
	timer *time.Timer
	at    [alarms]time.Time // zero: it is off
	rings time.Time         // what the timer is set for; zero: nothing
}

func newClock() clock {
	t := time.NewTimer(time.Hour)
	t.Stop()
	return clock{timer: t}
}

// set has an alarm ring after d.
func (c *clock) set(a alarm, d time.Duration) { c.setAt(a, time.Now().Add(d)) }

// setAt has an alarm ring at a time. It leaves a timer that rings earlier as it is: a text that
// grows puts its alarm off with each piece.
func (c *clock) setAt(a alarm, at time.Time) {
	c.at[a] = at
	if c.rings.IsZero() || at.Before(c.rings) {
		c.rings = at
		c.timer.Reset(time.Until(at))
	}
}

// stop has an alarm not ring, and reports whether it would have.
func (c *clock) stop(a alarm) bool {
	was := !c.at[a].IsZero()
	c.at[a] = time.Time{}
	return was
}

// rang, when the timer has, returns the alarm whose time has come, which is off then; noAlarm: that
// was put off, or stopped. It sets the timer for the others.
func (c *clock) rang() (due alarm) {
	now := time.Now()
	for a, at := range c.at {
		if !at.IsZero() && !at.After(now) && (due == noAlarm || at.Before(c.at[due])) {
			due = alarm(a)
		}
	}
	c.at[due], c.rings = time.Time{}, time.Time{}
	for a, at := range c.at {
		if !at.IsZero() {
			c.setAt(alarm(a), at)
		}
	}
	return due
}
