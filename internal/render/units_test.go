package render

import (
	"testing"
	"time"
)

func TestAgo(t *testing.T) {
	const day = 24 * time.Hour
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	for d, want := range map[time.Duration]string{
		0: "just now", 29 * time.Second: "just now", 45 * time.Second: "45 seconds ago",
		time.Minute: "1 minute ago", 59 * time.Minute: "59 minutes ago", time.Hour: "1 hour ago",
		25 * time.Hour: "1 day ago", 13 * day: "13 days ago", 14 * day: "2 weeks ago",
		60 * day: "1 month ago", 400 * day: "13 months ago", 800 * day: "2 years ago",
		-time.Second: "now", -2 * time.Hour: "in 2 hours",
	} {
		if got := Ago(now, now.Add(-d)); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
}

func TestBytes(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0 bytes", 1: "1 byte", 999: "999 bytes", 1000: "1.0 kB", 12345: "12.3 kB",
		99949: "99.9 kB", 99950: "100 kB", 999499: "999 kB", 999500: "1.0 MB", 52428800: "52.4 MB",
		1 << 62: "4.6 EB", -2000: "-2.0 kB",
	} {
		if got := Bytes(n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}

func TestCount(t *testing.T) {
	for want, noun := range map[string]string{
		"2 blobs": "blob", "2 entries": "entry", "2 copies": "copy", "2 keys": "key",
		"2 JSON entries": "JSON entry",
	} {
		if got := Count(2, noun); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestNumber(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0", 999: "999", 1000: "1 000", 12345: "12 345", -1234567: "-1 234 567", -12: "-12",
	} {
		if got := Number(n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}
