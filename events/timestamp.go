package events

import (
	"bytes"
	"errors"
	"strings"
	"time"
)

// Layouts of jp's timestamps. Go accepts a fraction after the seconds whether or not the layout has
// one, and truncates it to nanoseconds.
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

// parseTime reads jp's form, with or without a fraction, or RFC 3339.
func parseTime(s string) (time.Time, error) {
	if strings.IndexByte(s, ',') >= 0 {
		return time.Time{}, errTimestamp // Go would take it for a decimal point
	}
	s, leap := cutLeapSecond(strings.ToUpper(s)) // RFC 3339 also has t and z
	for _, layout := range []string{timeLayoutRead, time.RFC3339, "2006-01-02 15:04:05Z07:00"} {
		if t, err := time.Parse(layout, s); err == nil && !isBeyondDay(s) {
			return t.Add(leap).UTC(), nil
		}
	}
	return time.Time{}, errTimestamp
}

// isBeyondDay reports whether a time has an offset of more than 23 hours or 59 minutes. Go accepts
// 24 and 60, which RFC 3339 does not have.
func isBeyondDay(s string) bool {
	at := len(s) - len("+00:00")
	return at > 0 && (s[at] == '+' || s[at] == '-') && (s[at+1:at+3] > "23" || s[at+4:] > "59")
}

// plainTime reads the form in which jp writes times, with the result of parseTime. ok is false for
// any other form.
func plainTime(s []byte) (t time.Time, ok bool) {
	const form = "0000-00-00 00:00:00"
	const longest = len(form) + len(".000000000")
	if len(s) < len(form) || len(s) > longest || len(s) == len(form)+1 {
		return time.Time{}, false
	}
	for i, c := range []byte(form) {
		if c == '0' && (s[i] < '0' || s[i] > '9') || c != '0' && s[i] != c {
			return time.Time{}, false
		}
	}
	nanoseconds, scale := 0, int(time.Second)
	if len(s) > len(form) && s[len(form)] != '.' {
		return time.Time{}, false
	}
	for _, c := range s[min(len(form)+1, len(s)):] {
		if c < '0' || c > '9' {
			return time.Time{}, false
		}
		scale /= 10
		nanoseconds += int(c-'0') * scale
	}
	two := func(at int) int { return int(s[at]-'0')*10 + int(s[at+1]-'0') }
	month, day, hour, minute, second := two(5), two(8), two(11), two(14), two(17)
	if month < 1 || month > 12 || day < 1 || hour > 23 || minute > 59 || second > 59 {
		return time.Time{}, false
	}
	year := two(0)*100 + two(2)
	t = time.Date(year, time.Month(month), day, hour, minute, second, nanoseconds, time.UTC)
	return t, t.Day() == day
}

// cutLeapSecond replaces a second 60, which Go does not accept, by second 59, and returns the
// duration to add. A leap second becomes the first second of the next minute, as in the count of
// seconds that files have.
func cutLeapSecond(s string) (string, time.Duration) {
	before, after, ok := strings.Cut(s, ":60")
	if !ok || strings.Count(before, ":") != 1 {
		return s, 0
	}
	return before + ":59" + after, time.Second
}
