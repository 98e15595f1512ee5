package render

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Ago says how far t is from now, as "3 days ago" or "in 2 hours".
func Ago(now, t time.Time) string {
	d := now.Sub(t)
	if d < 0 {
		if text := span(-d); text != "" {
			return "in " + text
		}
		return "now"
	}
	if text := span(d); text != "" {
		return text + " ago"
	}
	return "just now"
}

// span returns d in its largest unit, "" below half a minute.
func span(d time.Duration) string {
	const day = 24 * time.Hour
	units := [...]struct {
		from, unit time.Duration
		name       string
	}{
		{2 * 365 * day, 365 * day, "year"},
		{60 * day, 365 * day / 12, "month"},
		{14 * day, 7 * day, "week"},
		{day, day, "day"},
		{time.Hour, time.Hour, "hour"},
		{time.Minute, time.Minute, "minute"},
		{30 * time.Second, time.Second, "second"},
	}
	for _, u := range units {
		if d >= u.from {
			return Count(int(d/u.unit), u.name)
		}
	}
	return ""
}

// Bytes returns a size in decimal units with three digits at most, as "12.3 kB".
func Bytes(n int64) string {
	if n < 0 {
		return "-" + Bytes(-n)
	}
	if n < 1000 {
		return Count(int(n), "byte")
	}
	value, unit := float64(n), 0
	for value >= 999.5 && unit < len(byteUnits) {
		value /= 1000
		unit++
	}
	format := "%.0f %cB"
	if value < 99.95 {
		format = "%.1f %cB"
	}
	return fmt.Sprintf(format, value, byteUnits[unit-1])
}

const byteUnits = "kMGTPE"

// Count returns a number with its noun: "1 turn", "2 turns", "12 345 turns".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	stem, ok := strings.CutSuffix(noun, "y")
	if ok && stem != "" && !strings.ContainsAny(stem[len(stem)-1:], "aeiou") {
		return Number(int64(n)) + " " + stem + "ies"
	}
	return Number(int64(n)) + " " + noun + "s"
}

// Number returns n with its digits in groups of three.
func Number(n int64) string {
	digits := strconv.FormatInt(n, 10)
	from := 0
	if n < 0 {
		from = 1
	}
	for i := len(digits) - 3; i > from; i -= 3 {
		digits = digits[:i] + " " + digits[i:]
	}
	return digits
}

// Clip returns a text as one line of bounded length.
func Clip(text string) string {
	const limit = 160
	runes := []rune(strings.Join(strings.Fields(text), " "))
	if len(runes) > limit {
		return string(runes[:limit-1]) + "…"
	}
	return string(runes)
}
