package main

import (
	"regexp"
	"strconv"
	"sync"
	"time"

	"github.com/git-jp/git-jp/events"
)

// whenHelp describes what parseWhen reads, for the help of flags.
const whenHelp = `TIME is a date (2026-05-29), a date and a time (RFC 3339), how long ago
(36h, 3d, 2w), or a conversation's id, which is the moment when it began.`

// parseWhen parses a time of the command line; the zero time for "".
func parseWhen(a *app, flag, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return t, nil
	}
	if t, err := time.Parse(time.DateOnly, text); err == nil {
		return t, nil
	}
	if ago, ok := parseAgo(text); ok {
		return a.now().Add(-ago), nil
	}
	if id, err := events.ParseID(text); err == nil {
		return id.Time(), nil
	}
	return time.Time{}, usagef("--%s %q: expected a date, a time (RFC 3339), or a duration like 3d",
		flag, text)
}

var agoForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([0-9]{1,5})([mhdw])$`)
})

func parseAgo(text string) (time.Duration, bool) {
	m := agoForm().FindStringSubmatch(text)
	if m == nil {
		return 0, false
	}
	n, err := strconv.Atoi(m[1])
	unit := map[string]time.Duration{
		"m": time.Minute, "h": time.Hour, "d": 24 * time.Hour, "w": 7 * 24 * time.Hour,
	}[m[2]]
	return time.Duration(n) * unit, err == nil
}
