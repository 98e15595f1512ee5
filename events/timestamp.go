package events

import (
	"bytes"
	"errors"
	"strings"
	"time"
)

// Layouts of jp's timestamps. Go reads a fraction behind the seconds whether or
// not the layout has one, and cuts what is beyond nanoseconds.
const (
	timeLayout     = "2006-01-02 15:04:05"
	timeLayoutRead = "2006-1-2 15:4:5"
)

var errTimestamp = errors.New("not a timestamp")

// AppendTime appends t in jp's form, in UTC, with a fraction of 1 to 9 digits.
func AppendTime(dst []byte, t time.Time) []byte {
	start := len(dst)
	dst = t.UTC().AppendFormat(dst, timeLayout+".000000000")
	dot := start + bytes.LastIndexByte(dst[start:], '.')
	end := len(dst)
	for end > dot+2 && dst[end-1] == '0' {
		end--
	}
	return dst[:end]
}

// parseTime reads jp's form, with or without a fraction, and else RFC 3339.
func parseTime(s string) (time.Time, error) {
	if strings.IndexByte(s, ',') >= 0 {
		return time.Time{}, errTimestamp // Go would take it for a decimal point
	}
	s, leap := cutLeapSecond(strings.ToUpper(s)) // RFC 3339 also has t and z
	for _, layout := range []string{timeLayoutRead, time.RFC3339, "2006-01-02 15:04:05Z07:00"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.Add(leap).UTC(), nil
		}
	}
	return time.Time{}, errTimestamp
}

// cutLeapSecond returns s with second 59 in place of a second 60, which Go does not
// know, and what is then to be added. A leap second so becomes the first of the next
// minute, as it is in the count of seconds that files have.
func cutLeapSecond(s string) (string, time.Duration) {
	before, after, ok := strings.Cut(s, ":60")
	if !ok || strings.Count(before, ":") != 1 {
		return s, 0
	}
	return before + ":59" + after, time.Second
}
