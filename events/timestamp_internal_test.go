package events

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestPlainTime: plainTime agrees with parseTime on everything that it accepts.
func TestPlainTime(t *testing.T) {
	same := func(s string) (plain bool) {
		t.Helper()
		got, ok := plainTime([]byte(s))
		want, err := parseTime(s)
		if ok && (err != nil || got != want) {
			t.Errorf("%q: %v, want %v, %v", s, got, want, err)
		}
		return ok
	}
	for s, plain := range map[string]bool{
		"2026-01-01 00:00:00": true, "2026-12-31 23:59:59.0": true, "0000-02-29 00:00:00.1": true,
		"2024-02-29 12:34:56.123456789": true, "2023-02-29 00:00:00": false,
		"2026-01-01 00:00:60": false, "2026-01-01 24:00:00": false, "2026-00-01 00:00:00": false,
		"2026-01-01 00:00:00.": false, "2026-01-01 00:00:00,5": false, "2026-01-00 00:00:00": false,
		"2026-01-01T00:00:00": false, "2026-01-01 00:00:00.0000000001": false, "": false,
		"2026-1-1 0:0:0": false, "2026-01-01 00:00:00Z": false, "2026-13-01 00:00:00": false,
	} {
		if same(s) != plain {
			t.Errorf("%q is plain: %t", s, !plain)
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		at := time.Unix(rapid.Int64Range(-62135596800, 253402300799).Draw(rt, "second"),
			rapid.Int64Range(0, 999_999_999).Draw(rt, "nanosecond"))
		s := AppendTime(nil, at)
		if got, ok := plainTime(s); !ok || !got.Equal(at) {
			rt.Fatalf("%s: %v", s, got)
		}
		s[rapid.IntRange(0, len(s)-1).Draw(rt, "at")] = rapid.SampledFrom(
			[]byte("0123456789-: .,TZ+")).Draw(rt, "byte")
		same(string(s))
	})
}
