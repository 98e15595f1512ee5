package sessions

import "time"

// A clock gives the events of a conversation their times.
type clock struct {
	first, last time.Time
	latest      time.Time // a clock may go back
}

// moment returns at, or the time of the event before if at is not a valid time.
func (c *clock) moment(at time.Time) time.Time {
	if at.IsZero() || at.Year() < 1 || at.Year() > 9999 {
		at = c.last
	}
	if at.IsZero() {
		return time.Unix(0, 0).UTC() // no event had a time yet
	}
	at = at.UTC().Truncate(time.Microsecond)
	if c.first.IsZero() {
		c.first = at
	}
	c.last = at
	if at.After(c.latest) {
		c.latest = at
	}
	return at
}
